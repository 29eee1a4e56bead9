"""The letter for steadiness: what is too short, what settled, what drifted, and the cliff that may still come."""

from __future__ import annotations

import random
from collections.abc import Sequence

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.trust.steadiness import steady
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord, Series, SteadyEnd
from iocast.model.simulated_device import SimulatedCache

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
        ([1000.0 - at for at in range(300)], "D", "Not steady: "),
        ([1000.0 - at / 3 for at in range(300)], "C", "Five rounds agree, but it settled only after half of its time"),
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


def test_a_simulated_device_has_no_cliff() -> None:
    part = judged([1000.0] * 300, simulated=True)
    assert (part.grade, part.evidence["steady_from_ns"]) == ("A", 0.0)


@pytest.mark.parametrize(
    ("cache", "grade"),
    [
        (SimulatedCache(30.0, 1000), "A"),
        (SimulatedCache(30.0, 1000, write_back=True), "A"),
        (SimulatedCache(0.0, 1000, size_bytes=GIB), "B"),
        (SimulatedCache(0.0, 1000, write_back=True, dirty_bytes=GIB, destage_bytes_per_s=GIB), "B"),
    ],
)
def test_a_simulated_cache_that_can_be_full_has_a_cliff(cache: SimulatedCache, grade: str) -> None:
    assert card_runs.SIMULATED.simulated is not None
    target = replace(card_runs.SIMULATED, simulated=replace(card_runs.SIMULATED.simulated, cache=cache))
    record = replace(card_runs.reads(), series=series([1000.0] * 300))
    assert steady(Facts(card_runs.run(record, target=target)).row(record)).grade == grade


def test_writes_must_go_twice_over_the_device() -> None:
    record = card_runs.commits()
    found = judged([1000.0] * 300, record)
    assert found.reason.endswith("less than twice the size of the device was written.")
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
