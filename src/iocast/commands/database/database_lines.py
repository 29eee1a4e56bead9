"""What happens to a data set in a database, as lines; how far a build is, as one line that is written over."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from iocast.commands.shell.streams import work_goes_on
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions import events
from iocast.text import capacity, duration, harmless_line

STEPS = {
    "fill": "filling table {}",
    "index": "building the index of table {}",
    "vacuum": "vacuum and analyze of table {}",
    "analyze": "analyze of the tables",
    "checkpoint": "checkpoint",
}
_PART_FOR_TIME = 0.02  # sooner the time left jumps about


def database_lines(event: events.DatabaseEvent) -> Iterator[str]:
    """An event in words."""
    match event:
        case events.BuildStep():
            yield step_line(event)
        case events.BuildEnded(server, resumed, notes, elapsed_s):
            yield from (f"note: {note}" for note in notes)
            verb = "completed" if resumed else "built"
            tables = f"{server.tables} tables of " if server.tables > 1 else ""
            yield (
                f"{verb} the schema iocast_load: {tables}{server.table_blocks:,} blocks of {server.block_bytes} bytes,"
                f" {capacity(server.data_bytes)} and {capacity(server.index_bytes)} of indexes,"
                f" in {duration(round(elapsed_s * 1e9))}"
            )
            yield f"{server.product} {server.version}, cache {capacity(server.cache_bytes)}{_fits(server)}"
        case events.DatabaseNoted(says):
            yield f"note: {says}"
        case events.DataSetDropped(objects, size_bytes, left):
            yield f"dropped {len(objects)} objects, {capacity(size_bytes)}"
            if left:
                yield f"note: the schema iocast_load stays: others put objects there: {', '.join(left)}"


def _fits(server: object) -> str:
    cache, data = getattr(server, "cache_bytes", 0), getattr(server, "data_bytes", 0)
    return ": the data set fits into it, so that loads test memory" if data and data < cache else ""


def step_line(event: events.BuildStep) -> str:
    """How far it is, and how long the rest takes."""
    part = event.done_bytes / event.of_bytes if event.of_bytes else 0.0
    says = f"{STEPS.get(event.step, event.step).format(event.table)}: {part:.0%} of {capacity(event.of_bytes)}"
    if event.step == "fill" and part > _PART_FOR_TIME:
        left_ns = round(event.elapsed_s / part * (1 - part) * 1e9)
        says += f", about {duration(left_ns)} left"
    return says


class BuildListener(TerminalListener):
    """Writes how far a build is over itself on a terminal; elsewhere a line for each step."""

    def __init__(self) -> None:
        super().__init__()
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._step = ("", 0)

    def tell(self, event: events.Event) -> None:
        """Steps are shown, all else is said."""
        if not isinstance(event, events.BuildStep):
            self._clear()
            super().tell(event)
        elif self._live:
            with work_goes_on(""):
                sys.stderr.write(f"\r{harmless_line(step_line(event))[:100]}\x1b[K")
                sys.stderr.flush()
        elif (event.step, event.table) != self._step:
            self._step = (event.step, event.table)
            super().tell(event)

    def _clear(self) -> None:
        if self._live:
            with work_goes_on(""):
                sys.stderr.write("\r\x1b[K")
