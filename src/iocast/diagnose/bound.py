"""What set the pace of each row: the generator, the kernel, a link, the queue that was asked for, or the device.

More at once is the test: where it brings more I/Os a second the queue was the limit, where it only brings longer
times something below was. So rows that differ only in users and depth are read together, and a row that stands alone
is told apart only where another sign says it; else the verdict is that it cannot be told.
"""

from __future__ import annotations

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.analyse.ladder import Step
from iocast.analyse.load_kind import MOVING, bytes_per_s_of, paced_rate_per_s
from iocast.diagnose import thresholds as limits
from iocast.diagnose.words import number, percent, throughput, time
from iocast.model.finding import Bound
from iocast.model.run import PhaseRecord, Run


@once
def bounds(facts: Facts) -> dict[str, Bound]:
    """What bound each measured phase, by name."""
    return {row.name: _of(row) for row in facts.rows}


def _of(row: RowFacts) -> Bound:
    run, record, did = row.run, row.record, row.measurement
    if not did.ios or run.source is not None:
        return Bound("unknown", "What bound it cannot be told.")
    own = None if row.facts.simulated else _generator(run, record) or _link(run, record)
    if own is not None:
        return own
    if row.is_open_loop:
        return _open(record)
    if record.phase.together:
        return Bound("unknown", "What bound it cannot be told: it was measured beside others.")
    return _by_curve(row)


def _generator(run: Run, record: PhaseRecord) -> Bound | None:
    """The test's own threads, in its own code or in the kernel's, had no time left."""
    did, made = record.measurement, record.measurement.generator
    if not made.threads or not did.elapsed_ns:
        return None
    cores = min(made.threads, max(1, run.host.cpus))
    worked_ns = made.user_ns + made.system_ns
    share = (worked_ns + made.queued_ns) / did.elapsed_ns / made.threads
    cpu = worked_ns / did.elapsed_ns / cores
    # What the process used and its workers did not: kernel threads that I/Os were handed to, and the watcher.
    # Of phases that ran at once it cannot be told whose.
    handed = 0.0 if did.cpu_phases > 1 else max(0, did.cpu_system_ns - made.system_ns) / did.elapsed_ns
    figures = {
        "cpu_share": cpu,
        "system_share": made.system_ns / worked_ns if worked_ns else 0.0,
        "queued_share": made.queued_ns / did.elapsed_ns / made.threads,
        "kernel_threads": handed,
        "cpu_ns_per_io": worked_ns / did.ios,
    }
    each = time(worked_ns / did.ios)
    if cpu < limits.BUSY_GENERATOR and share < limits.BUSY_GENERATOR:
        if handed < limits.HANDED_OVER:
            return None
        says = f"the kernel's own threads did the I/O ({number(handed)} processors): it could not be started at once"
        return Bound("kernel", f"Bound by the kernel: {says}.", figures)
    busy = percent(min(1.0, max(cpu, share)))
    if made.queued_ns > worked_ns:  # whatever they did with the little that they got
        waited = percent(min(1.0, figures["queued_share"]))
        says = f"its threads were ready to go on for {waited} of the time, and had no processor"
        return Bound("generator", f"Bound by this machine: {says}.", figures)
    if figures["system_share"] >= limits.MOSTLY_SYSTEM:
        says = f"its threads were busy for {busy} of the time, {each} an I/O, mostly inside system calls"
        return Bound("kernel", f"Bound by this machine's kernel: {says}.", figures)
    return Bound(
        "generator", f"Bound by this machine: its threads were busy for {busy} of the time, {each} an I/O.", figures
    )


def _link(run: Run, record: PhaseRecord) -> Bound | None:
    speeds = [layer.link_bytes_per_s for layer in run.plan.target.layers if layer.link_bytes_per_s]
    if len(speeds) != 1:
        return None  # several paths may add up
    # A link carries both ways at once; what goes beyond it did not come by it, and a trim moves nothing.
    seen = max(bytes_per_s_of(record.measurement, op) for op in MOVING)
    share = seen / speeds[0]
    if not limits.LINK_FULL <= share <= limits.LINK_AT_MOST:
        return None
    says = f"{throughput(seen)} of the {throughput(speeds[0])} that it can carry"
    return Bound("link", f"Bound by the link: {says}.", {"link_share": share})


