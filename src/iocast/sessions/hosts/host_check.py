"""hosts check: each link of the chain to every host is tried, and what the hosts are together."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack

import msgspec
from msgspec import Struct

from iocast import __version__
from iocast.archive.writing.private_rooms import temporary_room
from iocast.hosts.launch_failures import Failure, failure_of
from iocast.hosts.launching import Launched, command, find_launcher
from iocast.hosts.messages import Checked, Ended, Hello, Lines
from iocast.hosts.node_sets import HostPlace, names_of, parse_hosts
from iocast.model.results.answers import CheckedHost
from iocast.sessions.requests.ranks import CheckRequest

ROOM = ".iocast-check-"
ANSWER_S = 20.0
_EVERY_S = 0.05
_IO_URING_SETUP, _PARAMETERS_BYTES = 425, 120


class _Answer(Struct):
    """What one host said."""

    hello: Hello | None = None
    checked: Checked | None = None
    ended: Ended | None = None
    failure: Failure | None = None


def check_hosts(nodes: str, path: str) -> tuple[CheckedHost, ...]:
    """Every host alone, and then all that answer together. Raises SpecError, and LoadError where nothing can be
    launched."""
    places = [place.at(path) for place in parse_hosts(nodes, "NODES")]
    program = find_launcher()
    alone = _answers_of(program, [(place,) for place in places])
    answers = [each[0] for each in alone]
    well = [number for number, answer in enumerate(answers) if answer.failure is None and answer.hello is not None]
    if len(well) > 1:
        (together,) = _answers_of(program, [tuple(places[number] for number in well)])
        for number, answer in zip(well, together, strict=True):
            answers[number] = answer
    return tuple(_row(number, places, answers) for number in range(len(places)))


def _answers_of(program: str, groups: Sequence[tuple[HostPlace, ...]]) -> list[list[_Answer]]:
    """The answers of groups of hosts, each launched as one, all at the same time."""
    words = (sys.executable, "-m", "iocast", "hosts", "rank")
    with ExitStack() as stack:
        launched = []
        for places in groups:
            room = stack.enter_context(temporary_room(ROOM))
            line = command(program, places, str(room.path), words)
            launched.append(Launched(line, msgspec.json.encode(CheckRequest(places=places)), room, len(places)))
            stack.callback(launched[-1].close)
        until_s = time.monotonic() + ANSWER_S
        while any(not each.ended for each in launched) and time.monotonic() < until_s:
            time.sleep(_EVERY_S)
        return [_answers(each, places) for each, places in zip(launched, groups, strict=True)]


def _answers(launched: Launched, places: Sequence[HostPlace]) -> list[_Answer]:
    answers = []
    for place, file in zip(places, launched.files, strict=True):
        answer = _Answer()
        for message in Lines(file).read():
            match message:
                case Hello():
                    answer.hello = message
                case Checked():
                    answer.checked = message
                case Ended():
                    answer.ended = message
        if answer.hello is None or answer.checked is None:
            late = "" if launched.ended else "timed out"
            answer.failure = failure_of(place.host, launched.said() or late)
        answers.append(answer)
    return answers


def _row(number: int, places: Sequence[HostPlace], answers: Sequence[_Answer]) -> CheckedHost:
    place, answer, names = places[number], answers[number], names_of(places)
    checked, hello = answer.checked, answer.hello
    row = CheckedHost(host=names[number], path=place.path, version=hello.version if hello else None)
    if answer.failure is not None or checked is None:
        failure = answer.failure or Failure("it did not answer", "")
        return msgspec.structs.replace(row, problem=failure.why, mend=failure.mend)
    alike = [
        names[other]
        for other in range(number)
        if (theirs := answers[other].checked) is not None and set(theirs.storage) & set(checked.storage)
    ]
    first = number == 0
    problem, mend = checked.refused, checked.hint
    if hello is not None and hello.version != __version__:
        problem, mend = f"iocast there is {hello.version}, here {__version__}", f"pip install iocast=={__version__}"
    return msgspec.structs.replace(
        row,
        engine=checked.engine or None,
        filesystem=checked.filesystem or None,
        free_bytes=checked.free_bytes,
        storage=f"that of {alike[0]}" if alike else "its own" if checked.storage else None,
        clock_ns=None if first else checked.wall_ahead_ns,
        clock_error_ns=None if first else checked.clock_error_ns,
        problem=problem or None,
        mend=mend or None,
    )


def engine_here() -> str:
    """The engine that a run would use here, and why where it is not io_uring."""
    kernel = ctypes.CDLL(None, use_errno=True)
    ring = kernel.syscall(_IO_URING_SETUP, 1, ctypes.create_string_buffer(_PARAMETERS_BYTES))
    if ring >= 0:
        os.close(ring)
        return "io_uring"
    return f"sync (io_uring: {os.strerror(ctypes.get_errno())})"
