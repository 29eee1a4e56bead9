"""The command line: one file a verb, found when it is asked for; the one place where errors become words.

Exit codes: 0 done, 1 what was asked for is missed, 2 could not be done, 129, 130, 131 and 143 stopped by
SIGHUP, SIGINT, SIGQUIT and SIGTERM with what was measured kept.
"""

from __future__ import annotations

import errno
import importlib
import io
import keyword
import os
import re
import sys
from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.streams import discard_output, hushed
from iocast.errors import IocastError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

# In the order of help. The command of each is in cmd_VERB.py, here or in the room of its group.
VERBS = {
    "card": "Measure a path and show its I/O report card.",
    "run": "Run a job file or preset.",
    "diagnose": "Find the causes of abnormal figures by experiment.",
    "experiment": "Answer one question about a path with a named experiment.",
    "plan": "Show what a job would do without running it.",
    "spec": "Convert a job to a fio or iocast job file.",
    "report": "Show the card of a finished run again.",
    "runs": "List runs, newest first.",
    "show": "Show the card of a run by name, or of the `last` one.",
    "note": "Show or change the note and tags of a run.",
    "serve": "Show runs in a browser.",
    "fleet": "Rank the hosts of many runs, and find slow ones.",
    "trend": "Follow a job on a target over time: what changed, and when.",
    "compare": "Compare runs, or groups of repeats.",
    "repeat": "Run a job several times and show whether its figures repeat.",
    "ab": "Run a job on two targets in turn and compare them.",
    "gate": "Check storage against its baseline in CI; exit with 1 on a regression.",
    "study": "Run a matrix of loads, several times each, and compare configurations.",
    "calibrate": "Find the IOPS that a latency limit allows, the most IOPS and MB/s.",
    "matrix": "Measure a matrix of small and large I/Os as ORION does.",
    "forecast": "Forecast the response time of a production load from a run.",
    "size": "Size storage: how many disks or volumes, and what binds.",
    "model": "Print what the laws of disks, queues and volumes say.",
    "profile": "Profile a workload from traces of its I/Os.",
    "capture": "Capture the I/Os of a device, a process or a command as a trace.",
    "replay": "Replay a trace on a path.",
    "load-db": "Load a database, and measure what its storage gives it.",
    "import": "Import results of other tools as run folders.",
    "top": "Show where the time of I/Os goes, layer by layer, on a live screen.",
    "watch": "Watch this machine line by line, or its block requests; record or play a tape.",
    "verify": "Read back and check what a run wrote.",
    "schema": "Print the JSON Schema of what a verb prints with --json.",
    "completion": "Print the script with which a shell completes iocast's verbs, options and files.",
    "config": "Show the defaults of options that files and the environment set, and where each comes from.",
    "hosts": "Check hosts before a run on all of them at once.",
    "clean": "Remove the work files that iocast created.",
}

# Verbs in a room of their own below this one.
_ROOMS = {
    "forecasting": ("calibrate", "matrix", "model", "forecast", "size"),
    "profiling": ("profile",),
    "tracing": ("capture", "replay"),
    "live": ("top", "watch"),
    "database": ("load-db",),
    "hosts": ("hosts",),
}

# First words of a verb that have options of their own, and where their commands are (MODULE:NAME).
WORDS = {"watch": {"blk": "live.watched_blocks:blk"}}

# Verbs that were renamed; typed as they were, the new name is told.
_RENAMED = {"blk": "watch blk"}

_CANNOT_WRITE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)

click.rich_click.TEXT_MARKUP = "markdown"
click.rich_click.STYLE_OPTIONS_PANEL_BORDER = "dim"
click.rich_click.STYLE_COMMANDS_PANEL_BORDER = "dim"
click.rich_click.MAX_WIDTH = 100
_INTERRUPTED = "Query interrupted"  # what DuckDB makes of a KeyboardInterrupt that meets it


class Verbs(click.RichGroup):
    """Imports a verb's module when the verb is used, so that `iocast --help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs, in the order of VERBS."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """A stand-in that knows only its line in VERBS: all that the list of verbs needs."""
        return click.RichCommand(name=cmd_name, help=_marked(VERBS[cmd_name])) if cmd_name in VERBS else None

    def format_help(self, ctx: click.RichContext, formatter: click.RichHelpFormatter) -> None:  # type: ignore[override]
        """The list of verbs, without a parser of Markdown: to import it takes a third of all the time."""
        formatter.config.text_markup = "rich"
        plain, self.help = self.help, _marked(self.help or "")
        super().format_help(ctx, formatter)
        self.help = plain  # asked for again in this process, it is marked once

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The verb that is really run; for a typing error, the nearest one is named."""
        name, *rest = args
        if rest and rest[0] in WORDS.get(name, ()):
            verb, command, words = f"{name} {rest[0]}", load_word(name, rest[0]), rest[1:]
            _take_defaults(ctx, command, verb, words)
            return verb, command, words
        if name in VERBS:
            command = load_verb(name)
            _take_defaults(ctx, command, name, rest)
            return name, command, rest
        from iocast.commands.shell.mistakes import near

        meant = f'; did you mean "iocast {_RENAMED[name]}"?' if name in _RENAMED else near(name, VERBS)
        raise click.UsageError(f'unknown command "{name}"{meant}', ctx)


