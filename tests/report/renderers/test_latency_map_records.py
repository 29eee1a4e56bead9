"""Latency records of a run: what goes out comes in again, bucket by bucket; each series begins with what was before."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder

from iocast.archive import load, load_courses
from iocast.model.run import Run
from iocast.tools import importers
from iocast.tools.latency_map.latency_records import Series, records, records_text


def test_what_was_written_is_read_back() -> None:
    text = records_text([Series("a read", 5_000_000, ((6_000_000, {512: 3}), (7_000_000, {512: 1, 1024: 2})))])
    found = records("x", text, [])
    assert [(each.moment_us, each.counts) for each in found] == [
        (5_000_000, {}),
        (6_000_000, {512: 3}),
        (7_000_000, {512: 4, 1024: 2}),
    ]
    assert {(each.unit_ns, each.source, each.label) for each in found} == {(1, "systemtap", "a read")}


def test_counts_go_on_from_one_series_to_the_next() -> None:
    """The tools subtract the record before, whatever its label: a count that fell would end them."""
    text = records_text([Series("a read", 1, ((2, {512: 3}),)), Series("b read", 5, ((6, {512: 1}),))])
    counts = [each.counts.get(512, 0) for each in records("x", text, [])]
    assert counts == [0, 3, 3, 4]


def counted(run: Run) -> dict[str, int]:
    return {each.phase.name: each.measurement.ios for each in run.phases}


@pytest.mark.long
def test_the_records_of_a_run_are_its_reads_and_writes_again(tmp_path: Path) -> None:
    iocast("card", "sim:nvme", "--time", "2s", cwd=tmp_path)
    folder = run_folder(tmp_path / "iocast-runs")
    written = iocast("report", folder, "--format", "latencymap", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    (tmp_path / "map.txt").write_text(written.stdout)
    (back,) = importers.read((str(tmp_path / "map.txt"),))
    courses = load_courses(str(folder))
    run = load(str(folder))
    expected = {
        f"{record.phase.name} {op}": ended
        for number, record in enumerate(run.phases)
        for op in ("read", "write")
        if record.phase.role == "measure"
        if (ended := sum(each.response.total for each in courses[number] if each.op == op))
    }
    assert len(expected) > 4
    assert counted(back) == expected


def test_a_run_without_intervals_has_no_records(tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "tools" / "fixtures" / "ehm_old.txt"
    iocast("import", source, cwd=tmp_path)
    refused = iocast("report", run_folder(tmp_path / "iocast-runs"), "--format", "latencymap", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "no row of this run has reads or writes over time" in refused.stderr
