"""What the arms of an experiment say about one decision: a ratio, the scatter or the course of one arm, and a limit."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from statistics import geometric_mean

from msgspec import Struct
from msgspec.structs import replace

from iocast._core import chi_square_quantile
from iocast.analyse.changepoint import change_points
from iocast.analyse.comparison import ab_ratio
from iocast.errors import AnalysisError
from iocast.model.codes import VerdictCode
from iocast.model.experiment import Decision, Statistic
from iocast.model.run import PhaseRecord, Run
from iocast.text import brief_percent, brief_throughput, brief_time, counted, number

QUANTILES: dict[Statistic, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
TAIL = 0.025  # on either side of a 95 % interval
COMES_BACK = 0.9  # of the level before a dip


class Decided(Struct, frozen=True, kw_only=True):
    """The verdict of one decision: `value` (a ratio, or a coefficient of variation) with its 95 % interval."""

    verdict: VerdictCode
    figures: str  # 'The p50 of "buffered" is 0.03 times that of "direct": 3.1 µs against 92 µs'
    interval: str  # "95% interval 0.02 to 0.05; below 0.5 confirms it", "" with a single round
    value: float
    low: float | None = None
    high: float | None = None
    rounds: int = 0

    @property
    def says(self) -> str:
        """The figures in one sentence without its full stop."""
        return f"{self.figures} ({self.interval})" if self.interval else self.figures


def decide(decision: Decision, run: Run) -> Decided:
    """What the run of an experiment says. Raises AnalysisError when an arm has no result at all."""
    first, (name, other) = _values(run, decision.first, decision), _furthest(run, decision)
    if not first or not other:
        missing = decision.first if not first else decision.other
        raise AnalysisError(f'the experiment has no result for "{missing}"', "the run of the experiment shows why")
    decision = replace(decision, other=name)
    match decision.direction:
        case "varies":
            return _scatter(decision, first)
        case "dips":
            return _dip(decision, first)
        case _:
            return _ratio(decision, first, other)


def _furthest(run: Run, decision: Decision) -> tuple[str, list[float]]:
    """The other arm and its values; of several the one whose geometric mean lies furthest in the direction."""
    if not decision.or_others:
        return decision.other, _values(run, decision.other, decision)
    others = {name: _values(run, name, decision) for name in (decision.other, *decision.or_others)}
    means = {name: geometric_mean(values) for name, values in others.items() if values}
    pick = min if decision.direction == "below" else max
    name = pick(means, key=lambda each: means[each], default=decision.other)
    return name, others[name]


def _ratio(decision: Decision, first: list[float], other: list[float]) -> Decided:
    ratio = ab_ratio(first, other)
    figures, rounds = _figures(decision, first, other), min(len(first), len(other))
    if ratio.low is None or ratio.high is None:
        return Decided(verdict="undecided", figures=figures, interval="", value=ratio.ratio, rounds=rounds)
    return Decided(
        verdict=of_interval(decision, ratio.low, ratio.high),
        figures=figures,
        interval=f"95% interval {number(ratio.low)} to {number(ratio.high)}; {_limit(decision)}",
        value=ratio.ratio,
        low=ratio.low,
        high=ratio.high,
        rounds=rounds,
    )


def of_interval(decision: Decision, low: float, high: float) -> VerdictCode:
    """On which side of its limit the interval of a ratio, or of a scatter, lies."""
    limit = decision.limit
    match decision.direction:
        case "below":
            beyond, short = high < limit, low > limit
        case "same":
            least, most = min(limit, 1 / limit), max(limit, 1 / limit)
            beyond, short = least <= low and high <= most, high < least or low > most
        case _:
            beyond, short = low > limit, high < limit
    return "confirmed" if beyond else "rejected" if short else "undecided"


def _limit(decision: Decision) -> str:
    """What confirms the decision."""
    if decision.direction == "same":
        least, most = sorted((decision.limit, 1 / decision.limit))
        return f"{least:.2f} to {most:.2f} confirms it"
    if decision.direction == "varies":
        return f"above {brief_percent(decision.limit)} confirms it"
    return f"{'below' if decision.direction == 'below' else 'above'} {decision.limit:g} confirms it"


def _scatter(decision: Decision, values: list[float]) -> Decided:
    """The scatter of the logarithms (for small ones the coefficient of variation), by the chi-square law."""
    logs = [math.log(value) for value in values]
    shown = _format(decision)
    figures = (
        f"{len(values)} identical rounds: {_statistic(decision)} from {shown(min(values))} to {shown(max(values))}"
    )
    if len(logs) < 3:
        return Decided(verdict="undecided", figures=figures, interval="", value=0.0, rounds=len(logs))
    free, mean = len(logs) - 1, math.fsum(logs) / len(logs)
    square = math.fsum((log - mean) ** 2 for log in logs)
    spread = math.sqrt(square / free)
    low, high = (math.sqrt(square / chi_square_quantile(q, free)) for q in (1 - TAIL, TAIL))
    steps = [after - before for before, after in pairwise(logs)]
    both_ways = max(steps) > decision.limit and min(steps) < -decision.limit
    verdict = of_interval(decision, low, high)
    interval = (
        f"variation {brief_percent(spread)}, 95% interval {brief_percent(low)} to {brief_percent(high)};"
        f" {_limit(decision)}"
    )
    if verdict == "confirmed" and not both_ways:
        verdict, interval = "rejected", f"{interval}, in one direction only"
    return Decided(
        verdict=verdict, figures=figures, interval=interval, value=spread, low=low, high=high, rounds=len(logs)
    )


def _dip(decision: Decision, values: list[float]) -> Decided:
    """Whether a rate fell once and came back: the interval of the rounds in between over all others."""
    shown, rounds = _format(decision), len(values)
    ends = f"from {shown(min(values))} to {shown(max(values))}"
    figures = f"{rounds} identical rounds in sequence: {_statistic(decision)} {ends}"
    points = change_points(values)
    if points is None:
        return Decided(verdict="undecided", figures=figures, interval="", value=1.0, rounds=rounds)
    changes = points.reported
    if not changes or min(change.shift for change in changes) > -decision.limit:
        evenly = f"no lasting drop of {brief_percent(decision.limit)}"
        return Decided(verdict="rejected", figures=figures, interval=evenly, value=1.0, rounds=rounds)
    fall, rise = changes[0], changes[-1]
    if len(changes) != 2 or (1 + fall.shift) * (1 + rise.shift) < COMES_BACK:
        once = f"{counted(len(changes), 'change')}; a fall and a rise were expected"
        return Decided(verdict="undecided", figures=figures, interval=once, value=1 + fall.shift, rounds=rounds)
    inside = values[fall.at : rise.at]
    rest = [*values[: fall.at], *values[rise.at :]]
    ratio = _ratio(replace(decision, limit=1 - decision.limit, direction="below"), rest, inside)
    lasted = f"rounds {fall.at + 1} to {rise.at} at {brief_percent(ratio.value)} of the others, {ratio.interval}"
    return replace(ratio, figures=figures, interval=lasted, rounds=rounds)


def rate_of(run: Run, arm: str) -> float | None:
    """The I/Os per second of an arm over its rounds; None where it has no result."""
    values = _values(run, arm, Decision(statistic="rate", first=arm, other=arm, limit=1.0, direction="same"))
    return geometric_mean(values) if values else None


def _values(run: Run, arm: str, decision: Decision) -> list[float]:
    records = [record for record in run.measured if record.phase.test == arm and record.measurement.ios]
    values = [_value(record, decision) for record in records]
    return [value for value in values if value > 0]


def _value(record: PhaseRecord, decision: Decision) -> float:
    did = record.measurement
    response = did.response(decision.op) if decision.op else did.response()
    parts = [part for part in did.classes if not decision.op or part.op == decision.op]
    seconds = did.elapsed_ns / 1e9
    match decision.statistic:
        case "rate":
            return sum(part.ios for part in parts) / seconds
        case "bytes_per_s":
            return sum(part.bytes for part in parts) / seconds
        case "mean":
            return response.mean_ns if response.total else 0.0
        case quantile:
            return response.quantile_ns(QUANTILES[quantile]) if response.total else 0.0


def _figures(decision: Decision, first: list[float], other: list[float]) -> str:
    """The ratio that decides, and the geometric mean of each arm behind it."""
    shown, what = _format(decision), _statistic(decision)
    before, after = (geometric_mean(values) for values in (first, other))
    times = number(after / before)
    compared = "the same as that" if times == "1" else f"{times} times that"
    moved = f'The {what} of "{decision.other}" is {compared} of "{decision.first}"'
    return f"{moved}: {shown(after)} against {shown(before)}"


def _statistic(decision: Decision) -> str:
    return {"rate": "rate", "bytes_per_s": "throughput"}.get(decision.statistic, decision.statistic)


def _format(decision: Decision) -> Callable[[float], str]:
    return {"rate": _per_second, "bytes_per_s": brief_throughput}.get(decision.statistic, brief_time)


def _per_second(value: float) -> str:
    return f"{number(value)}/s"
