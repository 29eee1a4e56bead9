"""Open-loop rows beside a forecast: whether what they measured lies in its interval, and the curve through them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import (
    Rule,
    design_effect,
    design_effects,
    enough_beyond,
    quantile_interval,
    share_bounds,
)
from iocast.forecast.flow_equivalent import TooClose
from iocast.forecast.hockey_stick import Fitted, Point, fit_hockey_stick
from iocast.forecast.ladder_search import same_load
from iocast.forecast.load_forecast import Figure, Forecaster
from iocast.forecast.measured_ladder import RequestedLoad
from iocast.model.workload import Poisson

LEAST_SENT = 0.97  # of the rate that was asked for: below, the row was no open loop any more
BY_CHANCE = 4.0  # standard deviations of the number of random arrivals: fewer I/Os than that did not come by chance [J]
NARROW = Rule(least_intervals=3)


class MeasuredFigure(Struct, frozen=True, kw_only=True):
    """One figure of an open-loop row, in seconds; bounds None: too few independent I/Os."""

    q: float | None
    value_s: float
    low_s: float | None
    high_s: float | None
    enough: bool = True


class OpenRow(Struct, frozen=True, kw_only=True):
    """An open-loop row with what was forecast at its rate. `figures` empty: nothing is foretold there, `why_not`."""

    name: str
    rate_per_s: float  # that was asked for
    done_per_s: float
    measured: tuple[MeasuredFigure, ...]
    figures: tuple[Figure, ...] = ()
    why_not: str = ""
    fell_behind: bool = False  # it did fewer I/Os than chance explains: the storage cannot do the rate

    @property
    def kept_up(self) -> bool:
        """True when the storage did as much as was asked for."""
        return self.done_per_s >= LEAST_SENT * self.rate_per_s

    def pairs(self) -> list[tuple[MeasuredFigure, Figure]]:
        """What was measured beside what was forecast."""
        by_q = {each.q: each for each in self.figures if each.known}
        return [(each, by_q[each.q]) for each in self.measured if each.enough and each.q in by_q]

    def outside(self) -> list[tuple[MeasuredFigure, Figure]]:
        """The figures whose own interval does not even touch that of the forecast."""
        return [(has, said) for has, said in self.pairs() if not touches(has, said)]


def inside(has: MeasuredFigure, said: Figure) -> bool:
    """True when the value itself lies in the interval."""
    return said.low_s <= has.value_s <= said.high_s


def touches(has: MeasuredFigure, said: Figure) -> bool:
    """True when the truth may lie in the forecast's interval: a measured value has an interval of its own."""
    low = has.value_s if has.low_s is None else has.low_s
    high = math.inf if has.high_s is None else has.high_s
    return low <= said.high_s and high >= said.low_s


def open_rows(
    facts: Facts,
    requested_load: RequestedLoad,
    refused: Mapping[str, str],
    quantiles: Sequence[float],
    by: Forecaster | None,
) -> tuple[OpenRow, ...]:
    """The rows of random arrivals of the asked I/O, by rate, each with its forecast where there is one."""
    rows = []
    for row in facts.rows:
        arrival = row.workload.arrival
        fits = isinstance(arrival, Poisson) and same_load(row.record, requested_load) and row.measurement.ios
        if not fits or row.name in refused or facts.imported:
            continue
        assert isinstance(arrival, Poisson)
        rows.append(_held_against(row, arrival.rate_per_s, quantiles, by))
    return tuple(sorted(rows, key=lambda each: each.rate_per_s))


def _held_against(row: RowFacts, rate_per_s: float, quantiles: Sequence[float], by: Forecaster | None) -> OpenRow:
    figures: tuple[Figure, ...] = ()
    why_not = ""
    if by is not None:
        try:
            figures = by.at(rate_per_s, quantiles).figures
        except TooClose as why:
            why_not = why.message
    return OpenRow(
        name=row.name,
        rate_per_s=rate_per_s,
        done_per_s=row.measurement.rate_per_s,
        measured=tuple(_measured(row, q) for q in (None, *quantiles)),
        figures=figures,
        why_not=why_not,
        fell_behind=_fell_behind(row, rate_per_s),
    )


def _fell_behind(row: RowFacts, rate_per_s: float) -> bool:
    did = row.measurement
    due = rate_per_s * did.elapsed_ns / 1e9
    return did.ios < LEAST_SENT * due and due - did.ios > BY_CHANCE * math.sqrt(due)


def _measured(row: RowFacts, q: float | None) -> MeasuredFigure:
    response, series = row.response(), row.record.series
    if q is None:
        low, high = share_bounds(series.response_ns, series.ios, float(sum(series.response_ns)), NARROW)
        mean_s = response.mean_ns / 1e9
        return MeasuredFigure(q=q, value_s=mean_s, low_s=low and low * mean_s, high_s=high and high * mean_s)
    known = [design_effects(each, NARROW) for each in series.ops if sum(each.ios)]
    effects = [each for each in known if each is not None]
    effect = math.fsum(design_effect(each, q) or 1.0 for each in effects) if effects else None
    interval = quantile_interval(response, q, effect)
    low_s, high_s = (None if end is None else end / 1e9 for end in (interval.low_ns, interval.high_ns))
    enough = enough_beyond(response.total, q)
    return MeasuredFigure(q=q, value_s=interval.value_ns / 1e9, low_s=low_s, high_s=high_s, enough=enough)


def fitted(rows: Sequence[OpenRow], q: float | None) -> Fitted:
    """The hockey stick through the rows that kept up, or why there is none."""
    points = []
    for row in rows:
        has = next((each for each in row.measured if each.q == q and each.enough), None)
        if has is None or not row.kept_up or has.value_s <= 0:
            continue
        half = None if has.low_s is None or has.high_s is None else math.log(has.high_s / has.low_s) / 2
        points.append(Point(row.done_per_s, has.value_s, 0.1 if half is None else half / 2))
    return fit_hockey_stick(points) if points else Fitted(None, "few_rates")
