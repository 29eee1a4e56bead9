"""The result of listing the runs of a directory."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.finding import Grade
from iocast.model.grading import Letter
from iocast.model.results.shown import Number, shown, shown_below


class ListedRun(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A run in a list; of one that cannot be read only its name, its folder and why."""

    run: Annotated[str, shown("run")]
    folder: str
    run_id: str | None = None
    started: str | None = None  # ISO 8601, in UTC
    started_unix_ns: Annotated[int | None, shown("started", "instant", spare=1)] = None
    job: Annotated[str | None, shown("job", spare=2)] = None
    target: Annotated[str | None, shown("target")] = None
    host: Annotated[str | None, shown("host", spare=4)] = None
    rows: Annotated[int | None, shown("rows")] = None
    planned_rows: int | None = None
    best_rate_per_s: Annotated[Number | None, shown("max IOPS", "rate", spare=3)] = None
    best_throughput_bytes_per_s: Annotated[Number | None, shown("max MB/s", "bytes_per_s", spare=3)] = None
    grade: Annotated[Letter | None, shown("grade", "grade")] = None
    trust: Annotated[Grade | None, shown("trust", "grade")] = None
    status: Annotated[str, shown("status")]
    verdict: str | None = None
    why: Annotated[str | None, shown_below()] = None
    tags: Annotated[tuple[str, ...] | None, shown("tags", "names", spare=3)] = None
    note: Annotated[str | None, shown("note", spare=5)] = None


class Listing(Struct, frozen=True, kw_only=True):
    """The runs, the newest first."""

    runs: tuple[ListedRun, ...]
