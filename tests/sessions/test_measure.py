"""A card is told in the order of its steps, and its report is built once for the terminal, the list and the page."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.recording import Recording

from iocast.archive import read_summary
from iocast.report.card import judged
from iocast.sessions.measure import measure
from iocast.sessions.requests.measure import MeasureRequest
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.run_card import open_card


@pytest.mark.long
def test_a_report_is_built_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, whole = list[object](), judged.card
    monkeypatch.setattr(judged, "card", lambda *given: built.append(given) or whole(*given))
    options = RunOptions(out=str(tmp_path), duration_ns=200_000_000)
    listener = Recording()
    measured = measure(MeasureRequest(job="card-quick", path="sim:nvme", options=options, page=True), listener)
    assert listener.names == ["Planned", "CardReady", "PageWritten"]
    assert len(built) == 1
    assert measured.card is not None
    assert read_summary(measured.card.folder).verdict == measured.card.report().verdict


def test_charts_are_added_to_a_report_that_was_made(tmp_path: Path) -> None:
    options = RunOptions(out=str(tmp_path), duration_ns=200_000_000)
    measured = measure(MeasureRequest(job="card-quick", path="sim:nvme", options=options), Recording())
    assert measured.card is not None
    card = open_card(measured.card.folder)
    plain, charted = card.report(), card.report(charts=True)
    assert (bool(plain.charts), bool(charted.charts)) == (False, True)
    kept = [each.code for each in charted.sections if each.code in {section.code for section in plain.sections}]
    assert kept == [each.code for each in plain.sections]
