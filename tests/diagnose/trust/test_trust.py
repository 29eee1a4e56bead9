"""The trust table: each component's letter at and beyond its thresholds, and the worst one wins."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import card_runs

from iocast import text
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import QuantileEstimate
from iocast.diagnose import examination, thresholds
from iocast.diagnose.trust import components, imported, row_trust
from iocast.model.codes import StateCode
from iocast.model.finding import GRADES, Finding, Grade
from iocast.model.measurement import ErrorCount, Generator
from iocast.model.run import PhaseRecord, Source
from iocast.model.workload import Closed, MixItem, Workload

replace = msgspec.structs.replace
SECOND_NS = card_runs.SECOND_NS
GIB = card_runs.GIB


def _with(record: PhaseRecord, **changes: Any) -> PhaseRecord:
    return replace(record, measurement=replace(record.measurement, **changes))


@pytest.mark.parametrize(("stretch", "grade"), [(1.0, "A"), (1.04, "B"), (1.09, "C"), (1.3, "D"), (2.0, "F")])
def test_integrity_is_littles_law(stretch: float, grade: str) -> None:
    record = card_runs.reads(users=8)
    longer_ns = int(record.measurement.elapsed_ns * stretch)
    record = _with(record, elapsed_ns=longer_ns, issuing_ns=longer_ns, depth_mean=8 / stretch)
    part = components.integrity(Facts(card_runs.run(record)).row(record))
    assert part.grade == grade
    assert part.evidence["little_ratio"] == pytest.approx(1 / stretch, rel=1e-3)


def _slowed(
    user_share: float,
    *,
    counted: float = 0.85,
    served: float = 0.85,
    system_share: float = 0.0,
    flags: tuple[str, ...] = (),
) -> RowFacts:
    """One thread with 32 places. So much of them was counted in flight, and is what the service times add up to."""
    times = card_runs.histogram((80_000, round(served * 32 * 10 * SECOND_NS / 80_000)))
    record = card_runs.reads(times=times, depth=32, elapsed_ns=10 * SECOND_NS)
    user_ns, system_ns = (round(share * 10 * SECOND_NS) for share in (user_share, system_share))
    made = Generator(threads=1, user_ns=user_ns, system_ns=system_ns)
    record = _with(record, engine=replace(record.measurement.engine, flags=flags))
    depth = counted * 32
    record = _with(record, depth_mean=depth, in_flight_ns=depth * 10 * SECOND_NS, issuing_ns=10 * SECOND_NS)
    return Facts(card_runs.run(_with(record, generator=made))).rows[0]


@pytest.mark.parametrize(
    ("row", "grade"),
    [
        (_slowed(0.4), "A"),  # the thread was busy for longer than the places were empty
        (_slowed(0.08), "C"),  # it was not: 7% are missing without a reason
        (_slowed(0.0), "D"),
        (_slowed(0.4, counted=1.0), "D"),  # all places were counted full: times are missing
        (_slowed(0.9, served=0.425), "F"),  # half of the I/Os are not in the histogram, but were counted
        (_slowed(0.4, counted=0.5), "F"),  # places were counted empty whose times are there
        (_slowed(0.1, counted=0.7), "D"),
        (_slowed(0.9, served=1.2), "D"),  # more time than there are places
    ],
)
def test_the_generators_own_time_is_no_fault_of_the_books(row: RowFacts, grade: str) -> None:
    """Only as far as both counts say so, that of the places and that of the thread's time."""
    assert components.integrity(row).grade == grade, components.integrity(row).clause


@pytest.mark.parametrize(
    ("flag", "counted", "served", "grade"),
    [
        ("refilled by 4 to 8", 0.85, 0.85, "A"),  # three of 32 are kept back while it waits, more while it submits
        ("", 0.85, 0.85, "D"),
        ("refilled by 4 to 8", 0.4, 0.4, "D"),  # a third of the time at work, and three places, are not 60%
        ("refilled by 4 to 8", 1.0, 0.85, "D"),  # the engine counted no empty place
        ("refilled by 4 to 8", 0.85, 0.425, "F"),
    ],
)
def test_a_queue_that_is_refilled_by_batches_is_no_fault_of_the_books(
    flag: str, counted: float, served: float, grade: str
) -> None:
    """The engine says that it does so (decision 12): on fast storage it leaves a seventh of a queue of 16 empty."""
    row = _slowed(0.02, counted=counted, served=served, system_share=0.3, flags=(flag,) if flag else ())
    assert components.integrity(row).grade == grade, components.integrity(row).clause
    said = components.load_achieved(row).clause
    assert said.endswith("the engine refills a queue of this depth by 4 to 8 I/Os at a time") == (
        bool(flag) and counted < 1
    )


