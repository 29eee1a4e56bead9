"""The options that several verbs have, spelt once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import rich_click as click

from iocast.commands.shell.showing import FORMATS, OF_FILES, OF_MATRICES, OF_ONE_RUN, THEMES, Into
from iocast.errors import SpecError
from iocast.model.grading import LETTERS
from iocast.sessions.requests.run_options import RUNS

Command = Callable[..., Any]


def full_option(command: Command) -> Command:
    """--full, handed over with the form: a card on the terminal is one screen without it."""
    from functools import wraps

    @click.option(
        "--full",
        is_flag=True,
        help="Show every section of the card, not only the summary; the measurement is the same.",
    )
    @wraps(command)
    def whole(*args: Any, form: str, full: bool, **kwargs: Any) -> Any:
        return command(*args, form="screen" if form == "terminal" and not full else form, **kwargs)

    return whole


def showing(command: Command) -> Command:
    """--format and its short form --json."""
    return _showing(command, FORMATS, "Output format; classic is fioparse's table, r its matrix for R (-R).")


def showing_files(command: Command) -> Command:
    """--format and --json of verbs that run job files of other tools."""
    says = (
        "Output format; classic is fioparse's table, r its matrix for R (-R), vdbench its lines for each interval, "
        "flatfile its table of them."
    )
    return _showing(command, OF_FILES, says)


def showing_matrices(command: Command) -> Command:
    """--format and --json of verbs that show runs of `iocast matrix` too."""
    says = (
        "Output format; classic is fioparse's table, r its matrix for R (-R), orion the summary of `iocast matrix`, "
        "vdbench its lines for each interval, flatfile its table of them, latencymap records for LatencyMap.py."
    )
    return _showing(command, OF_MATRICES, says)


def _showing(command: Command, forms: tuple[str, ...], says: str) -> Command:
    for option in (
        click.option("--json", "form", flag_value="json", help="Short for --format json."),
        click.option("--format", "form", type=click.Choice(forms), default="terminal", show_default=True, help=says),
    ):
        command = option(command)
    return command


def anonymous_option(command: Command) -> Command:
    """--anonymous and --anonymous-key, handed over as `names`: None without them."""
    from functools import wraps

    @click.option(
        "--anonymous", is_flag=True, help="Hide names and texts behind pseudonyms; sizes, times and figures stay."
    )
    @click.option(
        "--anonymous-key",
        "key_file",
        metavar="FILE",
        help="The same with the secret key in FILE: outputs of one key have the same pseudonyms, to be compared.",
    )
    @wraps(command)
    def hidden(*args: Any, anonymous: bool, key_file: str | None, **kwargs: Any) -> Any:
        if not anonymous and key_file is None:
            return command(*args, names=None, **kwargs)
        from iocast.sessions.anonymous.pseudonym_key import pseudonyms

        return command(*args, names=pseudonyms(key_file), **kwargs)

    return hidden


def json_option(command: Command) -> Command:
    """--json of verbs that have no report, handed over as `as_json`."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def presenting(command: Command) -> Command:
    """--format and --json of reports that are no card."""
    for option in (
        click.option("--json", "form", flag_value="json", help="Short for --format json."),
        click.option(
            "--format",
            "form",
            type=click.Choice([form for form in FORMATS if form not in OF_ONE_RUN]),
            default="terminal",
            show_default=True,
            help="Output format.",
        ),
    ):
        command = option(command)
    return command


def fail_on(*outcomes: str) -> Callable[[Command], Command]:
    """--fail-on, handed over as `fail_on`: the outcomes that end the command with 1; without it none does."""

    def read(_context: click.Context, _param: click.Parameter, text: str) -> frozenset[str]:
        given = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
        if unknown := sorted(given - {*outcomes}):
            raise click.BadParameter(f'"{unknown[0]}" is not one of {", ".join(outcomes)}')
        return given

    return click.option(
        "--fail-on",
        metavar="OUTCOMES",
        default="",
        callback=read,
        help=f"Exit with 1 for these outcomes, with commas between them: {', '.join(outcomes)}.",
    )


