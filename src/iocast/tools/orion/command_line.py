"""ORION's command line: its options as plain values, as text, and what about them contradicts itself."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.tools.foreign_numbers import whole_of

RunKind = Literal["simple", "normal", "oltp", "dss", "advanced"]
Matrix = Literal["basic", "detailed", "point", "col", "row", "max"]
LargeType = Literal["rand", "seq"]
Array = Literal["concat", "raid0"]

PROGRAM = "orion"
DEFAULT_TEST = "orion"
DEFAULT_STREAM_IOS, DEFAULT_STRIPE_KB = 4, 1024
MOST_OUTSTANDING = 65_536
MOST_POINTS = 10_000
_NEEDS: dict[Matrix, tuple[str, ...]] = {
    "basic": (),
    "detailed": (),
    "point": ("num_small", "num_large"),
    "col": ("num_small",),
    "row": ("num_large",),
    "max": ("num_small", "num_large"),
}


class Settings(Struct, frozen=True, kw_only=True):
    """The options of one ORION run; None: not given."""

    run: RunKind
    testname: str = DEFAULT_TEST
    num_disks: int | None = None
    size_small: int = 8  # KB
    size_large: int = 1024  # KB
    type: LargeType = "rand"
    num_streamIO: int | None = None
    simulate: Array = "concat"
    stripe: int | None = None  # KB
    write: int = 0  # percent
    cache_size: int | None = None  # MB
    duration: int = 60  # seconds
    num_small: int | None = None
    num_large: int | None = None
    matrix: Matrix | None = None
    verbose: bool = False

    @property
    def disks(self) -> int:
        """The disks that the ladders count by."""
        return self.num_disks or 1

    @property
    def cells(self) -> Matrix:
        """The part of the matrix that an advanced run measures."""
        return self.matrix or "basic"

    @property
    def stream_ios(self) -> int:
        """Outstanding I/Os of each sequential stream."""
        return self.num_streamIO or DEFAULT_STREAM_IOS

    @property
    def stripe_kb(self) -> int:
        """The stripe of a simulated RAID 0; 0 of a concatenation."""
        return (self.stripe or DEFAULT_STRIPE_KB) if self.simulate == "raid0" else 0


_DEFAULTS = Settings(run="simple")
_CHOICES: dict[str, tuple[str, ...]] = {
    "run": get_args(RunKind),
    "type": get_args(LargeType),
    "simulate": get_args(Array),
    "matrix": get_args(Matrix),
}
_ADVANCED = "give -run advanced, or omit the option"
# The least and the most of each number.
_NUMBERS: dict[str, tuple[int, int]] = {
    "num_disks": (1, 1024),
    "size_small": (1, 1 << 16),
    "size_large": (1, 1 << 16),
    "num_streamIO": (1, 1024),
    "stripe": (1, 1 << 20),
    "write": (0, 100),
    "cache_size": (0, 1 << 24),
    "duration": (1, 86_400),
    "num_small": (0, MOST_OUTSTANDING),
    "num_large": (0, MOST_OUTSTANDING),
}
_FLAGS = ("verbose",)
# Options of ORION that choose how Oracle's own software does its I/O.
_OF_ORACLE = ("hugenotneeded", "storax")
OPTIONS = ("run", "testname", *_NUMBERS, "type", "simulate", "matrix", *_FLAGS, *_OF_ORACLE)


def parse(words: Sequence[str]) -> Settings:
    """The settings of a command line without its program name: "-run simple -num_disks 4". Raises SpecError."""
    known = {name.lower(): name for name in OPTIONS}
    given: dict[str, Any] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        name = known.get(word.lstrip("-").lower()) if word.startswith("-") else None
        if name is None:
            close = difflib.get_close_matches(word.lstrip("-").lower(), known, 1)
            meant = f"; did you mean -{known[close[0]]}?" if close else ""
            raise SpecError(f"ORION has no option {word}{meant}", f"options: -{', -'.join(OPTIONS)}")
        if name in given:
            raise SpecError(f"-{name} is given twice", "give it once")
        given[name] = True if name in (*_FLAGS, "hugenotneeded") else _value(name, rest)
    given.pop("hugenotneeded", None)
    check_storax(given.pop("storax", "skgfr"))
    if "run" not in given:
        raise SpecError("-run is missing", f"-run {', '.join(_CHOICES['run'])}")
    return checked(Settings(**given))


def check_storax(name: str) -> None:
    """Raises SpecError for a storage layer that is Oracle's own."""
    if name.lower() != "skgfr":
        raise SpecError(
            f"-storax {name} needs Oracle's own I/O library", "omit it: I/O goes through the operating system (skgfr)"
        )


