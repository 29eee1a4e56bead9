"""The command line: one file a verb, found when it is asked for; the one place where errors become words.

Exit codes: 0 done, 1 a grade asked for was missed (later), 2 could not measure, 130 and 143 stopped by
SIGINT and SIGTERM with what was measured kept.
"""

from __future__ import annotations

import importlib
import os
import sys

import rich_click as click

from iocast.errors import IocastError

# In the order of help. Each module has a click command of the verb's name.
VERBS = {
    "card": "Measure a path and show its I/O report card.",
    "run": "Run a job file or preset.",
    "plan": "Show what a job would do, without doing it.",
    "report": "Show the card of a finished run again.",
    "clean": "Remove the work files that iocast made.",
}

click.rich_click.TEXT_MARKUP = "markdown"
click.rich_click.STYLE_OPTIONS_PANEL_BORDER = "dim"
click.rich_click.STYLE_COMMANDS_PANEL_BORDER = "dim"
click.rich_click.MAX_WIDTH = 100


class _Verb(click.RichCommand):
    """A verb that is not imported yet: help lists it by its line in VERBS."""

    def __init__(self, name: str) -> None:
        super().__init__(name=name, help=VERBS[name])


class Verbs(click.RichGroup):
    """Imports a verb's module when the verb is used, so that `iocast --help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs, in the order of VERBS."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, or a stand-in for it while only help is shown."""
        if cmd_name not in VERBS:
            return None
        if ctx.resilient_parsing is False and cmd_name not in ctx.meta.get("iocast.used", ()):
            return _Verb(cmd_name)
        return load_verb(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Marks the verb as used, so that it is really imported; names the nearest one for a typing error."""
        name = args[0] if args else ""
        if name not in VERBS and not name.startswith("-"):
            from difflib import get_close_matches

            near = get_close_matches(name, VERBS, 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            ctx.fail(f"No such command {name!r}.{hint}")
        ctx.meta["iocast.used"] = (name,)
        return super().resolve_command(ctx, args)


def load_verb(name: str) -> click.Command:
    """Imports a verb's module and returns its command."""
    command = getattr(importlib.import_module(f"iocast.commands.{name}"), name)
    assert isinstance(command, click.Command)
    return command


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="iocast", message="iocast %(version)s")
def iocast() -> None:
    """I/O performance testing, diagnosis and forecasting of database storage.

    Start with `iocast card DIRECTORY`, or `iocast card sim:hdd` to see one without touching a disk.
    """


def run_command_line(arguments: list[str] | None = None) -> int:
    """Runs the command line; returns the exit code. Errors are printed here and nowhere else."""
    try:
        code = iocast.main(arguments, prog_name="iocast", standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.ClickException as error:
        error.show()
        return 2
    except click.Abort:
        return 130
    except IocastError as error:
        print(f"error: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"\nhint: {error.hint}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # Whoever read our output has gone: that is their right. Keep Python from saying so at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
