"""--database, --device, --pid and what goes with them: what `iocast watch` and `iocast top` look at."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.streams import ask_secret

if TYPE_CHECKING:
    from iocast.sessions.live.watched_sources import WatchedSources

_OPTIONS = (
    click.option("--database", "databases", multiple=True, metavar="URL", help="Also watch this database; repeatable."),
    click.option("--device", "devices", multiple=True, metavar="NAME", help="Only this disk; repeatable."),
    click.option("--pid", "pids", type=click.IntRange(1), multiple=True, help="Watch this process and its children."),
    click.option("--every-io", is_flag=True, help="Trace every I/O: above 6,000 IOPS it costs CPU time."),
    click.option("--diagnostics-pack", "packs", is_flag=True, help="Oracle: views that need this licence may be read."),
)


def watched_options(command: Callable[..., int]) -> Callable[..., int]:
    """Hands the options over as one `sources`; the password of a database is asked for where a person can answer."""

    @wraps(command)
    def with_asked(
        *,
        databases: tuple[str, ...],
        devices: tuple[str, ...],
        pids: tuple[int, ...],
        every_io: bool,
        packs: bool,
        **rest: Any,
    ) -> int:
        from iocast.sessions.live.watched_sources import WatchedSources

        ask = ask_secret if sys.stdin is not None and sys.stdin.isatty() else None
        sources: WatchedSources = WatchedSources(
            databases=databases, devices=devices, pids=pids, every_io=every_io, packs=packs, ask=ask
        )
        return command(sources=sources, **rest)

    for option in reversed(_OPTIONS):
        with_asked = option(with_asked)
    return with_asked


_BESIDE_A_LOAD = (
    click.option("--layers", is_flag=True, help="Record the layers below the load: calls, block layer, device."),
    click.option(
        "--database", "databases", multiple=True, metavar="URL", help="Also record this database; repeatable."
    ),
    click.option("--pid", "pids", type=click.IntRange(1), multiple=True, help="Record this process and its children."),
    click.option("--every-io", is_flag=True, help="Trace every I/O: above 6,000 IOPS it costs CPU time."),
)


def beside_options(command: Callable[..., int]) -> Callable[..., int]:
    """Hands over as `beside` what is recorded beside a load; None where nothing was asked for."""

    @wraps(command)
    def with_beside(
        *, layers: bool, databases: tuple[str, ...], pids: tuple[int, ...], every_io: bool, **rest: Any
    ) -> int:
        if not (layers or databases or pids or every_io):
            return command(beside=None, **rest)
        from iocast.sessions.live.watched_sources import WatchedSources

        ask = ask_secret if sys.stdin is not None and sys.stdin.isatty() else None
        return command(beside=WatchedSources(databases=databases, pids=pids, every_io=every_io, ask=ask), **rest)

    for option in reversed(_BESIDE_A_LOAD):
        with_beside = option(with_beside)
    return with_beside


def is_named(sources: WatchedSources) -> bool:
    """True when anything was named: a tape has what was recorded."""
    return bool(sources.databases or sources.devices or sources.pids or sources.every_io or sources.packs)
