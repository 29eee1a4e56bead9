"""The letter for steadiness: what is too short, what settled, what drifted, and the cliff that may still come."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from makers import card_runs
from makers.golden import Golden

from iocast.analyse.changepoint import Change
from iocast.analyse.facts import Facts
from iocast.analyse.steady import Steadiness
from iocast.diagnose.trust import steadiness
from iocast.diagnose.trust.steadiness import steady
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord, Series, SteadyEnd
from iocast.model.simulated_device import (
    SimulatedDrift,
    SimulatedLimit,
    SimulatedSlc,
    SimulatedSlow,
    SimulatedThin,
    SimulatedTier,
)
from iocast.model.target import Target

replace = msgspec.structs.replace
GIB = card_runs.GIB


def series(ios: Sequence[float], response_ns: int = 1_000_000) -> Series:
    counts = tuple(round(each) for each in ios)
    return Series(
        interval_ns=card_runs.SECOND_NS,
        ios=counts,
        bytes=tuple(8192 * each for each in counts),
        response_ns=tuple(response_ns * each for each in counts),
    )


def judged(ios: Sequence[float], record: PhaseRecord | None = None, *, simulated: bool = False) -> TrustComponent:
    record = replace(record or card_runs.reads(), series=series(ios))
    target = card_runs.SIMULATED if simulated else card_runs.TARGET
    return steady(Facts(card_runs.run(record, target=target)).row(record))


@pytest.mark.parametrize(
    ("ios", "grade", "says"),
    [
        ([], "C", "Too short to judge steadiness: 10 s; 30 s needed."),
        ([1000.0] * 3, "C", "Too short to judge steadiness: 3 s; 30 s needed."),
        ([1000.0] * 29, "C", "Too short to judge steadiness: 29 s; 30 s needed."),
        ([1000.0] * 30, "B", "Steady over 30 s; a later change is not excluded in less than 5 minutes."),
        ([1000.0] * 300, "B", "Steady, but a later cliff is not excluded: less than the whole"),
        ([500.0] * 50 + [1000.0] * 250, "B", "Steady, but a later cliff"),
        ([1000.0] * 200 + [700.0] * 100, "D", "Not steady: at t=200 s the rate fell by 30% and stayed there."),
        (
            [1000.0 + 300 * (at % 2) for at in range(14)] + [300.0] * 14,
            "D",
            "Not steady over 28 s: the rate was 74% lower in the second half",
        ),
        ([1000.0 - at for at in range(300)], "D", "Not steady: the rate fell gradually, by about 30% in all."),
        (
            [1000.0 - at / 3 for at in range(300)],
            "C",
            "Five rounds agree, but the rate fell gradually, by about 10% in",
        ),
        ([1000.0 + at for at in range(300)], "D", "Not steady: the rate rose gradually, by about 30% in all."),
        ([1000.0 - 8 * min(at, 40) for at in range(60)], "D", "Not steady: the rate fell gradually, by about 3"),
    ],
)
def test_letters(ios: list[float], grade: str, says: str) -> None:
    part = judged(ios)
    assert part.reason.startswith(says) or says in part.reason
    assert part.grade == grade


@pytest.mark.parametrize(
    ("warm_up_s", "says"),
    [
        (0, "Steady: 990 IOPS until t=30 s, 1,010 IOPS from then to t=60 s; a later change"),
        (
            60,
            "Steady after a warm-up of 60 s, left out: 990 IOPS until t=60 s, 1,010 IOPS from then to t=120 s; "
            "a later change",
        ),
    ],
)
def test_the_pair_that_agreed_is_told(warm_up_s: int, says: str) -> None:
    warm_up_ns = warm_up_s * card_runs.SECOND_NS
    end = SteadyEnd(rule="b3", reached=True, judged=2, from_ns=0, warm_up_ns=warm_up_ns, before=990.0, after=1010.0)
    part = judged([1000.0] * 60, replace(card_runs.reads(), steady=end))
    assert part.reason.startswith(says), part.reason
    told = {name: part.evidence[name] for name in ("before_doubling", "after_doubling", "warm_up_ns")}
    assert told == {"before_doubling": 990.0, "after_doubling": 1010.0, "warm_up_ns": warm_up_ns}


def test_a_simulated_device_may_have_a_cliff_too() -> None:
    part = judged([1000.0] * 300, simulated=True)
    assert (part.grade, part.evidence["steady_from_ns"]) == ("B", 0.0)
    assert "a later cliff is not excluded" in part.clause


def test_writes_must_go_twice_over_the_device(golden: Golden) -> None:
    record = card_runs.commits()
    found = judged([1000.0] * 300, record)
    golden(found.reason)
    assert found.evidence["device_bytes"] == 200 * GIB
    (part,) = record.measurement.classes
    record = replace(record, measurement=replace(record.measurement, classes=(replace(part, bytes=400 * GIB),)))
    assert judged([1000.0] * 300, record).grade == "A"


@pytest.mark.parametrize(
    ("read_gib", "data_gib", "grade"), [(7, 8, "B"), (8, 8, "B"), (319, 320, "B"), (320, 320, "A")]
)
def test_reads_must_pass_once_over_data_larger_than_any_cache(read_gib: int, data_gib: int, grade: str) -> None:
    record = card_runs.reads()
    (part,) = record.measurement.classes
    files = tuple(replace(file, size_bytes=data_gib * GIB) for file in record.plan.files)
    record = replace(
        record,
        plan=replace(record.plan, files=files),
        measurement=replace(record.measurement, classes=(replace(part, bytes=read_gib * GIB),)),
    )
    assert judged([1000.0] * 300, record).grade == grade


def test_an_open_loop_is_judged_by_its_response_and_needs_some_ios() -> None:
    record = card_runs.paced()
    slower = replace(series([1000.0] * 300), response_ns=tuple(10**9 * (1 + at // 150) for at in range(300)))
    record = replace(record, series=slower)
    part = steady(Facts(card_runs.run(record)).row(record))
    assert (part.grade, "the response time rose by 100%" in part.reason) == ("D", True)
    assert judged([1.0] * 300, record).reason == "Too few IOPS to judge steadiness."


def test_fine_intervals_make_a_row_no_longer() -> None:
    """80 intervals of 250 ms are 20 s, and still too short: the sentence must ask for more than was measured."""
    fine = replace(series([1000.0] * 80), interval_ns=card_runs.SECOND_NS // 4)
    record = replace(card_runs.reads(), series=fine)
    said = steady(Facts(card_runs.run(record)).row(record)).reason
    assert said == "Too short to judge steadiness: 20 s; 30 s needed."


def test_scatter_is_no_drift() -> None:
    """An open loop of 50 I/Os a second in a queue: halves of half a minute differ by a fifth, and nothing changed."""
    draw = random.Random(10)
    letters = [judged([draw.gauss(1000, 250) for _ in range(30)]).grade for _ in range(60)]
    assert letters.count("D") <= 3
    falls = [judged([draw.gauss(1400 - 30 * at, 100) for at in range(30)]).grade for _ in range(20)]
    assert falls.count("D") >= 19


SETTLED = Steadiness(
    length=60,
    cut=0,
    cut_valid=True,
    mean=1000.0,
    low=990.0,
    high=1010.0,
    half_width=0.01,
    lag_1=0.0,
    halves=0.0,
    drift=0.0,
    b3=True,
    snia=True,
    change=None,
)
UNSETTLED = replace(SETTLED, b3=False, snia=False)


def told(found: Steadiness, record: PhaseRecord | None = None, target: Target = card_runs.TARGET) -> TrustComponent:
    """The letter for a row of which this is known."""
    record = record or card_runs.reads()
    row = Facts(card_runs.run(record, target=target)).row(record)
    row.steadiness = found
    part = steady(row)
    assert part.code == "steady"
    unjudged = not record.series.ios or part.clause.startswith("too few IOPS")
    assert part.evidence.get("whole_intervals") == (None if unjudged else found.length), (
        "the figures go with every letter"
    )
    return part


def test_the_figures_behind_a_letter() -> None:
    found = replace(SETTLED, cut=5, half_width=math.nan, drift=-0.01)
    assert told(found) == TrustComponent(
        "steady",
        "B",
        "steady over 60 s from t=5 s on; a later change is not excluded in less than 5 minutes",
        {
            "whole_intervals": 60.0,
            "steady_from_ns": 5e9,
            "mean": 1000.0,
            "lowest_batch": 990.0,
            "highest_batch": 1010.0,
            "drift": -0.01,
        },
    )


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"change": Change(20, -0.3), "cut": 5}, "at t=25 s the rate fell by 30% and stayed there"),
        ({"change": Change(20, 0.5)}, "at t=20 s the rate rose by 50% and stayed there"),
        ({"cut_valid": False, "halves": 0.5}, "it did not settle in the first half of its time"),
        ({"halves": 0.25, "drift": -0.5}, "the rate was 20% lower in the second half than in the first"),
        ({"halves": -0.2}, "the rate was 25% higher in the second half than in the first"),
        ({"halves": -1.0}, "the rate was 100% higher in the second half than in the first"),
        ({"halves": -0.998}, "the rate was 500 times as high in the second half as in the first"),
        ({"change": Change(20, 499.0)}, "at t=20 s the rate rose to 500 times and stayed there"),
        ({"drift": -0.08, "half_width": 0.06}, "the rate drifted by 8%"),
        ({"half_width": 0.06, "lag_1": 1.0}, "the rate varied: its mean is only accurate to ±6%"),
        ({"lag_1": 0.7}, "the rate swung slowly (neighbouring intervals correlate by 0.7"),
        ({"half_width": math.nan, "lag_1": 0.7}, "the rate varied: its mean is only accurate to ±"),
    ],
)
def test_why_a_row_is_not_steady(change: dict[str, Any], why: str) -> None:
    found = replace(UNSETTLED, **change)
    part = told(replace(found, lag_1=found.lag_1 or 1.0))  # no chance
    assert (part.grade, part.clause.startswith(f"not steady: {why}")) == ("D", True), part.clause
    agreed = told(replace(found, snia=True, lag_1=found.lag_1 or 1.0))
    if found.change is None:
        assert (agreed.grade, agreed.clause.startswith(f"five rounds agree, but {why}")) == ("C", True)
    else:
        assert agreed.grade == "D"


@pytest.mark.parametrize(
    ("change", "chance"),
    [
        ({}, True),
        ({"lag_1": 0.49}, True),
        ({"lag_1": 0.50}, False),
        ({"half_width": 0.20}, True),
        ({"half_width": 0.21}, False),
        ({"halves": -0.2}, True),
        ({"halves": 0.2001}, False),
        ({"drift": 0.35}, True),
        ({"drift": -0.3501}, False),
        ({"change": Change(20, 0.5)}, False),
    ],
)
def test_what_a_row_moved_within_its_own_scatter_is_chance(
    golden: Golden, change: dict[str, Any], chance: bool
) -> None:
    part = told(replace(UNSETTLED, **{"half_width": 0.10, **change}))
    assert part.grade == ("C" if chance else "D")
    if chance:
        golden(part.clause)
        assert part.clause.endswith("% after 60 s")


@pytest.mark.parametrize(
    ("length", "halves", "grade"),
    [(20, 0.21, "D"), (20, -0.21, "D"), (20, 0.20, "C"), (19, 0.5, "C"), (29, 0.5, "D")],
)
def test_what_plainly_drifts_is_told_before_it_can_be_judged(length: int, halves: float, grade: str) -> None:
    short = replace(UNSETTLED, length=length, halves=halves)
    assert told(short).grade == grade
    assert told(replace(short, snia=True)).grade == "C"


@pytest.mark.parametrize(
    ("elapsed_ns", "why"),
    [
        (0, "steadiness unknown: no course over time was recorded"),
        (30 * card_runs.SECOND_NS, "steadiness unknown: no course over time was recorded"),
        (628_000_000, "too short to judge steadiness: 628 ms; 30 s needed"),
        (card_runs.SECOND_NS, "too short to judge steadiness: 1 s; 30 s needed"),
    ],
)
def test_without_a_course_the_length_says_why(elapsed_ns: int, why: str) -> None:
    record = card_runs.reads()
    record = replace(record, series=Series(), measurement=replace(record.measurement, elapsed_ns=elapsed_ns))
    assert told(SETTLED, record) == TrustComponent("steady", "C", why)


def test_five_rounds_that_agree_are_no_proof() -> None:
    end = SteadyEnd(rule="snia", reached=True, judged=2, from_ns=0)
    part = told(SETTLED, replace(card_runs.reads(), steady=end))
    assert (part.grade, part.clause) == ("C", "five rounds agree, which a slow drift can do too")
    unreached = replace(end, reached=False)
    assert told(SETTLED, replace(card_runs.reads(), steady=unreached)).grade == "B"


def test_a_pair_that_agrees_stands_for_the_rule_but_not_for_the_length() -> None:
    end = SteadyEnd(rule="b3", reached=True, judged=2, from_ns=0, before=990.0, after=1010.0)
    record = replace(card_runs.reads(), steady=end)
    assert told(UNSETTLED, record).grade == "B"
    assert told(replace(UNSETTLED, length=29), record).grade == "C"
    older = replace(record, steady=replace(end, before=None))
    assert told(UNSETTLED, older).grade != "B"
    assert told(SETTLED, older).clause.startswith("steady over 60 s; ")


def test_an_open_loop_is_told_by_its_response_times(golden: Golden) -> None:
    end = SteadyEnd(rule="b3", reached=True, judged=2, from_ns=0, before=1_000_000.0, after=2_000_000.0)
    paced = replace(card_runs.paced(), series=series([1000.0] * 60), steady=end)
    golden(told(SETTLED, paced).clause)
    drifts = replace(UNSETTLED, halves=0.25, lag_1=1.0)
    paced = replace(paced, steady=None)
    assert "the response time was 20% lower" in told(drifts, paced).clause


@pytest.mark.parametrize(("ios", "judged_at_all"), [(5, True), (4, False)])
def test_five_ios_in_each_interval_are_needed_in_an_open_loop(ios: int, judged_at_all: bool) -> None:
    part = told(SETTLED, replace(card_runs.paced(), series=series([ios] * 60)))
    assert (part.grade, part.clause != "too few IOPS to judge steadiness") == (
        "B" if judged_at_all else "C",
        judged_at_all,
    )


def test_a_warm_up_before_a_long_steady_row_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steadiness, "_cliffs", lambda *_: iter(()))
    part = told(replace(SETTLED, length=300, cut=40), target=card_runs.SIMULATED)
    assert (part.grade, part.clause) == ("A", "steady over 300 s from t=40 s on")
    assert told(replace(SETTLED, length=300), target=card_runs.SIMULATED).clause == "steady over 300 s"
    assert told(replace(SETTLED, length=299), target=card_runs.SIMULATED).grade == "B"


@pytest.mark.parametrize(
    "remembers",
    [
        {"slc": SimulatedSlc(GIB, GIB)},
        {"tier": SimulatedTier(GIB, 1000)},
        {"thin": SimulatedThin()},
        {"slow": SimulatedSlow(0, 1, 2.0)},
        {"drift": SimulatedDrift(2.0, 1)},
        {"limits": (SimulatedLimit("ios", 1000.0),)},
    ],
)
def test_a_simulated_device_that_remembers_has_a_cliff(remembers: dict[str, Any]) -> None:
    assert card_runs.SIMULATED.simulated is not None
    target = replace(card_runs.SIMULATED, simulated=replace(card_runs.SIMULATED.simulated, **remembers))
    part = told(replace(SETTLED, length=300), target=target)
    assert (part.grade, "a later cliff is not excluded" in part.clause) == ("B", True)


def test_the_size_of_a_device_is_that_of_all_its_disks(golden: Golden) -> None:
    long = replace(SETTLED, length=300)
    top = replace(card_runs.VDA1, lower=("sda", "sdb"))
    disks = tuple(replace(card_runs.VDA, name=name) for name in ("sda", "sdb"))
    target = replace(card_runs.TARGET, layers=(top, *disks))
    record = card_runs.commits()
    of_both = told(long, record, target).evidence
    assert (of_both["device_bytes"], of_both["written_bytes"]) == (400 * GIB, record.measurement.bytes)
    assert of_both["half_width"] == 0.01
    unknown = replace(card_runs.TARGET, layers=(top, disks[0], replace(disks[1], size_bytes=None)))
    part = told(long, record, unknown)
    assert (part.evidence["device_bytes"], part.grade) == (0, "B")
    golden(part.clause)
    bare = replace(card_runs.TARGET, layers=(), size_bytes=7 * GIB)
    assert told(long, record, bare).evidence["device_bytes"] == 7 * GIB


def test_the_cliffs_of_reads_are_told_with_their_figures(golden: Golden) -> None:
    long, record = replace(SETTLED, length=300), card_runs.reads()
    (part,) = record.measurement.classes
    whole = replace(record.measurement, classes=(replace(part, bytes=8 * GIB),))
    found = told(long, replace(record, measurement=whole))
    golden(found.clause)
    assert (found.evidence["read_bytes"], found.evidence["data_bytes"]) == (8 * GIB, 8 * GIB)
    assert told(long, record).clause.endswith("less than the whole of the data was read")


def test_long_intervals_need_a_longer_row(golden: Golden) -> None:
    record = replace(card_runs.reads(), series=replace(series([1000.0] * 29), interval_ns=10 * card_runs.SECOND_NS))
    golden(told(replace(UNSETTLED, length=29), record).clause)


@pytest.mark.parametrize(("at", "kept"), [(0, 1000), (40, 700), (59, 300), (59, 0)])
def test_one_stall_is_no_drift_wherever_it_lies(at: int, kept: int) -> None:
    rates = [1000.0 + 10 * (second % 3) for second in range(60)]
    rates[at] = kept
    part = judged(rates)
    assert part.grade in ("B", "C")
    assert "drifted" not in part.reason
    if at == 59:
        seen = "I/O stalled" if not kept else "the rate was 70% lower"
        assert (part.grade, part.reason) == ("C", f"Steady over 60 s but for 1 s at t=59 s, in which {seen}.")


def test_two_stalls_that_lie_in_two_intervals_each_are_no_drift() -> None:
    """Seen on a disk: a second in which nothing ended, twice, once near the end."""
    rates = [1000.0 + 10 * (second % 3) for second in range(60)]
    rates[17:19] = rates[57:59] = [560.0, 450.0]
    says = "Steady over 60 s but for 4 s between t=17 s and t=59 s, in which the rate was up to 55% lower."
    assert judged(rates).reason == says


def test_a_drift_is_a_drift_with_a_stall_in_it_too() -> None:
    rates = [1000.0 + 3 * second for second in range(60)]
    alone = judged(rates)
    rates[59] = 300.0
    assert alone.grade == judged(rates).grade == "D"
    assert "but for" not in judged(rates).reason


def test_a_stall_at_the_end_of_a_short_row_is_no_fall_of_its_second_half() -> None:
    rates = [1000.0 + 10 * (second % 3) for second in range(22)]
    assert judged([*rates[:11], *(each / 2 for each in rates[11:])]).grade == "D"
    assert judged([*rates[:21], 0.0]).reason == "Too short to judge steadiness: 22 s; 30 s needed."


def test_stalls_again_and_again_are_part_of_the_row() -> None:
    rates = [1000.0 + 10 * (second % 3) if second % 10 < 8 else 200.0 for second in range(60)]
    assert "but for" not in judged(rates).reason


def test_what_was_far_faster_at_first_was_no_warm_up() -> None:
    """A write cache that was full after 12 s: the row's mean is neither of its two rates."""
    part = judged([53_000.0] * 12 + [14_600.0 + 50 * (second % 3) for second in range(48)])
    assert (part.grade, part.reason) == (
        "D",
        "Not steady: the rate fell within the first 15 s, by 72%, and stayed there.",
    )
    assert judged([10_000.0] * 12 + [14_600.0] * 48).grade == "B", "a warm-up is slower"


@pytest.mark.parametrize("first", [14_600.0, 30_000.0, 52_000.0])
def test_how_far_a_rate_fell_counts_from_its_highest(golden: Golden, first: float) -> None:
    """It counted from the rates before the first slow interval: of one that began slowly "by 0%" was left."""
    part = judged([first, *[53_000.0] * 11, *(14_600.0 + 50 * (second % 3) for second in range(48))])
    golden(part.reason)
