"""Cards of runs made by hand, with all their charts, as reports and as pages."""

from __future__ import annotations

import io
from types import ModuleType
from typing import Any, TypeVar

from makers import card_runs

from iocast.diagnose.examination import examine
from iocast.model.measurement import Course, Interval
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.report.card.card_report import card
from iocast.report.plot.marks import Mark, Plot
from iocast.report.renderers import html

M = TypeVar("M", bound=Mark)


def courses_of(run: Run, intervals: int = 20) -> dict[int, Course]:
    """A course over time for every measured phase: its histogram again and again."""
    return {
        number: tuple(
            Interval(at * card_runs.SECOND_NS, part.op, part.size_bytes, part.bytes, 0, part.response)
            for at in range(intervals)
            for part in record.measurement.classes
        )
        for number, record in enumerate(run.phases)
        if record.phase.role == "measure"
    }


def report_of(run: Run) -> Report:
    """The card of a run with all its charts."""
    return card(run, examine(run), "runs/one", courses_of(run))


def chart_of(run: Run, module: ModuleType) -> Any:
    """The first chart of a run's card that a module of charts tells: the Struct of its kind."""
    kind = module.__name__.rpartition(".")[2]
    return next(each for each in report_of(run).charts if each.kind == kind)


def drawn(plot: Plot, kind: type[M]) -> list[M]:
    """All marks of a kind, from behind to the front."""
    return [mark for mark in plot.marks if isinstance(mark, kind)]


def page_of(run: Run) -> str:
    """Its page."""
    out = io.StringIO()
    html.render(report_of(run), out)
    return out.getvalue()
