"""Mistakes on the command line in the same words as all other errors: what is wrong, then a hint."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence

import rich_click as click


def near(name: str, known: Iterable[str]) -> str:
    """The text '; did you mean "card"?' when something known is close to `name`, else ""."""
    close = difflib.get_close_matches(name, known, 1)
    return f'; did you mean "{close[0]}"?' if close else ""


def in_words(mistake: click.ClickException, words: Sequence[str] = ()) -> tuple[str, str]:
    """The message and the hint of what click refused of the words on the command line."""
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
            return _bad_value(mistake), _in_order(mistake, words) or hint
    message = mistake.format_message().rstrip(".")
    return (message if message[:1].islower() else message[:1].lower() + message[1:]), hint


def _bad_value(mistake: click.BadParameter) -> str:
    param = mistake.param
    if param is None:
        return f"the value: {mistake.message.rstrip('.').replace(chr(39), chr(34))}"
    name = param.make_metavar(mistake.ctx) if isinstance(param, click.Argument) and mistake.ctx else param.opts[0]
    given = mistake.message.partition("'")[2].rpartition("'")[0]
    if isinstance(param.type, click.Choice):
        choices = [str(choice) for choice in param.type.choices]
        given = given.partition("'")[0]
        return f'{name}: "{given}" is not one of {", ".join(choices)}{near(given, choices)}'
    if " is not a valid " in mistake.message:
        number = "whole number" if param.type.name.startswith("integer") else "number"
        return f'{name}: "{given}" is not a {number}'
    if " is not in the range " in mistake.message and isinstance(param.type, click.IntRange | click.FloatRange):
        return f"{name}: {mistake.message.partition(' ')[0].removesuffix('.0')} is not {_bounds(param.type)}"
    return f"{name}: {mistake.message.rstrip('.').replace(chr(39), chr(34))}"


def _bounds(kind: click.IntRange | click.FloatRange) -> str:
    """Between what a number must lie: "from 3 to 1000"."""
    least = f"{'above ' if kind.min_open else ''}{kind.min:,}"
    if kind.max is None:
        return least if kind.min_open else f"{least} or more"
    return f"from {least} to {kind.max:,}"


def _in_order(mistake: click.BadParameter, words: Sequence[str]) -> str:
    """The right call, where the number is among the arguments, but not at its place; else ""."""
    context, wrong = mistake.ctx, mistake.param
    if context is None or not isinstance(wrong, click.Argument) or context.info_name not in words:
        return ""
    after_verb = list(words[words.index(context.info_name) + 1 :])
    values, _, _ = context.command.make_parser(context).parse_args(after_verb)
    arguments = [param for param in context.command.params if isinstance(param, click.Argument)]
    given = [word for param in arguments if isinstance(word := values.get(param.name or ""), str)]
    number = next((word for word in given if _fits(wrong, word)), None)
    if number is None:
        return ""
    given.remove(number)
    given.insert(arguments.index(wrong), number)
    return f"in the right order: {shlex.join([*context.command_path.split(), *given])}"


def _fits(param: click.Argument, word: str) -> bool:
    try:
        param.type.convert(word, None, None)
    except click.BadParameter:
        return False
    return True
