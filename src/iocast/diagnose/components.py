"""The components of trust, one function each: a letter, and in one sentence why."""

from __future__ import annotations

from iocast.analyse.device import DeviceIo, under_filesystem
from iocast.analyse.statistics import QuantileEstimate, quantile_interval
from iocast.diagnose import thresholds as limits
from iocast.diagnose.evidence import (
    bytes_of,
    data_bytes,
    is_open_loop,
    only_reads,
    read_share_of_device,
    really_direct,
    simulated,
)
from iocast.diagnose.words import count, data_size, percent, time
from iocast.model.finding import Finding, Grade, TrustComponent
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed, Op, Payload, Repeated, Zeros

OPS: tuple[Op, ...] = ("read", "write", "fsync", "fdatasync")


def integrity(run: Run, record: PhaseRecord) -> TrustComponent:
    """Little's law: the I/Os in flight must equal rate x time; any failed I/O breaks the books."""
    name, did = "integrity", record.measurement
    if did.error_count:
        failed = count(did.error_count, "I/O")
        return TrustComponent(
            name, "F", f"{failed} failed, so the times are not all of them.", {"errors": did.error_count}
        )
    if not did.ios:
        return TrustComponent(name, "F", "Not one I/O was completed.")
    kept_ns, expected_ns, whose = _time_in_flight(record)
    ratio = kept_ns / expected_ns if expected_ns else float("nan")
    off = abs(ratio - 1.0)
    span_ns = max(1, did.issuing_ns)
    reason = (
        f"Rate x time makes {kept_ns / span_ns:.3g} I/Os in flight where {expected_ns / span_ns:.3g}"
        f" were {whose}: {percent(off)} off (Little's law)."
    )
    return TrustComponent(name, limits.LITTLE_ERROR.grade(off), reason, {"little_ratio": ratio})


def _time_in_flight(record: PhaseRecord) -> tuple[float, float, str]:
    """Little's law as two areas (I/Os x ns): what all service times add up to, and what they should."""
    did = record.measurement
    served_ns = float(did.service().sum_ns)
    if is_open_loop(record):
        return served_ns, did.in_flight_ns, "counted"
    # A closed loop is full only while it issues, so what drains afterwards is left out; a user who thinks
    # holds his place.
    drained_ns = max(0.0, did.in_flight_ns - did.depth_mean * did.issuing_ns)
    thought_ns = did.ios * float(_think_ns(record))
    return served_ns - drained_ns + thought_ns, float(did.asked_depth * did.issuing_ns), "asked for"


def precision(run: Run, record: PhaseRecord) -> TrustComponent:
    """How far chance alone can have moved the headline percentile."""
    name, did = "precision", record.measurement
    op = max(OPS, key=lambda each: did.response(each).total)
    histogram = did.response(op)
    if not histogram.total:
        return TrustComponent(name, "F", "There is no response time to judge.")
    for q in (limits.HEADLINE_Q, *limits.FALLBACK_QS):
        estimate = quantile_interval(histogram, q)
        if estimate.beyond >= limits.MIN_BEYOND - 1e-9:
            return _precision_of(estimate, op)
    few = f"Only {count(histogram.total, 'I/O')}: too few for any percentile. Give the phase more time."
    return TrustComponent(name, "F", few, {"ios": histogram.total})


def _precision_of(estimate: QuantileEstimate, op: Op) -> TrustComponent:
    half = estimate.relative_half_width
    figures = {"q": estimate.q, "beyond": estimate.beyond, "half_width": -1.0 if half is None else half}
    headline = estimate.q == limits.HEADLINE_Q
    label = f"p{estimate.q * 100:g} of {op}s"
    beyond = f"{count(estimate.beyond, 'I/O')} beyond it"
    if half is None:
        return TrustComponent("precision", "F", f"The {label} has no upper bound ({beyond}).", figures)
    grade = limits.worst(limits.HALF_WIDTH.grade(half), limits.BEYOND.grade(estimate.beyond + 1e-9))
    if not headline:
        few = f"{count(estimate.total, 'I/O')} are too few for a p99"
        reason = f"{few}; the {label} is known to ±{percent(half)}."
        return TrustComponent("precision", limits.worst(grade, "C"), reason, figures)
    return TrustComponent("precision", grade, f"The {label} is known to ±{percent(half)} ({beyond}).", figures)


