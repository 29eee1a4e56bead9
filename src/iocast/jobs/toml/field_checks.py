"""Checks each field of a job file by itself: is it known there, of the right type, and in units we read?"""

from __future__ import annotations

import functools
import math
import re
import types
import typing
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct, UnsetType

from iocast import units
from iocast.errors import SpecError
from iocast.jobs.problems import LISTED, Problems, field_text, table_text
from iocast.jobs.toml.engine_field import JOB_WIDE
from iocast.jobs.toml.inner_tables import FilesTable
from iocast.jobs.toml.job_tables import DefaultsTable, JobFile, PhaseTable, WorkloadTable
from iocast.jobs.toml.line_numbers import Path
from iocast.jobs.toml.tree_table import OPERATIONS, TreeTable
from iocast.model.database.load_texts import parse_hot, parse_think
from iocast.model.job import FileSize
from iocast.model.workload import LARGEST_IO_BYTES, Op
from iocast.tools.line_problems import meant

# What the same thing is called elsewhere (fio, vdbench, plain English).
SYNONYMS = {
    "bs": "size",
    "blocksize": "size",
    "block_size": "size",
    "xfersize": "size",
    "numjobs": "users",
    "jobs": "users",
    "threads": "users",
    "workers": "users",
    "iodepth": "depth",
    "queue_depth": "depth",
    "qd": "depth",
    "runtime": "time",
    "duration": "time",
    "seconds": "time",
    "elapsed": "time",
    "ioengine": "engine",
    "iops": "rate",
    "iorate": "rate",
    "rw": "pattern",
    "discard": "trim",
    "unmap": "trim",
    "access": "pattern",
    "offset": "region",
    "name": "test",
    "thinktime": "think",
    "o_direct": "direct",
    "number_ios": "ios",
    "phases": "phase",
    "default": "defaults",
    "skew": "theta",
    "reverse": "backwards",
    "descending": "backwards",
    "norandommap": "repeats",
    "once": "repeats",
    "o_sync": "sync",
    "o_dsync": "sync",
    "dsync": "sync",
    "rwf_dsync": "sync",
    "dedupe": "dedupable",
    "dedup": "dedupable",
    "dedupe_percentage": "dedupable",
    "dedupratio": "dedupable",
    "buffer_compress_percentage": "compressible",
    "compratio": "compressible",
}


FILE_SIZES = f'{units.SIZES}; "2xRAM" is twice the RAM of this machine'
_MULTIPLE = re.compile(r"\s*([0-9]{1,9}(?:\.[0-9]{1,9})?)\s*x\s*RAM\s*", re.IGNORECASE)


class Field(NamedTuple):
    """A field: its type, what it expects in words, the unit of its text, whether it must be there."""

    type: Any
    expects: str
    unit: str
    required: bool


@functools.cache
def fields_of(shape: type[Struct]) -> dict[str, Field]:
    """The fields of a table, its own before the inherited ones."""
    hints = typing.get_type_hints(shape, include_extras=True)
    own = [name for name in hints if name in shape.__annotations__]
    fields: dict[str, Field] = {}
    for name in [*own, *(name for name in hints if name not in own)]:
        parts = typing.get_args(hints[name])
        optional = UnsetType in parts
        annotated = next(part for part in parts if part is not UnsetType) if optional else hints[name]
        extra = annotated.__metadata__[0].extra
        fields[name] = Field(annotated, extra["expects"], extra["unit"], not optional)
    return fields


def check_table(raw: object, shape: type[Struct], path: Path, problems: Problems) -> None:
    """Notes every problem that a field of the table `raw` has by itself."""
    if not isinstance(raw, dict):
        problems.add(path, f"{field_text(path)} = {shown(raw)}: expected a table")
        return
    fields = fields_of(shape)
    for name in raw:
        if name in fields:
            check_field(raw[name], fields[name], (*path, name), problems)
        else:
            _unknown(name, shape, path, problems)
    for name, field in fields.items():
        if field.required and name not in raw:
            problems.add(path, f"{name} is missing: expected {field.expects}")


def check_field(value: object, field: Field, path: Path, problems: Problems) -> None:
    """Notes the problems of one value."""
    base, *_ = typing.get_args(field.type)
    inner = typing.get_args(base)[0] if typing.get_origin(base) is list else None
    if _is_table(base) and isinstance(value, dict):
        check_table(value, base, path, problems)
    elif _is_table(inner) and isinstance(value, list) and value:
        for index, item in enumerate(value):
            check_table(item, inner, (*path, index), problems)
    elif typing.get_origin(base) is typing.Literal and isinstance(value, str):
        allowed = [str(choice) for choice in typing.get_args(base)]
        if value not in allowed:
            said = f"{field_text(path)} = {shown(value)}: not {field.expects}{meant(value, allowed)}"
            problems.add(path, said, reference=f"{path[-1]} is one of {', '.join(allowed)}")
    else:
        _check_value(value, field, path, problems)


def takes(field: Field) -> str:
    """What a field takes, in the words of the guide."""
    base, *_ = typing.get_args(field.type)
    if typing.get_origin(base) is typing.Literal:
        return ", ".join(f'`"{choice}"`' for choice in typing.get_args(base))
    return field.expects


def shown(value: object) -> str:
    """A TOML value as a person would write it, cut when long."""
    text = msgspec.json.encode(value).decode() if not isinstance(value, float) else str(value)
    return text if len(text) <= 60 else text[:60] + "…"


