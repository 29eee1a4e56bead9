"""The tables of a forecast in its JSON document, field by field, and how a report's tables fill them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from iocast.model.finding import Grade
from iocast.model.report import Cell, Report

Number = int | float
Given = Literal["ok", "marginal", "at_risk", "not_ok", "unknown"]


class ForecastSummary(Struct, kw_only=True, forbid_unknown_fields=True):
    """What was asked, and the verdict with the line of the table that decided. The utilisation is of the throughput
    demonstrated; null where nothing is foretold.
    """

    verdict: Given
    reason: str
    rate_per_s: Number
    peak_per_s: Number
    size_bytes: int
    read_share: Number
    arrival_cv2: Number
    slo_statistic: str
    slo_ns: Number
    utilisation: Number | None = None
    utilisation_low: Number | None = None
    utilisation_high: Number | None = None
    demonstrated_per_s: Number | None = None


class ForecastFigure(Struct, kw_only=True, forbid_unknown_fields=True):
    """A mean or percentile of the response with its 95% interval; null: too few I/Os, or, of `low_ns` alone, one user
    may have waited for a cap all the time, so that no lower end is known. Without an expected value it lies between two
    groups of response times (`stepped`): about `faster_ns` or about `slower_ns`, as `faster_share` of the I/Os are
    expected in the faster group. `sampling` is the part of the interval that is chance in the rows: half an interval of
    the logarithm.
    """

    statistic: str
    expected_ns: Number | None = None
    low_ns: Number | None = None
    high_ns: Number | None = None
    stepped: bool = False
    faster_ns: Number | None = None
    slower_ns: Number | None = None
    faster_share: Number | None = None
    sampling: Number | None = None


class HeadroomRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """Up to which rate the SLO is kept, by the upper end of the interval, as expected, by its lower end; and up to
    which the verdict is OK. `measured`: where open-loop rows contradict the forecast, up to which they kept it.
    """

    code: Literal["surely", "expected", "at_best", "ok", "measured"]
    rate_per_s: Number


class WhatIfRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """The verdict after a change."""

    change: str
    verdict: Given
    rate_per_s: Number | None = None
    utilisation: Number | None = None
    expected_ns: Number | None = None
    low_ns: Number | None = None
    high_ns: Number | None = None
    ok_rate_per_s: Number | None = None
    says: str | None = None


class LadderRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A measured row that the forecast stands on."""

    row: str
    outstanding: int
    rate_per_s: Number
    mean_ns: Number
    trust: Grade | None = None


class OpenLoopRow(Struct, kw_only=True, forbid_unknown_fields=True):
    """A figure of an open-loop row beside its forecast. `held`: "yes", "within error" of the measurement, "no"."""

    row: str
    rate_per_s: Number
    statistic: str
    measured_ns: Number
    low_ns: Number | None = None
    high_ns: Number | None = None
    held: Literal["yes", "within error", "no"] | None = None


def forecast_fields(report: Report) -> dict[str, object]:
    """The tables of a forecast as its document has them."""
    (load,) = _rows(report, "load")
    summary = {key: load.get(key) for key in ("verdict", "reason", "arrival_cv2", "read_share", "slo_statistic")}
    summary |= {key: _number(load.get(key)) for key in ("utilisation", "utilisation_low", "utilisation_high")}
    summary |= {"rate_per_s": load["rate"], "peak_per_s": load["peak"], "size_bytes": load["size"]}
    summary |= {"slo_ns": load["slo"], "demonstrated_per_s": _number(load.get("demonstrated"))}
    return {
        "forecast": summary,
        "figures": [
            {
                **_times(row),
                "statistic": row["statistic"],
                "stepped": row["stepped"],
                "faster_ns": _number(row.get("faster")),
                "slower_ns": _number(row.get("slower")),
                "faster_share": _number(row.get("faster_share")),
                "sampling": _number(row["sampling"]),
            }
            for row in _rows(report, "figures")
        ],
        "headroom": [{"code": row["code"], "rate_per_s": row["rate"]} for row in _rows(report, "headroom")],
        "what_if": list(_what_if(report)),
        "ladder": [
            {
                "row": row["row"],
                "outstanding": row["users"],
                "rate_per_s": row["rate"],
                "mean_ns": row["mean"],
                "trust": row["trust"] or None,
            }
            for row in _rows(report, "levels")
        ],
        "open_rows": [
            {
                "row": row["row"],
                "rate_per_s": row["rate"],
                "statistic": row["statistic"],
                "measured_ns": row["measured"],
                "low_ns": _number(row.get("low")),
                "high_ns": _number(row.get("high")),
                "held": row.get("held") or None,
            }
            for row in _rows(report, "open")
        ],
    }


def _rows(report: Report, key: str) -> Iterator[dict[str, Cell]]:
    return (
        row.cells for section in report.sections for table in section.tables if table.key == key for row in table.rows
    )


def _what_if(report: Report) -> Iterator[dict[str, object]]:
    tables = [table for section in report.sections for table in section.tables if table.key == "what_if"]
    for row in (row for table in tables for row in table.rows):
        cells = row.cells
        yield {
            **_times(cells),
            "change": cells["change"],
            "verdict": cells["code"],
            "rate_per_s": _number(cells.get("rate")),
            "utilisation": _number(cells.get("busy")),
            "ok_rate_per_s": _number(cells.get("ok_rate")),
            "says": row.note or None,
        }


def _times(cells: dict[str, Cell]) -> dict[str, object]:
    return {f"{key}_ns": _number(cells.get(key)) for key in ("expected", "low", "high")}


def _number(cell: Cell) -> float | None:
    return cell if isinstance(cell, int | float) and math.isfinite(cell) else None
