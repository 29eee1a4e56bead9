"""The functions of `iocast` have the parameters of the requests that they make, with their defaults and their words."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec import NODEFAULT, Struct

import iocast
from iocast.model.database.database_load import DatabaseLoad
from iocast.sessions.requests.calibrate import CalibrateRequest
from iocast.sessions.requests.capture import CaptureRequest
from iocast.sessions.requests.diagnose import DiagnoseRequest
from iocast.sessions.requests.experiment import TrialRequest
from iocast.sessions.requests.forecast import ForecastRequest
from iocast.sessions.requests.load_db import LoadRequest
from iocast.sessions.requests.matrix import MatrixRequest
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.option import Field, fields_of
from iocast.sessions.requests.profile import ProfileRequest
from iocast.sessions.requests.replay import ReplayRequest
from iocast.sessions.requests.size import SizeRequest


class Call(NamedTuple):
    """A public function; `own`: its parameters that no field has, `typed`: fields that only a command line has."""

    function: Callable[..., Any]
    request: type[Struct]
    own: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()


_RUN = ("size_bytes", "duration_ns", "seed", "destroy", "out")
CALLS = (
    Call(
        iocast.card,
        MeasureRequest,
        own=("preset", "through"),
        typed=("job", "diagnosing", "server", "price", "wait_quiet_ns", "beside", "page", "names", "grade_request"),
    ),
    Call(
        iocast.run,
        MeasureRequest,
        typed=("diagnosing", "server", "price", "wait_quiet_ns", "beside", "page", "names", "grade_request"),
    ),
    Call(iocast.diagnose, DiagnoseRequest, own=("run",), typed=("path", "folder", "job", *_RUN[:3], "out")),
    Call(iocast.experiment, TrialRequest, typed=("files", "filesystems", "methods", "keep", "page")),
    Call(
        iocast.load_db,
        LoadRequest,
        own=("load",),
        typed=(*DatabaseLoad.__struct_fields__, "page", "grade_request", "ramp", "ask"),
    ),
    Call(iocast.size, SizeRequest),
    Call(
        iocast.forecast,
        ForecastRequest,
        own=("run",),
        typed=("folder", "measure", "file_bytes", "seed", "wait_quiet_ns"),
    ),
    Call(iocast.calibrate, CalibrateRequest, typed=("price", "wait_quiet_ns", "page")),
    Call(iocast.matrix, MatrixRequest, own=("command_line",), typed=("settings", "force", "page", "grade_request")),
    Call(iocast.profile, ProfileRequest, own=("path",), typed=("traces", "engine", "columns", "names")),
    Call(
        iocast.replay,
        ReplayRequest,
        own=("mapped",),
        typed=("mapped", "users", "depth", "format_of_trace", "block_size", "seed", "page", "grade_request"),
    ),
    Call(iocast.capture, CaptureRequest, typed=("ring_kb", "names")),
)


def _fields(call: Call) -> dict[str, Field]:
    """The fields by the names of parameters."""
    parameters = inspect.signature(call.function).parameters
    asked = [field for field in fields_of(call.request) if field.name not in call.typed]
    return {field.name if field.name in parameters else field.called: field for field in asked}


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.function.__name__)
def test_a_function_has_the_fields_of_its_request(call: Call) -> None:
    fields = _fields(call)
    parameters = inspect.signature(call.function).parameters
    own = {*call.own, "listener"}
    assert set(parameters) - own == set(fields)
    for name, field in fields.items():
        given = parameters[name].default
        read = field.option.read if field.option else None
        value = read(given, name) if read and isinstance(given, str) else given
        needed = parameters[name].kind is inspect.Parameter.VAR_POSITIONAL or given is inspect.Parameter.empty
        assert value == field.default or (needed and field.default in (NODEFAULT, "", ".", ())), name


@pytest.mark.parametrize("call", CALLS, ids=lambda call: call.function.__name__)
def test_its_docstring_says_of_each_what_help_says(call: Call) -> None:
    fields = _fields(call)
    options = {word: name for name, field in fields.items() for word in (field.option and field.option.spelt) or ()}
    said = " ".join((inspect.getdoc(call.function) or "").split())
    for name, field in fields.items():
        option = field.option
        says = option.says if option else ""
        words = re.sub(r"--[a-z0-9-]+", lambda found: options.get(found[0], found[0]), says)
        assert words, name
        assert f"{name}: {words}" in said
