"""The result of a study: how far each configuration is, what it keeps of the baseline, and every cell."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.results.shown import Number, shown
from iocast.model.study_plan import MetricCode


class StudyProgress(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How much of a study is measured on one configuration."""

    label: Annotated[str, shown("configuration")]
    cells: Annotated[int, shown("complete cells", "count")]
    incomplete: Annotated[int, shown("incomplete cells", "count")]
    runs: Annotated[int, shown("complete runs", "count")]
    interrupted: Annotated[int, shown("interrupted runs", "count")]


class StudyKept(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell of the baseline, and what the other configurations keep of it, in their order: 1 is as good, less is
    worse. `worse_share` says the same as more time, or as less that is moved.
    """

    values: Annotated[dict[str, str], shown("axes")]  # by axis
    metric: Annotated[MetricCode, shown("figure")]
    first_ns: Annotated[Number | None, shown("first", "duration", column="first")] = None
    first_per_s: Annotated[Number | None, shown("first", "rate", column="first")] = None
    first_bytes_per_s: Annotated[Number | None, shown("first", "bytes_per_s", column="first")] = None
    kept: Annotated[tuple[Number | None, ...], shown("kept", "relative")]
    worse_share: Annotated[tuple[Number | None, ...], shown("slower", "share")]
    incomplete: bool  # on one side it rests on fewer repeats than planned


class StudyView(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A part of the matrix, in which some axes are fixed."""

    name: str
    fixed: dict[str, str]
    first: str
    others: tuple[str, ...]
    rows: tuple[StudyKept, ...]


class MeasuredCell(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A cell on one configuration: the medians of its complete runs."""

    label: str
    cell: str
    values: Annotated[dict[str, str], shown("axes")]
    metric: Annotated[MetricCode, shown("figure")]
    median_ns: Annotated[Number | None, shown("median", "duration", column="median")] = None
    median_per_s: Annotated[Number | None, shown("median", "rate", column="median")] = None
    median_bytes_per_s: Annotated[Number | None, shown("median", "bytes_per_s", column="median")] = None
    p99_ns: Annotated[Number | None, shown("p99", "duration")] = None
    variation_share: Annotated[
        Number | None, shown("variation", "share", explain="coefficient of variation of the repeats", spare=1)
    ] = None
    repeats: Annotated[int, shown("repeats", "count")]
    planned: int
    complete: bool
    trust: Annotated[str | None, shown("trust", explain="the worst letter of the repeats", spare=2)] = None


class Study(Struct, frozen=True, kw_only=True):
    """All of it. The last view has all cells; without a second configuration there is none."""

    progress: tuple[StudyProgress, ...]
    views: tuple[StudyView, ...]
    cells: tuple[MeasuredCell, ...]
