"""The components of trust that look at the measurement itself: a letter, and in one sentence why."""

from __future__ import annotations

import math

from iocast.analyse import load_kind
from iocast.analyse.facts import RowFacts
from iocast.analyse.statistics import FALLBACK_QS, HEADLINE_Q, LEAST_INTERVALS, QuantileEstimate, enough_beyond
from iocast.diagnose import thresholds as limits
from iocast.diagnose.evidence import cpu_words
from iocast.diagnose.limits.by_load import own_threads
from iocast.diagnose.limits.own_group import held_by_quota
from iocast.model.finding import GRADES, Finding, Grade, TrustComponent
from iocast.model.histogram import SUB_BUCKETS
from iocast.model.run import PhaseRecord
from iocast.model.workload import Closed, Op
from iocast.text import brief_percent, brief_time, counted, number

HALF = 0.5  # of what is missing of a load: the cause of it
BUCKET_HALF_WIDTH = 1 / (2 * SUB_BUCKETS)  # of a histogram: no percentile is known better


def integrity(row: RowFacts) -> TrustComponent:
    """Little's law: the outstanding I/Os must equal rate x time; any failed I/O breaks the books. What the places of a
    closed loop waited for the test's own threads is no fault of the books: that is judged as load."""
    did = row.measurement
    if did.error_count:
        failed = counted(did.error_count, "I/O")
        return TrustComponent(
            "integrity", "F", f"{failed} failed, so the response times are incomplete", {"errors": did.error_count}
        )
    if not did.ios:
        return TrustComponent("integrity", "F", "no I/O completed")
    kept_ns, expected_ns, whose = _time_in_flight(row)
    ratio = kept_ns / expected_ns if expected_ns else float("nan")
    off, own = abs(ratio - 1.0), _own_share(row) if ratio < 1.0 else 0.0
    missing = brief_percent(off)
    if own:
        # What is left when the test's own time is taken off, or by how much the counted places differ from the times.
        counted_ns = did.depth_mean * did.issuing_ns + _thought_ns(row)
        off = max(0.0, off - own, abs(kept_ns - counted_ns) / expected_ns)
    span_ns = max(1, did.issuing_ns)
    clause = (
        f"Little's law is off by {missing}: rate x time gives {number(kept_ns / span_ns)} outstanding I/Os,"
        f" {number(expected_ns / span_ns)} {'was' if expected_ns == span_ns else 'were'} {whose}"
    )
    clause += f"; the test's own work explains {brief_percent(own)}" if own else ""
    evidence = {"little_ratio": ratio, "own_share": own} if own else {"little_ratio": ratio}
    return TrustComponent("integrity", limits.LITTLE_ERROR.grade(off), clause, evidence)


def _own_share(row: RowFacts) -> float:
    """The share of its places that a closed loop had empty because of the test itself; 0 where that is not known.

    Two counts must agree: of the I/Os in flight, and of what the test did. While a thread works outside of the kernel,
    or has no processor, at most all of its places are empty. An engine that refills a deep queue by batches leaves one
    less than a batch empty while it waits, and what is beyond a batch while it submits that.
    """
    did, generator = row.measurement, row.measurement.generator
    if row.is_open_loop or not generator.threads or not did.issuing_ns or not did.elapsed_ns:
        return 0.0
    least, by_batches = load_kind.refilled_by(did)
    worked_ns = generator.user_ns + generator.queued_ns + (generator.system_ns if by_batches else 0)
    busy = min(1.0, worked_ns / generator.threads / did.elapsed_ns)
    most = busy + (1.0 - busy) * (least - 1) / max(least, row.record.plan.depth)
    asked_ns = did.asked_depth * did.issuing_ns
    empty_ns = asked_ns - did.depth_mean * did.issuing_ns - _thought_ns(row)
    return max(0.0, min(empty_ns / asked_ns, most))


