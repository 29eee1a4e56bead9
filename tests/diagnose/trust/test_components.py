"""The components of trust that look at the measurement itself, each outcome as a whole: letter, sentence, figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from makers import card_runs, planted

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import QuantileEstimate
from iocast.diagnose.trust import components
from iocast.model.finding import Finding, TrustComponent
from iocast.model.measurement import ErrorCount, Generator
from iocast.model.run import PhaseRecord, Sample, Series
from iocast.model.tree import TreePlan

replace = msgspec.structs.replace
SECOND_NS = card_runs.SECOND_NS
NOTHING = card_runs.histogram()


def _row(record: PhaseRecord, *beside: PhaseRecord) -> RowFacts:
    return Facts(card_runs.run(record, *beside)).row(record)


def _with(record: PhaseRecord, **changes: Any) -> PhaseRecord:
    return replace(record, measurement=replace(record.measurement, **changes))


# Integrity.


def test_failed_ios_are_an_f_with_their_number() -> None:
    record = _with(card_runs.reads(), errors=(ErrorCount("read", 5, "EIO", 3, ()),))
    assert components.integrity(_row(record)) == TrustComponent(
        "integrity", "F", "3 I/Os failed, so the response times are incomplete", {"errors": 3}
    )


def test_a_row_without_an_io_is_an_f() -> None:
    record = card_runs.reads(times=NOTHING, elapsed_ns=SECOND_NS)
    assert components.integrity(_row(record)) == TrustComponent("integrity", "F", "no I/O completed")


def test_where_no_time_passed_littles_law_is_not_kept() -> None:
    part = components.integrity(_row(_with(card_runs.reads(), issuing_ns=0)))
    assert (part.grade, str(part.evidence["little_ratio"])) == ("F", "nan")


def test_littles_law_says_both_sides_and_whose_they_are() -> None:
    record = card_runs.reads(users=8, times=card_runs.histogram((1_000_000, 8_000)))
    record = _with(record, elapsed_ns=2 * SECOND_NS, issuing_ns=2 * SECOND_NS, depth_mean=4.0)
    part = components.integrity(_row(record))
    assert part.clause == "Little's law is off by 50%: rate x time gives 4 outstanding I/Os, 8 were requested"
    paced = card_runs.paced()
    paced = _with(paced, in_flight_ns=paced.measurement.in_flight_ns * 2, issuing_ns=10 * SECOND_NS)
    clause = components.integrity(_row(paced)).clause
    assert clause.startswith("Little's law is off by 50%: rate x time gives 0.775 ")
    assert clause.endswith("outstanding I/Os, 1.55 were counted")


def test_between_operations_in_a_tree_files_are_opened_which_nobody_counts() -> None:
    record = card_runs.reads(users=8, times=card_runs.histogram((1_000_000, 8_000)))
    record = _with(record, elapsed_ns=2 * SECOND_NS, issuing_ns=2 * SECOND_NS)
    record = _with(record, depth_mean=4.0, in_flight_ns=8 * SECOND_NS)
    judged = (components.integrity, components.load_achieved)
    assert [judge(_row(record)).grade for judge in judged] == ["F", "D"]
    record = replace(record, plan=replace(record.plan, tree=TreePlan(depth=1, width=1, files=8)))
    assert [judge(_row(record)).grade for judge in judged] == ["A", "A"]


# Precision.


SCAN = """
name = "scan"
[files]
size = "256GiB"
[[phase]]
test = "scan"
size = "1M"
pattern = "sequential"
time = "30s"
direct = true
"""
NO_SERIES = Series(interval_ns=SECOND_NS)


def _judged(*estimates: QuantileEstimate, **changes: Any) -> TrustComponent:
    """The precision of 40,000 reads whose percentiles 99, 95 and 50 are these."""
    row = _row(replace(card_runs.reads(), **changes))
    for estimate in estimates:
        row.keep(("quantile", "read", estimate.q), lambda known=estimate: known)
    return components.precision(row)


def test_without_response_times_there_is_nothing_to_judge() -> None:
    record = card_runs.reads(times=NOTHING, elapsed_ns=SECOND_NS)
    assert components.precision(_row(record)) == TrustComponent("precision", "F", "no response times to judge")


def test_too_few_ios_for_any_percentile() -> None:
    record = card_runs.reads(times=card_runs.histogram((1_000_000, 15)))
    assert components.precision(_row(record)) == TrustComponent(
        "precision", "F", "only 15 I/Os, too few for any percentile", {"ios": 15}, "Run the phase for longer."
    )


def test_the_operation_with_the_most_ios_is_judged() -> None:
    assert "of reads" in components.precision(_row(card_runs.mixed())).clause
    assert "of writes" in components.precision(_row(card_runs.commits())).clause


@pytest.mark.parametrize(("seconds", "lasted"), [(9, "9 s"), (0, "2.5 s")])
def test_a_row_of_fewer_than_ten_intervals_is_too_short_to_judge(seconds: int, lasted: str) -> None:
    """How its I/Os depend on each other is unknown then."""
    record = card_runs.reads(elapsed_ns=2_500_000_000)
    series = card_runs.steady_series(record.measurement, seconds) if seconds else Series(interval_ns=SECOND_NS)
    assert components.precision(_row(replace(record, series=series))) == TrustComponent(
        "precision", "C", f"too short to judge precision: {lasted}; 10 s needed", {"ios": 40_000}
    )
    enough = replace(record, series=card_runs.steady_series(record.measurement, 10))
    assert components.precision(_row(enough)).grade == "A"


def test_clusters_so_large_that_no_percentile_has_an_upper_bound() -> None:
    estimates = [QuantileEstimate(q, 1e6, None, None, 40_000, 8.0) for q in (0.99, 0.95, 0.50)]
    assert _judged(*estimates, series=NO_SERIES) == TrustComponent(
        "precision",
        "F",
        "the 20,000 reads beyond the p50 came in bursts and count as 4 independent samples: even its range is unknown",
        {"q": 0.5, "beyond": 20_000.0, "effective_beyond": 4.0, "half_width": -1.0},
        "Run the phase for longer.",
    )


@pytest.mark.parametrize(("half", "grade"), [(0.06, "C"), (0.3, "D")])
def test_a_percentile_in_place_of_the_p99_earns_a_c_at_best(half: float, grade: str) -> None:
    clustered = QuantileEstimate(0.99, 2e6, 1e6, None, 40_000, 100.0)
    bounded = QuantileEstimate(0.95, 1e6, 1e6 - half * 1e6, 1e6 + half * 1e6, 40_000, 100.0)
    part = _judged(clustered, bounded, series=NO_SERIES)
    assert (part.code, part.grade, part.evidence["q"]) == ("precision", grade, 0.95)
    assert part.evidence["half_width"] == pytest.approx(half)


@pytest.mark.parametrize("target", ["sim:hdd,size=4TiB,zones=1.8", "sim:hdd,size=4TiB,stripe=4:256KiB,zones=1.8"])
def test_a_drift_by_less_than_a_per_cent_leaves_a_percentile_known(target: str, tmp_path: Path) -> None:
    """A scan from the outer tracks inwards: each I/O takes a hair longer than those before, so all of a second count as
    one; but its p99 was the same within a per cent in every second."""
    run = planted.measured(target, SCAN, tmp_path)
    row = Facts(run).rows[0]
    estimate = row.quantile("read", 0.99)
    assert estimate.relative_half_width is None
    part = components.precision(row)
    assert (part.grade in ("A", "B"), part.evidence["q"]) == (True, 0.99)
    assert part.evidence["half_width"] < 0.02


def test_a_percentile_that_changed_within_a_row_is_known_as_far_as_it_changed(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,iops=1000/s,credits=200/s:8k", SCAN, tmp_path)
    part = components.precision(Facts(run).rows[0])
    assert part.grade in ("D", "F")


def test_no_percentile_is_known_better_than_its_bucket() -> None:
    sharp = QuantileEstimate(0.99, 1e6, 1e6, 1e6, 40_000, 40_000.0)
    part = _judged(sharp)
    assert (part.grade, part.clause) == ("A", "the p99 of reads is accurate to ±0.1%")
    assert part.evidence["half_width"] == 1 / 1024


@pytest.mark.parametrize(
    ("total", "grade", "needs"),
    [
        (10_000, "A", ""),
        (9_900, "B", "only 99 I/Os lie beyond the p99 of reads; an A needs 100"),
        (3_000, "B", "only 30 I/Os lie beyond the p99 of reads; an A needs 100"),
        (2_900, "C", "only 29 I/Os lie beyond the p99 of reads; a B needs 30"),
        (1_000, "C", "only 10 I/Os lie beyond the p99 of reads; a B needs 30"),
    ],
)
def test_a_hundred_ios_beyond_earn_an_a_and_thirty_a_b(total: int, grade: str, needs: str) -> None:
    sharp = QuantileEstimate(0.99, 1e6, 1e6, 1e6, total, float(total))
    part = _judged(sharp)
    assert (part.code, part.grade) == ("precision", grade)
    assert not needs or part.clause == needs
    assert part.evidence == {
        "q": 0.99,
        "beyond": pytest.approx(total / 100),
        "effective_beyond": pytest.approx(total / 100),
        "half_width": 1 / 1024,
    }


@pytest.mark.parametrize(
    ("half", "grade", "clause"),
    [
        (0.05, "A", "accurate to ±5%"),
        (0.08, "B", "accurate to ±8%; an A needs ±5%"),
        (0.100000001, "C", "accurate to just over 10%; a B needs ±10%"),
        (0.15, "C", "accurate to ±15%; a B needs ±10%"),
        (0.4, "D", "accurate to ±40%; a C needs ±20%"),
        (0.6, "F", "accurate to ±60%; a C needs ±20%"),
    ],
)
def test_the_width_of_the_interval_makes_the_letter_where_enough_lie_beyond(
    half: float, grade: str, clause: str
) -> None:
    part = _judged(QuantileEstimate(0.99, 1e6, (1 - half) * 1e6, (1 + half) * 1e6, 40_000, 40_000.0))
    assert (part.code, part.grade) == ("precision", grade)
    assert part.clause == f"the p99 of reads is {clause}"
    assert part.evidence["half_width"] == pytest.approx(half)


def test_a_row_of_thirty_ios_has_a_median() -> None:
    record = card_runs.reads(times=card_runs.histogram((1_000_000, 30)))
    part = components.precision(_row(record))
    assert (part.grade, part.evidence["q"]) == ("C", 0.5)
    assert part.clause.startswith("30 I/Os are too few for p99; the p50 of reads is accurate to ±")


# Load.


def test_arrivals_that_were_never_submitted_are_told() -> None:
    record = _with(card_runs.paced(), unsent_arrivals=12)
    part = components.load_achieved(_row(record))
    assert part == TrustComponent(
        "load_achieved",
        "A",
        "96% of the requested load was achieved: 2,880 of 3,000 IOPS; 12 arrivals due but never submitted",
        {"asked": 3000.0, "achieved": 2880.0, "unsent": 12},
    )


def test_outstanding_ios_are_the_load_of_a_closed_loop() -> None:
    part = components.load_achieved(_row(_with(card_runs.reads(users=4, depth=16), depth_mean=16.0)))
    assert part.clause == "25% of the requested load was achieved: 16 of 64 outstanding I/Os"
    assert (part.code, part.grade, part.evidence) == (
        "load_achieved",
        "F",
        {"asked": 64.0, "achieved": 16.0, "unsent": 0},
    )


def test_nothing_asked_is_nothing_achieved() -> None:
    assert components.load_achieved(_row(_with(card_runs.reads(), asked_depth=0))).grade == "F"


def _waiting(queued_share: float, *, threads: int = 1, **changes: Any) -> PhaseRecord:
    """Ten seconds of reads at depth 4, whose threads waited for a processor for a share of the time of their I/Os."""
    record = card_runs.reads(users=threads, depth=4, times=card_runs.histogram((1_000_000, 40_000 * threads)))
    service_ns = 40e9 * threads
    queued_ns = int(queued_share * service_ns / 4)
    made = Generator(threads=threads, queued_ns=queued_ns, involuntary_switches=77)
    return _with(record, generator=made, **changes)


@pytest.mark.parametrize(
    ("share", "grade"), [(0.10, "A"), (0.11, "B"), (0.26, "C"), (0.51, "D"), (0.81, "F"), (5.0, "F")]
)
@pytest.mark.parametrize("threads", [1, 4])
def test_threads_that_wait_for_a_processor_delay_all_of_their_ios(share: float, grade: str, threads: int) -> None:
    part = components.load_achieved(_row(_waiting(share, threads=threads)))
    assert (part.code, part.grade) == ("load_achieved", grade)
    if grade != "A":
        assert part.evidence == {"queued_ns": pytest.approx(share * 10e9 * threads), "switches": 77, "steal_share": 0.0}
        each = " each" if threads > 1 else ""
        whose = "the test's threads" if threads > 1 else "the test's thread"
        waited = f"{whose} waited {card_time(share * 10)}{each} for a CPU, {min(1.0, share):.0%} of the time"
        its = "their" if threads > 1 else "its"
        assert part.clause == f"{waited} of {its} I/Os: other work shared this machine"


@pytest.mark.parametrize(("threads", "says"), [(1, "waited 5 s for a CPU"), (2, "waited 2.5 s each for a CPU")])
def test_a_thread_that_waits_delays_no_more_than_the_one_io_that_it_has(threads: int, says: str) -> None:
    record = card_runs.reads(times=card_runs.histogram((1_000_000, 20_000)))
    made = Generator(threads=threads, queued_ns=5 * SECOND_NS)
    part = components.load_achieved(_row(_with(record, generator=made)))
    assert (part.grade, says in part.clause, "25% of the time" in part.clause) == ("B", True, True)


def test_processors_that_did_nothing_gave_nothing_away() -> None:
    record = _waiting(0.3)
    idle = _cpu(user=0.0, system=0.0, idle=0.0, iowait=0.0, steal=0.0)
    part = components.load_achieved(_row(replace(record, samples=record.samples + idle)))
    assert part.evidence["steal_share"] == 0.0


def card_time(seconds: float) -> str:
    """So many seconds, as a sentence has them."""
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"


def _cpu(**shares: float) -> tuple[Sample, ...]:
    return tuple(
        Sample(card_runs.START_UNIX_NS + at, "cpu", "", f"{name}_ns", 5e9 + (share * 10e9 if at else 0))
        for at in (0, 10 * SECOND_NS)
        for name, share in shares.items()
    )


@pytest.mark.parametrize(("steal", "told"), [(0.01, ""), (0.02, "; the hypervisor stole 2% of all CPU time")])
def test_time_that_the_hypervisor_took_is_told_beside_the_waits(steal: float, told: str) -> None:
    spent = _cpu(user=0.5, system=0.2, idle=0.2, iowait=0.1 - steal, steal=steal)
    record = _waiting(0.3)
    part = components.load_achieved(_row(replace(record, samples=record.samples + spent)))
    assert part.evidence["steal_share"] == pytest.approx(steal)
    assert part.clause.endswith(f"shared this machine{told}")


@pytest.mark.parametrize(("used", "grade"), [(0.85, "A"), (0.86, "C"), (1.3, "C")])
@pytest.mark.parametrize(("users", "cpus"), [(1, 8), (4, 8), (8, 2), (4, 1)])
def test_a_generator_that_is_busy_nearly_all_the_time(used: float, grade: str, users: int, cpus: int) -> None:
    """Its threads are as many as its users, but no more of them run than there are processors."""
    record = card_runs.reads(users=users, elapsed_ns=SECOND_NS, depth_mean=float(users))
    cpu_ns = used * min(users, cpus) * SECOND_NS
    record = _with(record, cpu_user_ns=int(cpu_ns / 4), cpu_system_ns=int(cpu_ns * 3 / 4))
    run = card_runs.run(record, host=replace(card_runs.HOST, cpus=cpus))
    part = components.load_achieved(Facts(run).row(record))
    assert (part.code, part.grade) == ("load_achieved", grade)
    if grade == "C":
        shown = f"{min(1.0, used):.0%}"
        whose, its = ("the test's threads", "their") if users > 1 else ("the test's thread", "its")
        assert part.clause == f"the row may be CPU-bound: {whose} used {shown} of {its} CPU time"
        assert part.evidence == {"cpu_share": pytest.approx(used)}


@pytest.mark.parametrize(("ios", "q", "one_in"), [(40_000, 99, 100), (500, 95, 20), (30, 50, 2), (15, 50, 2)])
def test_a_late_machine_is_judged_at_the_highest_percentile_that_it_has(ios: int, q: int, one_in: int) -> None:
    times = card_runs.histogram((1_000_000, ios))
    record = _with(card_runs.reads(times=times), lag=card_runs.histogram((300_000, ios)))
    part = components.load_achieved(_row(record))
    assert (part.code, part.grade) == ("load_achieved", "C")
    assert part.evidence["percentile"] == q
    assert part.evidence["lag_ns"] == pytest.approx(300_000, rel=0.01)
    assert part.evidence["response_ns"] == pytest.approx(1_000_000, rel=0.01)
    assert part.clause == (
        f"this machine submitted one I/O in {one_in} at least 300 µs late: 30% of the p{q} response time of 1 ms is its"
        " own delay"
    )


def test_of_responses_of_no_time_a_lag_is_no_share() -> None:
    record = _with(card_runs.reads(times=card_runs.histogram((0, 40_000)), elapsed_ns=SECOND_NS), depth_mean=1.0)
    assert components.load_achieved(_row(record)).grade == "A"


def test_an_unknown_lag_is_no_lag() -> None:
    assert components.load_achieved(_row(_with(card_runs.reads(), lag=NOTHING))).grade == "A"


# Anomalies.


def test_the_gravest_anomaly_is_named_with_its_finding() -> None:
    record = card_runs.reads()
    assert components.anomalies(record, ()) == TrustComponent("anomalies", "A", "no anomaly found")
    note = Finding(code="page_cache", severity="note", phase="", says="A note.")
    warn = Finding(code="free_flushes", severity="warn", phase=record.phase.name, says="A warning.", clause="a warning")
    assert components.anomalies(record, (note, warn)) == TrustComponent(
        "anomalies", "C", "a warning", {"findings": 2.0}, "", "free_flushes"
    )
    assert components.anomalies(record, (note,)) == TrustComponent(
        "anomalies", "B", "", {"findings": 1.0}, "A note.", "page_cache"
    )
    rejected = replace(warn, state="rejected")
    assert components.anomalies(record, (rejected,)).grade == "A"
