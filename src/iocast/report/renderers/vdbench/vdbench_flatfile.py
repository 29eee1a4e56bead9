"""Renders a run as vdbench's flatfile, for spreadsheets and other tools: a line for each interval, and avg_2-N."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TextIO

from iocast.model.measurement import Course
from iocast.model.plan import PhasePlan
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.report.renderers.safe_words import SafeLines
from iocast.report.renderers.vdbench.vdbench_console import run_figures
from iocast.tools.vdbench.flatfile_writing import FlatfileRequest, flatfile_text


def render_flatfile(run: Run, courses: Mapping[int, Course], out: TextIO) -> None:
    """Writes all measured rows that have a course; `courses` by the number of the phase."""
    rows = [
        (run_figures(record, courses[number]), _request(record.plan))
        for number, record in enumerate(run.phases)
        if record.phase.role == "measure" and courses.get(number)
    ]
    SafeLines(out).write(flatfile_text(rows))


def _request(plan: PhasePlan) -> FlatfileRequest:
    """What a plan asks for, in the columns of vdbench."""
    sizes = {item.size_bytes for item in plan.mix if item.size_bytes}
    weight = sum(item.weight for item in plan.mix)
    reads = sum(item.weight for item in plan.mix if item.op == "read")
    data = all(item.op in ("read", "write") for item in plan.mix)
    seek = 100.0 if isinstance(plan.locality, Uniform) else 0.0 if isinstance(plan.locality, Sequential) else None
    return FlatfileRequest(
        xfersize_bytes=next(iter(sizes)) if len(sizes) == 1 else None,
        threads=plan.users * plan.depth,
        read_percent=100 * reads / weight if data and weight else None,
        seek_percent=seek if data else None,
        size_bytes=sum(region.size_bytes for region in plan.files) or None if plan.tree is None else None,
    )