def _take_defaults(ctx: click.Context, command: click.Command, verb: str, words: list[str]) -> None:
    """What files and the environment set for the options of a verb; `config` shows it, and takes none."""
    if ctx.resilient_parsing or verb == "config" or {"--help", "-h"} & {*words}:
        return
    from iocast.commands.shell.defaults import default_map, is_anything_set, read_documents

    if is_anything_set():
        ctx.default_map = {verb: default_map(command, verb, read_documents(VERBS))}


def _marked(text: str) -> str:
    """What Markdown has of code, in Rich's own markup."""
    return re.sub(r"`([^`]+)`", r"[markdown.code]\1[/]", text.replace("[", r"\["))


def load_verb(name: str) -> click.Command:
    """Imports a verb's module and returns its command."""
    file = name.replace("-", "_")
    stem = f"{file}_" if keyword.iskeyword(file) else file
    room = next((f"{room}." for room, verbs in _ROOMS.items() if name in verbs), "")
    return _command(f"{room}cmd_{file}", stem)


def load_word(verb: str, word: str) -> click.Command:
    """The command of a first word of a verb that has options of its own."""
    module, _, name = WORDS[verb][word].partition(":")
    return _command(module, name)


def _command(module: str, name: str) -> click.Command:
    command = getattr(importlib.import_module(f"iocast.commands.{module}"), name)
    assert isinstance(command, click.Command)
    for each in command.commands.values() if isinstance(command, click.Group) else (command,):
        if _QUIET not in each.params:
            each.params.append(_QUIET)
        for param in each.params:
            param.type = _TEXT if param.type is click.STRING else param.type
    return command


class _Text(click.ParamType[str]):
    """What a shell completes as the name of a file: most texts are, or may be."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """As any other text."""
        return str(click.STRING.convert(value, param, ctx))

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Says that the shell knows best."""
        from click.shell_completion import CompletionItem

        return [CompletionItem(incomplete, type="file")]


_TEXT = _Text()


def _hush(context: click.Context, _param: click.Parameter, quiet: bool) -> None:
    if quiet:
        context.with_resource(hushed())


_QUIET = click.Option(
    ["--quiet"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_hush,
    help="Print only the result, and errors: no progress and no notes.",
)


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="iocast", message="iocast %(version)s")
def iocast() -> None:
    """I/O performance testing, diagnosis and forecasting of database storage.

    Start with `iocast card DIRECTORY`, or `iocast card sim:hdd` to see a card without touching a disk.
    """


def run_command_line(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code. Errors are printed here and nowhere else."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if isinstance(sys.stdout, io.TextIOWrapper) and not sys.stdout.encoding.lower().startswith("utf"):
        sys.stdout.reconfigure(errors="backslashreplace")  # of a locale that has not all characters
    try:
        code = iocast.main(arguments or ["--help"], prog_name="iocast", standalone_mode=False)
        if sys.stdout:
            sys.stdout.flush()  # here, where a reader who has gone, or a full disk, can still be answered
    except click.ClickException as mistake:
        from iocast.commands.shell.mistakes import in_words

        return _refused(*in_words(mistake, arguments))
    except IocastError as error:
        return _refused(error.message, error.hint)
    except (KeyboardInterrupt, click.Abort):
        print("stopped", file=sys.stderr)
        return 130
    except RuntimeError as error:
        if str(error) == _INTERRUPTED:
            print("stopped", file=sys.stderr)
            return 130
        return _too_many(error)
    except (BrokenPipeError, SystemExit):  # click leaves so when the pipe is broken, or a shell has what it asked for
        discard_output()  # whoever read our output has gone: that is their right
        return 0
    except OSError as error:
        if error.errno == errno.ENOENT and _is_lost():
            return _refused("the current directory was removed", "change to one that exists")
        # What fails on a file that was opened by name is an IocastError by now: this is the output.
        if error.filename is not None or error.errno not in _CANNOT_WRITE:
            return _too_many(error)
        discard_output()
        return _refused(
            f"cannot write the output: {error.strerror}", "the run folder is complete if its name was printed"
        )
    return code if isinstance(code, int) else 0


def _is_lost() -> bool:
    """Whether the current directory was removed below us."""
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False


def _too_many(error: Exception) -> int:
    """Where a library wanted one more thread or process than there may be. Raises any other error again."""
    from iocast.starting import NO_MORE, WAY_OUT, is_refused

    if not is_refused(error):
        raise error
    return _refused(NO_MORE, WAY_OUT)


def _refused(message: str, hint: str) -> int:
    from iocast.text import harmless

    print(harmless(f"error: {message}"), file=sys.stderr)
    if hint:
        print(harmless(f"\nhint: {hint}"), file=sys.stderr)
    return 2