def _time_in_flight(row: RowFacts) -> tuple[float, float, str]:
    """Little's law as two areas (I/Os x ns): what all service times add up to, and what they should."""
    did = row.measurement
    served_ns = float(row.service().sum_ns)
    if row.is_open_loop:
        return served_ns, did.in_flight_ns, "counted"
    # A closed loop is full only while it issues, so what drains afterwards is left out; a user who thinks
    # holds his place.
    drained_ns = max(0.0, did.in_flight_ns - did.depth_mean * did.issuing_ns)
    thought_ns = float(_thought_ns(row))
    return served_ns - drained_ns + thought_ns, float(did.asked_depth * did.issuing_ns), "requested"


def precision(row: RowFacts) -> TrustComponent:
    """How far chance alone can have moved the headline percentile, or the highest that is bounded at all."""
    op, every = row.main_op, row.percentiles
    ios = every[0].total
    if not ios:
        return TrustComponent("precision", "F", "no response times to judge")
    published = [each for each in every if each.enough]
    if not published:
        few = f"only {counted(ios, 'I/O')}, too few for any percentile"
        return TrustComponent("precision", "F", few, {"ios": ios}, "Run the phase for longer.")
    if published[0].effective is None:
        lasted_ns = row.record.series.elapsed_ns or row.measurement.elapsed_ns
        needed_ns = LEAST_INTERVALS * row.record.series.interval_ns
        clause = f"too short to judge precision: {brief_time(lasted_ns)}; {brief_time(needed_ns)} needed"
        return TrustComponent("precision", "C", clause, {"ios": ios})
    ranged = row.percentile_range
    bounded = next((each for each in published if each.relative_half_width is not None), None)
    parts = [_precision_of(bounded, op, every[0])] if bounded is not None else []
    if ranged is not None:
        parts.append(_precision_of(ranged, op, ranged if published[0] is every[0] else every[0]))
    if not parts:
        clause = f"{_dependent(published[-1], op)}: even its range is unknown"
        return TrustComponent("precision", "F", clause, _figures(published[-1], None), "Run the phase for longer.")
    return min(parts, key=lambda part: GRADES.index(part.grade))


def _figures(estimate: QuantileEstimate, half: float | None) -> dict[str, float]:
    return {
        "q": estimate.q,
        "beyond": estimate.beyond,
        "effective_beyond": estimate.effective_beyond or 0.0,
        "half_width": -1.0 if half is None else half,
    }


def _dependent(estimate: QuantileEstimate, op: Op) -> str:
    """Why a percentile has no upper bound: slow I/Os come together, so that they count for few."""
    beyond = number(round(estimate.beyond))
    weigh = counted(max(1, round(estimate.effective_beyond or 0.0)), "independent sample")
    return f"the {beyond} {op}s beyond the p{estimate.q * 100:g} came in bursts and count as {weigh}"


def _label(q: float, op: Op) -> str:
    return f"p{q * 100:g} of {op}s"


def _precision_of(estimate: QuantileEstimate, op: Op, headline: QuantileEstimate) -> TrustComponent:
    half = max(estimate.relative_half_width or 0.0, BUCKET_HALF_WIDTH)
    figures, label = _figures(estimate, half), _label(estimate.q, op)
    width = limits.HALF_WIDTH.grade(half)
    if estimate is not headline:
        why = _dependent(headline, op) if headline.enough else f"{counted(estimate.total, 'I/O')} are too few for p99"
        clause = f"{why}; the {label} is {_known(half)}"
        return TrustComponent("precision", limits.worst(width, "C"), clause, figures)
    enough = limits.BEYOND.grade(estimate.beyond + 1e-9)
    if limits.worst(width, enough) != width:
        better, needed = limits.BEYOND.next_better(enough)
        # A hair below a limit must not read as the limit itself.
        beyond = number(math.floor(estimate.beyond + 1e-9))
        clause = f"only {beyond} I/Os lie beyond the {label}; {_a_letter(better)} needs {number(needed)}"
        return TrustComponent("precision", enough, clause, figures)
    if width == "A":
        return TrustComponent("precision", width, f"the {label} is accurate to ±{brief_percent(half)}", figures)
    better, needed = limits.HALF_WIDTH.next_better(width)
    # A hair beyond a limit must not read as the limit itself.
    known = f"just over {brief_percent(half)}" if brief_percent(half) == brief_percent(needed) else ""
    clause = f"the {label} is {_known(half, known)}; {_a_letter(better)} needs ±{brief_percent(needed)}"
    return TrustComponent("precision", width, clause, figures)