def within(command: Command) -> Command:
    """--in, handed over as `directory`: where names of runs are looked up."""
    return click.option(
        "--in", "directory", default=RUNS, show_default=True, metavar="DIR", help="Directory of run folders."
    )(command)


def filing(command: Command) -> Command:
    """-o, --theme and --force, handed over as one `into`: None for the terminal.

    A suffix that no form has, and a file that may not be written, are refused before anything is measured or read.
    """
    return _filing(command, hand_force=False)


def filing_with_force(command: Command) -> Command:
    """The same for verbs that write other files, too: `force` is handed over beside `into`."""
    return _filing(command, hand_force=True)


def filing_of_runs(command: Command) -> Command:
    """The same for verbs that show runs, of which some forms are: vdbench's flatfile."""
    return _filing(command, hand_force=True, of_runs=True)


force_option = click.option(
    "--force", is_flag=True, help="Replace files that iocast did not make or that were changed."
)


def _filing(command: Command, *, hand_force: bool, of_runs: bool = False) -> Command:
    from functools import wraps

    flatfile = " .flatfile: the table of vdbench;" if of_runs else ""

    @click.option("--theme", type=click.Choice(THEMES), help="Colours of .png and .svg; default light.")
    @click.option(
        "-o",
        "--output",
        "outputs",
        metavar="FILE",
        multiple=True,
        help="Write a file with charts instead: .html, .md, .json, .csv, .txt, .xml (JUnit); .png or"
        f" .svg: one file per chart;{flatfile} - is stdout, in the form of --format.",
    )
    @force_option
    @wraps(command)
    def filed(*args: Any, outputs: tuple[str, ...], theme: str | None, force: bool, **kwargs: Any) -> Any:
        output = _one_of(outputs)
        into = None if output is None else Into(Path(output), theme or "light", force)
        form = None if into is None else _form_of(into.path)
        if form == "flatfile" and not of_runs:
            raise SpecError(f"-o {output}: a flatfile is of one run", "for example iocast report RUN -o x.flatfile")
        if theme is not None and form != "pictures":
            raise SpecError(
                "--theme applies to .png and .svg only; an .html page offers all themes itself",
                f"for example -o card.png --theme {theme}",
            )
        if into is not None and len(kwargs.get("runs", ())) < 2:  # several runs get files of other names
            _check_file(into)
        if hand_force:
            kwargs["force"] = force
        return command(*args, into=into, **kwargs)

    return filed


def _one_of(outputs: tuple[str, ...]) -> str | None:
    """The file that is asked for; None for stdout."""
    if len(outputs) > 1:
        raise SpecError(
            f"-o is given {len(outputs)} times: {', '.join(outputs)}", "give it once, and run the command again"
        )
    return outputs[0] if outputs and outputs[0] != "-" else None


def _form_of(path: Path) -> str:
    from iocast.sessions.report_files import form_of

    return form_of(path)


def _check_file(into: Into) -> None:
    from iocast.sessions.report_files import check_file

    check_file(into.path, force=into.force)


def grading(command: Command) -> Command:
    """--scale, --slo, --fail-on and --fail-under, handed over as one `grade_request`."""
    from functools import wraps

    @click.option(
        "--fail-under",
        metavar="LETTER",
        type=click.Choice(LETTERS, case_sensitive=False),
        help="Exit with 1 when the grade is below LETTER or missing.",
    )
    @click.option(
        "--slo",
        "slos",
        metavar="LEVEL",
        multiple=True,
        help="Grade against a service level, e.g. 'p99<5ms@4000/s'; repeatable, the worst counts.",
    )
    @click.option("--fail-on", type=click.Choice(["slo"]), help="slo: exit with 1 when a --slo is missed or unknown.")
    @click.option(
        "--scale",
        type=click.Choice(["modern", "hailey2012"]),
        default="modern",
        show_default=True,
        help="Grading scale.",
    )
    @wraps(command)
    def graded(
        *args: Any, scale: Any, slos: tuple[str, ...], fail_on: str | None, fail_under: Any, **kwargs: Any
    ) -> Any:
        from iocast.sessions.requests.measure import grade_asked

        grade_request = grade_asked(scale, slos, fail_under, must_be_kept=fail_on == "slo")
        return command(*args, grade_request=grade_request, **kwargs)

    return graded
