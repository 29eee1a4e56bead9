"""A study as a report: what each configuration keeps of the baseline, how much slower it is, and every cell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from iocast import text
from iocast.analyse.studies.study_figures import CellFigure, against, baseline_of, cell_figure, progress
from iocast.model.report import Cell, Column, Figure, Kind, Report, Row, Section, Table
from iocast.model.studies.study_plan import MetricCode, StudyCell, StudyPlan, StudySide, View
from iocast.report.wording import section

KINDS: dict[MetricCode, Kind] = {"iops": "rate", "throughput": "bytes_per_s"}
UNITS: dict[MetricCode, str] = {"iops": "IOPS", "throughput": "MB/s"}
KEPT = (
    "100% is as good as {first}, less is worse: {first} over the other for times, the other over {first} for rates;"
    " medians of the repeats. Green is within 10%."
)
WORSE = "How much more time it takes, or how much less it moves, in percent of {first}: 43% kept is 133% slower."
INCOMPLETE = "Cells marked with * have fewer than {planned} complete repeats on one side."


def study_report(plan: StudyPlan, sides: Sequence[StudySide], folder: str = "") -> Report:
    """Everything that is told of a study. `sides` are the configurations, the baseline first where it was measured."""
    first = baseline_of(sides, plan.labels)
    others = [side for side in sides if first is not None and side.label != first.label]
    figures = {side.label: _figures(plan, side) for side in sides}
    parts = [section("study", (_words(plan),), (_progress(plan, sides),) if sides else ())]
    if first is not None and others:
        views = (*plan.views, View("all cells", {}))
        parts += [each for view in views for each in _view(plan, view, first, others, figures)]
    parts += [_cells(plan, side, figures[side.label]) for side in sides]
    return Report(
        title=f"Study · {plan.name}",
        verdict=_verdict(plan, sides, first, others, figures),
        sections=tuple(parts),
        next_steps=_next_steps(plan, sides, folder),
        figures=_head(plan, sides),
        kind="study",
    )


Figures = dict[str, CellFigure]  # by the name of the cell


def _figures(plan: StudyPlan, side: StudySide) -> Figures:
    return {result.cell.name: cell_figure(result, plan.repeats) for result in side.results}


def _words(plan: StudyPlan) -> str:
    axes = "; ".join(f"{axis}: {', '.join(values)}" for axis, values in plan.axes.items())
    return (
        f"{plan.description + '. ' if plan.description else ''}{len(plan.cells)} cells, {plan.repeats} repeats each:"
        f" {plan.runs} runs for each configuration. {text.sentence(axes)}"
    )


def _progress(plan: StudyPlan, sides: Sequence[StudySide]) -> Table:
    columns = (
        Column("label", "configuration"),
        Column("cells", "complete cells", "count"),
        Column("incomplete", "incomplete cells", "count"),
        Column("runs", "complete runs", "count"),
        Column("interrupted", "interrupted runs", "count"),
    )
    rows = []
    for side in sides:
        whole, runs = progress(side, plan.repeats)
        cut = sum(result.interrupted for result in side.results)
        cells: dict[str, Cell] = {"label": side.label, "cells": whole, "incomplete": len(plan.cells) - whole}
        rows.append(Row({**cells, "runs": runs, "interrupted": cut}))
    return Table("", columns, tuple(rows), key="progress")


def _view(
    plan: StudyPlan, view: View, first: StudySide, others: Sequence[StudySide], figures: dict[str, Figures]
) -> Iterator[Section]:
    """Both ways, for a part of the matrix."""
    shown = [cell for cell in plan.cells if view.shows(cell)]
    columns = (
        *_places(plan, view),
        Column("metric", "figure"),
        Column("first", first.label, "text"),
    )
    kept = Table(
        "kept",
        (*columns, *(Column(f"side{at}", other.label, "relative") for at, other in enumerate(others, 1))),
        tuple(_against(cell, first, others, figures, "kept") for cell in shown),
        key=f"kept_{view.name}".replace(" ", "_"),
        notes=tuple(_notes(plan, KEPT, shown, first, others, figures)),
    )
    worse = Table(
        "slower",
        (*columns, *(Column(f"side{at}", other.label, "share") for at, other in enumerate(others, 1))),
        tuple(_against(cell, first, others, figures, "worse") for cell in shown),
        key=f"slower_{view.name}".replace(" ", "_"),
        notes=(WORSE.format(first=first.label),),
    )
    fixed = ", ".join(f"{axis} {value}" for axis, value in view.fixed.items())
    title = f"Relative to {first.label}: {view.name}" + (f" ({fixed})" if fixed else "")
    yield Section("relative", title, (), (kept, worse))


def _notes(
    plan: StudyPlan,
    words: str,
    shown: Sequence[StudyCell],
    first: StudySide,
    others: Sequence[StudySide],
    figures: dict[str, Figures],
) -> Iterator[str]:
    yield words.format(first=first.label)
    if any(_mark(cell, first, others, figures) for cell in shown):
        yield INCOMPLETE.format(planned=plan.repeats)


def _places(plan: StudyPlan, view: View) -> tuple[Column, ...]:
    return tuple(Column(axis, axis) for axis in plan.axes if axis not in view.fixed)


def _mark(cell: StudyCell, first: StudySide, others: Sequence[StudySide], figures: dict[str, Figures]) -> str:
    """Where one side has a figure that rests on fewer repeats than planned."""
    found = [figures[side.label][cell.name] for side in (first, *others)]
    return " *" if any(each.repeats and not each.whole for each in found) else ""


def _against(
    cell: StudyCell, first: StudySide, others: Sequence[StudySide], figures: dict[str, Figures], way: str
) -> Row:
    base = figures[first.label][cell.name].value
    mark = _mark(cell, first, others, figures)
    cells: dict[str, Cell] = {**cell.values, "metric": cell.metric + mark, "first": _shown(cell.metric, base)}
    cells |= {"first_value": base, "incomplete": bool(mark)}
    for at, other in enumerate(others, 1):
        value = figures[other.label][cell.name].value
        found = against(base, value, cell.metric) if base and value else None
        cells[f"side{at}"] = None if found is None else found.kept if way == "kept" else found.worse
        cells[f"side{at}_value"] = value
    return Row(cells)


def _cells(plan: StudyPlan, side: StudySide, figures: Figures) -> Section:
    """Every cell of a configuration."""
    columns = (
        *(Column(axis, axis) for axis in plan.axes),
        Column("metric", "figure"),
        Column("median", "median", "text"),
        Column("p99", "p99", "duration"),
        Column("variation", "variation", "share", "coefficient of variation of the repeats", spare=1),
        Column("repeats", "repeats", "text"),
        Column("trust", "trust", "text", "the worst letter of the repeats", spare=2),
    )
    rows = tuple(_cell_row(cell, figures[cell.name]) for cell in plan.cells)
    whole = sum(each.whole for each in figures.values())
    notes = () if whole == len(rows) else (f"{len(rows) - whole} of {len(rows)} cells are incomplete.",)
    return Section("study", f"Cells: {side.label}", (), (Table("", columns, rows, key="cells", notes=notes),))


def _cell_row(cell: StudyCell, found: CellFigure) -> Row:
    state = str(found.repeats) if found.whole else f"incomplete: {found.repeats} of {found.planned}"
    return Row(
        {
            **cell.values,
            "cell": cell.name,
            "metric": cell.metric,
            "median": _shown(cell.metric, found.value),
            "median_value": found.value,
            "p99": found.p99_ns,
            "variation": found.variation,
            "repeats": state,
            "complete": found.whole,
            "trust": found.trust,
        }
    )


def _shown(metric: MetricCode, value: float | None) -> str | None:
    """A figure with its unit."""
    if value is None:
        return None
    if metric == "iops":
        return f"{text.rate(value)} IOPS"
    return f"{text.megabytes_per_s(value)} MB/s" if metric == "throughput" else text.duration(value)


def _verdict(
    plan: StudyPlan,
    sides: Sequence[StudySide],
    first: StudySide | None,
    others: Sequence[StudySide],
    figures: dict[str, Figures],
) -> str:
    """How much of it is there; then, of each configuration, how many cells are as good and which keeps least."""
    if first is None:
        return "Nothing was measured yet."
    missing = [side.label for side in sides if progress(side, plan.repeats)[0] < len(plan.cells)]
    said = [f"Incomplete: {', '.join(missing)}."] if missing else []
    for other in others:
        kept = {
            cell.name: against(base, value, cell.metric).kept
            for cell in plan.cells
            if (base := figures[first.label][cell.name].value) and (value := figures[other.label][cell.name].value)
        }
        if kept:
            least = min(kept, key=lambda name: kept[name])
            good = sum(value >= 0.9 for value in kept.values())
            said.append(
                f"{other.label} is within 10% of {first.label}, or better, in {good} of {len(kept)} cells;"
                f" it keeps least in {least}: {kept[least]:.1%}."
            )
    if not others and not missing:
        said.append(f"{first.label} is complete: {len(plan.cells)} cells, {plan.repeats} repeats.")
    return " ".join(said)


def _head(plan: StudyPlan, sides: Sequence[StudySide]) -> tuple[Figure, ...]:
    runs = sum(progress(side, plan.repeats)[1] for side in sides)
    return (Figure("cells", len(plan.cells), "count"), Figure("runs", runs, "count", f"of {plan.runs * len(sides)}"))


def _next_steps(plan: StudyPlan, sides: Sequence[StudySide], folder: str) -> tuple[str, ...]:
    missing = [label for label in plan.labels if label not in {side.label for side in sides}]
    steps = [f"To see this again: iocast report {shlex.quote(folder)}"] if folder else []
    if missing and folder:
        steps.append(
            f"Measure the next configuration there, and copy its folder here: iocast study {shlex.quote(plan.name)}"
            f" PATH --label {shlex.quote(missing[0])}"
        )
    return tuple(steps)
