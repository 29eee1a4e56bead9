"""What is changed about a job, and where its runs go: the options of every verb that measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from msgspec import Meta, Struct

from iocast.archive.catalogue import LAST
from iocast.archive.notes_file import one_tag
from iocast.errors import SpecError
from iocast.sessions.live.watched_sources import WatchedSources
from iocast.sessions.requests.option import option
from iocast.units import parse_duration, parse_size

RUNS = "iocast-runs"  # where run folders go
MIB = 1 << 20
SHORTEST_NS = 10_000_000  # of an interval


def size_of_files(text: str, name: str = "--size") -> int:
    """What is given as the size of a work file, in whole MiB. Raises SpecError, which names the option."""
    size_bytes = option_value(name, text, parse_size)
    if size_bytes < MIB:
        raise SpecError(f"{name} {text}: work files need at least 1MiB", f"for example {name} 512MiB")
    return size_bytes // MIB * MIB


def time_of_rows(text: str, name: str = "--time") -> int:
    """What is given as the length of a row, in nanoseconds. Raises SpecError, which names the option."""
    duration_ns = option_value(name, text, parse_duration)
    if duration_ns <= 0:
        raise SpecError(f"{name} {text}: the duration must be above 0", f"for example {name} 10s")
    return duration_ns


def seconds_of_rows(text: str, name: str = "--time") -> float:
    """The same in seconds."""
    return time_of_rows(text, name) / 1e9


def interval_of(text: str, name: str = "--interval") -> int:
    """What is given as the length of an interval, in nanoseconds. Raises SpecError, which names the option."""
    interval_ns = option_value(name, text, parse_duration)
    if interval_ns < SHORTEST_NS:
        raise SpecError(f"{name} {text} is too short", "give 10ms or more")
    return interval_ns


def option_value(name: str, text: str, parse: Callable[[str], int]) -> int:
    """What `parse` makes of an option's value; its complaint names the option. Raises SpecError."""
    try:
        return parse(text)
    except SpecError as error:
        raise SpecError(f"{name}: {error.message}", error.hint) from None


def _seed(text: str, _name: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 2**32:
        return int(text)
    raise ValueError(f'"{text}" is not a whole number from 0 to {2**32 - 1}')


def _label(text: str, _name: str) -> str:
    if text == LAST:
        raise ValueError(f'"{LAST}" already stands for the newest run')
    try:
        return one_tag(text)
    except SpecError as error:
        raise ValueError(error.hint) from None


# Of several requests, each declared once.
Seed = Annotated[int, option("Random seed; the same seed gives the same offsets.", "NUMBER", read=_seed)]
WaitQuiet = Annotated[
    int | None,
    option(
        "Wait at most so long until CPU and disk are quiet, e.g. 5min.", "TIME", spelt="--wait-quiet", read=time_of_rows
    ),
]
Out = Annotated[str, option("Directory for run folders.", "DIR")]
Page = Annotated[
    bool,
    option("Write the card with charts to report.html in the run folder.", spelt="--page/--no-page", usual=True),
]
Force = Annotated[bool, option("Replace files that iocast did not make or that were changed.")]


class RunOptions(Struct, frozen=True, kw_only=True):
    """What is changed about a job, and where its runs go. `beside`: whose layers are recorded beside the load."""

    size_bytes: Annotated[
        int | None,
        option("Size of each work file, e.g. 4GiB; overrides the job.", "SIZE", spelt="--size", read=size_of_files),
    ] = None
    duration_ns: Annotated[
        int | None,
        option("Duration of every row, e.g. 10s; overrides the job.", "TIME", spelt="--time", read=time_of_rows),
    ] = None
    seed: Seed = 1
    destroy: Annotated[
        str,
        option(
            "Allow PATH, the block device with this identity, to be overwritten. The refusal shows the identity.",
            "IDENTITY",
        ),
    ] = ""
    price: Annotated[
        float | None,
        option("Price of the storage, in any currency: the card adds the price per GB and per IOPS.", "AMOUNT"),
        Meta(gt=0),
    ] = None
    out: Out = RUNS
    wait_quiet_ns: WaitQuiet = None
    label: Annotated[
        str | None,
        option("Tag the run: `iocast compare before after` finds the newest run of each tag.", "TAG", read=_label),
    ] = None
    beside: WatchedSources | None = None