def _known(half: float, shown: str = "") -> str:
    """How well a percentile is known: beyond 100% it is not."""
    return (
        f"unknown (it may be off by a factor of {number(1 + half)})"
        if half > 1
        else f"accurate to {shown or f'±{brief_percent(half)}'}"
    )


def _a_letter(grade: Grade) -> str:
    return f"an {grade}" if grade in "AF" else f"a {grade}"


def load_achieved(row: RowFacts) -> TrustComponent:
    """Whether the load that was asked for was the load that the target got."""
    did = row.measurement
    if did.replay is not None and not did.asked_rate_per_s:
        wanted, got, what = float(did.replay.replayed), float(did.ios), "I/Os of the trace"
    elif did.asked_rate_per_s:
        wanted, got, what = did.asked_rate_per_s, row.paced_rate_per_s, row.paced_unit
    else:
        wanted, got, what = _depth_expected(row), did.depth_mean, "outstanding I/Os"
    share = got / wanted if wanted else 0.0
    own = _own_words(row) if what == "outstanding I/Os" else ""
    unsent = f"; {counted(did.unsent_arrivals, 'arrival')} due but never submitted" if did.unsent_arrivals else ""
    worst = TrustComponent(
        "load_achieved",
        limits.LOAD.grade(share),
        f"{brief_percent(share)} of the requested load was achieved: {number(got)} of {number(wanted)} {what}"
        f"{unsent}{own}",
        {"asked": wanted, "achieved": got, "unsent": did.unsent_arrivals},
    )
    if row.facts.simulated:
        return worst
    for other in (_lag(row), _preempted(row), _generator_cpu(row)):
        if other is not None and limits.worst(worst.grade, other.grade) != worst.grade:
            worst = other
    return worst


def _own_words(row: RowFacts) -> str:
    """Where most of what is missing of a load is the test's own doing: how it refills, or how busy its threads were."""
    did, own = row.measurement, _own_share(row)
    if not own or own < HALF * (1.0 - did.depth_mean / _depth_expected(row)):
        return ""
    if by_batches := load_kind.refilled_by(did)[1]:
        return f"; the engine refills a queue of this depth by {by_batches} I/Os at a time"
    share = did.generator.user_ns / did.generator.threads / did.elapsed_ns
    were = "was" if did.generator.threads == 1 else "were"
    waited = f" and waited for a CPU {brief_percent(did.queued_share)}" if did.queued_share > share else ""
    return f"; {own_threads(did.generator.threads)} {were} busy {brief_percent(share)} of the time{waited}"


def _depth_expected(row: RowFacts) -> float:
    """The depth of a closed loop, less the part of the time that its users spend thinking."""
    served_ns, thought_ns = row.service().sum_ns, _thought_ns(row)
    depth = float(row.measurement.asked_depth)
    return depth * served_ns / (served_ns + thought_ns) if thought_ns and served_ns > 0 else depth


def _thought_ns(row: RowFacts) -> int:
    """All think time of a row. A sync that follows its write comes without a pause. Sessions of a database have work
    of their own between statements, and users of a tree open and close files between operations: no fault of the load.
    """
    arrival, did = row.workload.arrival, row.measurement
    between = row.record.phase.database is not None or row.record.plan.tree is not None
    if between and isinstance(arrival, Closed):
        drained_ns = max(0.0, did.in_flight_ns - did.depth_mean * did.issuing_ns)
        return max(0, round(did.asked_depth * did.issuing_ns - row.service().sum_ns + drained_ns))
    return row.paced_ios * arrival.think_ns if isinstance(arrival, Closed) else 0


