"""What bounds each row: the generator, the kernel, a link, the requested queue depth, or the device.

A higher load is the test: where it gives more IOPS the queue was the limit, where it only costs more time something
below was. So rows that differ only in users and depth are read together, and a row that stands alone gets a verdict
only where another sign gives one; else it is unknown.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts, once
from iocast.analyse.ladder import Curve, CurveStep
from iocast.diagnose import thresholds as limits
from iocast.diagnose.excluded_rows import named
from iocast.diagnose.limits.links import links_used
from iocast.model.finding import Bound, Excluded
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Sequential
from iocast.text import brief_percent, brief_throughput, brief_time, counted, load, number

DEVICE = "Device-bound"  # opens what is said of a level that nothing else explains
BUSY = ("generator", "kernel")
NOTHING = 0.0005  # a change of the rate that would be written as 0.0%
RULE = brief_percent(limits.DOUBLING_GAINS - 1)  # gain per doubling of the load
DOUBLED = 1.995  # what would be written as 100% more
COLLAPSED = 0.5  # of the IOPS of fewer streams [J]
LEAST_IOS = 10  # of which a rate is known well enough to be compared [J]
WAITED = 0.05  # of the time for a CPU: less is not worth a word beside how busy threads were [J]
COSTS = 1.1  # times the response time: a step that costs less costs nothing worth a word [J]


@once
def bounds(facts: Facts) -> dict[str, Bound]:
    """What bound each measured phase, by name."""
    return bounds_without(facts, {})


def bounds_without(facts: Facts, out: Mapping[str, Excluded]) -> dict[str, Bound]:
    """The same, where the rows in `out` are no measure for others, nor others for them."""
    own = {row.name: _own(row) for row in facts.rows}
    busy = {name: _busy(bound) for name, bound in own.items() if bound is not None and bound.by in BUSY}
    few = {row.name: _few(row) for row in facts.rows if row.measurement.ios < LEAST_IOS}
    return {row.name: own[row.name] or _of(row, {**few, **out, **busy}) for row in facts.rows}


def _busy(bound: Bound) -> Excluded:
    return Excluded("CPU-bound", bound.says.rstrip("."))


def _few(row: RowFacts) -> Excluded:
    """A rate of a handful of I/Os is chance."""
    return Excluded("too few I/Os", f"only {counted(row.measurement.ios, 'I/O')} completed")


def _own(row: RowFacts) -> Bound | None:
    """What the row itself shows, whatever others did."""
    if not row.measurement.ios or row.run.source is not None:
        return Bound("unknown", "Bottleneck unknown.")
    return None if row.facts.simulated else _generator(row.run, row.record) or _link(row.run, row.record)


def _of(row: RowFacts, out: Mapping[str, Excluded]) -> Bound:
    record = row.record
    if record.measurement.replay is not None and not record.measurement.asked_rate_per_s:
        return Bound("unknown", "Paced by the pauses of the trace and the service times of this storage.", {})
    if row.is_open_loop and row.kept_up >= limits.LOAD.a:
        return _paced(row)
    if row.name in out:
        return Bound("unknown", f"Bottleneck unknown: {out[row.name].why}.")
    if row.is_open_loop:
        return _behind(row)
    if record.phase.together:
        return Bound("unknown", "Bottleneck unknown: the row ran beside others.")
    return _by_curve(row, out)


def _generator(run: Run, record: PhaseRecord) -> Bound | None:
    """The test's own threads, in its own code or in the kernel's, had no time left."""
    did, generator = record.measurement, record.measurement.generator
    if not generator.threads or not did.elapsed_ns:
        return None
    cores = min(generator.threads, max(1, run.host.cpus))
    worked_ns = generator.user_ns + generator.system_ns
    share = (worked_ns + generator.queued_ns) / did.elapsed_ns / generator.threads
    cpu = worked_ns / did.elapsed_ns / cores
    # What the process used and its workers did not: kernel threads that I/Os were handed to, and the watcher.
    # Of phases that ran together it is unknown whose.
    handed = 0.0 if did.cpu_phases > 1 else max(0, did.cpu_system_ns - generator.system_ns) / did.elapsed_ns
    figures = {
        "cpu_share": cpu,
        "system_share": generator.system_ns / worked_ns if worked_ns else 0.0,
        "queued_share": did.queued_share,
        "kernel_threads": handed,
        "cpu_ns_per_io": worked_ns / did.ios,
    }
    each = brief_time(worked_ns / did.ios)
    if cpu < limits.BUSY_GENERATOR and share < limits.BUSY_GENERATOR:
        if handed < limits.HANDED_OVER:
            return None
        says = f"kernel threads did the I/O ({number(handed)} CPUs), because submitting it would have blocked"
        return Bound("kernel", f"CPU-bound in the kernel: {says}.", figures)
    waited, were = min(1.0, figures["queued_share"]), "was" if generator.threads == 1 else "were"
    busy = f"busy {brief_percent(min(1.0, max(cpu, share - waited)))} of the time"
    if cpu < limits.BUSY_GENERATOR and waited > WAITED:
        busy += f" and waited for a CPU {brief_percent(waited)}"
    worked = f"{own_threads(generator.threads)} {were} {busy}, {each} per I/O"
    if generator.queued_ns > worked_ns:  # whatever they did with the little that they got
        says = f"{own_threads(generator.threads)} waited for a CPU {brief_percent(waited)} of the time"
        return Bound("generator", f"CPU-bound: {says}.", figures)
    if figures["system_share"] >= limits.MOSTLY_SYSTEM:
        says = f"{worked}, mostly in system calls"
        return Bound("kernel", f"CPU-bound in the kernel: {says}.", figures)
    return Bound("generator", f"CPU-bound: {worked}.", figures)


def own_threads(threads: int) -> str:
    """Those that made the load, as one says it."""
    return "the test's thread" if threads == 1 else "the test's threads"


def _link(run: Run, record: PhaseRecord) -> Bound | None:
    used = max(links_used(record, run.plan.target), key=lambda each: each.share, default=None)
    # What goes beyond a link did not come by it.
    if used is None or not limits.LINK_FULL <= used.share <= limits.LINK_AT_MOST:
        return None
    most = f"{brief_throughput(used.bytes_per_s)} of the {brief_throughput(used.links.bytes_per_s)}"
    return Bound("link", f"Link-bound: {most} that {used.links.words}.", {"link_share": used.share})


def _paced(row: RowFacts) -> Bound:
    came, wanted = number(row.paced_rate_per_s), number(row.measurement.asked_rate_per_s or 0.0)
    rate = f"{wanted} {row.paced_unit}" if came == wanted else f"{wanted} {row.paced_unit} ({came} achieved)"
    return Bound("rate", f"Rate-limited: the job asks for {rate}.", {"share": row.kept_up})


def _behind(row: RowFacts) -> Bound:
    did = row.measurement
    full = did.depth_mean >= limits.LOAD.b * did.asked_depth
    figures = {"share": row.kept_up, "depth": did.depth_mean, "unsent": float(did.unsent_arrivals)}
    if full:
        most = counted(did.asked_depth, "outstanding I/O")
        says = f"the limit of {most} was reached and arrivals had to wait"
        return Bound(
            "device", f"Fell behind the requested rate: {says}; a faster device or more users are needed.", figures
        )
    return Bound("unknown", "Fell behind the requested rate; bottleneck unknown.", figures)


def _evidence(facts: Facts, step: CurveStep) -> dict[str, float]:
    low, high = (facts.row(point.record) for point in (step.low, step.high))
    return {
        "depth": low.measurement.asked_depth,
        "deeper": high.measurement.asked_depth,
        "rate_ratio": step.ratio,
        "gain_per_doubling": step.gain - 1,
        "time_ratio": high.service().mean_ns / low.service().mean_ns,
    }


def _by_curve(row: RowFacts, out: Mapping[str, Excluded]) -> Bound:
    """Of the rows with the same workload: whether a higher load gave more IOPS."""
    facts, depth, here = row.facts, row.measurement.asked_depth, _load(row.record)
    whole = row.curve
    curve = None if whole is None else whole.only(lambda record: record.phase.name not in out)
    left = "" if whole is None else named({each.phase.name: _load(each) for each in whole.rows}, out)
    if curve is None or not curve.steps:
        only = f"no comparable row at another load; left out: {left}" if left else f"only measured at {here}"
        return Bound("unknown", f"Bottleneck unknown: {only}; measure with more users as well.")
    reached_steps = _of_steps(facts, curve, depth, here, deepest=whole.loads[-1] if whole else depth)
    return replace(reached_steps, says=f"{reached_steps.says}{excluded_words(left)}", excluded=left)


def excluded_words(left: str) -> str:
    """The sentence that names the rows left out; "" where there are none."""
    return f" Left out: {left}." if left else ""


def _of_steps(facts: Facts, curve: Curve, depth: int, here: str, *, deepest: int) -> Bound:
    """What the steps of the comparable rows say; `deepest` is the most load of all rows, those left out included."""
    steps = curve.steps
    full = next((step for step in steps if step.gain < limits.DOUBLING_GAINS), None)
    if full is not None and depth >= full.low.load:
        return _device(facts, full)
    near = [step for step in steps if depth in (step.low.load, step.high.load)]
    beyond = next((step for step in near if step.ratio > limits.MORE_THAN_LOAD * step.high.load / step.low.load), None)
    if beyond is not None:
        low, high = _load(beyond.low.record), _load(beyond.high.record)
        says = f"{high} gave {number(beyond.ratio)}x the IOPS of {low}, more than the added load explains"
        return Bound("unknown", f"Bottleneck unknown: {says}; something held {low} back.", _evidence(facts, beyond))
    above = next((step for step in steps if step.low.load == depth), None)
    if above is not None:
        figures = _evidence(facts, above)
        says = f"{_load(above.high.record)} gave {number(above.ratio)}x the IOPS, {_per_doubling(above)}"
        return Bound("queue", f"Queue-bound at {here}: {says}{_cost(figures)}.", figures)
    before = steps[-1]
    figures = _evidence(facts, before)
    says = f"{here} still gave {number(before.ratio)}x the IOPS of {_load(before.low.record)}, {_per_doubling(before)}"
    beyond_it = "what more load gives is unknown" if deepest > depth else "a higher load may give more"
    more = f"{says}{_cost(figures)}; {beyond_it}"
    return Bound("not_shown", f"Not shown to be device-bound: {more}.", figures)


def _device(facts: Facts, full: CurveStep) -> Bound:
    """From the lower load of this step on, more of it is only waited for."""
    low, high = _load(full.low.record), _load(full.high.record)
    figures = _evidence(facts, full)
    if abs(full.ratio - 1) < NOTHING:
        gained = "gained no IOPS"
    elif full.ratio >= 1:
        gained = f"gained {brief_percent(full.ratio - 1)} IOPS, {_per_doubling(full)} (below {RULE}),"
    elif full.ratio < 0.1:  # "lost 100%" would leave none
        gained = f"lost all but {brief_percent(full.ratio)} of the IOPS"
    else:
        gained = f"lost {brief_percent(1 - full.ratio)} of the IOPS"
    says = f"raising the load to {high} {gained} and cost {number(figures['time_ratio'])}x the response time"
    if full.ratio < COLLAPSED and all(
        isinstance(point.record.phase.workload.locality, Sequential) for point in (full.low, full.high)
    ):
        says += "; several sequential streams are random I/O to a disk"
    # Over several doublings a tenth or more may add up: then the limit was met somewhere on the way.
    where = f"from {low}" if full.ratio < limits.DOUBLING_GAINS else f"between {low} and {high}"
    return Bound("device", f"{DEVICE} {where}: {says}.", figures, level=f"{where}: {says}")


def _per_doubling(step: CurveStep) -> str:
    """What a doubling of the load gained: by that it is decided."""
    if step.gain >= DOUBLED:  # 100% and more read badly
        return f"{number(step.gain)}x per doubling"
    return f"{brief_percent(step.gain - 1)} per doubling"


def _cost(figures: dict[str, float]) -> str:
    """The price of the gain in response time, where there was one."""
    times = figures["time_ratio"]
    return f", at {number(times)}x the response time" if times > COSTS else ""


def _load(record: PhaseRecord) -> str:
    return load(record.plan.users, record.plan.depth)
