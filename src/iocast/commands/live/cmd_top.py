"""iocast top: the live screen of this machine and its databases, or a tape in it."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.live.watched_options import is_named, watched_options
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError

if TYPE_CHECKING:
    from iocast.sessions.live.line_watch import TapeRequest
    from iocast.sessions.live.watched_sources import WatchedSources
    from iocast.sessions.live.watching import LiveRequest, SampleSource


@click.command()
@click.argument("tape", required=False, metavar="[TAPE]")
@watched_options
@click.option("--interval", default="1s", show_default=True, metavar="TIME", help="Time between refreshes.")
@click.option("--record", is_flag=False, flag_value="iocast-runs", metavar="DIR", help="Record a tape, a run folder.")
@click.option("--speed", type=float, default=1.0, show_default=True, help="With TAPE: 1 as it was, 0 no waiting.")
@click.option("--plain", is_flag=True, help="Print each interval as lines: for pipes and logs.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object an interval.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="With --plain or --json: stop after N intervals.")
def top(
    tape: str | None,
    sources: WatchedSources,
    interval: str,
    record: str | None,
    speed: float,
    plain: bool,
    as_json: bool,
    count: int | None,
) -> int:
    """Show where the time of I/Os goes, layer by layer, on a live screen; or play TAPE in it.

    Keys: space pauses, the arrows step through time, h shows heat maps, ? all keys. In a pipe it prints lines.
    """
    from iocast.sessions.live.line_watch import TapeRequest, source_of
    from iocast.sessions.live.watching import LiveRequest
    from iocast.sessions.requests.run_options import interval_of

    as_lines = plain or as_json or not sys.stdout.isatty() or os.environ.get("TERM", "dumb") == "dumb"
    if count is not None and not as_lines:
        raise SpecError("--count needs --plain", "add --plain; on the screen, q quits")
    if tape is not None and (is_named(sources) or record):
        raise SpecError("a tape plays what was recorded", "omit what names sources, and --record")
    request: LiveRequest | TapeRequest
    if tape is not None:
        request = TapeRequest(folder=tape, speed=0.0 if as_lines and speed == 1.0 else speed)
    else:
        request = LiveRequest(sources=sources, interval_ns=interval_of(interval), count=count, record_to=record or "")
    listener = TerminalListener()
    if as_lines:
        return _print(request, listener, as_json)
    with source_of(request, listener) as source:
        _show(source, f"tape {tape}" if tape else ", ".join(("this machine", *source.sources)))
    return 0


def _show(source: SampleSource, says: str) -> None:
    """The screen; what is said below it before and after stays in the terminal."""
    for name in ("TEXTUAL_LOG", "TEXTUAL_SCREENSHOT"):
        os.environ.pop(name, None)  # Textual would write where they say, whatever is there
    try:
        from iocast.top.top_app import TopApp
    except ModuleNotFoundError as missing:
        raise SpecError(
            f"the live screen needs {missing.name}", "pip install 'iocast[top]', or add --plain for lines"
        ) from missing
    TopApp(source, says).run()


def _print(request: LiveRequest | TapeRequest, listener: TerminalListener, as_json: bool) -> int:
    from iocast.model.live.moment import Interval
    from iocast.report.live.interval_json import interval_json
    from iocast.report.live.layers_view import overview
    from iocast.report.live.styled_lines import ansi
    from iocast.report.live.styled_lines import plain as without_styles
    from iocast.sessions.live.line_watch import watched

    coloured = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM", "dumb") != "dumb"
    width = shutil.get_terminal_size((100, 30)).columns
    before = None
    for source, moment in watched(request, listener):
        if before is not None and as_json:
            print(interval_json(Interval(before, moment)), flush=True)
        elif before is not None:
            lines = overview(Interval(before, moment), source.texts, width)
            print((ansi if coloured else without_styles)(lines), end="\n\n", flush=True)
        before = moment
    return 0
