"""Reads of what was never written: their times suggest it, what the disk was seen to read proves it."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import elided
from iocast.model.finding import Finding
from iocast.model.plan import FileRegion
from iocast.model.run import PhaseRecord

MIB = 1 << 20
WRITE = card_runs.Workload(mix=(card_runs.MixItem("write", MIB),), direct=True)


def _at(record: PhaseRecord, start: int) -> PhaseRecord:
    """The row on 64 MiB of the device from there on."""
    part = FileRegion("/dev/loop0", start, 64 * MIB)
    phase = replace(record.phase, region_start_bytes=start, region_size_bytes=64 * MIB)
    return replace(record, phase=phase, plan=replace(record.plan, files=(part,)))


def _read(name: str, start: int, took_ns: int, share: float) -> PhaseRecord:
    """Reads of which a disk delivered `share`."""
    base = card_runs.reads(name, times=card_runs.histogram((took_ns, 10_000)))
    moved = round(base.measurement.bytes * share)
    seen = card_runs.diskstats(
        base.measurement.elapsed_ns, reads=moved // 8192, read_bytes=moved, writes=0, written_bytes=0
    )
    return _at(replace(base, samples=seen), start)


def _found(untouched_ns: int, untouched_share: float, *, written_share: float = 1.0) -> list[Finding]:
    did = card_runs.measurement((card_runs.part("write", MIB, card_runs.histogram((500_000, 64))),))
    ground = _at(card_runs.record("ground 1M", WRITE, did, role="warm"), 0)
    written = _read("written 8k", 0, 70_000, written_share)
    untouched = _read("untouched 8k", 128 * MIB, untouched_ns, untouched_share)
    return list(elided.detect(Facts(card_runs.run(ground, written, untouched))))


def test_what_a_disk_was_seen_not_to_read_is_certain_however_long_it_takes() -> None:
    (found,) = _found(60_000, 0.01)
    assert found.state == "counted"
    assert "The device read 1% of the former's bytes and 100% of the latter's." in found.says


@pytest.mark.parametrize(("took_ns", "suggested"), [(60_000, False), (45_000, True)])
def test_where_the_disk_reads_all_of_it_only_times_can_tell(took_ns: int, suggested: bool) -> None:
    assert [each.state for each in _found(took_ns, 1.0)] == ["suggested"] * suggested


def test_a_cache_that_holds_both_proves_nothing_of_holes() -> None:
    assert _found(65_000, 0.01, written_share=0.02) == []


HOLES = "sim:thin-array,holes=20us,size=256GiB"


WRITTEN = """\
name = "written"
[files]
size = "1GiB"
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
bytes = "{length}"
time = "10min"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
time = "2s"
"""


@pytest.mark.parametrize("length", ["1GiB", "64MiB"])
def test_what_nothing_is_held_against_is_no_hole(length: str, tmp_path: Path) -> None:
    device = "sim:thin-array,holes=20us,size=1GiB"
    run = planted.measured(device, WRITTEN.format(length=length), tmp_path)
    assert list(elided.detect(Facts(run))) == []
    assert list(elided.detect(Facts(planted.measured("sim:thin-array,size=1GiB", planted.long(2), tmp_path)))) == []


WRITTEN_AND_NOT = """\
name = "written and not"
[files]
size = "1GiB"
[defaults]
time = "3s"
size = "8k"
pattern = "random"
direct = true
[[phase]]
test = "ground"
role = "warm"
write = 100
size = "1M"
pattern = "sequential"
region = {start = 0, size = "64MiB"}
bytes = "64MiB"
[[phase]]
test = "written"
time = "2s"
region = {start = 0, size = "64MiB"}
[[phase]]
test = "written"
time = "2s"
region = {start = 0, size = "64MiB"}
[[phase]]
test = "written"
time = "2s"
region = {start = "128MiB", size = "64MiB"}
"""


def test_a_stall_in_one_of_two_rows_is_no_hole(tmp_path: Path) -> None:
    """It said that reads of blocks never written took 95 µs, of written ones 151 µs: there one stalled."""
    found = planted.suspected(planted.measured("sim:sata-ssd,stall=1s/5s", WRITTEN_AND_NOT, tmp_path))
    assert "stalls" in found
    assert "elided_reads" not in found
