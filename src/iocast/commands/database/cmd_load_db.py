"""iocast load-db build|run|commit|drop URL: load through a database."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import rich_click as click
from msgspec.structs import replace

from iocast.commands.database.conf_options import conf_option, data_set_of, ramp_with_conf
from iocast.commands.shell.options import full_option, json_option, showing
from iocast.commands.shell.request_options import asked_by, field_options
from iocast.commands.shell.showing import deliver_measured, print_json
from iocast.commands.shell.streams import ask_secret
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.load_db import CommitRequest, LoadOptions, LoadRequest

if TYPE_CHECKING:
    from iocast.sessions.measure import MeasuredJob

_SEED, _BESIDE = field_options(LoadRequest, "seed"), field_options(LoadRequest, "beside_others")


@click.group()
def load_db() -> None:
    """Load a database, and measure what its storage gives it.

    `build` makes a data set in a schema of its own, `iocast_load`: one row a block, incompressible, in random order.
    `run` makes one row for each number of sessions, `commit` tests commits, `drop` removes the schema. PostgreSQL
    14 to 18 and MariaDB; no superuser is needed. `iocast run` takes job files with the same options ([[database]]).
    """


def _asking(command: Callable[..., int]) -> Callable[..., int]:
    """Hands over `ask`: who is asked for a password, where a person can answer."""

    @wraps(command)
    def with_ask(*args: Any, **kwargs: Any) -> int:
        person = sys.stdin is not None and sys.stdin.isatty()
        return command(*args, ask=ask_secret if person else None, **kwargs)

    return with_ask


@load_db.command()
@click.argument("url")
@click.option("--size", metavar="SIZE", help="Size of all tables together, e.g. 64GiB.")
@click.option("--tables", type=click.IntRange(1, 1000), help="Tables of the same size.  [default: 1]")
@conf_option
@click.option(
    "--fill",
    "filling",
    type=click.Choice(["row", "half", "full"]),
    default="row",
    show_default=True,
    help="How much of each block is random bytes: a tenth, half, or all of it (then nothing can be updated).",
)
@_SEED
@_BESIDE
@click.option("--force", is_flag=True, help="Although less than three times the size is free.")
@json_option
@_asking
def build(
    url: str,
    size: str | None,
    tables: int | None,
    conf: str,
    filling: Any,
    seed: int,
    as_json: bool,
    ask: Any,
    **allowed: bool,
) -> int:
    """Build the data set in the database at URL, or go on where an interrupted build ended."""
    from iocast.sessions.database import build_data_set as session

    listener = TerminalListener()
    data_set = data_set_of(conf, size, tables, filling, seed)
    built = session.build(session.BuildRequest(url=url, ask=ask, data_set=data_set, **allowed), listener)
    if as_json and built is not None:
        print_json(built)
    return listener.exit_code


_REPEAT = click.option(
    "--repeat", "times", type=click.IntRange(1, 1000), default=1, show_default=True, help="Runs of it all."
)


@load_db.command()
@conf_option
@asked_by(LoadRequest, seed=(_REPEAT,), page=(full_option, showing))
@_asking
def run(request: LoadRequest, conf: str, times: int, form: str, ask: Any) -> int:
    """Load the data set at URL: one row for each number of sessions, and a card as of any other run."""
    from iocast.sessions.database import load_db as session

    ramp = ramp_with_conf(conf, request.url, ask, request.load.ramp()) if conf else None
    request = replace(request, ramp=ramp, ask=ask)
    listener = TerminalListener(form)
    if times > 1:
        ran = session.repeat_run(request, times, listener)
        if ran is not None:
            deliver_measured(ran, "terminal" if form == "screen" else form, None)
        return listener.exit_code
    return _code(session.run(request, listener), listener)


def _code(measured: MeasuredJob, listener: TerminalListener) -> int:
    """The exit code: of the signal that stopped it, or whether a grade was missed."""
    return listener.exit_code or int(not measured.passed)


@load_db.command()
@asked_by(CommitRequest, page=(full_option, showing))
@_asking
def commit(request: CommitRequest, form: str, ask: Any) -> int:
    """Test commits at URL: sessions insert a row and commit; beside them the floor, which does not wait for the log."""
    from iocast.sessions.database import load_db as session

    listener = TerminalListener(form)
    return _code(session.commit_test(replace(request, ask=ask), listener), listener)


@load_db.command()
@click.argument("directory")
@click.option("--size", metavar="SIZE", help="Size of all tables together, e.g. 64GiB.")
@click.option("--tables", type=click.IntRange(1, 64), help="Tables of the same size.  [default: 1]")
@click.option(
    "--fill",
    "filling",
    type=click.Choice(["row", "half"]),
    default="row",
    show_default=True,
    help="Of each block: random bytes.",
)
@conf_option
@asked_by(LoadOptions)
@_SEED
@click.option("--force", is_flag=True, help="Replace scripts that are there.")
@json_option
def script(
    directory: str,
    size: str | None,
    tables: int | None,
    filling: Any,
    conf: str,
    seed: int,
    force: bool,
    as_json: bool,
    request: LoadOptions,
) -> int:
    """Write SQL*Plus scripts into DIRECTORY that build, run and drop such a load on Oracle.

    The scripts have not been run against a server. Run iocast_capture.sql beside the load: `iocast import` reads its
    spool.
    """
    from iocast.commands.database.conf_options import ramp_of_conf
    from iocast.sessions.database.oracle_scripts import write_scripts

    data_set = data_set_of(conf, size, tables, filling, seed)
    ramp = ramp_of_conf(conf, data_set.tables, request.ramp()) if conf else request.ramp()
    written = write_scripts(directory, data_set, ramp, force=force)
    if as_json:
        print_json(written)
    else:
        TerminalListener().tell(written)
    return 0


@load_db.command()
@click.argument("url")
@json_option
@_asking
def drop(url: str, as_json: bool, ask: Any) -> int:
    """Remove the data set at URL: the schema iocast_load, all of it that iocast made, and nothing else."""
    from iocast.sessions.database import load_db as session

    listener = TerminalListener()
    dropped = session.drop(url, ask, listener)
    if as_json:
        print_json(dropped)
    return listener.exit_code
