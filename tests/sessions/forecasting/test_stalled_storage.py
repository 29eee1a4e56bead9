"""Storage that stands still now and then: no row that met it carries a forecast or a limit, and the verdict says so."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import iocast
from iocast.diagnose.stalled_rows import stall_caution
from iocast.model.finding import Examination, Finding

STALLING = "sim:sata-ssd,stall=300ms/4s"


@pytest.mark.long
def test_a_forecast_does_not_stand_on_rows_that_stalled(tmp_path: Path) -> None:
    card = iocast.card(STALLING, out=str(tmp_path))
    found = iocast.forecast(card, iops=40_000, slo="p99=1ms")
    assert found.verdict == "unknown"
    said = found.report().verdict
    assert re.search(r"\d+ rows had stalls of up to 3\d\d ms\. They are left out: the figures exclude stalls\.$", said)


@pytest.mark.long
def test_stalls_of_rows_that_are_not_used_take_the_ok_away(tmp_path: Path) -> None:
    """A stall of 300 ms in every 9 s: rows of 3 s that met none carry the figures, the others the verdict."""
    card = iocast.card("sim:sata-ssd,stall=300ms/9s", out=str(tmp_path))
    found = iocast.forecast(card, iops=5000, slo="p99=1ms")
    assert found.answer.forecast is not None, "the rows that met no stall are a ladder"
    assert (found.verdict, found.answer.reason) == ("at_risk", "stalled")
    stalled = found.answer.stalled
    assert stalled is not None
    assert 0.6 < stalled.late(0.001) / (0.299 / 9) < 1.6
    report = found.report()
    assert re.search(
        r"between stalls only: \d+ rows? that the forecast leaves out had stalls of up to 30", report.verdict
    )
    assert "the p99 leaves 1.0% to all causes" in report.verdict
    assert report.next_steps[0].startswith("To find out what stalls: iocast diagnose --for ")
    assert "headroom" not in {section.code for section in report.sections}


@pytest.mark.long
def test_a_forecast_of_a_storage_that_does_not_stall_says_nothing_of_it(tmp_path: Path) -> None:
    found = iocast.forecast(iocast.card("sim:sata-ssd", out=str(tmp_path)), iops=20_000, slo="p99=1ms")
    assert found.verdict == "marginal"
    assert "stall" not in found.report().verdict


@pytest.mark.long
def test_a_sizing_does_not_stand_on_rows_that_stalled(tmp_path: Path) -> None:
    card = iocast.card("sim:sata-ssd,stall=300ms/9s", out=str(tmp_path))
    stalled = {found.phase for found in card.examination.findings if found.code == "stalls"}
    made = iocast.size(capacity="100GB", iops=5000, read="100%", device=card.folder, device_capacity="960GB").report()
    (section,) = made.sections
    source = next(each for each in section.paragraphs if "Source: rows randread" in each)
    assert not [name for name in stalled if f"{name}," in source or f"{name}." in source]
    assert any("the figures exclude stalls" in note for note in section.tables[0].notes)


@pytest.mark.long
def test_a_calibration_refuses_rows_that_stalled(tmp_path: Path) -> None:
    made = iocast.calibrate(STALLING, max_latency="1ms", time="10s", out=str(tmp_path))
    stalled = {found.phase for found in made.card.examination.findings if found.code == "stalls"}
    assert stalled
    assert stalled <= made.calibration.refused.keys()
    assert "the figures exclude stalls." in made.report().verdict


@pytest.mark.parametrize(
    ("stalls", "says"),
    [
        ((1, 2), "2 rows had stalls of up to 300 ms. They are left out: the figures exclude stalls."),
        ((0, 2), "1 row had stalls of up to 300 ms. It is left out: the figures exclude stalls."),
        (
            (0,),
            "On 1 row I/Os completed one after another and took up to 200 ms each, for a reason that is unknown. It is"
            " left out: the figures exclude such queues.",
        ),
    ],
)
def test_a_caution_says_what_is_known_and_what_the_figures_exclude(stalls: tuple[int, ...], says: str) -> None:
    found = tuple(
        Finding(
            code="stalls",
            severity="warn",
            phase=f"row {at}",
            says="",
            evidence={"stalls": count, "longest_ns": 1e8 * (at + 2)},
        )
        for at, count in enumerate(stalls)
    )
    assert stall_caution(Examination(trust={}, findings=found)) == says
