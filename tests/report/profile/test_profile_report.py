"""The report of a profile: a paragraph that an administrator recognises, and tables that keep what is unknown blank."""

from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from makers.left_out import long_after
from makers.made_traces import database_load, profile_of, random_reads
from msgspec.structs import replace

from iocast.analyse.profiling.measure_profile import measure_profile
from iocast.model.histogram import Histogram
from iocast.model.profiling.profile import Profile
from iocast.report.profile.profile_report import profile_report
from iocast.report.profile.profile_sentences import cautions, description, verdict
from iocast.report.renderers import RENDERERS
from iocast.results.profiles import busiest_windows, trace_profile, working_sets
from iocast.tools.traces import read_traces


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return profile_of(tmp_path_factory.mktemp("made"), database_load())


def test_the_paragraph_says_sizes_patterns_mix_and_scan(profile: Profile) -> None:
    said = description(profile)
    assert said.startswith("8k random reads, 3:1 to 2k sequential writes. ")
    assert "A sequential read of 16M every 10 s on 1." in said
    assert "IOPS on average over 60 s" in said


def test_shares_add_up(profile: Profile) -> None:
    assert sum(each.events_share for each in trace_profile(profile).operations) == pytest.approx(1)


@pytest.mark.parametrize("form", long_after(1, ["terminal", "html", "markdown", "json", "csv"]))
def test_every_renderer_takes_it(profile: Profile, form: str) -> None:
    out = io.StringIO()
    RENDERERS[form].render(profile_report(profile, "somewhere"), out, colour=False, width=100)
    assert "18,399" in out.getvalue() or "18399" in out.getvalue()


@pytest.mark.long
def test_json_has_all_tables_with_units(profile: Profile) -> None:
    out = io.StringIO()
    RENDERERS["json"].render(profile_report(profile), out, colour=False, width=0)
    document = json.loads(out.getvalue())
    assert document["kind"] == "profile"
    told = {key for key, rows in msgspec.structs.asdict(trace_profile(profile)).items() if rows}
    assert {"operations", "peaks", "sequentiality", "caches", "scans", "targets"} <= told
    assert {key for key in told if not document[key]} == set()
    assert document["peaks"][0]["window_ns"] == 1_000_000


def test_a_unit_that_cannot_be_true_is_doubted(tmp_path: Path) -> None:
    ios = [(at, 0, "R", at * 8192, 8192, 1) for at in range(1000)]
    assert any("check the unit of the times" in each for each in cautions(profile_of(tmp_path, ios)))
    assert not list(cautions(profile_of(tmp_path, random_reads(2000))))


def test_a_single_event_has_no_rate(tmp_path: Path) -> None:
    report = profile_report(profile_of(tmp_path, [(0, 0, "R", 0, 8192, 5)]))
    assert "IOPS" not in report.verdict
    assert "arrivals" not in [each.code for each in report.sections]


@pytest.mark.parametrize(
    ("writes", "flushes", "said"),
    [(5, 2, "a flush for every 2.5 writes"), (7, 7, "a flush for every write"), (2, 5, "5 flushes for 2 writes")],
)
def test_flushes_are_told_of_all_writes(profile: Profile, writes: int, flushes: int, said: str) -> None:
    between = Histogram(index=(1,), count=(1,), sum_ns=1, sum_squares=1.0, min_ns=1, max_ns=1)
    sync = replace(profile.order.sync, writes=writes, flushes=flushes, writes_between=between)
    assert said in description(replace(profile, order=replace(profile.order, sync=sync)))


def test_sizes_and_patterns_of_a_mix_read_as_english(tmp_path: Path) -> None:
    sizes = [4096, 8192, 16384, 32768]
    ios = [(at * 1_000_000, 0, "W", at * 999_424 % (1 << 36), sizes[at % 4], 1000) for at in range(1100)]
    ios += [(at * 1_000_000, 0, "R", 1 << 40, 784, 1000) for at in range(1100, 1200)]
    profile = profile_of(tmp_path, ios)
    said = description(profile)
    assert said.startswith("Random writes of 4k to 32k (mean 15k), 11:1 to 784 B random reads. ")
    assert "busiest second" not in said  # there is only one whole second
    assert [each.window_ns for each in busiest_windows(profile)] == [10**6, 10**7, 10**8]


def test_what_has_no_size_has_no_throughput_and_no_working_set(tmp_path: Path) -> None:
    wait = "WAIT #7: nam='db file sequential read' ela= 900 file#=4 block#={} blocks=1 obj#=8 tim={}\n"
    text = "".join(wait.format(at, 2_000_000 + 1000 * at) for at in range(3000))
    (tmp_path / "o.trc").write_text("Oracle Database 12c Release 12.1.0.1.0\nUnix process pid: 41\n" + text)
    events = str(tmp_path / "events.parquet")
    read_traces((str(tmp_path / "o.trc"),), events)
    profile = measure_profile(events, "a", "0")
    assert {each.throughput_bytes_per_s for each in busiest_windows(profile)} == {None}
    assert working_sets(profile) == ()
    (step,) = profile_report(profile, "somewhere").next_steps
    assert step.endswith("o.trc --block-size 8k")
    assert verdict(profile).startswith("Single-block reads by 1 session, no writes. ")
    assert "Closed load, 1 I/O at a time with a pause of 100 µs: one I/O is in flight" in verdict(profile)
