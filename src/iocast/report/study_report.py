"""A study as a report: what each configuration keeps of the baseline, how much slower it is, and every cell."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Literal

from iocast import text
from iocast.model.report import Figure, Report, Section, Table
from iocast.model.results.studies import MeasuredCell, Study, StudyKept, StudyProgress, StudyView
from iocast.model.study_plan import StudyPlan, StudySide
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.results.studies import study_of

KEPT = (
    "100% is as good as {first}, less is worse: {first} over the other for times, the other over {first} for rates;"
    " medians of the repeats. Green is within 10%."
)
WORSE = "How much more time it takes, or how much less it moves, in percent of {first}: 43% kept is 133% slower."
INCOMPLETE = "Cells marked with * have fewer than {planned} complete repeats on one side."


def study_report(plan: StudyPlan, sides: Sequence[StudySide], folder: str = "") -> Report:
    """Everything that is told of a study. `sides` are the configurations, the baseline first where it was measured."""
    result = study_of(plan, sides)
    table = result_table(StudyProgress, result.progress, key="progress")
    return Report(
        title=f"Study · {plan.name}",
        verdict=_verdict(plan, result),
        sections=(
            section("study", (_words(plan),), (table,) if sides else ()),
            *(_view(plan, view) for view in result.views),
            *(_cells(plan, side.label, result) for side in sides),
        ),
        next_steps=_next_steps(plan, sides, folder),
        figures=_head(plan, result),
        kind="study",
        result=result,
    )


def _words(plan: StudyPlan) -> str:
    axes = "; ".join(f"{axis}: {', '.join(values)}" for axis, values in plan.axes.items())
    return (
        f"{plan.description + '. ' if plan.description else ''}{len(plan.cells)} cells, {plan.repeats} repeats each:"
        f" {plan.runs} runs for each configuration. {text.sentence(axes)}"
    )


def _view(plan: StudyPlan, view: StudyView) -> Section:
    """Both ways, for a part of the matrix."""
    marked = (INCOMPLETE.format(planned=plan.repeats),) if any(row.incomplete for row in view.rows) else ()
    kept = _against(plan, view, "kept", (KEPT.format(first=view.first), *marked))
    slower = _against(plan, view, "slower", (WORSE.format(first=view.first),))
    fixed = ", ".join(f"{axis} {value}" for axis, value in view.fixed.items())
    title = f"Relative to {view.first}: {view.name}" + (f" ({fixed})" if fixed else "")
    return Section("relative", title, (), (kept, slower))


def _against(plan: StudyPlan, view: StudyView, way: Literal["kept", "slower"], notes: tuple[str, ...]) -> Table:
    """One of the two ways; a fixed axis has no column."""
    field, other = ("kept", "worse_share") if way == "kept" else ("worse_share", "kept")
    fixed = (f"values{at}" for at, axis in enumerate(plan.axes, 1) if axis in view.fixed)
    return result_table(
        StudyKept,
        view.rows,
        key=f"{way}_{view.name}".replace(" ", "_"),
        title=way,
        headings={"values": tuple(plan.axes), "first": view.first, field: view.others},
        words={"metric": lambda row: row.metric + (" *" if row.incomplete else "")},
        notes=notes,
        leave=(*fixed, other),
    )


def _cells(plan: StudyPlan, label: str, result: Study) -> Section:
    """Every cell of a configuration."""
    rows = tuple(row for row in result.cells if row.label == label)
    cut = sum(not row.complete for row in rows)
    table = result_table(
        MeasuredCell,
        rows,
        key="cells",
        headings={"values": tuple(plan.axes)},
        words={"repeats": _repeats},
        notes=(f"{cut} of {len(rows)} cells are incomplete.",) if cut else (),
    )
    return Section("study", f"Cells: {label}", (), (table,))


def _repeats(row: MeasuredCell) -> str:
    return str(row.repeats) if row.complete else f"incomplete: {row.repeats} of {row.planned}"


def _verdict(plan: StudyPlan, result: Study) -> str:
    """How much of it is there; then, of each configuration, how many cells are as good and which keeps least."""
    if not result.progress:
        return "Nothing was measured yet."
    missing = [row.label for row in result.progress if row.incomplete]
    said = [f"Incomplete: {', '.join(missing)}."] if missing else []
    for view in result.views[-1:]:  # of all cells
        for at, other in enumerate(view.others):
            kept = {" ".join(row.values.values()): share for row in view.rows if (share := row.kept[at]) is not None}
            if kept:
                least = min(kept, key=lambda name: kept[name])
                good = sum(value >= 0.9 for value in kept.values())
                said.append(
                    f"{other} is within 10% of {view.first}, or better, in {good} of {len(kept)} cells;"
                    f" it keeps least in {least}: {kept[least]:.1%}."
                )
    if not result.views and not missing:
        said.append(f"{result.progress[0].label} is complete: {len(plan.cells)} cells, {plan.repeats} repeats.")
    return " ".join(said)


def _head(plan: StudyPlan, result: Study) -> tuple[Figure, ...]:
    runs = sum(row.runs for row in result.progress)
    whole = plan.runs * len(result.progress)
    return (Figure("cells", len(plan.cells), "count"), Figure("runs", runs, "count", f"of {whole}"))


def _next_steps(plan: StudyPlan, sides: Sequence[StudySide], folder: str) -> tuple[str, ...]:
    missing = [label for label in plan.labels if label not in {side.label for side in sides}]
    steps = [f"To see this again: iocast report {shlex.quote(folder)}"] if folder else []
    if missing and folder:
        steps.append(
            f"Measure the next configuration there, and copy its folder here: iocast study {shlex.quote(plan.name)}"
            f" PATH --label {shlex.quote(missing[0])}"
        )
    return tuple(steps)
