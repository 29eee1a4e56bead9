"""The pages of `man iocast`, and the scripts with which shells complete it: what an installed iocast has beside it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import click

ROOT = Path(__file__).resolve().parents[1]
INSTALLED = ROOT / "docs" / "installed"
MARK = '.\\" written by `make docs` from the code; do not edit\n'
COMPLETIONS = {
    "bash": "bash-completion/completions/iocast",
    "zsh": "zsh/site-functions/_iocast",
    "fish": "fish/vendor_completions.d/iocast.fish",
}
EXIT_CODES = (
    ("0", "Done."),
    ("1", "A grade, a limit or a comparison that was asked for is missed; verify found wrong bytes."),
    ("2", "It could not be done: the message says why, and what to do."),
    ("129, 130, 131, 143", "Stopped by SIGHUP, SIGINT, SIGQUIT or SIGTERM; what was measured is kept."),
)

# Letters that mean something to roff, or look otherwise on a page.
ROFF = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "~": "\\(ti", "^": "\\(ha"}

# A command as it is typed, itself, and its context, which knows its parameters.
Command = tuple[str, click.Command, click.Context]


def every_verb() -> Iterator[Sequence[Command]]:
    """iocast itself, then each verb with the words below it."""
    from iocast import commands

    with click.Context(commands.iocast, info_name="iocast") as top:
        yield [("iocast", commands.iocast, top)]
        for name in commands.VERBS:
            verb = commands.load_verb(name)
            context = click.Context(verb, info_name=name, parent=top)
            parts = list(verb.commands.items()) if isinstance(verb, click.Group) else []
            words = [(word, commands.load_word(name, word)) for word in commands.WORDS.get(name, ())]
            below = [
                (f"iocast {name} {word}", command, click.Context(command, info_name=word, parent=context))
                for word, command in [*parts, *words]
            ]
            yield [(f"iocast {name}", verb, context), *below]


def usage(command: click.Command, context: click.Context) -> str:
    """Its line of usage, without the word."""
    return " ".join(command.get_usage(context).removeprefix("Usage:").split())


def options(command: click.Command, context: click.Context) -> list[tuple[str, str]]:
    """Its options that are shown, as (how it is written, what it means); --help is none."""
    records = [record for param in command.get_params(context) if (record := param.get_help_record(context))]
    return [(name, " ".join(says.split())) for name, says in records if says and "--help" not in name]


def man_pages() -> dict[str, str]:
    """The pages by name: iocast.1, and iocast-VERB.1 of each verb."""
    from iocast import commands

    pages = {}
    for (path, command, context), *below in every_verb():
        name = path.replace(" ", "-")
        says = commands.VERBS.get(path.partition(" ")[2]) or inspect.cleandoc(command.help or "").partition("\n")[0]
        head = f'.TH {name.upper()} 1 "" iocast "iocast manual"\n.SH NAME\n{name} \\- {_roff(says.rstrip("."))}\n'
        parts = [MARK + head, ".SH SYNOPSIS\n" + _synopsis(usage(command, context)), ".SH DESCRIPTION\n"]
        parts.append(_described(command, context, ".SH OPTIONS\n"))
        parts += [
            f".SH {_roff(typed.upper())}\n{_synopsis(usage(inner, its))}.PP\n{_described(inner, its, '')}"
            for typed, inner, its in below
        ]
        if path == "iocast":
            parts.append(
                ".SH COMMANDS\n" + _terms([(f"iocast-{verb}(1)", is_for) for verb, is_for in commands.VERBS.items()])
            )
        parts.append(".SH EXIT STATUS\n" + _terms(EXIT_CODES))
        parts.append(".SH SEE ALSO\n" + _see_also(path, list(commands.VERBS)))
        pages[f"{name}.1"] = "".join(parts)
    return pages


def _described(command: click.Command, context: click.Context, head: str) -> str:
    """What a command is for, then its options."""
    text = _paragraphs(inspect.cleandoc(command.help or ""))
    listed = options(command, context)
    return text + (head + _terms(listed) if listed else "")


def _paragraphs(text: str) -> str:
    """A docstring as roff: lines after a \\b stay as they are, indented ones too."""
    parts = []
    for paragraph in text.split("\n\n"):
        lines = paragraph.split("\n")
        as_it_is = lines[0] == "\b" or all(line.startswith("    ") for line in lines)
        body = "\n".join(_roff(line) for line in lines if line != "\b")
        parts.append(f".PP\n.nf\n{body}\n.fi\n" if as_it_is else f".PP\n{body}\n")
    return "".join(parts)


def _terms(rows: Sequence[tuple[str, str]]) -> str:
    return "".join(f".TP\n.B {_roff(name)}\n{_roff(says)}\n" for name, says in rows)


def _synopsis(line: str) -> str:
    return f".B {_roff(line)}\n"


def _see_also(path: str, verbs: list[str]) -> str:
    pages = [f"iocast-{verb}" for verb in verbs] if path == "iocast" else ["iocast"]
    return ",\n".join(f".BR {page} (1)" for page in pages).replace(",\n", " ,\n") + "\n"


def _roff(text: str) -> str:
    """A line that means itself: no escape, no request, no hyphen of typesetters; code in bold."""
    safe = "".join(ROFF.get(letter) or (letter if letter.isascii() else f"\\[u{ord(letter):04X}]") for letter in text)
    bold = re.sub(r"`([^`]+)`", r"\\fB\1\\fR", safe)
    return f"\\&{bold}" if bold.startswith(".") else bold


def completion_scripts() -> dict[str, str]:
    """The scripts of completion, by the place below `share` where the shell looks for them."""
    from iocast.commands.cmd_completion import script_of

    return {place: script_of(shell) for shell, place in COMPLETIONS.items()}


def installed() -> dict[str, str]:
    """All of it, by path below docs/installed: what a wheel, a package and an archive put below their prefix."""
    pages = {f"data/share/man/man1/{name}": text for name, text in man_pages().items()}
    return pages | {f"data/share/{place}": text for place, text in completion_scripts().items()}
