"""Credits and fast parts of flash: what all that ran before a row had spent of them."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import credits, write_cliff
from iocast.model.run import PhaseRecord, Series
from iocast.model.workload import MixItem, Workload

SECOND_NS, GIB = card_runs.SECOND_NS, card_runs.GIB


def _course(record: PhaseRecord, *rates: int) -> PhaseRecord:
    """The row with half a minute of each rate."""
    ios = tuple(rate for rate in rates for _ in range(30))
    series = Series(
        interval_ns=SECOND_NS, ios=ios, bytes=tuple(8192 * each for each in ios), response_ns=(SECOND_NS,) * len(ios)
    )
    return replace(record, series=series)


def _reads(name: str, rate: int, seconds: int, **load: int) -> PhaseRecord:
    """Reads that came at one rate."""
    users = load.get("users", 1)
    times = card_runs.histogram((users * SECOND_NS // rate, rate * seconds))
    return _course(card_runs.reads(name, times=times, elapsed_ns=seconds * SECOND_NS, **load), rate)


FAST, DEEP = _reads("fast", 1000, 1), _reads("deep", 300, 30, users=8)
QUIET = _reads("quiet", 10, 100)  # brings back more than the fast row has spent


@pytest.mark.parametrize(("rows", "told"), [((FAST, DEEP), ["deep"]), ((FAST, QUIET, DEEP), [])])
def test_where_nothing_was_spent_no_credits_ran_out(rows: tuple[PhaseRecord, ...], told: list[str]) -> None:
    found = list(credits.detect(Facts(card_runs.run(*rows))))
    assert [each.phase for each in found] == told
    assert all(each.evidence["credits"] == pytest.approx(700) for each in found)


@pytest.mark.parametrize("beside", [FAST, DEEP], ids=["fast", "deep"])
def test_what_ran_beside_others_tells_nothing_of_credits(beside: PhaseRecord) -> None:
    rows = [replace(each, phase=replace(each.phase, together="b" if each is beside else "")) for each in (FAST, DEEP)]
    assert list(credits.detect(Facts(card_runs.run(*rows)))) == []


def test_what_a_warm_phase_did_was_spent_too() -> None:
    row, warm = _course(card_runs.reads("row"), 1000, 300), _reads("warm", 1000, 10)
    warm = replace(warm, phase=replace(warm.phase, role="warm"))
    (alone,), (after,) = (list(credits.detect(Facts(card_runs.run(*phases)))) for phases in ((row,), (warm, row)))
    assert alone.evidence["credits"] == pytest.approx(30 * 700)
    assert after.evidence["credits"] == pytest.approx(40 * 700)


def test_of_phases_at_once_the_time_counts_once() -> None:
    """Two that read 500 a second beside each other spend as much as one that reads 1,000."""
    row = _course(card_runs.reads("row"), 1000, 300)
    warm = [_reads(name, 500, 10) for name in ("one", "other")]
    both = [replace(each, phase=replace(each.phase, role="warm", together="both")) for each in warm]
    (found,) = credits.detect(Facts(card_runs.run(*both, row)))
    assert found.evidence["credits"] == pytest.approx(40 * 700)


def test_what_the_fill_wrote_is_part_of_the_volume_before_a_cliff() -> None:
    did = card_runs.measurement([card_runs.part("write", 8192, card_runs.histogram((1e6, 39_000)))])
    row = _course(card_runs.record("row", Workload(mix=(MixItem("write", 8192),)), did), 1000, 300)
    (alone,), (after,) = (
        list(write_cliff.detect(Facts(card_runs.run(*phases)))) for phases in ((row,), (card_runs.fill(8 * GIB), row))
    )
    assert alone.evidence["volume_bytes"] == 30 * 1000 * 8192
    assert after.evidence["volume_bytes"] == 30 * 1000 * 8192 + 8 * GIB
