"""The component of trust that asks whether a row had settled, and whether a cliff may still have come.

The seconds of the row are judged by the rule b3 of analyse/steady.py. There is one rule about length: what is steady
for half a minute earns a B, for five minutes an A, when so much was moved as well that no cache and no pool of erased
blocks can have carried all of it. A phase that ran until it was steady is judged by how it ended.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from iocast.analyse.facts import RowFacts
from iocast.analyse.rate_drops import LoneDips
from iocast.analyse.steady import LAG_MOST, LEAST_INTERVALS, WITHIN, Steadiness
from iocast.diagnose import thresholds as limits
from iocast.model.codes import TrustCode
from iocast.model.finding import TrustComponent
from iocast.model.run import PhaseRecord, Run, SteadyEnd
from iocast.text import MANY_TIMES, brief_percent, brief_time, number, rose_or_fell

CODE: TrustCode = "steady"
BACK = 0.85  # of the level that was left: it was met again [J]
NOTHING = 0.99  # of the rate is gone


def steady(row: RowFacts) -> TrustComponent:
    """The letter for steadiness: what is too short to judge is a C."""
    record = row.record
    series = record.series
    if not series.ios:
        return TrustComponent(CODE, "C", _without_series(record))
    if row.is_open_loop and sum(series.ios) < limits.SERIES_LEAST_IOS * len(series.ios):
        return TrustComponent(CODE, "C", "too few IOPS to judge steadiness")
    steadiness = row.steadiness
    figures = _figures(steadiness, series.interval_ns)
    lasted_ns = steadiness.length * series.interval_ns
    over = f"steady over {brief_time(lasted_ns)}"
    end = record.steady if record.steady is not None and record.steady.reached else None
    if end is not None and end.rule == "snia":
        return TrustComponent(CODE, "C", "five rounds agree, which a slow drift can do too", figures)
    paired = end is not None and end.before is not None  # else it is of an older folder, and its figures are whole
    # A stall at one end of a row looks like a drift, or like halves that differ: the rest is judged without it.
    dips = None if steadiness.b3 or row.is_open_loop else row.lone_dips
    rest = steadiness if dips is None else row.steadiness_but_dips
    if lasted_ns < limits.STEADY_B_NS or not steadiness.judged:
        return _short(row, rest, lasted_ns, figures)
    if dips is not None and rest.b3 and not paired:
        return TrustComponent(CODE, "C", f"{over} but for {_dips(dips, series.interval_ns)}", figures)
    if not steadiness.b3 and not paired:
        steadiness = rest
        why = f"{_why_not(steadiness, row)}"
        if steadiness.snia and steadiness.change is None:
            return TrustComponent(CODE, "C", f"five rounds agree, but {why}", figures)
        if _is_chance(steadiness):
            known = f"the mean is only accurate to ±{brief_percent(steadiness.half_width)}"
            return TrustComponent(
                CODE, "C", f"too short to judge steadiness: {known} after {brief_time(lasted_ns)}", figures
            )
        return TrustComponent(CODE, "D", f"not steady: {why}", figures)
    fell = _fell_before(row) if not paired else ""
    if fell:
        return TrustComponent(CODE, "D", f"not steady: {fell}", figures)
    since = f" from t={brief_time(steadiness.cut * series.interval_ns)} on" if steadiness.cut else ""
    pair = _pair(row, end, figures) if end is not None and paired else ""
    if lasted_ns < limits.STEADY_A_NS:
        return TrustComponent(
            CODE,
            "B",
            f"{pair or over + since}; a later change is not excluded in less than 5 minutes",
            figures,
        )
    why = next(_cliffs(row, figures), "")
    if why:
        return TrustComponent(CODE, "B", f"{pair or 'steady'}, but a later cliff is not excluded: {why}", figures)
    return TrustComponent(CODE, "A", pair or over + since, figures)


def _fell_before(row: RowFacts) -> str:
    """That a row was far faster in what was taken for its warm-up: a cache, credits or an SLC area, and no warm-up."""
    fall = row.early_fall
    if fall is None:
        return ""
    return (
        f"the rate fell within the first {brief_time(fall.within_ns)}, by {brief_percent(fall.share)}, and stayed there"
    )


def _pair(row: RowFacts, end: SteadyEnd, figures: dict[str, float]) -> str:
    """The two results that agree, and what was left out before them."""
    whole_ns = end.warm_up_ns + row.record.series.elapsed_ns
    before, after = end.before or 0.0, end.after or 0.0
    figures |= {"before_doubling": before, "after_doubling": after, "warm_up_ns": end.warm_up_ns}
    words = brief_time if row.is_open_loop else _iops
    warm_up = f" after a warm-up of {brief_time(end.warm_up_ns)}, left out" if end.warm_up_ns else ""
    return (
        f"steady{warm_up}: {words(before)} until t={brief_time(whole_ns / 2)},"
        f" {words(after)} from then to t={brief_time(whole_ns)}"
    )


def _iops(rate: float) -> str:
    return f"{number(rate)} IOPS"


def _short(row: RowFacts, steadiness: Steadiness, lasted_ns: int, figures: dict[str, float]) -> TrustComponent:
    """Less than can be judged; what plainly goes up or down is reported all the same."""
    if (
        steadiness.length >= limits.STEADY_LEAST_SECONDS
        and abs(steadiness.halves) > limits.PLAIN_DRIFT
        and not steadiness.snia
    ):
        return TrustComponent(
            CODE, "D", f"not steady over {brief_time(lasted_ns)}: {_halves(steadiness, row)}", figures
        )
    needed_ns = max(LEAST_INTERVALS * row.record.series.interval_ns, limits.STEADY_B_NS)
    clause = f"too short to judge steadiness: {brief_time(lasted_ns)}; {brief_time(needed_ns)} needed"
    return TrustComponent(CODE, "C", clause, figures)


def _without_series(record: PhaseRecord) -> str:
    """Not one whole interval: the row was too short, or its course over time is unknown."""
    lasted_ns = record.measurement.elapsed_ns
    if not 0 < lasted_ns < limits.STEADY_B_NS:
        return "steadiness unknown: no course over time was recorded"
    return f"too short to judge steadiness: {brief_time(lasted_ns)}; {brief_time(limits.STEADY_B_NS)} needed"


def _is_chance(steadiness: Steadiness) -> bool:
    """True when what it moved is within what its own scatter moves it by.

    The halves of a series differ by twice the error of its mean, the ends of a line through it by the root of 12 times.
    """
    scattered = (
        steadiness.change is None and steadiness.lag_1 < 2 * LAG_MOST and steadiness.half_width <= limits.PLAIN_DRIFT
    )
    return (
        scattered
        and abs(steadiness.halves) <= 2 * steadiness.half_width
        and abs(steadiness.drift) <= 3.5 * steadiness.half_width
    )


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


def _why_not(steadiness: Steadiness, row: RowFacts) -> str:
    at_ns = row.record.series.interval_ns
    if steadiness.gradual:
        return _ramp(steadiness, row)
    if steadiness.change is not None:
        moment = brief_time((steadiness.cut + steadiness.change.at) * at_ns)
        return f"at t={moment} {_what(row)} {rose_or_fell(steadiness.change.shift)} and stayed there"
    if there_and_back := _there_and_back(row):
        return there_and_back
    if not steadiness.cut_valid:
        return "it did not settle in the first half of its time"
    if not abs(steadiness.halves) <= WITHIN:
        return _halves(steadiness, row)
    if not abs(steadiness.drift) <= WITHIN:
        return f"{_what(row)} drifted by {brief_percent(abs(steadiness.drift))}"
    if not steadiness.half_width <= WITHIN:
        return f"{_what(row)} varied: its mean is only accurate to ±{brief_percent(steadiness.half_width)}"
    alike = f"neighbouring intervals correlate by {number(steadiness.lag_1)}, at most {number(LAG_MOST)} is steady"
    return f"{_what(row)} swung slowly ({alike})"


def _ramp(steadiness: Steadiness, row: RowFacts) -> str:
    """A level that never was one: by how much the line through it rises or falls, from its start to its end."""
    first, last = 1 - steadiness.drift / 2, 1 + steadiness.drift / 2
    way = "fell" if steadiness.drift < 0 else "rose"
    since = f" from t={brief_time(steadiness.cut * row.record.series.interval_ns)} on" if steadiness.cut else ""
    if min(first, last) <= 0:  # steeper than a line can tell
        return f"{_what(row)} {way} gradually{since}"
    return f"{_what(row)} {way} gradually{since}, by about {brief_percent(abs(last / first - 1))} in all"


def _there_and_back(row: RowFacts) -> str:
    """A level that was left and met again: neither a drift nor scatter. "" of any other row."""
    changes = () if row.is_open_loop or row.change_points is None else row.change_points.reported
    if len(changes) != 2:
        return ""
    left, met = changes
    if not BACK <= (1 + left.shift) * (1 + met.shift) <= 1 / BACK:
        return ""
    from_ns, to_ns = (each.at * row.record.series.interval_ns for each in changes)
    way = f"{brief_percent(abs(left.shift))} {'lower' if left.shift < 0 else 'higher'}"
    if left.shift >= MANY_TIMES - 1:
        way = f"{number(1 + left.shift)} times as high"
    return f"{_what(row)} was {way} from t={brief_time(from_ns)} to t={brief_time(to_ns)}"


def _halves(steadiness: Steadiness, row: RowFacts) -> str:
    change = 1 / (1 + steadiness.halves) - 1 if steadiness.halves > -1 else 1.0
    if change >= MANY_TIMES - 1:
        return f"{_what(row)} was {number(1 + change)} times as high in the second half as in the first"
    way = "lower" if change < 0 else "higher"
    return f"{_what(row)} was {brief_percent(abs(change))} {way} in the second half than in the first"


def _what(row: RowFacts) -> str:
    return "the response time" if row.is_open_loop else "the rate"


def _cliffs(row: RowFacts, figures: dict[str, float]) -> Iterator[str]:
    """Why more of the same may still meet a cliff: caches that were not full, erased blocks that were not used up.

    The reason is the same for all rows that share it; its figures go to the evidence.
    """
    ops = {item.op for item in row.workload.mix}
    if "write" in ops:
        capacity, written = _capacity(row.run), row.bytes_written
        figures |= {"written_bytes": written, "device_bytes": capacity}
        if not capacity:
            yield "the size of the device is unknown"
        elif written < limits.CLIFF_WRITES * capacity:
            yield "less than twice the size of the device was written"
    if "read" in ops:
        size, read, host = row.data_bytes, row.bytes_read, row.run.host
        figures |= {"read_bytes": read, "data_bytes": size}
        if read < size:
            yield "less than the whole of the data was read"
        elif size < limits.DATA_OVER_MEMORY * host.usable_memory_bytes:
            yield f"the data is less than ten times {host.whose_memory} memory, and caches below may be as large"


def _capacity(run: Run) -> int:
    """Bytes of all disks below the target together, or of what stands lowest; 0 when any is not known."""
    layers = run.plan.target.layers
    sizes = [layer.size_bytes for layer in layers if not layer.lower] or [run.plan.target.size_bytes]
    return sum(size or 0 for size in sizes) if all(sizes) else 0


def _figures(steadiness: Steadiness, interval_ns: int) -> dict[str, float]:
    figures = {
        "whole_intervals": float(steadiness.length),
        "steady_from_ns": float(steadiness.cut * interval_ns),
        "mean": steadiness.mean,
        "lowest_batch": steadiness.low,
        "highest_batch": steadiness.high,
        "half_width": steadiness.half_width,
        "drift": steadiness.drift,
    }
    return {name: value for name, value in figures.items() if not math.isnan(value)}
