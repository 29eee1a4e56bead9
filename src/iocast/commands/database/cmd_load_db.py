"""iocast load-db build|run|commit|drop URL: load through a database."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.database.conf_options import conf_option, data_set_of, ramp_with_conf
from iocast.commands.shell.options import full_option, grading, json_option, showing
from iocast.commands.shell.request_options import field_options
from iocast.commands.shell.showing import deliver_measured, print_json
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError
from iocast.model.grading import GradeAsked
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions

if TYPE_CHECKING:
    from iocast.sessions.measure import Measured

_BESIDE = click.option(
    "--beside-others", is_flag=True, help="Although sessions of others are active, or cannot be judged."
)
_SEED, _OUT = field_options(RunOptions, "seed"), field_options(RunOptions, "out")
_PAGE = field_options(MeasureRequest, "page")


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
        return command(*args, ask=_ask if person else None, **kwargs)

    return with_ask


def _ask(question: str) -> str:
    return str(click.prompt(question, hide_input=True, err=True))


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
    from iocast.commands.database.build_listener import BuildListener
    from iocast.sessions.database import build_data_set as session

    listener = BuildListener()
    data_set = data_set_of(conf, size, tables, filling, seed)
    built = session.build(session.BuildRequest(url=url, ask=ask, data_set=data_set, **allowed), listener)
    if as_json and built is not None:
        print_json(built)
    return listener.exit_code


def load_options(command: Callable[..., int]) -> Callable[..., int]:
    options = (
        click.option("--sessions", default="1,4,8,16", show_default=True, metavar="N,...", help="A row for each."),
        click.option("--time", "length", default="10s", show_default=True, metavar="TIME", help="Of each row."),
        click.option("--until-steady", is_flag=True, help="End a row as soon as it is steady, --time at the latest."),
        click.option(
            "--driver",
            type=click.Choice(["server", "client"]),
            default="server",
            show_default=True,
            help="Statements come from a loop on the server, or one by one from here, as those of an application.",
        ),
        click.option(
            "--update-pct", type=click.IntRange(0, 100), default=0, show_default=True, help="Share of updates."
        ),
        click.option(
            "--scan-pct", type=click.IntRange(0, 100), default=0, show_default=True, help="Of the others: scans."
        ),
        click.option("--scan-blocks", type=click.IntRange(1), default=128, show_default=True, help="Blocks of a scan."),
        click.option(
            "--work-unit", type=click.IntRange(1), default=1, show_default=True, help="Blocks of a statement."
        ),
        click.option("--hot", metavar="SIZE[@OFFSET][:EVERY]", help="Every EVERY-th statement goes to this part."),
        click.option("--zipf", type=float, metavar="THETA", help="Some keys come more often: 0.99 is usual."),
        click.option("--think", metavar="MIN[..MAX][:EVERY]", help="A pause before every EVERY-th statement."),
        click.option(
            "--redo",
            type=click.Choice(["lite", "heavy"]),
            default="lite",
            show_default=True,
            help="What updates write.",
        ),
        click.option("--rate", metavar="RATE", help="Open loop: statements of all sessions, e.g. 2000/s."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@load_db.command()
@click.argument("url")
@conf_option
@load_options
@click.option("--repeat", "times", type=click.IntRange(1, 1000), default=1, show_default=True, help="Runs of it all.")
@_SEED
@_BESIDE
@_OUT
@full_option
@showing
@_PAGE
@grading
@_asking
def run(
    url: str,
    conf: str,
    times: int,
    seed: int,
    beside_others: bool,
    out: str,
    form: str,
    page: bool,
    asked: GradeAsked,
    ask: Any,
    **how: Any,
) -> int:
    """Load the data set at URL: one row for each number of sessions, and a card as of any other run."""
    from iocast.sessions.database import load_db as session

    measure = _measure(url, seed, out, asked, page)
    ramp = ramp_with_conf(conf, url, ask, ramp_of(**how)) if conf else ramp_of(**how)
    request = session.LoadRequest(url=url, ask=ask, beside_others=beside_others, load=ramp, measure=measure)
    listener = TerminalListener(form)
    if times > 1:
        made = session.repeat_run(request, times, listener)
        if made is not None:
            deliver_measured(made, "terminal" if form == "screen" else form, None)
        return listener.exit_code
    return _code(session.run(request, listener), listener)


def _measure(url: str, seed: int, out: str, asked: GradeAsked, page: bool) -> MeasureRequest:
    """What is made of the run of a load or a commit test; the job is the session's."""
    return MeasureRequest(job="", path=url, options=RunOptions(seed=seed, out=out), asked=asked, page=page)


