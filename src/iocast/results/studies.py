"""What was measured of a study becomes a result: progress, every cell, and each configuration against the baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from iocast.analyse.study_figures import CellFigure, against, baseline_of, cell_figure, progress
from iocast.model.results.studies import MeasuredCell, Study, StudyKept, StudyProgress, StudyView
from iocast.model.study_plan import MetricCode, StudyCell, StudyPlan, StudySide, View

Figures = Mapping[str, CellFigure]  # by the name of the cell
ALL = View("all cells", {})


def study_of(plan: StudyPlan, sides: Sequence[StudySide]) -> Study:
    """The result; `sides` are the configurations that were measured."""
    figures = {
        side.label: {result.cell.name: cell_figure(result, plan.repeats) for result in side.results} for side in sides
    }
    first = baseline_of(sides, plan.labels)
    others = tuple(side.label for side in sides if first is not None and side.label != first.label)
    return Study(
        progress=tuple(_progress(plan, side) for side in sides),
        views=tuple(_view(plan, view, (first.label, *others), figures) for view in (*plan.views, ALL))
        if first is not None and others
        else (),
        cells=tuple(
            _cell(label, cell, figures_of[cell.name]) for label, figures_of in figures.items() for cell in plan.cells
        ),
    )


def _progress(plan: StudyPlan, side: StudySide) -> StudyProgress:
    whole, runs = progress(side, plan.repeats)
    return StudyProgress(
        label=side.label,
        cells=whole,
        incomplete=len(plan.cells) - whole,
        runs=runs,
        interrupted=sum(result.interrupted for result in side.results),
    )


def _view(plan: StudyPlan, view: View, labels: tuple[str, ...], figures: Mapping[str, Figures]) -> StudyView:
    shown = (cell for cell in plan.cells if view.shows(cell))
    return StudyView(
        name=view.name,
        fixed=view.fixed,
        first=labels[0],
        others=labels[1:],
        rows=tuple(_kept(cell, [figures[label][cell.name] for label in labels]) for cell in shown),
    )


def _kept(cell: StudyCell, figures: Sequence[CellFigure]) -> StudyKept:
    base, *values = (each.value for each in figures)
    both = [against(base, value, cell.metric) if base and value else None for value in values]
    ns, per_s, bytes_per_s = _by_unit(cell.metric, base)
    return StudyKept(
        values=cell.values,
        metric=cell.metric,
        first_ns=ns,
        first_per_s=per_s,
        first_bytes_per_s=bytes_per_s,
        kept=tuple(each.kept if each else None for each in both),
        worse_share=tuple(each.worse if each else None for each in both),
        incomplete=any(each.repeats and not each.whole for each in figures),
    )


def _cell(label: str, cell: StudyCell, figure: CellFigure) -> MeasuredCell:
    ns, per_s, bytes_per_s = _by_unit(cell.metric, figure.value)
    return MeasuredCell(
        label=label,
        cell=cell.name,
        values=cell.values,
        metric=cell.metric,
        median_ns=ns,
        median_per_s=per_s,
        median_bytes_per_s=bytes_per_s,
        p99_ns=figure.p99_ns,
        variation_share=figure.variation,
        repeats=figure.repeats,
        planned=figure.planned,
        complete=figure.whole,
        trust=figure.trust or None,
    )


def _by_unit(metric: MetricCode, value: float | None) -> tuple[float | None, float | None, float | None]:
    """As ns, per second, and bytes per second: two of them are None."""
    if metric == "iops":
        return None, value, None
    return (None, None, value) if metric == "throughput" else (value, None, None)