def test_a_load_that_the_generator_kept_back_says_how_busy_it_was() -> None:
    part = components.load_achieved(_slowed(0.4))
    assert part.grade == "C"
    said = "85% of the requested load was achieved: 27.2 of 32 outstanding I/Os;"
    assert part.clause == f"{said} the test's thread was busy 40% of the time"
    assert components.load_achieved(_slowed(0.05)).clause.endswith("outstanding I/Os")


@pytest.mark.parametrize("ratio", [0.5, 1.25])
def test_of_an_imported_row_too_the_ratio_says_which_way_it_is_off(ratio: float) -> None:
    record = card_runs.reads(users=8)
    record = _with(record, elapsed_ns=round(record.measurement.elapsed_ns / ratio))
    part = imported.components(Facts(card_runs.run(record, source=Source(tool="fio"))).row(record))[0]
    assert (part.code, part.evidence["little_ratio"]) == ("integrity", pytest.approx(ratio, rel=1e-3))


@pytest.mark.parametrize(("ratio", "unstated", "grade"), [(0.59, True, "C"), (0.59, False, "F"), (1.5, True, "F")])
def test_of_a_job_that_may_have_paused_too_few_outstanding_ios_prove_nothing(
    ratio: float, unstated: bool, grade: str
) -> None:
    record = card_runs.reads()
    record = _with(record, elapsed_ns=round(record.measurement.elapsed_ns / ratio))
    record = replace(record, unstated=("arrival",) if unstated else ())
    part = imported.components(Facts(card_runs.run(record, source=Source(tool="fio"))).row(record))[0]
    assert part.grade == grade
    assert "1 was requested" in part.clause
    assert part.clause.endswith("; whether the job paused or had a rate is not stated") == (grade == "C")


