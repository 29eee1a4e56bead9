"""Values of vdbench's parameters: sizes, times, percentages, ranges, names with wildcards; loops and rates of runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple, TypeVar

from iocast.errors import SpecError
from iocast.tools import foreign_numbers
from iocast.tools.line_problems import LineProblems, meant
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.units import parse_duration, parse_size, rate_text, size_text

Value = TypeVar("Value")
MOST_VALUES = 1000  # of a range
MOST_WHOLE = 999_999  # threads, files, levels


class Reader(NamedTuple):
    """Reads the parameters of a definition; what it cannot read becomes a problem, and the default."""

    parameters: Mapping[str, Parameter]
    problems: LineProblems

    def one(self, key: str, read: Callable[[str], Value], default: Value) -> Value:
        """A parameter with one value."""
        parameter = self.parameters.get(key)
        if parameter is None:
            return default
        if len(parameter.values) > 1:
            way_out = f"give one value, or loop over them: for{key}={parameter.text}"
            self.problems.add(parameter.line, f"{key}={parameter.text}: several values", way_out)
            return default
        return self._read(parameter, parameter.values[0], read, default)

    def several(self, key: str, read: Callable[[str], Value]) -> list[Value]:
        """A parameter with a list of values; "10-50,10" is a range with its step."""
        parameter = self.parameters.get(key)
        if parameter is None:
            return []
        try:
            texts = list(_spread(parameter.values))
        except (ValueError, SpecError):
            self.problems.add(parameter.line, f"{key}={parameter.text}: unreadable range", "for example (10-100,10)")
            return []
        values = (self._read(parameter, text, read, None) for text in texts)
        return [each for each in values if each is not None]

    def _read(self, parameter: Parameter, text: str, read: Callable[[str], Value], default: Value) -> Value:
        try:
            return read(text)
        except SpecError as error:
            said = f"{parameter.key}={parameter.text}: {error.message}"
            self.problems.add(parameter.line, said, error.hint)
            return default

    def refuse(self, key: str, why: str, way_out: str) -> None:
        """A problem of a parameter that is there."""
        parameter = self.parameters[key]
        self.problems.add(parameter.line, f"{key}={parameter.text}: {why}", way_out)


def _spread(values: tuple[str, ...]) -> Iterator[str]:
    """("10-50", "10") is 10, 20, 30, 40, 50; ("1k-8k", "d") is doubled each time; all else is itself."""
    low, dash, high = values[0].partition("-")
    if not dash or len(values) != 2 or not low:
        yield from values
        return
    at, last = parse_size(low), parse_size(high)
    doubled = values[1] == "d"
    step = 0 if doubled else parse_size(values[1])
    if at < int(doubled) or (not doubled and step <= 0):  # 0 cannot be doubled
        raise ValueError
    for _ in range(MOST_VALUES):
        if at > last:
            return
        yield str(at)
        at = at * 2 if doubled else at + step
    raise ValueError


def size_of(text: str) -> int:
    """Bytes, at least one: "4k", "40m", "1g"."""
    size_bytes = parse_size(text)
    if size_bytes < 1:
        raise SpecError(f'"{text}" is no size', "for example 4k")
    return size_bytes


def seconds_of(text: str) -> float:
    """Seconds above 0, without a unit too: "30", "30m", "1h"."""
    seconds = parse_duration(f"{text}s" if text.replace(".", "", 1).isdecimal() else text) / 1e9
    if not 0 < seconds < 1e8:
        raise SpecError(f'"{text}" is no time above 0', "for example 30")
    return seconds


def whole_of(text: str) -> int:
    """A whole number from 1 on."""
    value = foreign_numbers.whole_of(text)
    if not value or value > MOST_WHOLE:
        raise SpecError(f'"{text}" is not a whole number from 1 to {MOST_WHOLE:,}', "for example 8")
    return value


def percent_of(text: str) -> float:
    """0 to 100, with or without a percent sign."""
    return _number(text.removesuffix("%"), 100.0, "a percentage from 0 to 100")


def share_of(text: str) -> float:
    """A percentage of a maximum, which may be more than all of it."""
    return _number(text.removesuffix("%"), 1000.0, "a percentage above 0")


def ratio_of(text: str) -> float:
    """A ratio of compression or deduplication: 1 is none, 2 or 2:1 is half."""
    value = _number(text.removesuffix(":1"), 1000.0, "a ratio from 1 on")
    if value < 1:
        raise SpecError(f'"{text}" is not a ratio from 1 on', "for example 2")
    return value


def milliseconds_of(text: str) -> int:
    """Milliseconds as ns."""
    return round(_number(text, 1e9, "a time in milliseconds") * 1e6)


def _number(text: str, most: float, what: str) -> float:
    value = foreign_numbers.number_of(text)
    if value is None or not 0 <= value <= most:
        raise SpecError(f'"{text}" is not {what}', "for example 50")
    return value


def named(parameter: Parameter, known: Iterable[str], kind: str, problems: LineProblems) -> list[str]:
    """The names that a list with wildcards means: (sd1,sd2), sd*, in the order in which they are defined."""
    names = list(known)
    chosen: dict[str, None] = {}
    for pattern in parameter.values:
        matching = [name for name in names if fnmatchcase(name, pattern)]
        if not matching:
            said = f'{parameter.key}={parameter.text}: no {kind}= called "{pattern}"{meant(pattern, names)}'
            problems.add(parameter.line, said, f"defined are: {', '.join(names) or 'none'}")
        chosen |= dict.fromkeys(matching)
    return [name for name in names if name in chosen]


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
    value = foreign_numbers.number_of(text)
    if value is not None and 0 < value <= MOST_RATE:
        yield Rate(per_s=value)
    else:
        reader.refuse(key, f'"{text}" is not a rate', "a number, max, curve, or a percentage of max")


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _short(key: str, text: str) -> str:
    size_bytes = foreign_numbers.whole_of(text) if key in ("xfersize", "sizes") else None
    return text if size_bytes is None else size_text(size_bytes)
