"""The data points of an ORION run on its card: maxima in a line, and a table of all points."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast import text
from iocast.model.report import Conclusion, Report
from iocast.model.results.card import DataPointRow
from iocast.model.run import Run
from iocast.report.matrix.measured_points import measured_points, orion_result, settings_of
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.tools.orion.result_writing import PointResult, Result, Side, least_latency, most_iops, most_mbps


def with_matrix(report: Report, run: Run) -> Report:
    """The card of an ORION run with its data points behind the results; others stay as they are."""
    settings = settings_of(run)
    if settings is None or not measured_points(run, settings):
        return report
    result = orion_result(run)
    said = " ".join(_maxima(result))
    points = tuple(_points(result))
    own = section("matrix", paragraphs=(said,), tables=(result_table(DataPointRow, points, key="data_points"),))
    at = next((at for at, each in enumerate(report.sections, 1) if each.code == "results"), 0)
    return replace(
        report,
        sections=(*report.sections[:at], own, *report.sections[at:]),
        conclusions=(Conclusion("matrix", "Matrix", said), *report.conclusions),
        result=replace(report.result, data_points=points) if report.result is not None else None,
    )


def _maxima(result: Result) -> Iterator[str]:
    if most := most_iops(result):
        value, at = most
        yield f"Small I/Os: at most {text.rate(value)} IOPS at {_load(at)}."
    if least := least_latency(result):
        value, at = least
        yield f"Lowest mean {text.duration(value * 1e3)} at {_load(at)}."
    if peak := most_mbps(result):
        _, at = peak
        assert at.large is not None
        yield f"Large I/Os: at most {text.megabytes_per_s(at.large.bytes_per_s)} MB/s at {_load(at)}."


def _load(at: PointResult) -> str:
    parts = [f"{amount} {name}" for name, amount in (("small", at.point.small), ("large", at.point.large)) if amount]
    return f"{' and '.join(parts)} outstanding"


def _points(result: Result) -> Iterator[DataPointRow]:
    for at in result.points:
        small, large = at.small, at.large
        mean_ns = _mean_ns(small)
        yield DataPointRow(
            small_outstanding=at.point.small,
            large_outstanding=at.point.large,
            small_rate_per_s=small.per_s if small else None,
            small_mean_ns=mean_ns,
            small_in_flight=small.per_s * mean_ns / 1e9 if small and mean_ns is not None else None,
            large_throughput_bytes_per_s=large.bytes_per_s if large else None,
            large_mean_ns=_mean_ns(large),
        )


def _mean_ns(side: Side | None) -> float | None:
    return side.mean_us * 1e3 if side is not None and side.per_s else None