@pytest.mark.parametrize(
    ("threads", "why"),
    [
        (1, ": other work shared this machine"),
        (32, ": its 32 threads shared 8 CPUs, perhaps with other work"),
    ],
)
def test_more_threads_than_cpus_wait_for_each_other_too(threads: int, why: str) -> None:
    record = card_runs.reads(users=threads)
    did = record.measurement
    made = Generator(threads=threads, queued_ns=did.elapsed_ns * threads // 2)
    part = components.load_achieved(Facts(card_runs.run(_with(record, generator=made))).rows[0])
    assert part.clause.endswith(why), part.clause


def test_integrity_counts_think_time() -> None:
    times = card_runs.histogram((1_000_000, 10_000))
    record = card_runs.reads(times=times, users=4, think_ns=3_000_000, elapsed_ns=10 * SECOND_NS)
    record = _with(record, depth_mean=1.0)
    run = card_runs.run(record)
    assert components.integrity(Facts(run).row(record)).grade == "A"
    assert components.load_achieved(Facts(run).row(record)).grade == "A"


def test_a_sync_that_follows_its_write_comes_without_think_time() -> None:
    """A log writer: 1 ms of writing, 1 ms of fdatasync, 2 ms of thought, by four users."""
    took = card_runs.histogram((1_000_000, 10_000))
    load = Workload(
        mix=(MixItem("write", 4096),), arrival=Closed(2_000_000), users=4, fsync_every=1, fsync_op="fdatasync"
    )
    parts = (card_runs.part("write", 4096, took), card_runs.part("fdatasync", 0, took))
    did = card_runs.measurement(parts, users=4, elapsed_ns=10 * SECOND_NS)
    record = card_runs.record("log 4k 4x1", load, did)
    row = Facts(card_runs.run(record)).row(record)
    assert components.integrity(row).grade == "A", components.integrity(row).reason
    assert components.load_achieved(row).grade == "A", components.load_achieved(row).reason


@pytest.mark.parametrize(("depth_mean", "grade"), [(1.0, "A"), (0.6, "D")])
def test_think_time_asks_for_the_depth_that_service_and_thinking_leave(depth_mean: float, grade: str) -> None:
    """Responses that count from a due time in the past would ask for more I/Os in flight than can be."""
    service = card_runs.histogram((1_000_000, 10_000))
    record = card_runs.reads(times=service, users=4, think_ns=3_000_000, elapsed_ns=10 * SECOND_NS)
    late = replace(record.measurement.classes[0], response=card_runs.histogram((9_000_000, 10_000)))
    record = _with(record, depth_mean=depth_mean, classes=(late,))
    part = components.load_achieved(Facts(card_runs.run(record)).row(record))
    assert part.evidence["asked"] == pytest.approx(1.0)
    assert components.limits.LOAD.grade(depth_mean) == grade


def test_integrity_of_an_open_loop_uses_time_in_flight_and_not_time_since_due() -> None:
    record = card_runs.paced()
    assert components.integrity(Facts(card_runs.run(record)).row(record)).grade == "A"


def test_what_drains_after_the_end_of_a_closed_loop_is_no_fault_of_its_books() -> None:
    """Sixteen users of a slow disk: the last I/Os come back long after the last one was issued."""
    times = card_runs.histogram((200_000_000, 96))
    record = card_runs.reads(times=times, users=16)
    issuing_ns, elapsed_ns = 1_100_000_000, 1_200_000_000
    record = _with(record, elapsed_ns=elapsed_ns, issuing_ns=issuing_ns, depth_mean=16.0, in_flight_ns=19.2e9)
    part = components.integrity(Facts(card_runs.run(record)).row(record))
    assert part.grade == "A"
    assert part.evidence["little_ratio"] == pytest.approx(1.0)


def test_an_open_loop_whose_books_do_not_balance() -> None:
    record = card_runs.paced()
    record = _with(record, in_flight_ns=record.measurement.in_flight_ns * 1.5)
    assert components.integrity(Facts(card_runs.run(record)).row(record)).grade == "F"


def test_one_failed_io_is_an_f() -> None:
    record = _with(card_runs.reads(), errors=(ErrorCount("read", 5, "EIO", 1, ()),))
    part = components.integrity(Facts(card_runs.run(record)).row(record))
    assert (part.grade, part.reason) == ("F", "1 I/O failed, so the response times are incomplete.")


@pytest.mark.parametrize(
    ("total", "sigma", "grade"),
    [
        (40_000, 0.3, "A"),
        (5_000, 0.1, "B"),
        (2_000, 0.1, "C"),
        (40_000, 3.0, "C"),
        (500, 0.1, "C"),
        (900, 0.1, "C"),
        (15, 0.1, "F"),
    ],
)
def test_precision_of_the_headline(total: int, sigma: float, grade: str) -> None:
    record = card_runs.reads(times=card_runs.lognormal(total, 1e6, sigma))
    assert components.precision(Facts(card_runs.run(record)).row(record)).grade == grade


@pytest.mark.parametrize(
    ("total", "sigma", "says"),
    [
        (1_500, 0.001, "Only 15 I/Os lie beyond the p99 of reads; a B needs 30."),
        (5_000, 0.001, "Only 50 I/Os lie beyond the p99 of reads; an A needs 100."),
        (40_000, 0.0, "The p99 of reads is accurate to ±0.1%."),
        (40_000, 0.3, "The p99 of reads is accurate to ±1%."),
        (40_000, 3.0, "; a B needs ±10%."),
        (12_000, 3.9, "; a C needs ±20%."),
    ],
)
def test_precision_names_what_made_its_letter(total: int, sigma: float, says: str) -> None:
    record = card_runs.reads(times=card_runs.lognormal(total, 1e6, sigma))
    assert components.precision(Facts(card_runs.run(record)).row(record)).reason.endswith(says)


def test_a_hair_beyond_a_limit_does_not_read_as_the_limit() -> None:
    estimate = components.QuantileEstimate(0.99, 1e6, 1e6 - 101_000, 1e6 + 101_000, 40_000)
    assert "accurate to just over 10%; a B needs ±10%" in components._precision_of(estimate, "read", estimate).reason


def test_rates_are_written_out() -> None:
    record = _with(card_runs.paced(), asked_rate_per_s=5000.0)
    part = components.load_achieved(Facts(card_runs.run(record)).row(record))
    assert part.reason == "58% of the requested load was achieved: 2,880 of 5,000 IOPS."


def test_precision_falls_back_to_what_the_row_still_prints() -> None:
    record = card_runs.reads(times=card_runs.lognormal(500, 1e6, 0.1))
    reason = components.precision(Facts(card_runs.run(record)).row(record)).reason
    assert reason.startswith("500 I/Os are too few for p99; the p95 of reads is accurate to ±")


@pytest.mark.parametrize(
    ("effective", "says"),
    [
        (12.0, "the 400 reads beyond the p99 came in bursts and count as 1 independent sample"),
        (160.0, "the 400 reads beyond the p99 came in bursts and count as 2 independent samples"),
    ],
)
def test_precision_names_clusters(effective: float, says: str) -> None:
    """The p99 has no upper bound although many I/Os lie beyond it; the p95 has one, and decides."""
    headline = components.QuantileEstimate(0.99, 2e6, 1e6, None, 40_000, effective)
    bounded = components.QuantileEstimate(0.95, 1e6, 0.99e6, 1.01e6, 40_000, effective)
    part = components._precision_of(bounded, "read", headline)
    assert part.reason == f"{says[0].upper()}{says[1:]}; the p95 of reads is accurate to ±1%."
    assert part.grade == "C"
    assert part.evidence == {
        "q": 0.95,
        "beyond": pytest.approx(2000),
        "effective_beyond": pytest.approx(effective / 20),
        "half_width": 0.01,
    }


@pytest.mark.parametrize(
    ("share", "grade"), [(1.0, "A"), (0.96, "A"), (0.91, "B"), (0.75, "C"), (0.55, "D"), (0.3, "F")]
)
def test_load_achieved_closed_and_open(share: float, grade: str) -> None:
    closed = card_runs.reads(users=4, depth=16)
    closed = _with(closed, depth_mean=64 * share)
    assert components.load_achieved(Facts(card_runs.run(closed)).row(closed)).grade == grade
    paced = card_runs.paced()
    paced = _with(paced, asked_rate_per_s=paced.measurement.rate_per_s / share)
    assert components.load_achieved(Facts(card_runs.run(paced)).row(paced)).grade == grade


def test_a_late_generator_spoils_the_load() -> None:
    late = card_runs.histogram((300, 900), (200_000, 100))
    record = _with(card_runs.reads(), lag=late)
    part = components.load_achieved(Facts(card_runs.run(record)).row(record))
    assert (part.grade, "late" in part.reason) == ("C", True)


def test_a_busy_generator_is_a_warning_but_not_on_virtual_time() -> None:
    record = card_runs.reads()
    record = _with(record, cpu_system_ns=record.measurement.elapsed_ns)
    assert components.load_achieved(Facts(card_runs.run(record)).row(record)).grade == "C"
    assert components.load_achieved(Facts(card_runs.run(record, target=card_runs.SIMULATED)).row(record)).grade == "A"


@pytest.mark.parametrize(("severity", "grade"), [("void", "F"), ("severe", "D"), ("warn", "C"), ("note", "B")])
def test_anomalies_follow_the_gravest_finding_of_the_phase_or_the_run(severity: Any, grade: str) -> None:
    record = card_runs.reads()
    others = Finding(code="x", severity="void", phase="another", says="Not here.")
    assert components.anomalies(record, (others,)).grade == "A"
    for phase in (record.phase.name, ""):
        found = Finding(code="x", severity=severity, phase=phase, says="Here.")
        assert components.anomalies(record, (others, found)).grade == grade


@given(st.lists(st.sampled_from(GRADES), min_size=1))
def test_the_worst_component_wins(grades: list[Grade]) -> None:
    assert thresholds.worst(*grades) == max(grades)


def test_a_simulated_row_may_earn_a_b_as_any_closed_storage() -> None:
    run = card_runs.run(card_runs.reads(), target=card_runs.SIMULATED)
    trust = examination.examine(run).trust["randread 8k"]
    assert trust.grade == "B"
    assert [part.code for part in trust.components] == [
        "integrity",
        "representative",
        "steady",
        "precision",
        "load_achieved",
        "isolation",
        "anomalies",
    ]


def test_every_threshold_names_its_source_and_orders_its_letters() -> None:
    table = [value for value in vars(thresholds).values() if isinstance(value, thresholds.Thresholds)]
    assert len(table) == 9
    for each in table:
        limits = [each.a, each.b, each.c, each.d]
        assert limits == sorted(limits, reverse=each.falling)
        assert each.source.startswith(("models", "[J]"))
        assert each.grade(float("nan")) == "F"


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (text.brief_percent(0.004), "0.4%"),
        (text.brief_percent(0.12), "12%"),
        (text.brief_percent(0.0001), "0.01%"),
        (text.brief_percent(0.00005), "0.005%"),
        (text.brief_percent(0.00049), "0.05%"),
        (text.brief_percent(0.000001), "below 0.001%"),
        (text.brief_percent(0.0), "0%"),
        (text.brief_percent(0.02), "2%"),
        (text.capacity(178 << 20), "178.0 MiB"),
        (text.capacity(25_200_000_000), "23.5 GiB"),
        (text.number(1000.0), "1,000"),
        (text.number(7.984), "7.98"),
        (text.brief_time(0), "0 s"),
        (text.brief_throughput(3.94e9), "3.9 GB/s"),
        (text.brief_time(4_000), "4 µs"),
        (text.counted(12_400, "I/O"), "12,400 I/Os"),
        (text.counted(1, "I/O"), "1 I/O"),
    ],
)
def test_figures_in_sentences(said: str, shown: str) -> None:
    assert said == shown


