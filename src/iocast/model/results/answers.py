"""What verbs without a report answer with --json: each a document of its own."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct

from iocast.model.plan import Plan
from iocast.model.results.shown import shown, shown_below

Plans = tuple[Plan, ...]  # `iocast experiment --plan`: one for each target


class RemovedFile(Struct, frozen=True, kw_only=True):
    """A work file, tree or server that was removed, or would be."""

    path: str
    freed_bytes: int


class KeptFile(Struct, frozen=True, kw_only=True):
    """What looks like iocast's and stays, and why."""

    path: str
    why: str


class Cleaned(Struct, frozen=True, kw_only=True):
    """`iocast clean`."""

    dry_run: bool
    removed: tuple[RemovedFile, ...]
    kept: tuple[KeptFile, ...]


class CompletionScript(Struct, frozen=True, kw_only=True):
    """`iocast completion`."""

    shell: str
    script: str


class Serving(Struct, frozen=True, kw_only=True):
    """`iocast serve`: where it answers, and the same with the token that changes need."""

    url: str
    url_for_changes: str
    directory: str


class WrittenJob(Struct, frozen=True, kw_only=True):
    """`iocast spec`: the job file, and what the other format says otherwise."""

    format: Literal["fio", "toml"]
    job: str
    notes: tuple[str, ...]


class DataPoint(Struct, frozen=True, kw_only=True):
    """How many small and large I/Os are outstanding."""

    small: int
    large: int


class PlannedMatrix(Struct, frozen=True, kw_only=True):
    """`iocast matrix --plan`: ORION's command line and data points, and the plan that they make."""

    command_line: str
    points: tuple[DataPoint, ...]
    seconds: float | None
    plan: Plan


class OptionDefault(Struct, frozen=True, kw_only=True):
    """An option of a verb, its default as text, and what sets it: a file, a variable, or iocast itself ("")."""

    verb: str
    option: str
    value: str
    source: str


class Defaults(Struct, frozen=True, kw_only=True):
    """`iocast config`: the files that are read, whether they are there or not, and what is set."""

    files: tuple[str, ...]
    defaults: tuple[OptionDefault, ...]


class Schema(Struct, frozen=True, kw_only=True, rename={"draft": "$schema"}):
    """`iocast schema`: a JSON Schema; what else stands in it is that of the schema's own kind."""

    draft: str
    title: str
    definitions: dict[str, Any]


class CheckedHost(Struct, frozen=True, kw_only=True):
    """One host of `iocast hosts check`; null is what it could not say."""

    host: Annotated[str, shown("host")]
    path: Annotated[str, shown("path")]
    version: Annotated[str | None, shown("iocast")] = None
    engine: Annotated[str | None, shown("engine")] = None
    filesystem: Annotated[str | None, shown("file\nsystem", spare=2)] = None
    free_bytes: Annotated[int | None, shown("free", "bytes", spare=1)] = None
    storage: Annotated[str | None, shown("storage", explain="its own, or that of another host")] = None
    clock_ns: Annotated[int | None, shown("clock", "duration", explain="ahead of that of the first", spare=3)] = None
    clock_error_ns: Annotated[int | None, shown("±", "duration", spare=4)] = None
    problem: Annotated[str | None, shown("problem")] = None
    mend: Annotated[str | None, shown_below()] = None


class HostsChecked(Struct, frozen=True, kw_only=True):
    """`iocast hosts check`."""

    hosts: tuple[CheckedHost, ...]
