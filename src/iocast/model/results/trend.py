"""The result of following a job on a target over time."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct

from iocast.model.codes import StatisticCode
from iocast.model.results.shown import Number, shown


class TrendChange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A change of level; no row: of the grade. `run` is the first of the new level."""

    phase: Annotated[str | None, shown("row")] = None
    statistic: Annotated[StatisticCode | None, shown("metric", "code")] = None
    since_unix_ns: Annotated[int, shown("first run after", "instant")]
    before: Annotated[Number, shown("before")]
    after: Annotated[Number, shown("after")]
    change_share: Annotated[Number, shown("change")]
    run: Annotated[str, shown("run", spare=1)]


class TrendRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A row of a job over time. `changes` is null where there are too few runs."""

    phase: Annotated[str, shown("row")]
    runs: Annotated[int, shown("runs", "count")]
    latest_rate_per_s: Annotated[Number | None, shown("latest\nIOPS", "rate")] = None
    median_rate_per_s: Annotated[Number | None, shown("median\nIOPS", "rate")] = None
    latest_p99_ns: Annotated[Number | None, shown("latest\np99", "duration")] = None
    median_p99_ns: Annotated[Number | None, shown("median\np99", "duration")] = None
    changes: Annotated[int | None, shown("changes", "count")] = None


class Trend(Struct, frozen=True, kw_only=True):
    """Every change, the newest first, and all rows."""

    rows: tuple[TrendRow, ...]
    changes: tuple[TrendChange, ...]
