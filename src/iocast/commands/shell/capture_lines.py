"""What a capture says: what it captures, what it lost, and what became of every record."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.sessions import events
from iocast.text import capacity, counted, duration, rate

# Who captures a client of a database sees none of the server's calls.
_WAY_OUT = (
    "where a server makes the I/O for a command, capture --path DIR without the command, or the server's --pid; "
    "--device sees what reaches the disk, from any process"
)


def capture_lines(event: events.CaptureEvent) -> Iterator[str]:
    """An event in words."""
    match event:
        case events.CaptureBegun(what, to, notes):
            yield from (f"note: {note}" for note in notes)
            yield f"capturing {what} into {to}; press Ctrl-C to stop"
        case events.CommandGoesOn(pid):
            yield f"note: the command goes on as process {pid}"
        case events.CountersLogged(to, copies, size_bytes):
            yield f"wrote {to}: {counted(copies, 'copy' if copies == 1 else 'copie')}, {capacity(size_bytes)}"
            yield f"to read it: iocast import {to}"
        case events.CaptureEnded():
            yield from _ended(event)


def _ended(event: events.CaptureEnded) -> Iterator[str]:
    report = event.report
    lost = sum(file.figures.get("lost_records", 0) for file in report.files)
    said = "no record was lost" if not lost else f"{counted(lost, 'record')} lost: the trace has gaps"
    per_s = report.events * 1e9 / event.elapsed_ns if event.elapsed_ns else 0.0
    yield (
        f"wrote {event.to}: {counted(report.events, 'event')} in {duration(event.elapsed_ns)} ({rate(per_s)}/s); {said}"
    )
    if not report.events:
        yield f"no I/O was seen: {_WAY_OUT}"
    for file in report.files:
        yield from (f"note: {file.path}: {note}" for note in file.notes)
        ignored = ", ".join(f"{count:,} ({why})" for why, count in file.ignored.items())
        if ignored:
            yield f"note: {file.path}: of {file.lines:,} records no event came of {ignored}"
