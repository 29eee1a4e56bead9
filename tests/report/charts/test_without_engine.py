"""Where vl-convert is not installed: the card works, its page shows figures as tables, a picture is an error."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from makers import card_runs
from makers.card_pages import page_of, report_of

from iocast.errors import DrawingError
from iocast.report.charts import early
from iocast.report.charts.drawing import engine
from iocast.report.charts.drawing.theme import LIGHT, PAGE
from iocast.report.charts.svg import begin, to_svgs
from iocast.report.renderers import terminal
from iocast.report.renderers.pictures import write_pictures

RUN = card_runs.quick_card()


@pytest.fixture(autouse=True)
def hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine is not installed."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)


def test_a_picture_is_an_error_that_says_what_to_install(tmp_path: Path) -> None:
    for draws in (
        lambda: to_svgs(report_of(RUN).charts, PAGE),
        lambda: write_pictures(report_of(RUN), tmp_path / "a.png", LIGHT),
    ):
        with pytest.raises(DrawingError) as caught:
            draws()
        assert caught.value.message == "Charts need vl-convert-python, which is not installed"
        assert caught.value.hint == 'pip install "iocast[charts]"'


def test_what_would_be_drawn_early_is_left() -> None:
    engine.get_ready()
    for chart in early(RUN):
        begin(chart, PAGE)


def test_the_page_shows_the_figures_of_each_chart() -> None:
    page, report = page_of(RUN), report_of(RUN)
    assert page.count("<details open>") == page.count("<figure") == len(report.charts)
    assert "<svg" not in page
    assert 'id="palette"' not in page
    assert page.count("Charts need vl-convert-python, which is not installed") == 1
    assert all(chart.summary.split("<")[0] in page for chart in report.charts)


def test_the_terminal_does_not_miss_it() -> None:
    out = io.StringIO()
    terminal.render(report_of(RUN), out, colour=False, width=120)
    assert "vl-convert" not in out.getvalue()
    assert "Results" in out.getvalue()
