"""iocast completion SHELL: the script with which a shell completes the command line."""

from __future__ import annotations

import rich_click as click

from iocast.commands.shell.options import json_option
from iocast.commands.shell.showing import print_json, put

SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(SHELLS))
@json_option
def completion(shell: str, as_json: bool) -> int:
    """Print the script with which SHELL (bash, zsh or fish) completes verbs, options and names of files.

    For this user: `iocast completion bash > ~/.local/share/bash-completion/completions/iocast`,
    `iocast completion zsh > DIR/_iocast` in a directory of $fpath,
    `iocast completion fish > ~/.config/fish/completions/iocast.fish`. A new shell reads it.
    """
    from iocast.model.results.answers import CompletionScript

    script = script_of(shell)
    if as_json:
        print_json(CompletionScript(shell=shell, script=script))
    else:
        put(script)
    return 0


def script_of(shell: str) -> str:
    """The script of one of SHELLS; manual pages and packages have it beside them, too."""
    from click.shell_completion import get_completion_class

    from iocast.commands import iocast

    of_shell = get_completion_class(shell)
    assert of_shell is not None
    return of_shell(iocast, {}, "iocast", "_IOCAST_COMPLETE").source()
