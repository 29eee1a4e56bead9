"""A part of the data that is slower than the rest is told by where the slowest reads lie; chance and seeks are not."""

from __future__ import annotations

import random

import pytest
from makers.card_runs import histogram, reads, run
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import slow_region
from iocast.model.finding import Finding
from iocast.model.measurement import SlowIo
from iocast.model.run import Run

MIB = 1 << 20


def _slow(places: list[int]) -> tuple[SlowIo, ...]:
    """The slowest reads at these places, the slowest first."""
    return tuple(
        SlowIo(time_ns=at, op="read", file=0, offset_bytes=place, size_bytes=8192, response_ns=10**8, service_ns=10**8)
        for at, place in enumerate(places)
    )


def _run(places: list[int], *, usual: int = 1980, slow: int = 20) -> Run:
    """Reads of 8k that take 300 us, and 100 ms at these places."""
    measured = run(reads(times=histogram((300_000, usual), (100_000_000, slow))))
    (record,) = measured.phases
    return replace(measured, phases=(replace(record, measurement=replace(record.measurement, slow=_slow(places))),))


def _found(measured: Run) -> list[Finding]:
    return list(slow_region.detect(Facts(measured)))


def _size(measured: Run) -> int:
    return slow_region.region(measured.phases[0])[1]


def _places(seed: int, number: int, start: float, end: float) -> list[int]:
    """At random, from one share of the data to another."""
    drawn, size = random.Random(seed), _size(_run([]))
    return [int(drawn.uniform(start, end) * size) // 8192 * 8192 for _ in range(number)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("number", [8, 20, 64])
def test_slow_reads_in_one_place_are_told_with_it(seed: int, number: int) -> None:
    places = _places(seed, number, 0.5, 0.51)
    (finding,) = _found(_run(places))
    assert min(places) <= finding.evidence["start_bytes"] <= finding.evidence["end_bytes"] <= max(places) + 8192
    assert finding.state == "suggested"
    assert "about 100 ms there, 300 µs elsewhere" in finding.says


@pytest.mark.parametrize("seed", range(200))
def test_slow_times_at_any_place_are_chance(seed: int) -> None:
    assert _found(_run(_places(seed, 64, 0, 1))) == []


@pytest.mark.parametrize("seed", range(20))
def test_long_seeks_lie_at_both_ends(seed: int) -> None:
    both = _places(seed, 32, 0, 0.1) + _places(seed + 1, 32, 0.9, 1)
    random.Random(seed).shuffle(both)
    assert _found(_run(both)) == []


@pytest.mark.parametrize("seed", range(20))
def test_a_few_slow_places_among_many_slow_times(seed: int) -> None:
    """On a busy machine most of the slowest reads waited for something else, but not the very slowest."""
    (finding,) = _found(_run(_places(seed, 10, 0.5, 0.504) + _places(seed, 54, 0, 1)))
    assert finding.evidence["end_bytes"] - finding.evidence["start_bytes"] <= 0.004 * _size(_run([]))


def test_half_of_the_data_may_be_slow() -> None:
    places = _places(1, 64, 0.45, 1)
    (finding,) = _found(_run(places, usual=900, slow=1100))
    assert "300 µs elsewhere" in finding.says


def test_reads_that_are_hardly_slower_say_nothing() -> None:
    measured = run(reads(times=histogram((300_000, 2000))))
    (record,) = measured.phases
    places = _slow(_places(1, 64, 0.5, 0.51))
    same = replace(measured, phases=(replace(record, measurement=replace(record.measurement, slow=places)),))
    assert _found(same) == []


def test_the_experiment_reads_as_much_there_and_elsewhere() -> None:
    measured = _run(_places(1, 64, 0.5, 0.51))
    (finding,) = _found(measured)
    experiment = slow_region.confirm(measured, finding)
    assert experiment is not None
    elsewhere, there = experiment.arms
    assert elsewhere.region_size_bytes == there.region_size_bytes
    assert elsewhere.workload == there.workload
    start, end = finding.evidence["start_bytes"], finding.evidence["end_bytes"]
    assert start - 8192 <= there.region_start_bytes < end
    length = there.region_size_bytes
    assert length is not None
    assert elsewhere.region_start_bytes + length <= start or elsewhere.region_start_bytes >= end
    assert elsewhere.region_start_bytes + length <= _size(measured)
    assert slow_region.confirm(measured, replace(finding, evidence={"start_bytes": 0, "end_bytes": 8192})) is None
