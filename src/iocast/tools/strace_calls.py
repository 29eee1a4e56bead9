"""Lines of strace become reads, writes and flushes of files: which file, how much, where, how long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from iocast.tools.foreign_numbers import number, whole, whole_of
from iocast.tools.source_files import refuse

CallOp = Literal["read", "write", "fsync", "fdatasync"]
_OPS: dict[str, CallOp] = {
    "read": "read",
    "write": "write",
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    **dict.fromkeys(("pread", "pread64", "preadv", "preadv2", "readv"), "read"),
    **dict.fromkeys(("pwrite", "pwrite64", "pwritev", "pwritev2", "writev"), "write"),
}
_POSITIONAL = re.compile(r"^p(?:read|write)")
_PREFIX = re.compile(r"^(?:\[pid +(?P<pid>\d+)\] |(?P<bare>\d+) +)?(?:(?P<time>\d+\.\d+|\d\d:\d\d:\d\d(?:\.\d+)?) )?")
_CALL = re.compile(r"(?<!\w)(?P<name>\w++)\((?P<rest>.*)$")
_RESUMED = re.compile(r"<\.\.\. (?P<name>\w+) resumed>(?P<rest>.*)$")
_FD = re.compile(r"(?<!\d)(?P<fd>\d++)(?:<(?P<path>[^>]*)>)?(?=[,)])")
_RESULT = re.compile(
    r" {0,80}= (?P<value>-?\d+|\?)(?:<[^>]{0,4096}>)?"
    r"(?: (?P<error>E[A-Z0-9]+) \([^)]{0,200}\))?(?: <(?P<took>[\d.]+)>)?"
)
_OPENED = re.compile(
    r'^(?:AT_FDCWD(?:<[^>]*>)?, |\d+(?:<[^>]*>)?, )?"(?P<path>(?:[^"\\]|\\.)*)", (?P<flags>[A-Z_|0-9a-z]+)'
)
_UNFINISHED = " <unfinished ...>"
_OPENS = ("open", "openat")


class Call(Struct, frozen=True, kw_only=True):
    """One system call on a file. None: the line does not say."""

    op: CallOp
    fd: int
    path: str = ""
    flags: tuple[str, ...] | None = None  # with which it was opened
    size_bytes: int | None = None  # as asked for
    offset: int | None = None
    done_bytes: int | None = None
    error: str = ""
    took_ns: int | None = None
    at_s: float | None = None  # when it began, by the clock of the trace
    pid: int = 0


def io_line(line: str) -> bool:
    """Whether a line is a read, write or flush of a descriptor."""
    found = _CALL.match(line, _prefix(line).end())
    return bool(found and found["name"] in _OPS and _FD.match(found["rest"]))


def ends_with_the_program(text: str) -> bool:
    """Whether the last line says that the traced program exited or was killed, as strace's own last line does."""
    return text.rstrip().rpartition("\n")[2].endswith(" +++")


def calls(path: str, text: str) -> Iterator[Call]:
    """The calls of a trace in order. Raises SourceError with file and line."""
    begun: dict[tuple[int, str], str] = {}  # the first half of calls during which another was traced
    opened: dict[int, tuple[str, tuple[str, ...]]] = {}
    for at, line in enumerate(text.splitlines(), 1):
        prefix = _prefix(line)
        pid = whole(path, at, prefix["pid"] or prefix["bare"] or "0", "the process")
        resumed = _RESUMED.match(line, prefix.end())
        if resumed:
            line = begun.pop((pid, resumed["name"]), "") + resumed["rest"]
            prefix = _prefix(line)
        found = _CALL.match(line, prefix.end())
        if found is None or found["name"] not in (*_OPS, *_OPENS, "close"):
            continue
        if line.endswith(_UNFINISHED):
            begun[pid, found["name"]] = line.removesuffix(_UNFINISHED)
            continue
        arguments, result = _halves(found["rest"])
        if found["name"] in _OPENS:
            _note_opened(opened, arguments, result)
        elif found["name"] == "close":
            if closed := _FD.match(found["rest"]):
                opened.pop(whole(path, at, closed["fd"], "the descriptor"), None)
        elif _FD.match(found["rest"]):
            yield _call(path, at, found["name"], arguments, result, opened, (pid, _seconds(path, at, prefix["time"])))


def _prefix(line: str) -> re.Match[str]:
    found = _PREFIX.match(line)
    assert found is not None  # all of it may be missing
    return found


def _halves(rest: str) -> tuple[str, re.Match[str] | None]:
    """The arguments, and the result: data in quotes may hold brackets, so that it is looked for from the end."""
    end = rest.rfind(")")
    while end > 0:
        if result := _RESULT.match(rest, end + 1):
            return rest[:end], result
        end = rest.rfind(")", 0, end)
    return rest.removesuffix(")"), None


def _note_opened(opened: dict[int, tuple[str, tuple[str, ...]]], arguments: str, result: re.Match[str] | None) -> None:
    found = _OPENED.match(arguments)
    fd = whole_of(result["value"]) if result else None
    if found and fd is not None:
        opened[fd] = (found["path"], tuple(found["flags"].split("|")))


def _call(
    path: str,
    at: int,
    name: str,
    arguments: str,
    result: re.Match[str] | None,
    opened: dict[int, tuple[str, tuple[str, ...]]],
    made: tuple[int, float | None],
) -> Call:
    found = _FD.match(arguments + ")")
    if found is None:
        raise refuse(path, at, f"{name} without a file descriptor")
    fd = whole(path, at, found["fd"], "the descriptor")
    file, flags = opened.get(fd, ("", None))
    op, places = _OPS[name], 2 if _POSITIONAL.match(name) else 1
    size = offset = None
    if op in ("read", "write") and not name.rstrip("2").endswith("v"):
        values = [whole(path, at, each, "a size or an offset") for each in arguments.rsplit(", ", places)[1:]]
        if len(values) < places:
            raise refuse(path, at, f"{name} without its size")
        size, offset = values[0], values[1] if places == 2 else None
    value = result["value"] if result else "?"
    return Call(
        op=op,
        fd=fd,
        path=found["path"] or file,
        flags=flags,
        size_bytes=size,
        offset=offset,
        done_bytes=whole(path, at, value, "a size") if value.isdecimal() else None,
        error=(result["error"] or "") if result else "",
        took_ns=round(number(path, at, result["took"], "the time") * 1e9) if result and result["took"] else None,
        at_s=made[1],
        pid=made[0],
    )


def _seconds(path: str, at: int, text: str | None) -> float | None:
    """-ttt counts seconds, -t and -tt tell the time of day."""
    if text is None:
        return None
    parts = [number(path, at, each, "the time") for each in text.split(":")]
    return parts[0] if len(parts) == 1 else 3600 * parts[0] + 60 * parts[1] + parts[2]
