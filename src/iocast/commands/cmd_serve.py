"""iocast serve DIR: run folders in a browser."""

from __future__ import annotations

import errno
import secrets
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.live.watched_options import is_named, watched_options
from iocast.commands.shell.options import json_option
from iocast.commands.shell.showing import print_json, say
from iocast.errors import LoadError, SpecError
from iocast.sessions.requests.run_options import RUNS

if TYPE_CHECKING:
    from iocast.sessions.live.watched_sources import WatchedSources


@click.command()
@click.argument("directory", default=RUNS)
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8077,
    show_default=True,
    help="Port to listen on; 0: any free port.",
)
@click.option("--watch", is_flag=True, help="Show this machine live, too, as `iocast top` does.")
@watched_options
@json_option
def serve(directory: str, host: str, port: int, watch: bool, sources: WatchedSources, as_json: bool) -> int:
    """Show the runs in DIRECTORY (default: iocast-runs) in a browser: list, filter, open, compare, follow, trends.

    Notes, renaming and deleting need a token, which is part of a URL printed at the start. On an address that other
    machines can reach, reading needs it too.
    """
    import os
    import socket

    from iocast.model.results.answers import Serving

    if is_named(sources) and not watch:
        raise SpecError("--database, --device and --pid are watched with --watch only", "add --watch")
    try:
        from iocast.web.access import is_loopback
        from iocast.web.app import make_app
        from iocast.web.live_frames import live_frames
        from iocast.web.page_process import PageProcess
        from iocast.web.serving import run
    except ModuleNotFoundError as missing:
        raise LoadError(
            f"serve needs {missing.name}, which is not installed", 'pip install "iocast[serve]"'
        ) from missing

    token, local = secrets.token_urlsafe(24), is_loopback(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise _refusal(host, port, error) from error
    if not os.path.isdir(directory):
        say(f"note: {directory} does not exist yet; runs will be listed when they appear")
    shown = _to_open(host)
    shown = f"[{shown}]" if ":" in shown else shown
    bare = f"http://{shown}:{listening.getsockname()[1]}/"
    full = f"{bare}?token={token}"
    url = bare if local else full
    if as_json:
        print_json(Serving(url=url, url_for_changes=full, directory=directory))
        sys.stdout.flush()
    else:
        say(url)
        if local:
            say(f"to add notes, rename or delete: {full}")
    if not local:
        port = listening.getsockname()[1]
        say(
            "note: nothing is encrypted: whoever can listen to this network reads the token, the pages and the changes;"
            f" serve on 127.0.0.1 and use `ssh -L {port}:127.0.0.1:{port} HOST`, or put a TLS proxy in front"
        )
    say("press Ctrl-C to stop")
    with live_frames(sources) if watch else nullcontext() as live, PageProcess(directory) as pages:
        run(make_app(directory, token, read_freely=local, live=live, make=pages.make), listening)
    return 0


def _refusal(host: str, port: int, error: OSError) -> LoadError:
    """Why it cannot listen: the way out is another port only where the port is what is wrong."""
    import socket

    why = (error.strerror or str(error)).partition(" (while")[0]
    if error.errno in (errno.EADDRINUSE, errno.EACCES):
        return LoadError(f"cannot listen on {host}:{port}: {why}", "choose another port with --port")
    address, colon, number = host.rpartition(":")
    if host.isdecimal():
        return LoadError(f"cannot listen on {host}: an address is expected", f"give the port with --port {host}")
    if colon and number.isdecimal() and ":" not in address:
        return LoadError(f"cannot listen on {host}: {why}", f"--host {address} --port {number}")
    unknown = "no such host" if isinstance(error, socket.gaierror) else why
    return LoadError(
        f"cannot listen on {host}: {unknown}",
        "--host is an address of this machine: 127.0.0.1, or 0.0.0.0 for all of them",
    )


def _to_open(host: str) -> str:
    """The address to print: where it listens on all of them, the one by which this machine reaches others."""
    import socket

    if host not in ("", "0.0.0.0", "::"):
        return host
    # To connect a datagram socket sends nothing; the addresses are those that are kept for documentation.
    family, other, own = (
        (socket.AF_INET6, "2001:db8::1", "::1") if host == "::" else (socket.AF_INET, "192.0.2.1", "127.0.0.1")
    )
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((other, 9))
            return str(probe.getsockname()[0])
    except OSError:  # no network but its own
        return own