def _suspected(state: StateCode) -> Finding:
    return Finding(code="x", severity="void", phase="", says="It looks like memory.", state=state)


@pytest.mark.parametrize("state", ["counted", "confirmed"])
def test_what_is_certain_voids_a_row(state: StateCode) -> None:
    record = card_runs.reads()
    trust = row_trust.judge(Facts(card_runs.run(record)).row(record), (_suspected(state),))
    assert (trust.grade, trust.void, trust.reason) == ("F", "It looks like memory.", "It looks like memory.")


@pytest.mark.parametrize(("state", "anomalies"), [("suggested", "B"), ("rejected", "A")])
def test_a_suspicion_does_not_void_a_row(state: StateCode, anomalies: Grade) -> None:
    """What only looks like it costs no more than an A, whatever it would mean if it were true."""
    record = card_runs.reads()
    trust = row_trust.judge(Facts(card_runs.run(record)).row(record), (_suspected(state),))
    assert trust.void == ""
    assert [part.grade for part in trust.components if part.code == "anomalies"] == [anomalies]
    assert trust.grade != "F"


def test_what_voids_another_row_does_not_void_this_one() -> None:
    record = card_runs.reads()
    other = replace(_suspected("counted"), phase="another")
    assert row_trust.judge(Facts(card_runs.run(record)).row(record), (other,)).void == ""