def representative(run: Run, record: PhaseRecord) -> TrustComponent:
    """Whether what was exercised is the storage that a database would meet."""
    name = "representative"
    if simulated(run):
        return TrustComponent(name, "A", "The simulated device answers exactly as described.")
    missing = [*_payload_faults(run, record), *_layout_faults(run, record)]
    if record.phase.workload.direct and not really_direct(run, record):
        missing.append("direct I/O was asked for but could not be had")
    elif not record.phase.workload.direct:
        missing.append("buffered I/O passes through the page cache")
    if not really_direct(run, record):
        missing += _memory_faults(run, record)
    if missing:
        grade: Grade = "C" if len(missing) == 1 else "D"
        text = "; ".join(missing)
        return TrustComponent(name, grade, f"{text[0].upper()}{text[1:]}.", {"missing": len(missing)})
    if not _seen_laid_out(run, record):
        unseen = "It was not seen that these files were written in full; parts may never have been stored."
        return TrustComponent(name, "B", unseen)
    unknown = "Some answers may come from a cache of unknown size inside the drive or the array."
    return TrustComponent(name, "B", unknown)


def _payload_faults(run: Run, record: PhaseRecord) -> list[str]:
    payload = _stored_payload(run, record)
    if isinstance(payload, Zeros):
        return ["the data is all zeros, which storage may compress or never store"]
    if isinstance(payload, Repeated):
        return ["the data is one block again and again, which storage may store once"]
    return []


def _stored_payload(run: Run, record: PhaseRecord) -> Payload | None:
    """What lies on the target: what the phase writes, or what the last fill before it wrote."""
    if record.phase.workload.writes:
        return record.phase.workload.payload
    fills = [each for each in run.phases if each.phase.role == "fill"]
    return fills[-1].phase.workload.payload if fills else None


def _layout_faults(run: Run, record: PhaseRecord) -> list[str]:
    fills = [each for each in run.phases if each.phase.role == "fill"]
    if fills and sum(fill.measurement.bytes for fill in fills) < data_bytes(record):
        return ["the files were not written in full before the test"]
    return []


def _memory_faults(run: Run, record: PhaseRecord) -> list[str]:
    size, memory = data_bytes(record), run.host.memory_bytes
    if size >= limits.DATA_OVER_MEMORY * memory:
        return []
    if size >= limits.DATA_BARELY_OVER_MEMORY * memory:
        return [f"{data_size(size)} of data is less than ten times this machine's {data_size(memory)} of memory"]
    return [f"{data_size(size)} of data fits, in whole or half, into {data_size(memory)} of memory"]


def _seen_laid_out(run: Run, record: PhaseRecord) -> bool:
    """A fill phase wrote everything, or the device really delivered every byte that was read."""
    if any(each.phase.role == "fill" for each in run.phases):
        return True
    share = read_share_of_device(run, record)
    return only_reads(record) and share is not None and share >= limits.DEVICE_SHARE


def load_achieved(run: Run, record: PhaseRecord) -> TrustComponent:
    """Whether the load that was asked for was the load that the target got."""
    did = record.measurement
    if did.asked_rate_per_s:
        asked, got, what = did.asked_rate_per_s, did.rate_per_s, "I/Os a second"
    else:
        asked, got, what = _depth_expected(record), did.depth_mean, "I/Os in flight"
    share = got / asked if asked else 0.0
    worst = TrustComponent(
        "load achieved",
        limits.LOAD.grade(share),
        f"{got:.3g} of {asked:.3g} {what}: {percent(share)} of the load asked for.",
        {"asked": asked, "achieved": got},
    )
    if simulated(run):
        return worst
    for other in (_lag(record), _generator_cpu(run, record)):
        if other is not None and limits.worst(worst.grade, other.grade) != worst.grade:
            worst = other
    return worst


def _depth_expected(record: PhaseRecord) -> float:
    """The depth of a closed loop, less the part of the time that its users spend thinking."""
    response_ns, think_ns = record.measurement.response().mean_ns, _think_ns(record)
    asked = float(record.measurement.asked_depth)
    return asked * response_ns / (response_ns + think_ns) if think_ns and response_ns > 0 else asked


def _think_ns(record: PhaseRecord) -> int:
    arrival = record.phase.workload.arrival
    return arrival.think_ns if isinstance(arrival, Closed) else 0


