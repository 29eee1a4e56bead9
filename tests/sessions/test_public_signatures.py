"""The functions of `iocast` have the parameters of the requests that they make, with their defaults and their words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec import NODEFAULT, Struct

import iocast
from iocast.sessions.requests.option import Field, fields_of
from iocast.sessions.requests.size import SizeRequest


class Call(NamedTuple):
    """A public function; `own`: its parameters that no field has, `typed`: fields that only a command line has."""

    function: Callable[..., Any]
    request: type[Struct]
    own: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()


CALLS = (Call(iocast.size, SizeRequest),)


def _name(field: Field, function: Callable[..., Any]) -> str:
    return field.name if field.name in inspect.signature(function).parameters else field.called


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.function.__name__)
def test_a_function_has_the_fields_of_its_request(call: Call) -> None:
    fields = {_name(field, call.function): field for field in fields_of(call.request)}
    parameters = inspect.signature(call.function).parameters
    assert set(parameters) - set(call.own) == set(fields) - set(call.typed)
    for name in set(parameters) - set(call.own):
        given, default = parameters[name].default, fields[name].default
        assert given == default or (given is inspect.Parameter.empty and default in (NODEFAULT, "")), name


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.function.__name__)
def test_its_docstring_says_of_each_what_help_says(call: Call) -> None:
    fields = {_name(field, call.function): field for field in fields_of(call.request)}
    options = {word: name for name, field in fields.items() for word in (field.option and field.option.spelt) or ()}
    said = " ".join((inspect.getdoc(call.function) or "").split())
    for name in set(fields) - set(call.typed):
        option = fields[name].option
        says = option.says if option else ""
        words = re.sub(r"--[a-z-]+", lambda found: options.get(found[0], found[0]), says)
        assert f"{name}: {words}" in said if words else name in said
