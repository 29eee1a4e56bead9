"""Traces become a profile in a folder, which can be opened, told and asked again."""

from __future__ import annotations

import collections
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from makers.trace_samples import MSR, SHARED, WITHOUT_SHARED

import iocast
from iocast.errors import AnalysisError, ArchiveError, SourceError, SpecError
from iocast.model.results.profiles import TraceProfile
from iocast.sessions.profiling.compare_profiles import compare_profiles
from iocast.sessions.profiling.profile_job import generate_job
from iocast.sessions.profiling.profile_traces import Profiled

ORACLE = """\
Oracle Database 12c Release 12.1.0.1.0 - 64bit Production
Unix process pid: 41, image: oracle
*** SESSION ID:(409.215) 2013-08-26 14:40:23.035
PARSING IN CURSOR #7 len=20 dep=0 uid=0 oct=3 lid=0 tim=2000000 hv=99 ad='x' sqlid='abc'
select count(*) from t
END OF STMT
WAIT #7: nam='db file sequential read' ela= 900 file#=4 block#=29 blocks=1 obj#=8 tim=2001000
WAIT #7: nam='latch free' ela= 100 address=1 number=2 tries=3 obj#=8 tim=2001500
WAIT #9: nam='db file sequential read' ela= 50 file#=1 block#=2 blocks=1 obj#=3 tim=2001600
EXEC #9:c=10,e=80,p=1,cr=1,cu=0,mis=0,r=1,dep=1,og=4,plh=3,tim=2001610
FETCH #7:c=100,e=1500,p=1,cr=3,cu=0,mis=0,r=1,dep=0,og=1,plh=5,tim=2002000
WAIT #7: nam='SQL*Net message from client' ela= 5000 driver id=1 #bytes=1 p3=0 obj#=8 tim=2007000
"""
WITHOUT_IO = "".join(line for line in ORACLE.splitlines(keepends=True) if "db file" not in line)


def _trace(folder: Path) -> Path:
    path = folder / "hm_1.csv"
    path.write_text(MSR)
    return path


def test_the_public_api_profiles_and_hands_out_columns(tmp_path: Path) -> None:
    found = iocast.profile(str(_trace(tmp_path)), out=str(tmp_path / "out"))
    assert (found.profile.events, found.profile.sources[0].format) == (2, "msr")
    assert found.description.startswith("512 ") or "reads" in found.description
    assert found.events().project("op").fetchall() == [(0,), (1,)]
    assert hasattr(found.events(), "__arrow_c_stream__")
    arrays = found.events().fetchnumpy()
    assert (arrays["size"].tolist(), arrays["queue_ns"].tolist()) == ([32768, 512], [None, None])  # unknown, and not 0
    again = iocast.profile(found.folder)
    assert again.profile == found.profile
    assert list((tmp_path / "out").iterdir()) == [Path(found.folder)]