def _lag(record: PhaseRecord) -> TrustComponent | None:
    lag, response = record.measurement.lag, record.measurement.response()
    if not lag.total or not response.total:
        return None
    published = (q for q in (limits.HEADLINE_Q, *limits.FALLBACK_QS) if lag.total * (1 - q) >= limits.MIN_BEYOND)
    q = next(published, limits.FALLBACK_QS[-1])
    late_ns, response_ns = lag.quantile_ns(q), response.quantile_ns(q)
    share = late_ns / response_ns if response_ns else 0.0
    reason = (
        f"One I/O in {1 / (1 - q):.0f} left this machine {time(late_ns)} late or more, {percent(share)} of the"
        f" p{q * 100:.0f} response of {time(response_ns)}: so much of it is this machine's own delay."
    )
    figures = {"lag_ns": late_ns, "response_ns": response_ns, "percentile": q * 100}
    return TrustComponent("load achieved", limits.LAG.grade(share), reason, figures)


def _generator_cpu(run: Run, record: PhaseRecord) -> TrustComponent | None:
    did = record.measurement
    threads = min(max(1, len(did.users)), max(1, run.host.cpus))
    if not did.elapsed_ns:
        return None
    share = (did.cpu_user_ns + did.cpu_system_ns) / did.elapsed_ns / threads
    if share <= limits.BUSY_GENERATOR:
        return None
    reason = f"The test's own threads used {percent(min(1.0, share))} of their CPU time: they may be the limit."
    return TrustComponent("load achieved", "C", reason, {"cpu_share": share})


def isolation(run: Run, record: PhaseRecord) -> TrustComponent:
    """How much of what the device did was someone else's work."""
    name = "isolation"
    if simulated(run):
        return TrustComponent(name, "A", "A simulated device has no other users.")
    device = under_filesystem(record, run.plan.target)
    if device is None or device.read_bytes is None or device.written_bytes is None:
        unseen = "The device's own counters were not seen, so other programs' I/O cannot be told apart."
        return TrustComponent(name, "B", unseen)
    if not device.read_bytes + device.written_bytes:
        return TrustComponent(name, "B", "The device counted nothing, so other programs' I/O cannot be seen.")
    if not really_direct(run, record):
        return TrustComponent(name, "B", "With buffered I/O, other programs' I/O cannot be told from read-ahead.")
    return _foreign(record, device, device.read_bytes, device.written_bytes)


def _foreign(record: PhaseRecord, device: DeviceIo, read_bytes: int, written_bytes: int) -> TrustComponent:
    did, total = record.measurement, read_bytes + written_bytes
    more_reads = max(0, read_bytes - bytes_of(did, "read"))
    more_writes = max(0, written_bytes - bytes_of(did, "write"))
    if only_reads(record):
        share = (more_reads + more_writes) / total
        reason = f"{percent(share)} of what {device.layer} moved was not this test's ({data_size(share * total)})."
        return TrustComponent("isolation", limits.FOREIGN.grade(share), reason, {"foreign_share": share})
    certain = limits.FOREIGN.grade(more_reads / total)
    figures = {"foreign_read_share": more_reads / total, "more_written_share": more_writes / total}
    if limits.worst(certain, "B") != "B":
        reason = f"{percent(more_reads / total)} of what {device.layer} moved was reads that were not this test's."
        return TrustComponent("isolation", certain, reason, figures)
    if limits.FOREIGN.grade(more_writes / total) == "A":
        reason = f"{percent(more_writes / total)} of what {device.layer} moved was not this test's writes."
        return TrustComponent("isolation", certain, reason, figures)
    reason = "The device wrote more than the test; the journal's share cannot be told from other programs'."
    return TrustComponent("isolation", "B", reason, figures)


def anomalies(record: PhaseRecord, findings: tuple[Finding, ...]) -> TrustComponent:
    """The gravest finding about the phase, or about the whole run."""
    own = [finding for finding in findings if finding.phase in (record.phase.name, "")]
    if not own:
        return TrustComponent("anomalies", "A", "Nothing abnormal was found.")
    gravest = max(own, key=lambda finding: "ABCDF".index(limits.ANOMALY[finding.severity]))
    return TrustComponent("anomalies", limits.ANOMALY[gravest.severity], gravest.says, {"findings": len(own)})
