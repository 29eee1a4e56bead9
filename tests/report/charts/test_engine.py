"""Drawing in the engine's own threads: the same pictures, each drawn once, begun before anybody knows the grades."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from makers import card_runs
from makers.card_pages import page_of, report_of

from iocast.diagnose.examination import examine
from iocast.errors import DrawingError
from iocast.model.report import Chart
from iocast.model.run import Run
from iocast.report.charts import early, specification
from iocast.report.charts.drawing import engine
from iocast.report.charts.drawing.theme import PAGE
from iocast.report.charts.svg import begin, to_svgs

RUN = card_runs.quick_card()
CHARTS = report_of(RUN).charts
LATE = ("heat", "overview", "device")  # what is made only when the run was examined


def alone(chart: Chart) -> str:
    """A drawing of one chart, with the chart's name before what it refers to inside, as a page needs it."""
    svg = engine.to_svg(engine.text(specification(chart, PAGE)))
    return loose(
        re.sub('(?<=id=")(?=clip|grad)|(?<=href="#)(?=clip|grad)|(?<=url.#)(?=clip|grad)', f"{chart.key}-", svg)
    )


def loose(svg: str) -> str:
    """A drawing but for the last digits of places and counted names, which depend on what was drawn before."""
    return re.sub(r"(?<=\.\d{6})\d+|(?<=clip)\d+", "", svg)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Every specification that the engine is asked for."""
    found: list[str] = []
    real = engine.begin

    def watched(spec: str) -> Any:
        found.append(spec)
        return real(spec)

    monkeypatch.setattr(engine, "begin", watched)
    return found


def test_many_at_the_same_time_are_what_each_would_be() -> None:
    assert [*map(loose, to_svgs(CHARTS, PAGE))] == [alone(chart) for chart in CHARTS]
    assert to_svgs((), PAGE) == []


def test_what_was_begun_is_drawn_once(asked: list[str]) -> None:
    engine.get_ready()
    del asked[:]
    for chart in early(RUN):
        begin(chart, PAGE)
    begun = len(asked)
    drawn = to_svgs(CHARTS, PAGE)
    assert [*map(loose, drawn)] == [alone(chart) for chart in CHARTS]
    assert 0 < begun < len(CHARTS) == len(asked) == len(set(asked))
    to_svgs(CHARTS[:1], PAGE)
    assert len(asked) == len(CHARTS) + 1, "nothing is kept longer than for one page"


def test_early_charts_are_those_of_the_card_but_for_what_a_judgement_changes() -> None:
    assert {chart.key: chart for chart in early(RUN)} == _of(RUN, but=LATE)


def test_charts_of_a_void_row_were_drawn_in_vain() -> None:
    """They are not in the card: to_svgs draws what is."""
    void = card_runs.troubled_card()
    assert any(trust.void for trust in examine(void).trust.values())
    for chart in early(void):
        begin(chart, PAGE)
    charts = report_of(void).charts
    assert {chart.key: chart for chart in early(void)} != _of(void, but=LATE)
    assert [*map(loose, to_svgs(charts, PAGE))] == [alone(chart) for chart in charts]


def _of(run: Run, but: tuple[str, ...]) -> dict[str, Chart]:
    return {chart.key: chart for chart in report_of(run).charts if chart.kind not in but}


def test_what_cannot_be_drawn_is_an_error_and_not_a_gap() -> None:
    with pytest.raises(DrawingError, match="drawing failed: "):
        engine.to_svg('{"layer": [{"mark": "no such mark"}]}')


def test_nothing_is_fetched() -> None:
    """Neither data nor pictures from another place than the specification."""
    away = {**specification(CHARTS[0], PAGE), "layer": [{"mark": "point", "data": {"url": "http://127.0.0.1:9/a.csv"}}]}
    with pytest.raises(DrawingError):
        engine.to_svg(engine.text(away))


def test_one_processor_is_enough() -> None:
    drawn = "from iocast.report.charts.drawing import engine; engine.get_ready(); print(engine._workers())"
    alone = f"import os; os.sched_setaffinity(0, {{min(os.sched_getaffinity(0))}}); {drawn}"
    done = subprocess.run([sys.executable, "-c", alone], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "1\n"


@pytest.fixture
def mortal() -> Iterator[None]:
    """The process that draws is another one afterwards."""
    engine.get_ready()
    yield
    engine.get_ready()
    assert engine.to_svg(engine.text(engine.EVERYTHING)).startswith("<svg")
    assert engine.what_is_missing() == ""


def kill() -> None:
    process = engine._drawing._process
    assert process is not None
    process.child.kill()


def test_an_engine_that_dies_costs_the_charts_and_not_the_page(mortal: None, monkeypatch: pytest.MonkeyPatch) -> None:
    real = engine.begin

    def fatal(spec: str) -> Any:
        begun = real(spec)
        kill()
        return begun

    monkeypatch.setattr(engine, "begin", fatal)
    page, report = page_of(RUN), report_of(RUN)
    assert "<svg" not in page
    assert page.count("<details open>") == len(report.charts)
    assert "Charts could not be drawn: the drawing engine was ended by SIGKILL. Figures are shown as tables." in page


def test_an_engine_that_panics_is_an_error(mortal: None) -> None:
    asked = engine._drawing.ask("no_such_form", "{}")
    with pytest.raises(DrawingError, match="no_such_form"):
        asked.result()


def test_a_process_that_is_idle_ends_and_another_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_drawing", engine._Drawing())
    monkeypatch.setattr(engine, "IDLE_S", 0.01)
    engine.to_svg(engine.text(engine.EVERYTHING))
    process = engine._drawing._process
    assert process is not None
    process.child.wait(60)
    assert engine.to_svg(engine.text(engine.EVERYTHING)).startswith("<svg")
    assert engine.what_is_missing() == ""
