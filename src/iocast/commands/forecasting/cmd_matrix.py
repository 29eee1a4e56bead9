"""iocast matrix PATH --run KIND: ORION's data points of small and large I/Os, and ORION's files of them."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import wraps
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.options import Command, full_option, showing_matrices
from iocast.commands.shell.request_options import asked_by
from iocast.commands.shell.showing import print_json, put, say, width
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions.requests.matrix import MatrixRequest

if TYPE_CHECKING:
    from iocast.sessions.forecasting.matrix import Matrix

_LIKE_OPTION = re.compile(r"-[A-Za-z][A-Za-z_-]+(?==|$)")


class _OrionCommand(click.RichCommand):
    """Takes ORION's options as ORION spells them, and names what is like one that it does not know."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuses `-num_disk` as a whole: click would take it for the short options -n, -u, -m …"""
        known = {name for param in self.params for name in (*param.opts, *param.secondary_opts)}
        for word in args:
            if (match := _LIKE_OPTION.match(word)) and match[0] not in known:
                raise click.NoSuchOption(match[0], ctx=ctx)
        return list(super().parse_args(ctx, args))


def _of_orion(name: str, kind: Any, says: str, metavar: str | None = None, **more: Any) -> Callable[[Command], Command]:
    """An option in iocast's and in ORION's spelling: --num-disks, -num_disks."""
    spelt = name.lower().replace("_", "-")
    spelt = {"num-streamio": "num-stream-io"}.get(spelt, spelt)
    return click.option(f"--{spelt}", f"-{name}", name.lower(), type=kind, metavar=metavar, help=says, **more)


def _seconds(_context: click.Context, _param: click.Parameter, text: str) -> int:
    from iocast.units import parse_duration

    if text.isascii() and text.isdecimal() and len(text) < 10:
        return int(text)
    seconds, rest = divmod(parse_duration(text), 1_000_000_000)
    if rest:
        raise click.BadParameter(f'"{text}" is not a whole number of seconds')
    return seconds


_KB = click.IntRange(1)


def _one_of(*choices: str) -> click.Choice[str]:
    """ORION takes RAID0 for raid0."""
    return click.Choice(choices, case_sensitive=False)


_ORION = (
    _of_orion(
        "run",
        _one_of("simple", "normal", "oltp", "dss", "advanced"),
        "Which points: simple (small alone, then large alone), normal (all combinations), oltp (small), dss (large), "
        "advanced (as the other options say).",
        required=True,
    ),
    _of_orion("testname", str, "First part of the names of ORION's files, and of NAME.lun.", "NAME", default="orion"),
    _of_orion("num_disks", click.IntRange(1, 1024), "Disks that the loads count by; default: the paths or --luns."),
    _of_orion("size_small", _KB, "Size of small I/Os.", "KB", default=8, show_default=True),
    _of_orion("size_large", _KB, "Size of large I/Os.", "KB", default=1024, show_default=True),
    _of_orion("type", _one_of("rand", "seq"), "Large I/Os: random, or sequential streams.", default="rand"),
    _of_orion("num_streamIO", click.IntRange(1), "Outstanding I/Os of each sequential stream; default 4."),
    _of_orion("simulate", _one_of("concat", "raid0"), "How several paths are one volume.", default="concat"),
    _of_orion("stripe", _KB, "Stripe of raid0; default 1024.", "KB"),
    _of_orion("write", click.IntRange(0, 100), "Share of writes.", "PERCENT", default=0, show_default=True),
    _of_orion(
        "cache_size", click.IntRange(0), "Random I/Os before each sequential point; default 2 minutes of them.", "MB"
    ),
    _of_orion("duration", str, "Time of each point.", "SECONDS", default="60", show_default=True, callback=_seconds),
    _of_orion("num_small", click.IntRange(0), "Outstanding small I/Os of --matrix point, col and max."),
    _of_orion("num_large", click.IntRange(0), "Outstanding large I/Os, or streams, of --matrix point, row and max."),
    _of_orion(
        "matrix",
        _one_of("basic", "detailed", "point", "col", "row", "max"),
        "Points of --run advanced: first row and column, all, one, one column, one row, or all up to --num-small and "
        "--num-large; default basic.",
    ),
    click.option("--verbose", "-verbose", is_flag=True, help="Print what was measured at each point, too."),
    click.option("--hugenotneeded", "-hugenotneeded", is_flag=True, help="Accepted; iocast never requires huge pages."),
    click.option(
        "--storax", "-storax", default="skgfr", metavar="LAYER", help="Accepted for skgfr: the operating system."
    ),
)


