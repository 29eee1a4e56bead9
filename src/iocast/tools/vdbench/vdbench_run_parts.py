"""What all of vdbench's run definitions (rd=) have, of storage and of files: times, rates, shares of a maximum."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from msgspec import Struct

from iocast.model.plan import Length, Phase
from iocast.model.script import Share
from iocast.model.workload import Arrival, Closed, Constant, Poisson
from iocast.tools.line_problems import LineProblems, meant
from iocast.tools.vdbench.parameter_file import Definition
from iocast.tools.vdbench.vdbench_rates import Rate, rates
from iocast.tools.vdbench.vdbench_values import Reader, milliseconds_of, seconds_of, size_of

USUAL_SECONDS = 30.0
_EVEN, _EXPONENTIAL = ("deterministic", "d"), ("exponential", "e")


class Expanded(NamedTuple):
    """The phases of a run definition, and those whose rate is a share of a maximum."""

    phases: tuple[Phase, ...]
    shares: dict[str, Share]
    interval_ns: int


class RunTimes(Struct, frozen=True, kw_only=True):
    """How long runs are, when a curve stops, and whether their I/Os are due evenly or at random."""

    length: Length
    warm_seconds: float  # 0: without
    stop_above_ns: int | None
    even: bool
    interval_ns: int

    @property
    def warm(self) -> Length:
        """Of a warm-up."""
        return Length(seconds=self.warm_seconds)

    def arrival(self, rate: Rate, part: float = 1.0) -> Arrival:
        """When I/Os of a workload are due that has this part of a rate."""
        if rate.per_s is None:
            return Closed()
        return Constant(rate.per_s * part) if self.even else Poisson(rate.per_s * part)

    def share(self, rate: Rate, largest: str) -> Share:
        """A rate that is a percentage of what `largest` reached."""
        assert rate.percent is not None
        return Share(of=largest, percent=rate.percent, even=self.even, stop_above_ns=self.stop_above_ns)


def times_of(reader: Reader) -> RunTimes:
    """Those of a run definition; what cannot be read is a problem."""
    return RunTimes(
        length=Length(
            seconds=reader.one("elapsed", seconds_of, USUAL_SECONDS), bytes=reader.one("maxdata", size_of, None)
        ),
        warm_seconds=reader.one("warmup", seconds_of, 0.0),
        stop_above_ns=reader.one("stopcurve", milliseconds_of, None),
        even=_is_even(reader),
        interval_ns=max(1, round(reader.one("interval", seconds_of, 1.0) * 1e9)),
    )


def _is_even(reader: Reader) -> bool:
    said = reader.one("distribution", str, "exponential").lower()
    if said not in (*_EVEN, *_EXPONENTIAL):
        reader.refuse(
            "distribution",
            f"{said} is not supported{meant(said, (_EVEN[0], _EXPONENTIAL[0]))}",
            "exponential or deterministic",
        )
    return said in _EVEN


class RatedRun(NamedTuple):
    """One run: its name, its rate, and the run whose maximum that is a share of."""

    name: str
    rate: Rate
    largest: str


def rated_runs(run: Definition, key: str, words: str, problems: LineProblems) -> Iterator[RatedRun]:
    """The runs of one cell of the loops, for each rate of `key`; a share alone finds the maximum first."""
    largest = ""

    def name(rate: Rate) -> str:
        return " ".join(filter(None, (run.name, words, rate.words)))

    for rate in rates(run, key, problems):
        if rate.percent is not None and not largest:
            largest = name(Rate())
            yield RatedRun(largest, Rate(), "")
        yield RatedRun(name(rate), rate, largest)
        if rate == Rate():
            largest = name(rate)
