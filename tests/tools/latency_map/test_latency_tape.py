"""Latency records as a tape: what a sequence of them becomes, plays and draws; by hand in their documented form."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from makers.command_line import compare, iocast, run_folder

from iocast.analyse.live.latency_columns import latencies
from iocast.errors import SourceError
from iocast.model.live.moment import Interval, intervals, moments_of
from iocast.model.run import Run
from iocast.tools import importers

LABEL = "pread latency measured with DTrace"
BEGAN_US = 1_377_600_893_000_000  # since 1970
SECOND_US = 1_000_000


def record(at_us: int, counts: dict[int, int], clock: str = "x", label: str = LABEL, unit: str = "nanosec") -> str:
    """One of DTrace: bounds are lower edges."""
    rows = "".join(f"{bound},{count}\n" for bound, count in counts.items())
    head = f"timestamp,microsec,{at_us},{clock}\nlabel,{label}\nlatencyunit,{unit}\ndatasource,dtrace\n"
    return f"<begin record>\n{head}{rows}<end record>\n"


def of(place: Path, *texts: str) -> Run:
    paths = [place / f"{at}.txt" for at in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    (run,) = importers.read(tuple(map(str, paths)))
    return run


def played(run: Run) -> list[Interval]:
    samples = (sample for phase in run.phases for sample in phase.samples)
    return list(intervals(moments_of(samples)))


def gained(found: Iterable[Interval], label: str = LABEL) -> list[dict[int, int] | None]:
    each = [latencies(view) if (view := one.views("latency_map").get(label)) else None for one in found]
    return [None if one is None else dict(one.counts) for one in each]


def steps(*counts: dict[int, int], began_us: int = BEGAN_US, label: str = LABEL) -> str:
    return "".join(record(began_us + at * 10 * SECOND_US, each, label=label) for at, each in enumerate(counts))


THREE = (
    {131072: 10, 262144: 100, 8388608: 1},
    {131072: 110, 262144: 1100, 8388608: 61},
    {65536: 30, 131072: 110, 262144: 1400, 8388608: 61, 134217728: 2},
)


def test_three_records_are_two_intervals_in_their_own_bounds(tmp_path: Path) -> None:
    run = of(tmp_path, steps(*THREE))
    assert run.tape is not None
    assert (run.tape.interval_ns, run.tape.sources) == (10_000_000_000, (LABEL,))
    found = played(run)
    assert [each.after.time_ns for each in found] == [(BEGAN_US + at * 10 * SECOND_US) * 1000 for at in (1, 2)]
    assert gained(found) == [
        {262144: 100, 524288: 1000, 16777216: 60},
        {131072: 30, 524288: 300, 268435456: 2},  # two buckets are new: they stood at nought
    ]
    assert run.phases[0].measurement.ios == 1492  # and its row is there, as of two records


@pytest.mark.parametrize("again", [{131072: 5, 262144: 1500}, {262144: 1500}])
def test_where_counters_began_anew_all_of_the_interval_is_unknown(tmp_path: Path, again: dict[int, int]) -> None:
    """A count that fell, or a bucket that is gone: the others grew, and their growth is unknown, too."""
    after = {bound: count + 7 for bound, count in again.items()}
    run = of(tmp_path, steps(*THREE[:2], again, after))
    assert gained(played(run)) == [{262144: 100, 524288: 1000, 16777216: 60}, None, gained_of(again)]
    assert run.phases[0].measurement.ios == 0  # last minus first says nothing


def gained_of(again: dict[int, int]) -> dict[int, int]:
    return {2 * bound: 7 for bound in again}


def test_an_edge_that_is_listed_no_longer_was_empty(tmp_path: Path) -> None:
    run = of(tmp_path, steps({65536: 0, 131072: 1}, {131072: 2}, {131072: 4}))
    assert gained(played(run)) == [{262144: 1}, {262144: 2}]


def test_a_label_that_says_neither_read_nor_write_is_a_tape_as_well(tmp_path: Path) -> None:
    run = of(tmp_path, steps(*THREE, label="log file sync"))
    assert run.tape is not None
    assert len(gained(played(run), "log file sync")) == 2


@pytest.mark.parametrize(
    ("clock", "unix_s"),
    [
        ("26-AUG-13 04.26.51.653754 PM +02:00", 1_377_527_211),
        ("no date", None),
    ],
)
def test_a_moment_is_dated_by_its_clock(tmp_path: Path, clock: str, unix_s: int | None) -> None:
    """The count of DTrace is since the machine began, that of Oracle's scripts since midnight."""
    late = 86_399_000_000
    moments = (late, 1_000_000, 3_000_000)
    run = of(tmp_path, "".join(record(at, {1024: n}, clock) for n, at in enumerate(moments, 1)))
    found = played(run)
    assert [each.elapsed_ns for each in found] == [2_000_000_000] * 2  # over midnight
    assert found[0].before.time_ns == (unix_s or 0) * 10**9
    assert ("no record has a date" in " ".join(run.warnings)) == (unix_s is None)


def test_files_are_reels_in_the_order_of_their_times(tmp_path: Path) -> None:
    later = steps(*THREE, began_us=BEGAN_US + 1000 * SECOND_US)
    run = of(tmp_path, later, steps(*THREE))
    assert [each.measurement.started_unix_ns // 1000 - BEGAN_US for each in run.phases] == [0, 1000 * SECOND_US]
    with pytest.raises(SourceError, match="overlap in time"):
        of(tmp_path, steps(*THREE), steps(*THREE, began_us=BEGAN_US + SECOND_US))


def test_a_time_that_goes_back_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="not after that of the record before it"):
        of(tmp_path, record(BEGAN_US, {1024: 1}) * 3)


def test_it_plays_and_reports(tmp_path: Path) -> None:
    (tmp_path / "records.txt").write_text(steps(*THREE, label="db file read"))
    made = iocast("import", "records.txt", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "Watched for 20.0 s from 2013-08-27" in made.stdout
    folder = run_folder(tmp_path / "iocast-runs")
    report = iocast("report", folder, cwd=tmp_path)
    assert "db file read" in report.stdout
    assert "1,492" in report.stdout
    lines = iocast("top", folder, "--plain", cwd=tmp_path)
    (first, second) = [line for line in lines.stdout.splitlines() if line.startswith("db file read")]
    assert first.split()[3:] == ["116", "1", "ms", "100", "1000", ".", ".", ".", ".", "60", "."]
    assert second.split()[-1] == "2"
    assert "CPU" not in lines.stdout  # nothing of a machine is in it
    maps = iocast("watch", "latencymap", "--tape", folder, cwd=tmp_path)
    compare("latency_records.txt", maps.stdout)
    table = iocast("watch", "latencymap", "--csv", "--tape", folder, cwd=tmp_path)
    assert "db file read,0.524288,100.0," in table.stdout
