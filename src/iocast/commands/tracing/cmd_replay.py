"""iocast replay TRACE PATH: the I/Os of a trace again, on another storage."""

from __future__ import annotations

from typing import Any

import rich_click as click

from iocast.commands.shell.options import full_option, grading, page_option, run_options, showing
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.model.grading import GradeAsked
from iocast.sessions.requests.run_options import RunOptions


@click.command()
@click.argument("trace")
@click.argument("path", default=".")
@click.option(
    "--mode",
    type=click.Choice(("timed", "dependent", "fast")),
    default="timed",
    show_default=True,
    help="timed: at the times of the trace. dependent: each I/O a pause after the end of the one that its process "
    "waited for. fast: in order, as fast as the storage answers.",
)
@click.option("--speed", type=float, default=1.0, show_default=True, metavar="FACTOR", help="2: twice as fast.")
@click.option(
    "--remap",
    type=click.Choice(("refuse", "wrap", "scale")),
    default="refuse",
    show_default=True,
    help="Offsets outside PATH: refuse them, wrap them round, or scale all offsets to the size of PATH.",
)
@click.option("--target", "targets", multiple=True, metavar="NAME", help="Only this target of the trace; repeatable.")
@click.option(
    "--map",
    "mapped",
    multiple=True,
    metavar="OLD=NEW",
    help="Replay target OLD of the trace on the file or device NEW; repeatable, instead of PATH.",
)
@click.option("--reads-only", is_flag=True, help="Leave out writes, syncs and trims.")
@click.option("--buffered", is_flag=True, help="Through the page cache; without it direct I/O, rounded to blocks.")
@click.option("--users", type=click.IntRange(1, 256), default=1, show_default=True, help="Threads that issue I/Os.")
@click.option("--depth", type=click.IntRange(1, 4096), help="Outstanding I/Os of each; chosen from the trace.")
@click.option("--format-of-trace", metavar="NAME", help="The format of TRACE, where its first lines do not show it.")
@click.option("--block-size", metavar="SIZE", help="Oracle traces: the database block size, e.g. 8k.")
@run_options()
@full_option
@showing
@page_option
@grading
def replay(
    trace: str,
    path: str,
    options: RunOptions,
    form: str,
    page: bool,
    asked: GradeAsked,
    format_of_trace: str | None,
    block_size: str | None,
    **how: Any,
) -> int:
    """Replay TRACE, a trace of any format that iocast reads or its event table, on PATH (default: the
    current directory).

    In a directory a work file as large as the trace reaches is laid out and filled. Writes are replayed only where a
    job may write: into work files, and on the block device that --destroy names. The result is a run like any other.

    With --map, each target of the trace (a disk, a file) goes to an existing file or device of its own, or to one
    with others; targets that are not mapped are left out. Files are only read.
    """
    from iocast.sessions.tracing.replay_request import ReplayRequest
    from iocast.sessions.tracing.replay_trace import replay, trace_options

    request = ReplayRequest(
        trace=trace,
        path=path,
        options=options,
        asked=asked,
        page=page,
        reading=trace_options(format_of_trace, block_size),
        **how,
    )
    listener = TerminalListener(form)
    measured = replay(request, listener)
    return listener.exit_code or int(not measured.passed)