def test_what_voids_a_row_is_told_by_its_code_and_leaves_its_components() -> None:
    record = card_runs.reads()
    row = Facts(card_runs.run(record)).row(record)
    found = replace(_suspected("counted"), code="page_cache", clause="it looks like memory")
    trust = row_trust.judge(row, (found,))
    assert (trust.void_by, trust.void_clause) == ("page_cache", "it looks like memory")
    assert [part.code for part in trust.components] == [part.code for part in row_trust.judge(row, ()).components]


def test_an_imported_row_is_judged_by_what_the_other_tool_states_and_by_its_findings() -> None:
    record = card_runs.reads()
    row = Facts(card_runs.run(record, source=Source(tool="fio"))).row(record)
    trust = row_trust.judge(row, (_suspected("counted"),))
    assert [part.code for part in trust.components[:-1]] == [part.code for part in imported.components(row)]
    assert (trust.components[-1].code, trust.components[-1].grade) == ("anomalies", "F")
    assert row_trust.judge(row, ()).components[-1].grade == "A"


@pytest.mark.parametrize(
    ("half", "says"),
    [(0.55, "accurate to ±55%"), (1.0, "accurate to ±100%"), (3.27, "unknown (it may be off by a factor of 4.27)")],
)
def test_beyond_100_percent_nothing_is_known(half: float, says: str) -> None:
    estimate = QuantileEstimate(0.5, 1e6, (1 - half) * 1e6, (1 + half) * 1e6, 10_000)
    assert says in components._precision_of(estimate, "read", estimate).clause