def _lag(row: RowFacts) -> TrustComponent | None:
    lag, response = row.measurement.lag, row.response()
    if not lag.total or not response.total:
        return None
    q = next((q for q in (HEADLINE_Q, *FALLBACK_QS) if enough_beyond(lag.total, q)), FALLBACK_QS[-1])
    late_ns, response_ns = lag.quantile_ns(q), response.quantile_ns(q)
    share = late_ns / response_ns if response_ns else 0.0
    clause = (
        f"this machine submitted one I/O in {1 / (1 - q):.0f} at least {brief_time(late_ns)} late:"
        f" {brief_percent(share)} of the"
        f" p{q * 100:.0f} response time of {brief_time(response_ns)} is its own delay"
    )
    figures = {"lag_ns": late_ns, "response_ns": response_ns, "percentile": q * 100}
    return TrustComponent("load_achieved", limits.LAG.grade(share), clause, figures)


def _preempted(row: RowFacts) -> TrustComponent | None:
    """The part of the I/Os' time in which their thread was ready to go on and had no processor."""
    did, generator = row.measurement, row.measurement.generator
    service_ns = row.service().sum_ns
    if not generator.threads or not service_ns:
        return None
    share = min(1.0, generator.queued_ns * max(1.0, did.depth_mean / generator.threads) / service_ns)
    each = (
        f"{brief_time(generator.queued_ns / generator.threads)} each"
        if generator.threads > 1
        else brief_time(generator.queued_ns)
    )
    steal = row.processors.stolen_share or 0.0
    taken = f"; the hypervisor stole {brief_percent(steal)} of all CPU time" if steal > limits.STEAL_TOLD else ""
    cpus = row.run.host.cpus
    crowd = f"its {generator.threads} threads shared {counted(cpus, 'CPU')}, perhaps with other work"
    why = crowd if generator.threads > cpus > 0 else "other work shared this machine"
    why = cpu_words(row) if held_by_quota(row) else why
    clause = (
        f"{own_threads(generator.threads)} waited {each} for a CPU, {brief_percent(share)} of the time of"
        f" {'its' if generator.threads == 1 else 'their'} I/Os: {why}{taken}"
    )
    figures = {"queued_ns": generator.queued_ns, "switches": generator.involuntary_switches, "steal_share": steal}
    return TrustComponent("load_achieved", limits.LAG.grade(share), clause, figures)


def _generator_cpu(row: RowFacts) -> TrustComponent | None:
    # The CPU time of phases that ran concurrently is that of the process, and so of the threads of all of them.
    did = row.seen_by_devices.measurement
    threads = min(max(1, len(did.users)), max(1, row.run.host.cpus))
    if not did.elapsed_ns:
        return None
    share = (did.cpu_user_ns + did.cpu_system_ns) / did.elapsed_ns / threads
    if share <= limits.BUSY_GENERATOR:
        return None
    users = max(1, len(did.users))
    whose = "its" if users == 1 else "their"
    clause = f"the row may be CPU-bound: {own_threads(users)} used {brief_percent(min(1.0, share))} of {whose} CPU time"
    return TrustComponent("load_achieved", "C", clause, {"cpu_share": share})


def anomalies(record: PhaseRecord, findings: tuple[Finding, ...]) -> TrustComponent:
    """The gravest finding about the phase, or about the whole run; what is only suggested costs no more than an A."""
    own = [f for f in findings if f.phase in (record.phase.name, "") and f.state != "rejected"]
    if not own:
        return TrustComponent("anomalies", "A", "no anomaly found")
    gravest = max(own, key=lambda finding: "ABCDF".index(_weight(finding)))
    more = "" if gravest.clause else gravest.says
    evidence = {"findings": float(len(own))}
    return TrustComponent("anomalies", _weight(gravest), gravest.clause, evidence, more, gravest.code)


def _weight(finding: Finding) -> Grade:
    return limits.ANOMALY[finding.severity] if finding.certain else limits.ANOMALY["note"]
