"""The tables of a calibration: which row's response times stand for the rate within the limit."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

import iocast
from iocast import text
from iocast.forecast.calibration import Calibration
from iocast.report.forecast.calibration_tables import maxima_tables
from iocast.results.calibration import maxima_of


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Calibration:
    device = "sim:nvme,service=exponential:1ms,servers=8,bandwidth=none"
    out = tmp_path_factory.mktemp("runs")
    return iocast.calibrate(device, max_latency="8ms", percentile="mean", time="5s", out=str(out)).calibration


def note(found: Calibration) -> str:
    tables = maxima_tables(tuple(maxima_of(found)), found)
    return next(note for table in tables for note in table.notes if note.startswith("Those within"))


def test_the_row_behind_the_response_times_is_named_with_the_rate_that_it_reached(found: Calibration) -> None:
    row = found.within_row
    assert row is not None
    reached = replace(row.measurement, ios=round(0.9 * row.measurement.ios))
    slower = replace(found, within_row=type(row)(row.facts, replace(row.record, measurement=reached)))
    assert slower.within_row is not None
    assert f"measured at {text.rate(reached.rate_per_s)} IOPS ({row.name})" in note(slower)
    assert text.rate(reached.rate_per_s) != text.rate(row.measurement.asked_rate_per_s)


def test_it_is_not_called_the_highest_where_a_higher_rate_kept_the_limit_too(found: Calibration) -> None:
    row, limit = found.within_row, found.request.max_latency_ns
    assert row is not None
    below = [each for each in found.at_rates if each.at.rate_per_s <= (row.measurement.asked_rate_per_s or 0)]
    last = found.at_rates[-1]
    broken = [
        replace(last, at=last.at._replace(rate_per_s=more * last.at.rate_per_s, value_ns=2.0 * limit))
        for more in (1.1, 1.2)
    ]
    assert "the highest rate measured that kept it" in note(replace(found, at_rates=(*below, *broken)))
    kept = replace(broken[-1], at=broken[-1].at._replace(value_ns=0.9 * limit), why_not="")
    assert "the highest rate below the first row beyond" in note(replace(found, at_rates=(*below, *broken[:-1], kept)))