def _check_value(value: object, field: Field, path: Path, problems: Problems) -> None:
    try:
        msgspec.convert(value, field.type)
        pattern = field.type.__metadata__[0].pattern  # msgspec would let a last line end pass
        if not all(map(math.isfinite, _numbers(value))) or (pattern and not re.fullmatch(pattern, str(value))):
            raise ValueError
    except (msgspec.ValidationError, ValueError, OverflowError):
        problems.add(path, f"{field_text(path)} = {shown(value)}: expected {field.expects}")
        return
    if not field.unit:
        return
    for text in _texts(value):
        try:
            READERS[field.unit](text)
        except SpecError as error:
            problems.add(path, f"{field_text(path)}: {error.message}", reference=error.hint)


def _unknown(name: str, shape: type[Struct], path: Path, problems: Problems) -> None:
    allowed = list(fields_of(shape))
    place = f"{table_text(path)}: " if path else ""
    home = _home(name, shape)
    said = f"; it belongs in {home}" if home else meant(name, allowed, SYNONYMS)
    listed = f"allowed {_title(path)}: {', '.join(allowed)}"
    problems.add((*path, name), f'{place}unknown field "{name}"{said}', reference=listed)


def _title(path: Path) -> str:
    """Where the fields of the table at `path` are written."""
    if not path:
        return "at the top"
    if len(path) == 2 and path[0] in LISTED:
        return f"in [[{path[0]}]]"
    name = next(part for part in reversed(path) if isinstance(part, str))
    return f"in [{name}]" if len(path) == 1 else f"in {name}"


def _home(name: str, shape: type[Struct]) -> str:
    """Where a known field belongs that was written in the wrong table."""
    if shape is DefaultsTable and name in ("test", "role", "together", "follows"):
        return "[[phase]]"
    if shape is PhaseTable and name == "polling":
        return "[defaults]: one polling mode for the whole job"
    if shape is JobFile and name in fields_of(WorkloadTable):
        return "[defaults] or [[phase]]"
    if shape is JobFile and name in ("test", "role", "together", "follows"):
        return "[[phase]]"
    if shape is JobFile and name in JOB_WIDE:
        return "[defaults]"
    if shape is JobFile and name in fields_of(TreeTable) and name not in fields_of(FilesTable):
        return "[tree]"
    if shape is JobFile and name in fields_of(FilesTable):
        return "[files]"
    return ""


def _is_table(kind: object) -> typing.TypeGuard[type[Struct]]:
    return isinstance(kind, type) and not isinstance(kind, types.GenericAlias) and issubclass(kind, Struct)


def _numbers(value: object) -> Iterator[float]:
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        for item in value:
            yield from _numbers(item)


def _texts(value: object) -> Iterator[Any]:
    """The texts of a value that are in the unit of its field: itself, list items, keys of tables."""
    if isinstance(value, list | dict):
        for item in value:
            yield from _texts(item)
    else:
        yield value


def read_file_size(text: str | int) -> FileSize:
    """FileSize of "2GiB" or "2xRAM". Raises SpecError."""
    match = _MULTIPLE.fullmatch(text) if isinstance(text, str) else None
    if match:
        if not 0 < float(match[1]) <= 1000:
            raise SpecError(f'"{text}" is not a plausible multiple of RAM', FILE_SIZES)
        return FileSize(memory_multiple=float(match[1]))
    try:
        return FileSize(size_bytes=_at_least_one(text))
    except SpecError as error:
        raise SpecError(error.message, FILE_SIZES) from None


def _at_least_one(text: str | int) -> int:
    size_bytes = units.parse_size(text)
    if not size_bytes:
        raise SpecError(f"{shown(text)} is too small: at least one byte", units.SIZES)
    return size_bytes


def read_io_size(text: str | int) -> int:
    """Bytes of the size of an I/O. Raises SpecError."""
    size_bytes = _at_least_one(text)
    if size_bytes > LARGEST_IO_BYTES:
        raise SpecError(f"{shown(text)} is too large for one I/O: at most 1GiB", "")
    return size_bytes


def _read_length(text: str) -> int:
    time_ns = units.parse_duration(text)
    if not time_ns:
        raise SpecError(f"{shown(text)} is too short: a phase needs a length above 0", units.DURATIONS)
    return time_ns


def _read_rate(text: str) -> float:
    rate_per_s = units.parse_rate(text)
    if not rate_per_s:
        raise SpecError(f"{shown(text)} is not a valid rate: no I/O would ever be due", units.RATES)
    return rate_per_s


def _read_pause(text: str) -> object:
    """A time, or a law. Raises SpecError."""
    if ":" not in text:
        return units.parse_duration(text)
    from iocast.jobs.simulated.law_text import parse_law

    try:
        return parse_law(text)
    except ValueError as error:
        raise SpecError(f"{shown(text)} is not a pause: {error}", 'for example "5us" or "exponential:2ms"') from None


def read_operation(text: str) -> Op:
    """An operation of a tree. Raises SpecError."""
    if text not in OPERATIONS:
        raise SpecError(f"{shown(text)} is not an operation of a tree{meant(text, OPERATIONS)}", ", ".join(OPERATIONS))
    return next(op for op in OPERATIONS if op == text)


READERS: dict[str, Callable[[Any], object]] = {
    "size": units.parse_size,
    "amount": _at_least_one,
    "io_size": read_io_size,
    "file_size": read_file_size,
    "duration": units.parse_duration,
    "length": _read_length,
    "rate": _read_rate,
    "percent": units.parse_percent,
    "pause": _read_pause,
    "operation": read_operation,
    "hot": parse_hot,
    "statement_pause": parse_think,
}