def test_a_trace_that_cannot_be_read_leaves_nothing(tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("hello\n")
    with pytest.raises(SourceError):
        iocast.profile(str(bad), out=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_a_killed_profile_is_not_seen_and_the_next_one_removes_it(tmp_path: Path) -> None:
    """It left a folder that passed for a profile, with half of its tables."""
    code = """
import os, signal, sys
from iocast.archive import profile_folder
profile_folder.save = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
import iocast
iocast.profile(sys.argv[1], out=sys.argv[2])
"""
    trace, out = _trace(tmp_path), tmp_path / "out"
    killed = subprocess.run([sys.executable, "-c", code, trace, out], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = out.iterdir()
    assert left.name.startswith(".")
    made = Path(iocast.profile(str(trace), out=str(out)).folder)
    assert list(out.iterdir()) == [made]
    assert {path.name: path.stat().st_mode & 0o777 for path in (made, *made.iterdir())} == {
        made.name: 0o700,
        "events.parquet": 0o600,
        "profile.json": 0o600,
    }


def test_a_profile_of_another_version_is_refused(tmp_path: Path) -> None:
    found = iocast.profile(str(_trace(tmp_path)), out=str(tmp_path / "out"))
    file = Path(found.folder) / "profile.json"
    document = json.loads(file.read_text())
    file.write_text(json.dumps({**document, "schema_version": 99}))
    with pytest.raises(ArchiveError, match="version 99"):
        iocast.profile(found.folder)


def test_a_block_that_is_no_power_of_two_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="--block 3k"):
        iocast.profile(str(_trace(tmp_path)), block="3k", out=str(tmp_path))


def _oracle(folder: Path, text: str) -> Profiled:
    path = folder / "orcl_ora_41.trc"
    path.write_text(text)
    return iocast.profile(str(path), out=str(folder / "out"))


def test_the_response_time_of_an_oracle_trace_is_accounted_for(tmp_path: Path) -> None:
    """Waits that are I/O count as waits, as the others do; the recursive call is inside of its parent."""
    found = _oracle(tmp_path, ORACLE)
    accounting = found.accounting()
    assert accounting is not None
    assert (accounting.elapsed_ns, accounting.cpu_ns, accounting.waited_ns) == (1_500_000, 100_000, 1_050_000)
    assert (accounting.idle_ns, accounting.unaccounted_ns, accounting.cut_off_ns) == (5_000_000, 350_000, 0)
    assert [(each.event, each.waits, each.total_ns) for each in accounting.events] == [
        ("SQL*Net message from client", 1, 5_000_000),
        ("db file sequential read", 2, 950_000),
        ("latch free", 1, 100_000),
    ]
    assert found.profile.events == 2
    assert iocast.profile(found.folder).accounting() == accounting
    assert "response_time" in [each.code for each in found.report().sections]
    assert found.description.startswith("Single-block reads by 1 session, no writes.")


def test_a_cache_that_is_asked_for_has_one_row(tmp_path: Path) -> None:
    """One of 4 MiB is among the sizes that are counted anyway, and was not printed; others were told four times."""
    reads = "".join(f"{128166477394345573 + at * 10_000},hm,1,Read,{at % 700 * 8192},8192,100\n" for at in range(2_000))
    (tmp_path / "reads.csv").write_text(reads)
    found = iocast.profile(str(tmp_path / "reads.csv"), caches=("4MiB", "5MiB"), out=str(tmp_path / "out"))
    result = found.report().result
    assert isinstance(result, TraceProfile)
    rows = {each.cache_bytes: each.all_share for each in result.caches}
    assert [size >> 20 for size in rows if 1 << 20 < size < 16 << 20] == [2, 4, 5]
    assert rows[4 << 20] == 1.0  # blocks come again after 700 others


def test_the_histogram_of_waits_has_the_buckets_of_the_documents(tmp_path: Path) -> None:
    """Below .1m (64 to 128 us) and so on, as the scripts that DBAs know print them."""
    result = _oracle(tmp_path, ORACLE).report().result
    assert isinstance(result, TraceProfile)
    counts = {each.upto_ns: each.events for each in result.latencies}
    assert (counts[64_000], counts[128_000], counts[1_024_000], sum(counts.values())) == (1, 0, 1, 2)


def test_the_histogram_of_a_public_trace_is_that_of_its_waits(tmp_path: Path) -> None:
    trace = SHARED / "oracle_10046/ora12101_dbfsr_part1.trc"
    if not trace.exists():
        pytest.skip(WITHOUT_SHARED)
    waits = re.findall(r"nam='db file sequential read' ela= (\d+)", trace.read_text())
    classes = collections.Counter(1000 << int(wait).bit_length() for wait in waits)
    result = iocast.profile(str(trace), out=str(tmp_path)).report().result
    assert isinstance(result, TraceProfile)
    assert {each.upto_ns: each.events for each in result.latencies} == classes
    assert (classes[512_000], classes[1_024_000], classes[8_192_000]) == (7, 3_226, 4_596)


def test_calls_without_io_are_accounted_for(tmp_path: Path) -> None:
    found = _oracle(tmp_path, WITHOUT_IO)
    report = found.report(charts=True)
    assert (found.profile.events, found.description) == (0, "No I/O in the trace.")
    assert report.verdict == "Response time 6.5 ms: 77% waits for the client (idle)."
    assert [each.code for each in report.sections] == ["response_time", "remarks"]
    assert (report.next_steps, report.figures) == ((), ())
    assert iocast.profile(found.folder).report().verdict == report.verdict


def test_cursors_of_a_cut_file_are_one_session(tmp_path: Path) -> None:
    """Its head, which has the number of the process, is missing."""
    text = "".join(line for line in ORACLE.splitlines(keepends=True) if "Unix process" not in line)
    assert _oracle(tmp_path, text).profile.sessions == 1


def test_the_name_of_a_pattern_has_no_signs_of_it(tmp_path: Path) -> None:
    _trace(tmp_path)
    found = iocast.profile(str(tmp_path / "hm_1.*"), out=str(tmp_path / "out"))
    assert found.profile.name == "hm_1"
    assert found.folder.endswith("-hm_1")


def test_a_load_needs_io(tmp_path: Path) -> None:
    found = _oracle(tmp_path, WITHOUT_IO)
    with pytest.raises(AnalysisError, match="has no I/O"):
        generate_job(found, "toml")
    other = iocast.profile(str(_trace(tmp_path)), out=str(tmp_path / "out"))
    for pair in ((found.folder, other.folder), (other.folder, found.folder)):
        with pytest.raises(AnalysisError, match="has no I/O to compare"):
            compare_profiles(pair)


def test_a_trace_without_calls_has_no_table_of_them(tmp_path: Path) -> None:
    found = iocast.profile(str(_trace(tmp_path)), out=str(tmp_path / "out"))
    assert sorted(path.name for path in Path(found.folder).iterdir()) == ["events.parquet", "profile.json"]
    assert found.accounting() is None


def test_an_empty_table_of_events_is_refused(tmp_path: Path) -> None:
    events = Path(_oracle(tmp_path, WITHOUT_IO).folder) / "events.parquet"
    with pytest.raises(AnalysisError, match=r"^events\.parquet holds no I/O"):  # not a file that is removed again
        iocast.profile(str(events), out=str(tmp_path / "other"))


def test_the_response_time_of_the_trace_of_oracle_12_1(tmp_path: Path) -> None:
    trace = SHARED / "oracle_10046/ora12101_dbfsr_part1.trc"
    if not trace.exists():
        pytest.skip(WITHOUT_SHARED)
    accounting = iocast.profile(str(trace), out=str(tmp_path)).accounting()
    assert accounting is not None
    reads = accounting.events[0]
    assert (reads.event, reads.waits) == ("db file sequential read", 14_395)
    assert round(reads.total_ns / reads.waits / 1e6, 3) == 5.927
    # The trace ends within a fetch: 28 of its waits are there, 229 ms.
    assert (round(accounting.elapsed_ns / 1e6), round(accounting.cut_off_ns / 1e6)) == (86_461, 229)
    assert sum(each.total_ns for each in accounting.events) == accounting.waited_ns + accounting.cut_off_ns


def test_a_table_that_is_profiled_is_copied(tmp_path: Path) -> None:
    """A second name of a person's file made it look like a copy, and tied what is done to either to the other."""
    first = iocast.profile(str(_trace(tmp_path)), out=str(tmp_path / "first"))
    table = tmp_path / "mine.parquet"
    table.write_bytes((Path(first.folder) / "events.parquet").read_bytes())
    second = iocast.profile(str(table), out=str(tmp_path / "second"))
    copy = Path(second.folder) / "events.parquet"
    assert copy.read_bytes() == table.read_bytes()
    assert (table.stat().st_nlink, copy.stat().st_nlink) == (1, 1)
