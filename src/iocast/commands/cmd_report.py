"""iocast report RUN...: the card of finished runs, from their folders alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import rich_click as click

from iocast.commands.shell.options import anonymous_option, filing_of_runs, grading, showing_matrices, within
from iocast.commands.shell.showing import Into, named_run
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.errors import SpecError
from iocast.model.grading import GradeRequest

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms


@click.command()
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@within
@filing_of_runs
@showing_matrices
@click.option(
    "--files", metavar="DIR", default="", help="Write ORION's files of a run of `iocast matrix` into DIR instead."
)
@click.option("--brief", is_flag=True, help="Only the head, for a ticket: verdict, figures, worst finding, next steps.")
@anonymous_option
@grading
def report(
    runs: tuple[str, ...],
    directory: str,
    into: Into | None,
    force: bool,
    form: str,
    files: str,
    brief: bool,
    grade_request: GradeRequest,
    names: Pseudonyms | None,
) -> int:
    """Show the card of RUN again, without any I/O to its target.

    RUN is a run folder, or a name that `iocast runs` lists in DIR; of `iocast repeat` and `iocast ab` the folder of
    all runs, too. `-o card.html` writes one self-contained page, `-o x.flatfile` the table of vdbench. With several
    runs, each gets its own file, named after the run.
    """
    from iocast.sessions.show_again import ReportFile, show_again, write_again

    listener, folders = TerminalListener(form), tuple(named_run(directory, run) for run in runs)
    if files and into is not None:
        raise SpecError("--files and -o together", "give one of them: -o writes the card, --files ORION's files")
    if brief and (files or form not in ("terminal", "markdown", "json")):
        raise SpecError(f"--brief with {'--files' if files else f'--format {form}'}", "--brief is for people: omit it")
    if files:
        from iocast.sessions.anonymous.anonymous_copies import copies_of
        from iocast.sessions.forecasting.matrix import write_again_for_orion

        with copies_of(folders, names) as copied:
            write_again_for_orion(copied.folders, files, listener, force=force)
        return 0
    if into is None:
        passed = [show_again(folder, grade_request, listener, names, brief=brief) for folder in folders]
    else:
        passed = write_again(folders, ReportFile(into.path, into.theme, force, brief), grade_request, listener, names)
    return int(not all(passed))
