"""The options that several verbs have, spelt once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from iocast.commands.session import FORMATS, RUNS
from iocast.commands.writing import THEMES, Into, form_of
from iocast.errors import SpecError
from iocast.model.grading import LETTERS, GradeAsked

Command = Callable[..., Any]


def _seed(_context: click.Context, _param: click.Parameter, text: str) -> int:
    if text.isascii() and text.isdecimal() and int(text) < 2**32:
        return int(text)
    raise click.BadParameter(f'"{text}" is not a whole number from 0 to {2**32 - 1}')


def measuring(command: Command) -> Command:
    """--size, --time, --seed."""
    for option in (
        click.option(
            "--seed",
            metavar="NUMBER",
            callback=_seed,
            default="1",
            show_default=True,
            help="Same seed, same offsets.",
        ),
        click.option("--time", metavar="TIME", help="Length of every row, e.g. 10s, instead of the job's."),
        click.option("--size", metavar="SIZE", help="Size of each work file, e.g. 4GiB, instead of the job's."),
    ):
        command = option(command)
    return command


def destroying(command: Command) -> Command:
    """--destroy, for verbs with one target."""
    return click.option(
        "--destroy",
        metavar="IDENTITY",
        default="",
        help="Let PATH, a block device that is this one, be overwritten. A refusal says what to write here.",
    )(command)


def out_option(command: Command) -> Command:
    """--out."""
    return click.option("--out", default=RUNS, show_default=True, metavar="DIR", help="Where run folders go.")(command)


def page_option(command: Command) -> Command:
    """--page/--no-page."""
    return click.option(
        "--page/--no-page",
        default=True,
        show_default=True,
        help="Leave the card with charts as report.html in the run folder.",
    )(command)


def showing(command: Command) -> Command:
    """--format and its short form --json."""
    for option in (
        click.option("--json", "form", flag_value="json", help="The same as --format json."),
        click.option(
            "--format",
            "form",
            type=click.Choice(FORMATS),
            default="terminal",
            show_default=True,
            help="How to show the card; classic is fioparse's table.",
        ),
    ):
        command = option(command)
    return command


def presenting(command: Command) -> Command:
    """--format and --json of reports that are no card."""
    for option in (
        click.option("--json", "form", flag_value="json", help="The same as --format json."),
        click.option(
            "--format",
            "form",
            type=click.Choice([form for form in FORMATS if form != "classic"]),
            default="terminal",
            show_default=True,
            help="How to show the report.",
        ),
    ):
        command = option(command)
    return command


def filing(command: Command) -> Command:
    """-o and --theme, handed over as one `into`: None for the terminal.

    A suffix that no form has is refused before anything is measured or read.
    """
    from functools import wraps

    @click.option("--theme", type=click.Choice(THEMES), help="Colours of .png and .svg; light if not said.")
    @click.option(
        "-o",
        "--output",
        metavar="FILE",
        help="Write a file instead, with charts: .html, .md, .json, .csv, .txt; .png or .svg for one picture a chart.",
    )
    @wraps(command)
    def filed(*args: Any, output: str | None, theme: str | None, **kwargs: Any) -> Any:
        into = None if output is None else Into(Path(output), theme or "light")
        form = None if into is None else form_of(into.path)
        if theme is not None and form != "pictures":
            raise SpecError(
                "--theme is for pictures; a page (.html) has light, dark and classic colours itself",
                f"for example -o card.png --theme {theme}",
            )
        return command(*args, into=into, **kwargs)

    return filed


def grading(command: Command) -> Command:
    """--scale, --slo and --fail-under, handed over as one `asked`."""
    from functools import wraps

    @click.option(
        "--fail-under",
        metavar="LETTER",
        type=click.Choice(LETTERS, case_sensitive=False),
        help="Exit with 1 when the grade is below this, or there is none.",
    )
    @click.option("--slo", metavar="LEVEL", help="Grade against a service level, e.g. 'p99<5ms@4000/s'.")
    @click.option(
        "--scale",
        type=click.Choice(["modern", "hailey2012"]),
        default="modern",
        show_default=True,
        help="The scale of the grades.",
    )
    @wraps(command)
    def graded(*args: Any, scale: Any, slo: str | None, fail_under: Any, **kwargs: Any) -> Any:
        level = None
        if slo is not None and scale != "modern":
            raise SpecError(f"--slo beside --scale {scale}: that scale knows no service level", "leave one of them out")
        if slo is not None:
            from iocast.diagnose.grades.service_level import parse_slo

            level = parse_slo(slo)
        return command(*args, asked=GradeAsked(scale=scale, level=level, floor=fail_under), **kwargs)

    return graded
