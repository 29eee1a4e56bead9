"""Storage that stands still now and then: no row that met it carries a forecast or a limit, and the verdict says so."""

from __future__ import annotations

from pathlib import Path

import iocast

STALLING = "sim:sata-ssd,stall=300ms/4s"


def test_a_forecast_does_not_stand_on_rows_that_stalled(tmp_path: Path) -> None:
    card = iocast.card(STALLING, out=str(tmp_path))
    found = iocast.forecast(card, iops=40_000, slo="p99=1ms")
    assert found.verdict == "unknown"
    said = found.report().verdict
    assert "I/O stalled on " in said
    assert said.endswith("the figures hold between stalls only.")


def test_a_forecast_of_a_storage_that_does_not_stall_says_nothing_of_it(tmp_path: Path) -> None:
    found = iocast.forecast(iocast.card("sim:sata-ssd", out=str(tmp_path)), iops=20_000, slo="p99=1ms")
    assert found.verdict == "marginal"
    assert "stall" not in found.report().verdict


def test_a_calibration_refuses_rows_that_stalled(tmp_path: Path) -> None:
    made = iocast.calibrate(STALLING, max_latency="1ms", time="10s", out=str(tmp_path))
    stalled = {found.phase for found in made.card.examination.findings if found.code == "stalls"}
    assert stalled
    assert stalled <= made.found.refused.keys()
    assert "the figures hold between stalls only." in made.report().verdict
