"""Mistakes on the command line in the same words as all other errors: what is wrong, then a hint."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import rich_click as click


def near(name: str, known: Iterable[str]) -> str:
    """The text '; did you mean "card"?' when something known is close to `name`, else ""."""
    close = difflib.get_close_matches(name, known, 1)
    return f'; did you mean "{close[0]}"?' if close else ""


def in_words(mistake: click.ClickException) -> tuple[str, str]:
    """The message and the hint of what click refused."""
    context = getattr(mistake, "ctx", None)
    verb = context.command_path if context else "iocast"
    usage = " ".join(context.get_usage().split()).removeprefix("Usage: ") if context else "iocast --help"
    hint = f"see {verb} --help"
    match mistake:
        case click.NoSuchOption():
            options = [name for each in context.command.params for name in each.opts] if context else []
            return f'{verb} has no option "{mistake.option_name}"{near(mistake.option_name, options)}', hint
        case click.BadOptionUsage():
            return f"{mistake.option_name} needs a value", hint
        case click.MissingParameter():
            name = mistake.param.make_metavar(context) if mistake.param and context else "argument"
            if isinstance(mistake.param, click.Option):
                name = mistake.param.opts[0]
            return f"{name} is missing", f"usage: {usage}"
        case click.BadParameter():
            return _bad_value(mistake), hint
    message = mistake.format_message().rstrip(".")
    return (message if message[:1].islower() else message[:1].lower() + message[1:]), hint


def _bad_value(mistake: click.BadParameter) -> str:
    name = mistake.param.opts[0] if mistake.param else "the value"
    if mistake.param is not None and isinstance(mistake.param.type, click.Choice):
        choices = [str(choice) for choice in mistake.param.type.choices]
        given = mistake.message.partition("'")[2].partition("'")[0]
        return f'{name}: "{given}" is not one of {", ".join(choices)}{near(given, choices)}'
    return f"{name}: {mistake.message.rstrip('.').replace(chr(39), chr(34))}"
