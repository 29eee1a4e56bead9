"""iocast watch: this machine and its databases, a few lines each interval; recorded as a tape, scraped, or played."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.live.watched_options import is_named, watched_options
from iocast.commands.shell.options import anonymous_option
from iocast.commands.shell.showing import say
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SourceError, SpecError
from iocast.text import harmless

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms
    from iocast.model.live.moment import Interval
    from iocast.report.live.line_modes import LineMode
    from iocast.sessions.live.line_watch import TapeRequest
    from iocast.sessions.live.watched_sources import WatchedSources
    from iocast.sessions.live.watching import LiveRequest

_BLOCKS = "blk"  # a command of its own (commands.WORDS), where it comes first
MODES = (
    "iostat",
    "iolatency",
    "ioh",
    "pgmon",
    "oramon",
    "sysmetric",
    "iometric",
    "filestat",
    "sessions",
    "asm",
    "latencymap",
    _BLOCKS,
)
_COLOURED = "latencymap"  # its colours are its figures; what it has from elsewhere, it makes harmless itself
_HEADING_EVERY = 20  # intervals
_HERE = ("127.", "localhost:", "[::1]:")


@click.command()
@click.argument("mode", type=click.Choice(MODES), required=False)
@watched_options
@click.option("--interval", default="1s", show_default=True, metavar="TIME", help="Time between lines.")
@click.option("--count", type=click.IntRange(1), metavar="N", help="Stop after N intervals.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a line.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values.")
@click.option("--record", is_flag=False, flag_value="iocast-runs", metavar="DIR", help="Record a tape, a run folder.")
@click.option("--listen", metavar="HOST:PORT", help="Serve metrics at /metrics (OpenMetrics).")
@click.option("--sqlplus-script", is_flag=True, help="Print iocast_capture.sql: a tape of Oracle without iocast there.")
@click.option("--tape", metavar="FOLDER", help="Play a tape, or a file such as ioh.out.")
@click.option("--speed", type=float, default=0.0, show_default=True, help="With --tape: 1 as it was, 0 no waiting.")
@anonymous_option
def watch(
    mode: str | None,
    sources: WatchedSources,
    interval: str,
    count: int | None,
    as_json: bool,
    as_csv: bool,
    record: str | None,
    listen: str | None,
    sqlplus_script: bool,
    tape: str | None,
    speed: float,
    names: Pseudonyms | None,
) -> int:
    """Watch this machine as it runs, a few lines each interval, without any load.

    MODE is whose lines to print: `iostat` has the columns of `iostat -x`, `iolatency` the histogram of
    perf-tools, `ioh` the layers of ioh.sh; with --database of a PostgreSQL `pgmon`, of an Oracle `oramon`,
    `sysmetric`, `iometric`, `filestat`, `sessions` or `asm`. `latencymap` draws the two heat maps of a latency
    histogram. Without MODE, nothing is printed while a tape is recorded or metrics are served.

    `iocast watch blk` traces the requests of block devices; its options are its own: `iocast watch blk --help`.
    """
    from msgspec.structs import replace

    from iocast.model.live.moment import Interval
    from iocast.report.live.line_modes import LINE_MODES, line_mode
    from iocast.sessions.live.line_watch import watched

    if mode == _BLOCKS:
        raise SpecError("options of blk come behind it", "iocast watch blk [OPTIONS] [DEVICE]...")
    if sqlplus_script:
        return _print_script()
    if as_json and as_csv:
        raise SpecError("--json and --csv exclude each other", "omit one of them")
    chosen = line_mode(mode, shutil.get_terminal_size((100, 30)).columns)
    if chosen is None and not (record or listen):
        chosen = LINE_MODES[0]
    if chosen is not None and chosen.DATABASE and not (record or listen):
        sources = replace(sources, observers=chosen.OBSERVERS)  # nobody reads the counters of this machine
    request = _request(sources, interval, count, record, tape, speed, bool(listen))
    if chosen is not None and chosen.DATABASE and tape is None:
        from iocast.sessions.live.sources import require_database

        require_database(chosen.DATABASE, sources, f"watch {chosen.NAME}")
    printer = _Printer(chosen, "json" if as_json else "csv" if as_csv else "")
    with ExitStack() as open_now:
        latest = None
        if listen:
            from iocast.commands.live.scrape_server import listening

            latest = open_now.enter_context(listening(listen))
            if not latest.address.startswith(_HERE):
                say(
                    "note: anybody who reaches this address reads the counters, and nothing is encrypted;"
                    " a firewall, or --listen 127.0.0.1:PORT and a TLS proxy, keeps others out"
                )
            say(f"serving metrics at http://{latest.address}/metrics; press Ctrl-C to stop")
        before = None
        for _, moment in watched(replace(request, names=names), TerminalListener()):
            if latest is not None:
                latest.moment = moment
            if before is not None:
                printer.show(Interval(before, moment))
            before = moment
    if tape is not None:
        printer.require_samples(tape)
    return 0


def _print_script() -> int:
    """What a DBA runs where iocast cannot be installed."""
    from iocast.tools.oracle.capture_script import shipped

    print(shipped(), end="")
    return 0


def _request(
    sources: WatchedSources,
    interval: str,
    count: int | None,
    record: str | None,
    tape: str | None,
    speed: float,
    listens: bool,
) -> LiveRequest | TapeRequest:
    from iocast.sessions.live.line_watch import TapeRequest
    from iocast.sessions.live.watching import LiveRequest
    from iocast.sessions.requests.run_options import interval_of

    if tape is not None:
        if is_named(sources) or record or listens or count is not None:
            raise SpecError("--tape plays what was recorded", "omit what names sources, --count, --record and --listen")
        return TapeRequest(folder=tape, speed=speed)
    return LiveRequest(sources=sources, interval_ns=interval_of(interval), count=count, record_to=record or "")


class _Printer:
    """Prints intervals in a mode and a form; nothing without a mode."""

    def __init__(self, mode: LineMode | None, form: str) -> None:
        self._mode, self._form, self._head = mode, form, True
        self._shown = 0
        self._seen = False

    def show(self, interval: Interval) -> None:
        """Each line is printed when it is made, so that a pipe gets it."""
        raw = self._mode is not None and self._mode.NAME == _COLOURED and not self._form
        for line in self._lines(interval):
            print(line if raw else harmless(line), flush=True)
        self._shown += 1
        database = self._mode.DATABASE if self._mode else ""
        self._seen = self._seen or not database or any(name.startswith(database) for name in interval.observers)

    def require_samples(self, tape: str) -> None:
        """Raises SourceError where a tape had nothing for the mode."""
        if self._shown and not self._seen and self._mode is not None:
            kind = self._mode.DATABASE
            raise SourceError(f"{tape} has no samples of {kind}", f"record one with --database {kind}://user@host/name")

    def _lines(self, interval: Interval) -> Iterator[str]:
        from iocast.report.live.line_table import csv_lines, json_lines

        if self._mode is None:
            return
        if self._form == "json":
            yield from json_lines(self._mode.table(interval), interval.after.time_ns)
        elif self._form == "csv":
            yield from csv_lines(self._mode.table(interval), interval.after.time_ns, self._head)
            self._head = False
        else:
            if self._shown % _HEADING_EVERY == 0:
                yield from self._mode.HEADING
            yield from self._mode.lines(interval)
