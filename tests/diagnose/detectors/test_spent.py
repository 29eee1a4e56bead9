"""Credits and fast parts of flash: what all that ran before a row had spent of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted, two_bands
from makers.two_bands import Bands
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import credits, write_cliff
from iocast.diagnose.examination import examine
from iocast.model.experiment import Diagnosis
from iocast.model.run import PhaseRecord, Series
from iocast.model.workload import MixItem, Workload
from iocast.report.tested_section import conclusion

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
    assert all(each.remedy.startswith("Plan with the lower rate") for each in found), "they are spent already"


@pytest.mark.parametrize("beside", [FAST, DEEP], ids=["fast", "deep"])
def test_what_ran_beside_others_tells_nothing_of_credits(beside: PhaseRecord) -> None:
    rows = [replace(each, phase=replace(each.phase, together="b" if each is beside else "")) for each in (FAST, DEEP)]
    assert list(credits.detect(Facts(card_runs.run(*rows)))) == []


def test_a_fall_within_an_earlier_row_is_told_of_that_row_with_its_rate_before_it() -> None:
    """Stalls after the fall hide how constant the rate is, and the mean of the row is neither of the two rates."""
    first = _course(_reads("first", 650, 60), 1000, 300)
    ios = [*first.series.ios[:-24], *(each for _ in range(8) for each in (300, 200, 400))]
    first = replace(first, series=replace(first.series, ios=tuple(ios)))
    (found,) = credits.detect(Facts(card_runs.run(first, DEEP)))
    assert found.phase == "first"
    assert found.says.startswith("At t=30 s IOPS fell from 1,000 to 300 and stayed there within 0.1% on deep: credits ")
    assert found.says.endswith("a full bucket lasts 30 s at the burst rate.")
    assert found.evidence["credits"] == pytest.approx(30 * 700, rel=1e-3)


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


@pytest.mark.long
def test_credits_of_a_volume_that_holds_a_part_of_the_data() -> None:
    """The total is not constant: quick reads of the other volume come between the slow ones."""
    found = []
    for seed in range(900, 912):
        bands = two_bands.drawn(seed)
        run = card_runs.run(two_bands.row(bands, seed))
        for each in credits.detect(Facts(run)):
            assert each.evidence["baseline_per_s"] == pytest.approx(bands.baseline_per_s, rel=0.2)
            assert each.evidence["lasts_s"] == pytest.approx(bands.burst_s, rel=0.35)
            found.append(seed)
    assert len(found) >= 10


def test_a_device_that_slows_down_for_good_has_spent_no_credits() -> None:
    """Reads of 4 ms that take 14 ms from some moment on: their rate scatters as chance has it."""
    for seed in range(920, 932):
        slower = Bands(share=0, baseline_per_s=1, burst_per_s=1, burst_s=0, users=1, service_ns=4e6, slower=3.5)
        run = card_runs.run(two_bands.row(slower, seed))
        assert Facts(run).rows[0].drop is not None
        assert list(credits.detect(Facts(run))) == []


@pytest.mark.parametrize("device", ["nvme,iops=3000/s,credits=300/s:40000", "nvme,byte_credits=4MB/s:200MB"])
def test_credits_are_the_one_explanation_of_quick_and_slow_reads(device: str, tmp_path: Path) -> None:
    run = planted.measured(f"sim:{device}", planted.long(60), tmp_path)
    found = {each.code for each in examine(run).findings if each.state == "suggested"}
    assert found == {"burst_credits"}


@pytest.mark.long
def test_credits_that_run_out_in_a_short_row_ran_out_there(tmp_path: Path) -> None:
    """The rates of its intervals before the fall are alike, not sorted."""
    found = planted.suspected(planted.survey("sim:nvme,serialised=writes,credits=2000/s:60000,iops=10000/s", tmp_path))
    assert found["burst_credits"].says.startswith("At t=1.")


@pytest.mark.long
def test_reads_below_the_baseline_that_became_slower_too_have_spent_no_credits(tmp_path: Path) -> None:
    """Service times four times as long from 20 s on were "credits for about 571,013 I/Os … were spent by then", severe,
    and reads at an eighth of what was left were as much slower, which nobody paces."""
    run = planted.survey("sim:nvme,slow=20s..70s:4", tmp_path)
    found = planted.suspected(run)
    assert "burst_credits" not in found
    assert "cache_in_the_storage" not in found, "a small region as quick as the whole before the fall"
    told = conclusion(examine(run).findings, Diagnosis())
    assert told == "Only noted: several latency peaks; no suspicion to test.", "no anomaly, above two levels of a row"