def _code(measured: Measured, listener: TerminalListener) -> int:
    """The exit code: of the signal that stopped it, or whether a grade was missed."""
    return listener.exit_code or int(not measured.passed)


def ramp_of(
    *, sessions: str, length: str, until_steady: bool, hot: str | None, zipf: float | None, think: str | None,
    rate: str | None, **plain: Any
) -> Any:  # fmt: skip
    """The options as a LoadRamp. Raises SpecError."""
    from iocast.model.database.database_load import DatabaseLoad, LoadRamp
    from iocast.model.database.load_texts import parse_hot, parse_think
    from iocast.units import parse_rate

    load = DatabaseLoad(
        hot=parse_hot(hot) if hot is not None else None,
        zipf_theta=zipf,
        think=parse_think(think) if think is not None else None,
        **plain,
    )
    return LoadRamp(
        load=load,
        sessions=numbers(sessions),
        seconds=_seconds(length),
        rate_per_s=None if rate is None else parse_rate(rate),
        until_steady=until_steady,
    )


@load_db.command()
@click.argument("url")
@click.option("--sessions", default="1,4,8", show_default=True, metavar="N,...", help="Two rows for each.")
@click.option("--time", "length", default="5s", show_default=True, metavar="TIME", help="Of each row.")
@click.option("--row-bytes", type=click.IntRange(1), default=200, show_default=True, help="Inserted by a commit.")
@click.option("--floor/--no-floor", default=True, show_default=True, help="Also without waiting for the log.")
@click.option("--anchor", is_flag=True, help="Run pg_test_fsync first, in the server's folder, and show it beside.")
@_SEED
@_BESIDE
@_OUT
@full_option
@showing
@_PAGE
@grading
@_asking
def commit(
    url: str, sessions: str, length: str, row_bytes: int, floor: bool, anchor: bool, seed: int,
    beside_others: bool, out: str, form: str, page: bool, asked: GradeAsked, ask: Any,
) -> int:  # fmt: skip
    """Test commits at URL: sessions insert a row and commit; beside them the floor, which does not wait for the log."""
    from iocast.model.database.database_load import CommitRamp
    from iocast.sessions.database import load_db as session

    ramp = CommitRamp(sessions=numbers(sessions), seconds=_seconds(length), row_bytes=row_bytes, floor=floor)
    listener = TerminalListener(form)
    measure = _measure(url, seed, out, asked, page)
    request = session.CommitRequest(
        url=url, ask=ask, beside_others=beside_others, commits=ramp, measure=measure, anchor=anchor
    )
    return _code(session.commit_test(request, listener), listener)


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
@load_options
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
    **how: Any,
) -> int:
    """Write SQL*Plus scripts into DIRECTORY that build, run and drop such a load on Oracle.

    The scripts have not been run against a server. Run iocast_capture.sql beside the load: `iocast import` reads its
    spool.
    """
    from iocast.commands.database.conf_options import ramp_of_conf
    from iocast.sessions.database.oracle_scripts import write_scripts

    data_set = data_set_of(conf, size, tables, filling, seed)
    ramp = ramp_of_conf(conf, data_set.tables, ramp_of(**how)) if conf else ramp_of(**how)
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
    from iocast.sessions.database.build_data_set import DatabaseRequest

    listener = TerminalListener()
    dropped = session.drop(DatabaseRequest(url=url, ask=ask), listener)
    if as_json:
        print_json(dropped)
    return listener.exit_code


def numbers(text: str) -> tuple[int, ...]:
    """ "1,4,8" as numbers. Raises SpecError."""
    try:
        return tuple(int(each) for each in text.split(","))
    except ValueError:
        raise SpecError(f'--sessions "{text}" is not a list of numbers', "for example --sessions 1,4,8,16") from None


def _seconds(text: str) -> float:
    from iocast.units import parse_duration

    return parse_duration(text) / 1e9