def _value(name: str, rest: list[str]) -> Any:
    if not rest:
        raise SpecError(f"-{name} needs a value", f"for example -{name} 4")
    text = rest.pop(0)
    if name in _CHOICES:
        if text.lower() not in _CHOICES[name]:
            raise SpecError(f'-{name}: "{text}" is not one of {", ".join(_CHOICES[name])}', "give one of these")
        return text.lower()
    if name not in _NUMBERS:
        return text
    if (number := whole_of(text)) is None:
        raise SpecError(f'-{name}: "{text[:40]}" is not a whole number', "for example 4")
    return number


def checked(settings: Settings) -> Settings:
    """The same settings. Raises SpecError for a number out of range, and for options that do not go together."""
    for name, (least, most) in _NUMBERS.items():
        value = getattr(settings, name)
        if value is not None and not least <= value <= most:
            raise SpecError(f"-{name} {value}: must be from {least} to {most}", "give a number in this range")
    if not settings.testname or "/" in settings.testname or settings.testname.startswith("."):
        raise SpecError(f'-testname: "{settings.testname}" is not the beginning of a file name', "for example mytest")
    _check_run(settings)
    _check_numbers(settings)
    _check_points(settings)
    if settings.num_streamIO is not None and settings.type != "seq":
        raise SpecError("-num_streamIO is for sequential streams", "add -type seq, or omit it")
    if settings.stripe is not None and settings.simulate != "raid0":
        raise SpecError("-stripe is for a simulated RAID 0", "add -simulate raid0, or omit it")
    for size in (settings.size_small, settings.size_large) if settings.stripe_kb else ():
        if settings.stripe_kb % size:
            raise SpecError(
                f"-stripe {settings.stripe_kb}: {size} KB does not divide it, and an I/O would be on two files",
                "make the stripe a multiple of both I/O sizes",
            )
    return settings


def _check_run(settings: Settings) -> None:
    if settings.run == "advanced":
        return
    for name in ("matrix", "num_small", "num_large"):
        if getattr(settings, name) is not None:
            raise SpecError(f"-{name} needs -run advanced: -run {settings.run} has its own points", _ADVANCED)
    if settings.type == "seq":
        raise SpecError(f"-type seq needs -run advanced: -run {settings.run} is random", _ADVANCED)


def _check_numbers(settings: Settings) -> None:
    if settings.run != "advanced":
        return
    needs = _NEEDS[settings.cells]
    for name in ("num_small", "num_large"):
        value = getattr(settings, name)
        if name in needs and value is None:
            raise SpecError(f"-matrix {settings.cells} needs -{name}", f"for example -{name} 4")
        if name not in needs and value is not None:
            takers = ", ".join(cells for cells, wanted in _NEEDS.items() if name in wanted)
            raise SpecError(f"-{name} does nothing with -matrix {settings.cells}", f"it is for -matrix {takers}")
    if settings.cells in ("point", "max") and not (settings.num_small or settings.num_large):
        raise SpecError(
            f"-matrix {settings.cells} with -num_small 0 and -num_large 0 has no I/O", "give one of them at least 1"
        )


def _check_points(settings: Settings) -> None:
    """A whole matrix of many disks is more than anybody can wait for."""
    if settings.run == "normal" or (settings.run == "advanced" and settings.cells == "detailed"):
        points = (5 * settings.disks + 1) * (2 * settings.disks + 1)
    elif settings.run == "advanced" and settings.cells == "max":
        points = ((settings.num_small or 0) + 1) * ((settings.num_large or 0) + 1)
    else:
        return
    if points > MOST_POINTS:
        raise SpecError(
            f"the matrix has {points:,} data points; at most {MOST_POINTS:,} are measured",
            "-run simple, or -matrix row and -matrix col, need far fewer",
        )


def text(settings: Settings) -> str:
    """The options that differ from ORION's defaults, as they are typed."""
    words = ["-run", settings.run]
    for name in ("testname", *_NUMBERS, "type", "simulate", "matrix"):
        value = getattr(settings, name)
        if value != getattr(_DEFAULTS, name) and (name, value) != ("num_disks", 1):
            words += [f"-{name}", str(value)]
    words += [f"-{name}" for name in _FLAGS if getattr(settings, name)]
    return shlex.join(words)


def as_job(settings: Settings) -> str:
    """The command line as the job of a run: what `from_job` reads."""
    return f"{PROGRAM} {text(settings)}"


def from_job(job: str) -> Settings | None:
    """The settings of a run's job; None for any other job."""
    if not job.startswith(f"{PROGRAM} -run "):
        return None
    try:
        return parse(shlex.split(job)[1:])
    except (SpecError, ValueError):
        return None  # written by hand, or damaged


def of_disks(settings: Settings, luns: int) -> Settings:
    """The same settings with the number of disks: without one, that of the files or devices."""
    return settings if settings.num_disks is not None else replace(settings, num_disks=luns)


def lun_paths(lines: Iterable[str]) -> tuple[str, ...]:
    """The paths of a .lun file, one a line."""
    return tuple(path for line in lines if (path := line.strip()))
