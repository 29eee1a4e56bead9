"""A trace given as a result, or a result given as a trace, is refused as what it is, with the verb that takes it."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest
from makers.swapped_rooms import swapping

import iocast
from iocast.errors import SourceError
from iocast.sessions.import_results import import_results
from iocast.sessions.listener import Quiet
from iocast.sessions.tracing import refused_traces
from iocast.sessions.tracing.event_tables import event_table
from iocast.tools import traces

RESULT = Path(__file__).parents[2] / "tools" / "fixtures" / "fio_two_jobs.json"


def test_a_profile_of_a_result_names_the_verb_that_takes_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="is a result of a tool, and no trace of single I/Os") as refusal:
        iocast.profile(str(RESULT), out=str(tmp_path))
    assert refusal.value.hint.startswith(f"`iocast import {RESULT}` makes a run of it")
    assert not list(tmp_path.iterdir())


def test_a_replay_of_a_result_does_too() -> None:
    with pytest.raises(SourceError, match="is a result of a tool"), event_table(str(RESULT)):
        raise AssertionError("it is no trace")


def test_a_trace_that_is_refused_keeps_its_own_reason(tmp_path: Path) -> None:
    """An importer knows it too."""
    trace = tmp_path / "s.txt"
    trace.write_text('7 1795288863.763298 openat(AT_FDCWD, "/d/f", O_RDONLY) = 3 <0.000005>\n' * 3)
    with pytest.raises(SourceError, match="no I/O in 3 lines of strace"):
        iocast.profile(str(trace), out=str(tmp_path / "out"))


def test_a_result_that_cannot_be_imported_is_refused_for_that_reason(tmp_path: Path) -> None:
    """To name `iocast import` would be a second refusal."""
    cluster = tmp_path / "awr.html"
    cluster.write_text("<html><title>AWR RAC Report</title><h1>WORKLOAD REPOSITORY REPORT (RAC)</h1></html>")
    with pytest.raises(SourceError, match=r"report of a cluster .* \(a result of a tool, and no trace") as refusal:
        iocast.profile(str(cluster), out=str(tmp_path / "out"))
    assert "iocast import" not in refusal.value.hint


def test_an_import_of_a_trace_names_the_verb_that_takes_it(tmp_path: Path) -> None:
    trace = tmp_path / "a.csv"
    trace.write_text("128166372003061629,hm,1,Read,383496192,32768,413\n" * 3000)
    with pytest.raises(SourceError, match=r"a\.csv is a trace of single I/Os \(msr\)") as refusal:
        import_results((str(trace),), str(tmp_path / "out"), Quiet())
    assert refusal.value.hint.startswith(f"`iocast profile {trace}`")
    binary = tmp_path / "sdb.blktrace.0"
    binary.write_bytes(struct.pack("<IIQQIIIIIHH", 0x65617407, 1, 9, 8, 4096, 1 << 16 | 7, 7, 8 << 20, 0, 0, 0) * 5)
    with pytest.raises(SourceError, match=r"is a trace of single I/Os \(blktrace\)"):
        import_results((str(binary),), str(tmp_path / "out"), Quiet())


def test_a_link_in_the_place_of_a_room_leads_no_byte_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, the beginning of the trace and the table of its events were written through it."""
    rooms, theirs = tmp_path / "rooms", tmp_path / "theirs"
    theirs.mkdir(0o700)
    for name in ("a.csv", "events.parquet", "events.table", "calls.table"):
        (theirs / name).write_text("kept")
    trace = tmp_path / "a.csv"
    trace.write_text("".join(f"128166372003{at:06},hm,1,Read,{at * 4096},4096,413\n" for at in range(3000)))

    def swaps(prefix: str, module: object, name: str) -> None:
        shutil.rmtree(rooms, ignore_errors=True)
        rooms.mkdir()
        patched.setenv("TMPDIR", str(rooms))
        patched.setattr(module, name, swapping(rooms, prefix, theirs, getattr(module, name)))

    with monkeypatch.context() as patched:
        swaps("iocast-trace-", refused_traces, "first_bytes")
        with pytest.raises(SourceError, match="is a trace of single I/Os"):
            import_results((str(trace),), str(tmp_path / "out"), Quiet())
    with monkeypatch.context() as patched:
        swaps("iocast-replay-", traces, "read_traces")
        with event_table(str(trace)) as table:
            assert Path(table).stat().st_size > 0
    assert {each.read_text() for each in theirs.iterdir()} == {"kept"}