def _orion_options(command: Command) -> Command:
    """ORION's options, handed over as one `settings`."""

    @wraps(command)
    def with_settings(*args: Any, storax: str, hugenotneeded: bool, **given: Any) -> Any:
        from iocast.tools.orion.command_line import Settings, check_storax, checked

        check_storax(storax)
        names = {name: name.lower() for name in Settings.__struct_fields__}
        settings = checked(Settings(**{name: given.pop(dest) for name, dest in names.items()}))
        return command(*args, settings=settings, **given)

    decorated: Command = with_settings
    for option in reversed(_ORION):
        decorated = option(decorated)
    return decorated


_PLAN = click.option("--plan", "dry", is_flag=True, help="Show the data points without running them.")


@click.command(cls=_OrionCommand)
@_orion_options
@asked_by(MatrixRequest, page=(_PLAN, full_option, showing_matrices))
def matrix(request: MatrixRequest, dry: bool, form: str) -> int:
    """Measure small I/Os, large I/Os and both together at rising loads, as Oracle's ORION does.

    PATH is a directory, where iocast lays out --luns work files, one or several existing files or block devices, or a
    simulated device. Without PATH, the paths are read from NAME.lun. ORION's own spelling works: `-run simple
    -num_disks 4 -testname mytest`. Writes (--write) go to work files, and to devices that --destroy names.
    """
    from iocast.sessions.forecasting.matrix import plan_matrix, run_matrix

    if dry:
        _show(plan_matrix(request), as_json=form == "json")
        return 0
    listener = TerminalListener(form)
    measured = run_matrix(request, listener)
    if request.settings.verbose and measured.card is not None:
        _say_points(measured.run)
    return listener.exit_code or int(not measured.passed)


def _show(proposed: Matrix, *, as_json: bool) -> None:
    from iocast.commands.shell import plan_lines
    from iocast.model.results.answers import DataPoint, PlannedMatrix
    from iocast.text import counted
    from iocast.tools.orion.command_line import text

    plan = proposed.plan
    if as_json:
        print_json(
            PlannedMatrix(
                command_line=text(proposed.settings),
                points=tuple(DataPoint(small=point.small, large=point.large) for point in proposed.points),
                seconds=plan.expected_seconds,
                plan=plan,
            )
        )
        return
    put(f"orion {text(proposed.settings)}")
    print()
    put(f"{counted(len(proposed.points), 'data point')}{_origin(proposed)}:")
    for line in _grid(proposed):
        put(f"  {line}")
    print()
    for line in (*plan_lines.rows(plan, width()), *plan_lines.totals(plan, proposed.planned.layout)):
        put(line)
    sys.stdout.flush()
    planned = proposed.planned
    for note in plan_lines.note_lines((*planned.layout.notes, *planned.notes), plan, planned.excluded):
        say(note)


def _origin(proposed: Matrix) -> str:
    from iocast.tools.orion.data_points import ORIGIN

    return ", of which small=0 large=0 has no I/O" if ORIGIN in proposed.points else ""


def _grid(proposed: Matrix) -> list[str]:
    """A line for each row of the matrix: large=1 with small=0 to 5; rows alike in one."""
    by_large: dict[int, tuple[int, ...]] = {}
    for point in proposed.points:
        by_large[point.large] = (*by_large.get(point.large, ()), point.small)
    lines = []
    for smalls, alike in groupby(sorted(by_large), key=lambda large: by_large[large]):
        lines.append(f"large={_range(tuple(alike))} with small={_range(smalls)}")
    return lines


def _range(values: tuple[int, ...]) -> str:
    steps = {high - low for low, high in pairwise(values)}
    if len(values) < 3 or len(steps) > 1:
        return ", ".join(map(str, values))
    step = steps.pop()
    return f"{values[0]} to {values[-1]}" + (f" in steps of {step}" if step > 1 else "")


def _say_points(run: Any) -> None:
    from iocast.report.matrix.measured_points import orion_result
    from iocast.tools.orion.result_writing import trace_text

    say(trace_text(orion_result(run)).rstrip())
