"""Until steady: a phase ends when the question whether it is steady has been answered with yes.

The mathematics is not here: who starts the work brings a judge along, because only sessions may know both the load
and its analysis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from iocast.model.plan import Phase, Until
from iocast.model.run import Settled, SteadyEnd, mean_response_ns
from iocast.model.script import Done, Group, Script
from iocast.model.workload import Closed

# (rule, values of equal intervals) -> from which of them on they are steady, None when they are not.
Judge = Callable[[str, Sequence[float]], Settled | None]

SNIA_ROUNDS = 5


class UntilSteady(Script):
    """Another script, whose phases with `until` are listened to while they run.

    `step_ns` is the length of the intervals whose values are judged. Phases that run with others are not listened to.
    """

    def __init__(self, script: Script, judge: Judge, step_ns: int) -> None:
        self._script, self._judge, self._step_ns = script, judge, step_ns

    def next(self, done: Done) -> Group | None:
        """The group of the other script, with the rule that may end it."""
        group = self._script.next(done)
        if group is None or len(group.phases) > 1 or group.until is not None:
            return group
        (phase,) = group.phases
        if phase.until is None:
            return group
        return Group(group.phases, Watching(phase, phase.until, self._judge, self._step_ns))

    def ahead(self, done: Done) -> tuple[tuple[Phase, ...], ...]:
        """As the other script says."""
        return self._script.ahead(done)


class Watching:
    """Listens to a phase that runs until it is steady, and asks the judge when it is time to."""

    def __init__(self, phase: Phase, until: Until, judge: Judge, step_ns: int) -> None:
        self._questions = _Questions(until, judge, step_ns)
        self._step_ns = step_ns
        self._open_loop = is_open_loop(phase)
        self._last = (0, 0, 0)
        self._values: list[float] = []

    def enough(self, elapsed_ns: int, ios: int, response_ns: int) -> bool:
        """True when the phase has run for long enough."""
        steps = elapsed_ns // self._step_ns - len(self._values)
        if steps <= 0:
            return False
        then_ns, ios_then, response_then = self._last
        self._last = (elapsed_ns, ios, response_ns)
        value = (
            mean_response_ns(ios - ios_then, response_ns - response_then, elapsed_ns - then_ns)
            if self._open_loop
            else (ios - ios_then) * 1_000_000_000 / (elapsed_ns - then_ns)
        )
        # A tick that came late stands for all the steps since the last one.
        self._values += [value] * steps
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
        # One result tells nothing of the next: the first doubling is the first that can be compared.
        self._next = 2 * self._first if until.rule == "b3" else self._first
        self._window = 0 if until.rule == "b3" else max(SNIA_ROUNDS, self._first)
        self._asked = 0
        self._found: Settled | None = None
        self._from = 0

    def ask(self, values: Sequence[float]) -> bool:
        """Asks if it is time to; True when the answer is yes."""
        if self._found is not None or len(values) < self._next:
            return self._found is not None
        self._next = 2 * self._next if self._until.rule == "b3" else len(values) + max(1, self._first // SNIA_ROUNDS)
        self._asked += 1
        judged = values[-self._window :] if self._window else values
        self._found = self._judge(self._until.rule, judged)
        if self._found is not None:
            self._from = len(values) - len(judged) + self._found.at
        return self._found is not None

    @property
    def end(self) -> SteadyEnd:
        rule, steady = self._until.rule, self._found
        if steady is None:
            return SteadyEnd(rule=rule, reached=False, judged=self._asked)
        from_ns = self._from * self._interval_ns
        return SteadyEnd(
            rule=rule,
            reached=True,
            judged=self._asked,
            from_ns=from_ns,
            warm_up_ns=from_ns,
            before=steady.before,
            after=steady.after,
        )


def is_open_loop(phase: Phase) -> bool:
    """True when I/Os are due at given times, whether earlier ones have ended or not."""
    return not isinstance(phase.workload.arrival, Closed)
