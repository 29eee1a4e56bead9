"""The loops and rates of vdbench's run definitions: the runs that one rd= makes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from iocast.errors import SpecError
from iocast.tools.foreign_numbers import number_of, whole_of
from iocast.tools.line_problems import LineProblems
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_values import Reader, share_of
from iocast.units import rate_text, size_text

MOST_RATE = 1e9  # operations per second
MOST_RUNS = 10_000  # of one run definition
CURVE = (10.0, 50.0, 70.0, 80.0, 90.0, 100.0)  # vdbench's own points


class Loop(NamedTuple):
    """The parameter that a loop sets, and how its values are read."""

    key: str
    read: Callable[[str], object]


class Rate(NamedTuple):
    """How fast a run is: `max`, a number, or a percentage of a maximum."""

    per_s: float | None = None
    percent: float | None = None

    @property
    def words(self) -> str:
        """As names of rows say it."""
        if self.percent is not None:
            return f"{self.percent:g}% of max"
        return "max" if self.per_s is None else f"@{rate_text(self.per_s)}"


def cells(
    run: Definition, loops: Mapping[str, Loop], problems: LineProblems
) -> Iterator[tuple[str, dict[str, Parameter]]]:
    """Each combination of the loops, the last one written varying fastest: its words, and what it sets."""
    reader = Reader(run.parameters, problems)
    written = [
        [(loop.key, str(_plain(value)), parameter.line) for value in reader.several(parameter.key, loop.read)]
        for parameter in run.parameters.values()
        if (loop := loops.get(parameter.key))
    ]
    count = math.prod(map(len, written))
    if count > MOST_RUNS:
        said = f"rd={run.name}: its loops make {count:,} runs"
        problems.add(run.line, said, f"at most {MOST_RUNS:,}: shorten the lists")
        return
    for values in itertools.product(*written):
        words = " ".join(f"{key}={_short(key, text)}" for key, text, _ in values)
        yield words, {key: Parameter(key, (text,), line) for key, text, line in values}


def rates(run: Definition, key: str, problems: LineProblems) -> Iterator[Rate]:
    """In the order in which they run; what cannot be read is a problem. `key` is iorate or fwdrate."""
    given, reader = run.parameters.get(key), Reader(run.parameters, problems)
    if given is None:
        problems.add(run.line, f"rd={run.name}: {key} is missing", f"{key}=max, for example")
        return
    for text in given.values if given.values[0].partition("-")[1] == "" else reader.several(key, str):
        match text.lower():
            case "max":
                yield Rate()
            case "curve":
                yield Rate()
                yield from (Rate(percent=each) for each in reader.several("curve", share_of) or CURVE)
            case share if share.endswith("%"):
                yield from _one_share(reader, key, share)
            case number:
                yield from _one_number(reader, key, number)


def _one_share(reader: Reader, key: str, text: str) -> Iterator[Rate]:
    try:
        yield Rate(percent=share_of(text))
    except SpecError as error:
        reader.refuse(key, error.message, f"for example {key}=(max,50%,90%)")


def _one_number(reader: Reader, key: str, text: str) -> Iterator[Rate]:
    value = number_of(text)
    if value is not None and 0 < value <= MOST_RATE:
        yield Rate(per_s=value)
    else:
        reader.refuse(key, f'"{text}" is not a rate', "a number, max, curve, or a percentage of max")


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _short(key: str, text: str) -> str:
    size_bytes = whole_of(text) if key in ("xfersize", "sizes") else None
    return text if size_bytes is None else size_text(size_bytes)
