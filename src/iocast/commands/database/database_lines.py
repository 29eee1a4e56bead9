"""What happens to a data set in a database, as lines."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.database.database_result import DatabaseServer
from iocast.sessions import events
from iocast.text import capacity, duration

STEPS = {
    "fill": "filling table {}",
    "index": "building the index of table {}",
    "vacuum": "vacuum and analyze of table {}",
    "analyze": "analyze of the tables",
    "checkpoint": "checkpoint",
}
_PART_FOR_TIME = 0.02  # sooner the time left jumps about


def database_lines(event: events.DatabaseNews) -> Iterator[str]:
    """An event in words."""
    match event:
        case events.BuildStopped(done_bytes, of_bytes):
            part = done_bytes / of_bytes if of_bytes else 0.0
            yield f"stopped at {part:.0%} of {capacity(of_bytes)}: the same command goes on from there"
            yield "to remove it instead: iocast load-db drop URL"
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
        case events.DataSetDropped(objects, size_bytes, left, place_stays):
            yield f"dropped {len(objects)} objects, {capacity(size_bytes)}"
            if left:
                yield f"note: the schema iocast_load stays: others put objects there: {', '.join(left)}"
            elif place_stays:
                yield (
                    "note: the database iocast_load stays, as far as can be seen empty: iocast did not create it, or"
                    " this user lacks the right EVENT or ALTER ROUTINE, without which not all in it is shown"
                )


def _fits(server: DatabaseServer) -> str:
    fits = 0 < server.data_bytes < server.cache_bytes
    return ": the data set fits into it, so that loads test memory" if fits else ""


def step_line(event: events.BuildStep) -> str:
    """How far it is, and how long the rest takes."""
    says = STEPS.get(event.step, event.step).format(event.table)
    if event.step != "fill":
        return says  # how far the server is with it, it does not say
    part = event.done_bytes / event.of_bytes if event.of_bytes else 0.0
    says += f": {part:.0%} of {capacity(event.of_bytes)}"
    written = event.done_bytes - event.begun_bytes
    if written > _PART_FOR_TIME * event.of_bytes:
        left_ns = round(event.elapsed_s / written * (event.of_bytes - event.done_bytes) * 1e9)
        says += f", about {duration(left_ns)} left"
    return says
