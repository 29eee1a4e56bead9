"""What is asked of `iocast capture`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.sessions.requests.option import argument, option
from iocast.sessions.requests.run_options import option_value, seconds_of_rows
from iocast.units import parse_size


def _ring_kb(text: str, name: str) -> int:
    return max(64, option_value(name, text, parse_size) >> 10)


def _seconds(text: str, name: str) -> float:
    """A time, or a bare number of seconds."""
    try:
        return float(text)
    except ValueError:
        return seconds_of_rows(text, name)


class CaptureRequest(Struct, frozen=True, kw_only=True):
    """What to capture, into which file, for how long: until it is stopped, or the command ends, without `seconds`."""

    command: Annotated[tuple[str, ...], argument("A command to start and to follow.", "[-- COMMAND]...")] = ()
    devices: Annotated[
        tuple[str, ...], option("Block requests of this disk; repeatable.", "NAME", spelt="--device")
    ] = ()
    pids: Annotated[
        tuple[int, ...], option("System calls of this process; repeatable.", spelt="--pid"), Meta(ge=1)
    ] = ()
    path: Annotated[
        str,
        option(
            "Only system calls on files below DIR; of all processes, or of those that --pid or COMMAND names.", "DIR"
        ),
    ] = ""
    to: Annotated[str, option("The trace; default capture.parquet, counters.log.", "FILE", spelt="-o --output")] = ""
    seconds: Annotated[
        float | None,
        option(
            "Stop after this time, e.g. 30s, or that many seconds; otherwise at Ctrl-C.",
            "TIME",
            spelt="--time --seconds",
            read=_seconds,
        ),
    ] = None
    ring_kb: Annotated[
        int | None,
        option(
            "Trace buffer of each processor, e.g. 64MiB, where records are lost.",
            "SIZE",
            spelt="--ring",
            read=_ring_kb,
        ),
    ] = None
    names: Pseudonyms | None = None  # what names become; None: they stay


class CountersRequest(Struct, frozen=True, kw_only=True):
    """Which disks to log the counters of (all when none is named), how often, for how long."""

    to: str
    devices: tuple[str, ...] = ()
    interval_ns: int = 1_000_000_000
    seconds: float | None = None
    names: Pseudonyms | None = None