def _open(record: PhaseRecord) -> Bound:
    did = record.measurement
    asked = did.asked_rate_per_s or 0.0
    paced = paced_rate_per_s(record)
    share = paced / asked if asked else 0.0
    if share >= limits.LOAD.a:
        came, wanted = number(paced), number(asked)
        rate = f"{wanted} a second" if came == wanted else f"{wanted} a second ({came} came)"
        return Bound("rate", f"Bound by the rate that was asked for: {rate}.", {"share": share})
    full = did.depth_mean >= limits.LOAD.b * did.asked_depth
    figures = {"share": share, "depth": did.depth_mean, "unsent": float(did.unsent_arrivals)}
    if full:
        places = f"all of its {did.asked_depth} places were" if did.asked_depth > 1 else "its only place was"
        says = f"{places} taken and arrivals had to wait"
        return Bound(
            "device", f"It fell behind the rate asked for: {says}; the device, or more users, must give more.", figures
        )
    return Bound("unknown", "It fell behind the rate asked for, and what held it back cannot be told.", figures)


def _evidence(facts: Facts, step: Step) -> dict[str, float]:
    low, high = (facts.row(point.record) for point in (step.low, step.high))
    return {
        "depth": low.measurement.asked_depth,
        "deeper": high.measurement.asked_depth,
        "rate_ratio": step.ratio,
        "time_ratio": high.service().mean_ns / low.service().mean_ns,
    }


def _by_curve(row: RowFacts) -> Bound:
    """Of the rows with the same workload: whether more at once brought more."""
    curve, facts = row.facts.curve_of(row), row.facts
    steps = curve.steps if curve is not None else ()
    depth = row.measurement.asked_depth
    if not steps:
        alone = "one at a time" if depth == 1 else f"{depth} at once"
        says = f"it was measured with {alone} only; with more users it could be told"
        return Bound("unknown", f"What bound it cannot be told: {says}.")
    full = next((step for step in steps if step.gain < limits.DOUBLING_GAINS), None)
    if full is not None and depth >= full.low.load:
        at, deeper = full.low.load, full.high.load
        figures = _evidence(facts, full)
        more = f"{percent(full.ratio - 1)} more" if full.ratio >= 1 else f"{percent(1 - full.ratio)} fewer"
        brought = f"{more} I/Os a second than {at}"
        if full.ratio < 0.1:  # "100% fewer" would be none
            brought = f"{percent(full.ratio)} of the I/Os a second of {at}"
        says = f"{deeper} brought {brought}, and {number(figures['time_ratio'])} times the time"
        return Bound("device", f"Bound by the device from {at} at once on: {says}.", figures)
    near = [step for step in steps if depth in (step.low.load, step.high.load)]
    beyond = next((step for step in near if step.gain > limits.DOUBLING_AT_MOST), None)
    if beyond is not None:
        low, high = beyond.low.load, beyond.high.load
        says = (
            f"{high} at once brought {number(beyond.ratio)} times the I/Os of {low}, more than so many more can bring"
        )
        return Bound(
            "unknown", f"What bound it cannot be told: {says}; something held {low} back.", _evidence(facts, beyond)
        )
    above = next((step for step in steps if step.low.load == depth), None)
    if above is None:
        before = steps[-1]
        says = f"{depth} still brought {number(before.ratio)} times the I/Os of {before.low.load}"
        return Bound(
            "queue", f"Not at the device's limit yet: {says}; more at once may bring more.", _evidence(facts, before)
        )
    says = f"{above.high.load} brought {number(above.ratio)} times the I/Os a second"
    return Bound("queue", f"Bound by its {depth} at once: {says}.", _evidence(facts, above))
