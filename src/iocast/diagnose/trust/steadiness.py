"""The component of trust that asks whether a row had settled, and whether a cliff may still have come.

The seconds of the row are judged by the rule b3 of analyse/steady.py. There is one rule about length: what is steady
for half a minute earns a B, for five minutes an A, when so much was moved as well that no cache and no pool of erased
blocks can have carried all of it. A phase that ran until it was steady is judged by how it ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean

from iocast.analyse.facts import RowFacts
from iocast.analyse.load_kind import bytes_of, data_bytes, is_open_loop, simulated
from iocast.analyse.rate_drops import FALLS, LoneDips, lone_dips
from iocast.analyse.steady import LAG_MOST, LEAST_INTERVALS, WITHIN, Steadiness, steadiness
from iocast.diagnose import thresholds as limits
from iocast.model.codes import TrustCode
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord, Run, SteadyEnd
from iocast.text import brief_percent, brief_time, number

CODE: TrustCode = "steady"
NOTHING = 0.99  # of the rate is gone


def steady(row: RowFacts) -> TrustComponent:
    """The letter for steadiness: what is too short to judge is a C."""
    run, record = row.run, row.record
    series = record.series
    if not series.ios:
        return TrustComponent(CODE, "C", _without_series(record))
    if row.is_open_loop and sum(series.ios) < limits.SERIES_LEAST_IOS * len(series.ios):
        return TrustComponent(CODE, "C", "too few IOPS to judge steadiness")
    found = row.steadiness
    figures = _figures(found, series.interval_ns)
    over = brief_time(found.length * series.interval_ns)
    end = record.steady if record.steady is not None and record.steady.reached else None
    if end is not None and end.rule == "snia":
        return TrustComponent(CODE, "C", "five rounds agree, which a slow drift can do too", figures)
    paired = end is not None and end.before is not None  # else it is of an older folder, and its figures are whole
    # A stall at one end of a row looks like a drift, or like halves that differ: the rest is judged without it.
    dips = None if found.b3 or row.is_open_loop else lone_dips(row.rates_per_s)
    rest = found if dips is None else steadiness(dips.levelled)
    if found.length * series.interval_ns < limits.STEADY_B_NS or not found.judged:
        return _short(rest, over, figures, record)
    if dips is not None and rest.b3 and not paired:
        return TrustComponent(CODE, "C", f"steady over {over} but for {_dips(dips, series.interval_ns)}", figures)
    if not found.b3 and not paired:
        found = rest
        why = f"{_why_not(found, record)}"
        if found.snia and found.change is None:
            return TrustComponent(CODE, "C", f"five rounds agree, but {why}", figures)
        if _is_chance(found):
            known = f"the mean is only known to ±{brief_percent(found.half_width)}"
            return TrustComponent(CODE, "C", f"too short to judge steadiness: {known} after {over}", figures)
        return TrustComponent(CODE, "D", f"not steady: {why}", figures)
    fell = _fell_before(row, found) if not paired else ""
    if fell:
        return TrustComponent(CODE, "D", f"not steady: {fell}", figures)
    since = f" from t={brief_time(found.cut * series.interval_ns)} on" if found.cut else ""
    pair = _pair(record, end, figures) if end is not None and paired else ""
    if found.length * series.interval_ns < limits.STEADY_A_NS:
        return TrustComponent(
            CODE,
            "B",
            f"{pair or f'steady over {over}{since}'}; a later change is not excluded in less than 5 minutes",
            figures,
        )
    why = "" if _has_no_cliff(run) else next(_cliffs(run, record, figures), "")
    if why:
        return TrustComponent(CODE, "B", f"{pair or 'steady'}, but a later cliff is not excluded: {why}", figures)
    return TrustComponent(CODE, "A", pair or f"steady over {over}{since}", figures)


def _fell_before(row: RowFacts, found: Steadiness) -> str:
    """That a row was far faster in what was taken for its warm-up: a cache, credits or an SLC area, and no warm-up."""
    if row.is_open_loop or not found.cut or not found.mean > 0:
        return ""
    before = fmean(row.rates_per_s[: found.cut])
    if found.mean > (1 - FALLS) * before:
        return ""
    within = brief_time(found.cut * row.record.series.interval_ns)
    first = next(
        at for at, rate in enumerate(row.rates_per_s) if rate <= (1 - FALLS) * max(row.rates_per_s[: found.cut])
    )
    lower = brief_percent(1 - found.mean / max(row.rates_per_s[: first or 1]))
    return f"the rate fell within the first {within}, by {lower}, and stayed there"


def _pair(record: PhaseRecord, end: SteadyEnd, figures: dict[str, float]) -> str:
    """The two results that agree, and what was left out before them."""
    whole_ns = end.warm_up_ns + len(record.series.ios) * record.series.interval_ns
    before, after = end.before or 0.0, end.after or 0.0
    figures |= {"before_doubling": before, "after_doubling": after, "warm_up_ns": end.warm_up_ns}
    told = brief_time if is_open_loop(record) else _iops
    warm_up = f" after a warm-up of {brief_time(end.warm_up_ns)}, left out" if end.warm_up_ns else ""
    middle = brief_time(whole_ns / 2)
    return f"steady{warm_up}: {told(before)} until t={middle}, {told(after)} from then to t={brief_time(whole_ns)}"


def _iops(rate: float) -> str:
    return f"{number(rate)} IOPS"


def _short(found: Steadiness, over: str, figures: dict[str, float], record: PhaseRecord) -> TrustComponent:
    """Less than can be judged; what plainly goes up or down is reported all the same."""
    if found.length >= limits.STEADY_LEAST_SECONDS and abs(found.halves) > limits.PLAIN_DRIFT and not found.snia:
        return TrustComponent(CODE, "D", f"not steady over {over}: {_halves(found, record)}", figures)
    needed = brief_time(max(LEAST_INTERVALS * record.series.interval_ns, limits.STEADY_B_NS))
    return TrustComponent(CODE, "C", f"too short to judge steadiness: {over}; {needed} needed", figures)


def _without_series(record: PhaseRecord) -> str:
    """Not one whole interval: the row was too short, or its course over time is unknown."""
    lasted_ns = record.measurement.elapsed_ns
    if not 0 < lasted_ns < limits.STEADY_B_NS:
        return "steadiness unknown: no course over time was recorded"
    return f"too short to judge steadiness: {brief_time(lasted_ns)}; {brief_time(limits.STEADY_B_NS)} needed"


def _is_chance(found: Steadiness) -> bool:
    """True when what it moved is within what its own scatter moves it by.

    The halves of a series differ by twice the error of its mean, the ends of a line through it by the root of 12 times.
    """
    scattered = found.change is None and found.lag_1 < 2 * LAG_MOST and found.half_width <= limits.PLAIN_DRIFT
    return scattered and abs(found.halves) <= 2 * found.half_width and abs(found.drift) <= 3.5 * found.half_width


def _dips(dips: LoneDips, interval_ns: int) -> str:
    """What fell out of the level and came back: "1 s at t=59 s, in which the rate was 70% lower"."""
    count, first, last = len(dips.at), dips.at[0], dips.at[-1]
    lasted, begins = brief_time(count * interval_ns), brief_time(first * interval_ns)
    when = f"at t={begins}" if count == 1 else f"from t={begins} on"
    if last - first >= count:
        when = f"between t={begins} and t={brief_time((last + 1) * interval_ns)}"
    if dips.deepest >= NOTHING:
        return f"{lasted} {when}, in which I/O stalled"
    most = "up to " if count > 1 else ""
    return f"{lasted} {when}, in which the rate was {most}{brief_percent(dips.deepest)} lower"


def _why_not(found: Steadiness, record: PhaseRecord) -> str:
    at_ns = record.series.interval_ns
    if found.change is not None:
        way = "rose" if found.change.shift > 0 else "fell"
        moment = brief_time((found.cut + found.change.at) * at_ns)
        return f"at t={moment} {_what(record)} {way} by {brief_percent(abs(found.change.shift))} and stayed there"
    if not found.cut_valid:
        return "it settled only after half of its time"
    if not abs(found.halves) <= WITHIN:
        return _halves(found, record)
    if not abs(found.drift) <= WITHIN:
        return f"{_what(record)} drifted by {brief_percent(abs(found.drift))}"
    if not found.half_width <= WITHIN:
        return f"{_what(record)} varied: its mean is only known to ±{brief_percent(found.half_width)}"
    return f"its fluctuations last too long (correlation {number(found.lag_1)}, {number(LAG_MOST)} at most)"


def _halves(found: Steadiness, record: PhaseRecord) -> str:
    way = "lower" if found.halves > 0 else "higher"
    change = abs(1 / (1 + found.halves) - 1) if found.halves > -1 else 1.0
    return f"{_what(record)} was {brief_percent(change)} {way} in the second half than in the first"


def _what(record: PhaseRecord) -> str:
    return "the response time" if is_open_loop(record) else "the rate"


def _has_no_cliff(run: Run) -> bool:
    """True for a simulated device that answers the same however much was moved before."""
    device = run.plan.target.simulated if simulated(run) else None
    if device is None:
        return False
    cache = device.cache if device.cache and (device.cache.size_bytes or device.cache.dirty_bytes) else None
    remembers = (cache, device.slc, device.tier, device.thin, device.slow, device.drift, *device.limits)
    return not any(each is not None for each in remembers)


def _cliffs(run: Run, record: PhaseRecord, figures: dict[str, float]) -> Iterator[str]:
    """Why more of the same may still meet a cliff: caches that were not full, erased blocks that were not used up.

    The reason is the same for all rows that share it; its figures go to the evidence.
    """
    ops = {item.op for item in record.phase.workload.mix}
    if "write" in ops:
        capacity, written = _capacity(run), bytes_of(record.measurement, "write")
        figures |= {"written_bytes": written, "device_bytes": capacity}
        if not capacity:
            yield "the size of the device is unknown"
        elif written < limits.CLIFF_WRITES * capacity:
            yield "less than twice the size of the device was written"
    if "read" in ops:
        size, read = data_bytes(record), bytes_of(record.measurement, "read")
        figures |= {"read_bytes": read, "data_bytes": size}
        if read < size:
            yield "less than the whole of the data was read"
        elif size < limits.DATA_OVER_MEMORY * run.host.memory_bytes:
            yield "the data is less than ten times this machine's memory, and caches below may be as large"


def _capacity(run: Run) -> int:
    """Bytes of all disks below the target together, or of what stands lowest; 0 when any is not known."""
    layers = run.plan.target.layers
    sizes = [layer.size_bytes for layer in layers if not layer.lower] or [run.plan.target.size_bytes]
    return sum(size or 0 for size in sizes) if all(sizes) else 0


def _figures(found: Steadiness, interval_ns: int) -> dict[str, float]:
    figures = {
        "whole_intervals": float(found.length),
        "steady_from_ns": float(found.cut * interval_ns),
        "mean": found.mean,
        "lowest_batch": found.low,
        "highest_batch": found.high,
        "half_width": found.half_width,
        "drift": found.drift,
    }
    return {name: value for name, value in figures.items() if not math.isnan(value)}
