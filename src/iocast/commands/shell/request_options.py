"""The options of a verb, made of the request that its session takes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, get_args, get_origin

import rich_click as click
from msgspec import NODEFAULT, UNSET, Meta, Struct

from iocast.commands.live.watched_options import beside_options
from iocast.commands.shell.options import Command, anonymous_option, grading
from iocast.sessions.requests.option import Field, Option, fields_of, filled

# Fields of requests that several options make.
OF_SEVERAL = {"beside": beside_options, "names": anonymous_option, "grade_request": grading}


def asked_by(
    request: type[Struct], *, without: tuple[str, ...] = (), **above: tuple[Callable[[Command], Command], ...]
) -> Callable[[Command], Command]:
    """The options of a request, in the order of its fields, handed over as one `request`.

    `above` are options of the verb's own: in help they stand above those of the field that they are named after. Own
    options may be called after fields `without` options.
    """
    fields = tuple(fields_of(request))
    asked_fields = [field for field in fields if field.name not in without]

    def bundle(command: Command) -> Command:
        @wraps(command)
        def with_request(*args: Any, **given: Any) -> Any:
            values = {field.name: given.pop(field.name) for field in fields if field.name in given}
            said = {name: value for name, value in values.items() if value is not None}
            return command(*args, request=filled(request, said), **given)

        decorated: Command = with_request
        for field in reversed(asked_fields):
            decorated = _asking(field)(decorated)
            for own in reversed(above.get(field.name, ())):
                decorated = own(decorated)
        return decorated

    return bundle


def field_options(request: type[Struct], *names: str) -> Callable[[Command], Command]:
    """The options of some fields of a request, handed over by the names of these."""
    fields = {field.name: field for field in fields_of(request)}

    def bundle(command: Command) -> Command:
        for name in reversed(names):
            command = _asking(fields[name])(command)
        return command

    return bundle


def _asking(field: Field) -> Callable[[Command], Command]:
    """What click is told of a field; nothing of one that people do not give."""
    if field.option is None:
        return OF_SEVERAL.get(field.name, lambda command: command)
    if field.option.spelt is None:
        return click.argument(field.name, **_of_argument(field, field.option))
    return click.option(*field.option.spelt, field.name, **_of_option(field, field.option))


def _of_argument(field: Field, given: Option) -> dict[str, Any]:
    settings: dict[str, Any] = {"metavar": given.metavar, "required": field.default is NODEFAULT}
    if get_origin(field.kind) is tuple:
        return {**settings, "nargs": -1}
    return {**settings, "type": _type(field, given), **_default(field, given)}


def _of_option(field: Field, given: Option) -> dict[str, Any]:
    settings: dict[str, Any] = {"help": given.says, "required": field.default is NODEFAULT, **_default(field, given)}
    default = settings.get("default")
    if not given.quiet and (default or default == 0) and default is not False:
        settings["show_default"] = True
    if field.kind is bool:
        return {**settings, "is_flag": True}
    # What is read is one text, with commas where it has several values.
    several = get_origin(field.kind) is tuple and given.read is None
    settings |= {"metavar": given.metavar, "type": _type(field, given), "multiple": several}
    return {**settings, "callback": _reading(given) if given.read else None}


def _default(field: Field, given: Option) -> dict[str, Any]:
    """The default for click: none where it is required."""
    usual = field.default if given.usual is UNSET else given.usual
    return {} if usual is NODEFAULT else {"default": None if usual == () else usual}


def _type(field: Field, given: Option) -> Any:
    """What click takes for a value of the field."""
    kind, bounds = field.kind, field.bounds
    if get_origin(kind) is tuple:
        kind = get_args(kind)[0]
    if get_origin(kind) is Literal:
        return click.Choice(get_args(kind))
    if given.read is not None or kind not in (int, float):
        return str
    if bounds == Meta():
        return kind
    ranged: Any = click.IntRange if kind is int else click.FloatRange
    return ranged(bounds.ge if bounds.gt is None else bounds.gt, bounds.le, min_open=bounds.gt is not None)


def _reading(given: Option) -> Callable[[click.Context, click.Parameter, str | None], Any]:
    def read(_context: click.Context, param: click.Parameter, text: str | None) -> Any:
        assert given.read is not None
        try:
            return None if text is None else given.read(text, param.opts[0])
        except ValueError as why:
            raise click.BadParameter(str(why)) from None

    return read
