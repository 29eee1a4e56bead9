"""Until steady: a figure for each second of a running phase, and the question whether that is enough.

The mathematics is not here: who starts the work brings a judge along, because only doors may know both the load
and its analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iocast.model.plan import Phase, Until
from iocast.model.run import Series, SteadyEnd, mean_response_ns
from iocast.model.workload import Closed

# (rule, values of equal intervals) -> the interval from which on they are steady, None when they are not.
Judge = Callable[[str, Sequence[float]], int | None]

INTERVAL_NS = 1_000_000_000
SNIA_ROUNDS = 5


class Watching:
    """Listens to the ticks of a phase that runs until it is steady."""

    def __init__(self, phase: Phase, until: Until, judge: Judge) -> None:
        self._questions = _Questions(until, judge, INTERVAL_NS)
        self._open_loop = is_open_loop(phase)
        self._last = (0, 0, 0)
        self._values: list[float] = []

    def tick(self, elapsed_ns: int, ios: int, response_ns: int) -> bool:
        """True when the phase has run for long enough."""
        seconds = elapsed_ns // INTERVAL_NS - len(self._values)
        if seconds <= 0:
            return False
        then_ns, ios_then, response_then = self._last
        self._last = (elapsed_ns, ios, response_ns)
        value = (
            mean_response_ns(ios - ios_then, response_ns - response_then, elapsed_ns - then_ns)
            if self._open_loop
            else (ios - ios_then) * INTERVAL_NS / (elapsed_ns - then_ns)
        )
        # A tick that came late stands for all the seconds since the last one.
        self._values += [value] * seconds
        return self._questions.ask(self._values)

    @property
    def end(self) -> SteadyEnd:
        """How it ended, or stands."""
        return self._questions.end


class _Questions:
    """When the judge is asked, of what, and what came of it."""

    def __init__(self, until: Until, judge: Judge, interval_ns: int) -> None:
        self._until, self._judge, self._interval_ns = until, judge, interval_ns
        self._first = max(1, round(until.first_s * 1e9 / interval_ns))
        self._next = self._first
        self._window = 0 if until.rule == "b3" else max(SNIA_ROUNDS, self._first)
        self._asked = 0
        self._from: int | None = None

    def ask(self, values: Sequence[float]) -> bool:
        """Asks if it is time to; True when the answer is yes."""
        if self._from is not None or len(values) < self._next:
            return self._from is not None
        self._next = 2 * self._next if self._until.rule == "b3" else len(values) + max(1, self._first // SNIA_ROUNDS)
        self._asked += 1
        judged = values[-self._window :] if self._window else values
        found = self._judge(self._until.rule, judged)
        self._from = None if found is None else len(values) - len(judged) + found
        return self._from is not None

    @property
    def end(self) -> SteadyEnd:
        from_ns = None if self._from is None else self._from * self._interval_ns
        return SteadyEnd(rule=self._until.rule, reached=from_ns is not None, judged=self._asked, from_ns=from_ns)


def replay(phase: Phase, until: Until, judge: Judge, series: Series) -> tuple[SteadyEnd, float | None]:
    """What would have been said of a phase that is over, and after how many seconds it was steady.

    For virtual time, in which nobody can be asked while it passes.
    """
    questions = _Questions(until, judge, series.interval_ns)
    values = series.responses_ns if is_open_loop(phase) else series.rates_per_s
    for length in range(1, len(values) + 1):
        if questions.ask(values[:length]):
            return questions.end, length * series.interval_ns / 1e9
    return questions.end, None


def is_open_loop(phase: Phase) -> bool:
    """True when I/Os are due at given times, whether earlier ones have ended or not."""
    return not isinstance(phase.workload.arrival, Closed)
