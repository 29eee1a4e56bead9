"""A study in words: its plan, and each run when it begins."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.study_plan import StudyPlan
from iocast.sessions import events
from iocast.text import counted, duration


def study_lines(event: events.StudyEvent) -> Iterator[str]:
    """An event in words."""
    match event:
        case events.StudyBegun():
            plan = event.plan
            yield f"study {plan.name}, {event.label}: {len(plan.cells)} cells, {plan.runs} runs, into {event.folder}"
            if event.runs_done:
                left = plan.runs - event.runs_done
                yield f"goes on: {event.runs_done} runs are complete ({event.cells_done} cells), {left} are left"
        case events.StudyRunBegun():
            yield f"[{event.cell.name}] {event.label}, repeat {event.repeat} of {event.repeats}"
        case events.StudyRunFailed(cell, why):
            yield f"note: {cell.name}: {why.message}"


def plan_lines(plan: StudyPlan) -> Iterator[str]:
    """Every cell, and how many runs and how long it is."""
    yield f"{plan.name}: {plan.description}" if plan.description else plan.name
    widths = [max(len(axis), *map(len, values)) + 2 for axis, values in plan.axes.items()]
    yield "".join(f"{axis:{width}}" for axis, width in zip(plan.axes, widths, strict=True)) + "figure"
    for cell in plan.cells:
        row = "".join(f"{value:{width}}" for value, width in zip(cell.values.values(), widths, strict=True))
        yield f"{row}{cell.metric}{', read before' if cell.warm_text else ''}"
    time = "" if plan.seconds is None else f", {duration(plan.seconds * 1e9)} of load"
    yield f"{counted(len(plan.cells), 'cell')}, {plan.repeats} repeats each: {plan.runs} runs{time}"
    if plan.labels:
        yield f"configurations: {', '.join(plan.labels)} (relative to {plan.labels[0]})"
