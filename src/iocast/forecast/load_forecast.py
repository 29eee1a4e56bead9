"""The forecast of a load from a measured ladder: mean and percentiles with intervals, utilisation, the highest rate.

Each figure has a bracket (how far the model may be off, models A4 step 5) and a sampling error (how well each row of
the ladder is known, weighted by how much the figure depends on it); the interval printed is both together.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast.forecast.composed_ladder import CAPACITY_OVER, UPPER_OVER
from iocast.forecast.flow_equivalent import (
    EXACTLY,
    HIGHEST_LOAD,
    LOWER,
    UPPER,
    UPPER_BURSTY,
    Bracket,
    Ladder,
    TooClose,
    Variability,
    bracket,
)
from iocast.forecast.measured_ladder import LEAST_SERVICE, QUANTILES, MeasuredLadder
from iocast.forecast.response_law import GRID, TAIL, Law, Mixture, mixed
from iocast.forecast.uneven_pace import Delays, SlowTimes, slow_times

CLIFF = 1.5  # a percentile that grows so much within CLIFF_REACH lies between two modes (models A4 step 7)
CLIFF_REACH = 0.002
NUDGE = 0.05  # of a row's times, to see how much a figure depends on it
MATTERS = 0.1  # of a figure's logarithm over that of a row: less is not worth a refusal
MOST_WEAK = 0.25  # [J] of the rows of a ladder may have trust C
UNKNOWN_ERROR = 1.0  # half an interval of a logarithm, where it is not known and hardly matters
AT_ONE = 1.1  # saturated by one user, who leaves nothing idle
MOSTLY_FAST = 0.5  # half of the I/Os take less than this share of the mean: they did not wait
FASTEST = 0.01  # of them take the time of a storage that is never idle: after a wait it, and its CPU, have to wake up
KNOTS = (0.1, 0.5, 0.7, 0.85, 0.95)  # of the limit: where the sampling error is computed for other rates
FINE = 14  # halvings of a search for a rate
OF_USE = 10.0  # times its lower end: a wider interval that begins at what a cap would hide has no lower end [J]

End = Literal["low", "base", "high"]


class ModeGap(Struct, frozen=True):
    """The two groups of response times between which a percentile lies: what it is on either side, in seconds, and the
    share of the I/Os that are expected in the faster one."""

    faster_s: float
    slower_s: float
    faster: float


class Figure(Struct, frozen=True, kw_only=True):
    """A mean (`q` None) or a percentile with its interval, in seconds. `step`: it lies between two modes, so that there
    is no value in the middle. `model`: the three values before any margin. `known` False: too few I/Os. `held`: the
    lower end is next to nothing, as one user may have waited for a cap all the time, which a lone server of constant
    times looks like: then it is a bound, and no figure."""

    q: float | None
    low_s: float
    base_s: float
    high_s: float
    model_s: tuple[float, float, float]
    sampling: float  # half a 95 % interval of its logarithm
    step: ModeGap | None = None
    known: bool = True
    held: bool = False

    @property
    def told_low_s(self) -> float | None:
        """The lower end as people are told it; None where there is none that says anything."""
        return None if self.held else self.low_s

    @property
    def stepped(self) -> bool:
        """Whether it lies between two modes."""
        return self.step is not None


class Sampling(Struct, frozen=True):
    """Half a 95 % interval of the logarithm of a figure, and of the mean beside it; None: too few I/Os."""

    figure: float | None
    mean: float | None


class Utilisation(Struct, frozen=True):
    """Of the demonstrated throughput."""

    low: float
    base: float
    high: float


class Three(Struct, frozen=True):
    """The response at a rate: at the lower end of the bracket, as the model has it, at the upper end."""

    low: Mixture
    base: Mixture
    high: Mixture


class LoadForecast(Struct, frozen=True, kw_only=True):
    """What a rate of random arrivals comes to."""

    rate_per_s: float
    figures: tuple[Figure, ...]
    utilisation: Utilisation

    def figure(self, q: float | None) -> Figure:
        """The figure of a percentile, or of the mean."""
        return next(each for each in self.figures if each.q == q)


class Forecaster(Struct, frozen=True, dict=True):
    """A measured ladder, asked for one rate after the other."""

    measured: MeasuredLadder
    arrival_cv2: float = 1.0
    hits: float = 0.0  # the share of I/Os that a cache answers before they reach the storage
    hit_s: float = 0.0  # how long that takes

    @cached_property
    def law(self) -> Law:
        """The ladder with its distributions."""
        return self.measured.law

    @property
    def ladder(self) -> Ladder:
        """Users and response times."""
        return self.law.ladder

    @cached_property
    def within(self) -> Bracket:
        """The bracket; a ladder that ends early does not show that the storage is striped, and behind a throttle I/Os
        wait less than behind servers of random times."""
        of = self.measured
        varies = Variability(service_cv2=of.service_cv2, fastest_s=of.fastest_s, arrival_cv2=self.arrival_cv2)
        varied = bracket(self.ladder, varies)
        paced = 1 + min(0.0, (self.arrival_cv2 - 1) / 2) + min(0.0, (of.saturated_cv2 - 1) / 2)
        varied = replace(varied, low=min(varied.low, max(0.5, paced)))
        if of.held_s:  # one user meets the cap: half the wait of random servers: what is expected of a cap
            varied = replace(varied, base=max(0.5, self.arrival_cv2 / 2))
        if of.deep:
            return varied
        high = 1 + (self.arrival_cv2 - 1) / 2 + max(0.0, (varied.bottleneck_cv2 - 1) / 2)
        return replace(varied, high=high)

    @cached_property
    def ends(self) -> tuple[Forecaster, Forecaster] | None:
        """Of a size between two measured ones, the forecasters of these: the lower end is that of the smaller size, the
        upper end that of the larger one."""
        if not self.measured.between:
            return None
        smaller, larger = self.measured.between
        more = (self.arrival_cv2, self.hits, self.hit_s)
        return Forecaster(smaller, *more), Forecaster(larger, *more)

    @property
    def demonstrated_per_s(self) -> float:
        """The throughput at the last load; of a mix that was put together, what is left of it to rely on."""
        over = CAPACITY_OVER if self.measured.composed else 1.0
        return self.ladder.last_per_s / over / (1 - self.hits)

    @property
    def limit_per_s(self) -> float:
        """Above this rate nothing is foretold."""
        return HIGHEST_LOAD * min(each.demonstrated_per_s for each in self.ends or (self,))

    @property
    def margins(self) -> tuple[float, float]:
        """By what the lower and the upper value of the model are multiplied."""
        bursty = any(each.within.bursty for each in (self, *(self.ends or ())))
        above = UPPER_BURSTY if bursty else UPPER
        return LOWER, above * (UPPER_OVER if self.measured.composed else 1.0)

    def three(self, rate_per_s: float) -> Three:
        """The response at a rate. Raises TooClose."""
        if rate_per_s > self.limit_per_s * (1 + 1e-9):
            raise TooClose(rate_per_s, self.demonstrated_per_s)
        if self.ends:
            smaller, larger = (each.three(rate_per_s) for each in self.ends)
            steady = self.ends[1].within.high < self.ends[1].within.base
            return Three(smaller.low, self._base(rate_per_s), larger.base if steady else larger.high)
        within, law, missed = self.within, self.law, rate_per_s * (1 - self.hits)
        more = missed * (CAPACITY_OVER if self.measured.composed else 1.0)
        low = law.mixture(missed, within.low, self._from(within.low), lowest=True)
        high = law.mixture(more, within.high, self._from(within.high))
        if slow := self._slow_times:
            high = self._uneven(high, slow, more, within.high, slow.most_delays(more))
        return Three(self._corrected(low), self._base(rate_per_s), self._corrected(high))

    def slow_times(self, rate_per_s: float) -> SlowTimes | None:
        """The times in which the storage is slower than a rate for reasons of its own; None where none show."""
        slow = self._slow_times
        return slow if slow is not None and slow.slow_per_s < rate_per_s * (1 - self.hits) else None

    @cached_property
    def _slow_times(self) -> SlowTimes | None:
        pace = self.measured.pace
        return None if pace is None else slow_times(pace, self.within.bottleneck_cv2)

    def _uneven(self, even: Mixture, slow: SlowTimes, rate_per_s: float, factor: float, delays: Delays) -> Mixture:
        """With the arrivals of slow times: of the same storage with everything as much slower; where a backlog builds
        up, those that find it wait for it first."""
        slower = self.ladder.last_per_s / slow.slow_per_s
        at_most = min(rate_per_s * slower, HIGHEST_LOAD * self.ladder.last_per_s)
        mixture = self.law.mixture(at_most, factor, self._from(factor))
        if not delays:
            return mixed([(1 - slow.share, even), (slow.share, _later(mixture, slower, 0.0))])
        in_slow = _later(mixture.as_one(), slower, 0.0)
        own = self.law.at(1)
        behind = [(each.share, _later(in_slow if each.slow else own, 1.0, each.delay_s)) for each in delays]
        return mixed([(1 - math.fsum(each.share for each in delays), even), *behind])

    def _base(self, rate_per_s: float) -> Mixture:
        factor, missed = self.within.base, rate_per_s * (1 - self.hits)
        even = self.law.mixture(missed, factor, self._from(factor))
        if slow := self._slow_times:
            even = self._uneven(even, slow, missed, factor, slow.usual_delays(missed))
        return self._corrected(even)

    def _corrected(self, missed: Mixture) -> Mixture:
        """With the hits of the cache."""
        if not self.hits:
            return missed
        hit = Mixture(((1.0, (self.hit_s,) * len(GRID)),), self.hit_s, 1.0)
        return mixed([(self.hits, hit), (1 - self.hits, missed)])

    def _from(self, factor: float) -> float:
        return self.within.from_users if factor > 1 else self.ladder.saturation_users

    def at(self, rate_per_s: float, quantiles: Sequence[float] = QUANTILES) -> LoadForecast:
        """All figures at a rate. Raises TooClose."""
        three, errors = self.three(rate_per_s), self.sampling(rate_per_s, quantiles)
        figures = tuple(self.figure(three, q, Sampling(errors[q], errors[None])) for q in (None, *quantiles))
        return LoadForecast(rate_per_s=rate_per_s, figures=figures, utilisation=self.utilisation(rate_per_s))

    def utilisation(self, rate_per_s: float) -> Utilisation:
        """How much of the demonstrated throughput a rate takes."""
        error = self.measured.levels[-1].mean_error
        base = rate_per_s / self.demonstrated_per_s
        if self.ends:
            smaller, larger = (each.utilisation(rate_per_s) for each in self.ends)
            return Utilisation(smaller.low, base, larger.high)
        least = rate_per_s * (1 - self.hits) / self.ladder.limit_per_s
        return Utilisation(least * math.exp(-error), base, base * math.exp(error))

    def figure(self, three: Three, q: float | None, chance: Sampling) -> Figure:
        """One figure of a response, with its interval. On a step the error of the percentile itself says how far the
        two groups lie from each other; where it is on either side is known as well as the mean is."""
        low_q = high_q = q
        step = None
        if q is not None:
            reach = self._reach(q)
            fast, slow = three.base.quantile_s(q - reach), three.base.quantile_s(q + reach)
            if slow > CLIFF * fast:
                low_q, high_q = q - reach, q + reach
                step = ModeGap(fast, slow, three.base.share_up_to(math.sqrt(fast * slow)))
        base = value(three.base, q)
        lowest = min(value(three.low, low_q), value(three.base, low_q))
        highest = max(value(three.base, high_q), value(three.high, high_q))
        error = chance.figure if step is None else chance.mean
        known = chance.figure is not None
        sampling = UNKNOWN_ERROR if error is None else error
        wide, (below, above) = math.exp(sampling), self.margins
        low_s = min(max(below * self._freed_s(lowest) / wide, self._idle_low_s(low_q)), below * self._unheld_s)
        high_s = above * highest * wide
        return Figure(
            q=q,
            low_s=low_s,
            base_s=base,
            high_s=high_s,
            model_s=(lowest, base, highest),
            sampling=sampling,
            step=step,
            known=known,
            held=2 * self._freed_s(lowest) < lowest and high_s > OF_USE * low_s,
        )

    def _idle_low_s(self, q: float | None) -> float:
        """The lower end when nothing else is in the storage: more load makes no I/O faster."""
        if self.ends:
            return self.ends[0]._idle_low_s(q)
        if q not in self._known_idle:
            first = self.measured.levels[0]
            error = first.mean_error if q is None else error_at(first.errors, q)
            wide = math.exp(UNKNOWN_ERROR if error is None else error)
            idle = self._corrected(self.law.at(1))
            self._known_idle[q] = self.margins[0] * self._freed_s(value(idle, q)) / wide
        return self._known_idle[q]

    def paced(self, factor: float, users: int) -> float:
        """By what the chance of `users` in the storage is multiplied: `factor`, or less behind a cap, where I/Os wait
        half as long as behind servers of random times."""
        slow = self.within.base
        if slow >= 1 or users <= self.ladder.saturation_users * (1 + EXACTLY) or factor >= 1:
            return factor
        return slow * factor / (1 - factor + slow * factor)

    @cached_property
    def held_s(self) -> float:
        """What an I/O of the least load may have waited for a cap, in seconds: below the cap none does."""
        return (self.ends[0] if self.ends else self.measured).held_s

    def _freed_s(self, time_s: float) -> float:
        """A time without the wait that one user has at a cap."""
        return max(time_s - self.held_s, LEAST_SERVICE * time_s)

    @cached_property
    def _unheld_s(self) -> float:
        """The time of an I/O that a throttle did not hold back; infinite where none shows.

        A throttle by time slices (cgroup) lets a user run into the wall and then wait. Its mean is the pace of the
        wall, while the fastest of its I/Os show what all may take below it.
        """
        idle = self._corrected(self.law.at(1))
        held = self.ladder.saturation_users <= AT_ONE and idle.quantile_s(0.5) < MOSTLY_FAST * idle.mean_s
        return idle.quantile_s(FASTEST) if held else math.inf

    @cached_property
    def _known_idle(self) -> dict[float | None, float]:
        return {}

    def _reach(self, q: float) -> float:
        """How far beside a percentile its share may lie: by chance at the row of fewest I/Os, and as distributions are
        kept."""
        fewest = min(level.ios for level in self.measured.levels)
        least = GRID[1] if q < TAIL else min(CLIFF_REACH, (1 - q) / 5)
        return min(max(least, 2 * math.sqrt(q * (1 - q) / fewest)), (1 - q) / 2)

    def sampling(self, rate_per_s: float, quantiles: Sequence[float]) -> dict[float | None, float | None]:
        """Half the 95 % interval of the logarithm of each figure; None where a row that matters has too few I/Os.

        Each row in turn is made a little slower: by how much the figure follows is its weight.
        """
        weights = self.weights(rate_per_s, quantiles)
        squares: dict[float | None, float | None] = dict.fromkeys(weights, 0.0)
        for q, of_levels in weights.items():
            for level, weight in zip(self.measured.levels, of_levels, strict=True):
                error = level.mean_error if q is None else error_at(level.errors, q)
                if error is None and weight < MATTERS:
                    error = UNKNOWN_ERROR
                before = squares[q]
                squares[q] = None if before is None or error is None else before + (weight * error) ** 2
        return {q: None if variance is None else math.sqrt(variance) for q, variance in squares.items()}

    def weights(self, rate_per_s: float, quantiles: Sequence[float]) -> dict[float | None, list[float]]:
        """How much each figure depends on each load of the ladder: by how many percent it moves with one of the row."""
        missed = rate_per_s * (1 - self.hits)
        plain = self._corrected(self.law.mixture(missed, 1.0, 0.0))
        by_quantile: dict[float | None, list[float]] = {q: [] for q in (None, *quantiles)}
        start = {q: value(plain, q) for q in by_quantile}
        for law in self._nudged:
            nudged = self._corrected(law.mixture(missed, 1.0, 0.0))
            for q, weights in by_quantile.items():
                weights.append(abs(math.log(value(nudged, q) / start[q])) / math.log1p(NUDGE))
        return by_quantile

    @cached_property
    def _nudged(self) -> tuple[Law, ...]:
        """The law with each row in turn a little slower: the same at every rate."""
        return tuple(self.law.scaled(at, 1 + NUDGE) for at in range(len(self.measured.levels)))

    @property
    def firm(self) -> bool:
        """False for an indication only: a mix put together, hits that are assumed, rows of trust C (the first one, the
        last one, or more than a quarter of all)."""
        of = self.measured
        weak = [any(name in of.unsure for name in level.names) for level in of.levels]
        few = not weak[0] and not weak[-1] and sum(weak) <= MOST_WEAK * len(weak)
        return few and not of.composed and not self.hits

    def highest_rate(self, q: float | None, limit_s: float, end: End, kept_per_s: float = 0.0) -> float:
        """The highest rate whose figure stays within a limit, by the low, the middle or the high end of its interval;
        0 where even an idle storage breaks it, `limit_per_s` where every rate that is foretold keeps it.

        `kept_per_s` is tried first: few I/Os make the interval wider at low loads, and what is kept at a higher one is
        not lost there.
        """
        errors = self._errors_by_rate(q)

        def breaks(rate_per_s: float) -> bool:
            figure = self.figure(self.three(rate_per_s), q, _between(errors, rate_per_s))
            return {"low": figure.low_s, "base": figure.base_s, "high": figure.high_s}[end] > limit_s

        low, high = 0.0, self.limit_per_s
        if 0 < kept_per_s < high and not breaks(kept_per_s):
            low = kept_per_s
        elif breaks(high * 1e-3):
            return 0.0
        if not breaks(high):
            return high
        for _ in range(FINE):
            middle = (low + high) / 2
            low, high = (low, middle) if breaks(middle) else (middle, high)
        return low

    def _errors_by_rate(self, q: float | None) -> list[tuple[float, Sampling]]:
        known: dict[float | None, list[tuple[float, Sampling]]] = self._known_errors
        if q not in known:
            rates = [share * self.demonstrated_per_s for share in KNOTS]
            known[q] = [(rate, self.chance(rate, q)) for rate in rates]
        return known[q]

    def chance(self, rate_per_s: float, q: float | None) -> Sampling:
        """How well a figure is known at a rate."""
        errors = self.sampling(rate_per_s, () if q is None else (q,))
        return Sampling(errors[q], errors[None])

    @cached_property
    def _known_errors(self) -> dict[float | None, list[tuple[float, Sampling]]]:
        return {}

    def curve(self, q: float | None, rates_per_s: Sequence[float]) -> list[Figure]:
        """One figure at several rates, with its sampling error between those of KNOTS. Raises TooClose."""
        errors = self._errors_by_rate(q)
        return [self.figure(self.three(rate), q, _between(errors, rate)) for rate in rates_per_s]


def _later(of: Mixture, slower: float, delay_s: float) -> Mixture:
    parts = tuple((mass, tuple(slower * each + delay_s for each in times_s)) for mass, times_s in of.parts)
    return Mixture(parts, slower * of.mean_s + delay_s, of.idle)


def value(of: Mixture, q: float | None) -> float:
    """The mean or a percentile, in seconds."""
    return of.mean_s if q is None else of.quantile_s(q)


def error_at(errors: Mapping[float, float | None], q: float) -> float | None:
    """The error of a percentile: that of the next one that is known above it."""
    above = min((each for each in errors if each >= q - 1e-12), default=None)
    return None if above is None else errors[above]


def _between(errors: Sequence[tuple[float, Sampling]], rate_per_s: float) -> Sampling:
    if rate_per_s <= errors[0][0]:
        return errors[0][1]
    for (low, one), (high, other) in pairwise(errors):
        if rate_per_s <= high:
            part = (rate_per_s - low) / (high - low)
            return Sampling(_part(one.figure, other.figure, part), _part(one.mean, other.mean, part))
    return errors[-1][1]


def _part(one: float | None, other: float | None, part: float) -> float | None:
    return None if one is None or other is None else one + (other - one) * part
