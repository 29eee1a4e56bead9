"""Renders a run as vdbench prints it: a line for each interval of each row, and avg_2-N.

Response times count from when an I/O was due; in a closed loop that is its submission. The processor columns are
unknown here (NaN): how busy the machine was is in the section on the load generator.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

from iocast.model.histogram import Histogram, merge
from iocast.model.measurement import Course, Interval
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Closed
from iocast.report.renderers.safe_words import SafeLines
from iocast.tools.vdbench.console_writing import IntervalFigures, RunFigures, run_text


def render_console(run: Run, courses: Mapping[int, Course], out: TextIO) -> None:
    """Writes all measured rows that have a course; `courses` by the number of the phase."""
    texts = [
        run_text(run_figures(record, courses[number]))
        for number, record in enumerate(run.phases)
        if record.phase.role == "measure" and courses.get(number)
    ]
    SafeLines(out).write("\n".join(texts))


def run_figures(record: PhaseRecord, course: Course) -> RunFigures:
    """A row with its intervals, as vdbench counts them."""
    did, plan = record.measurement, record.plan
    arrival = plan.arrival
    ended: dict[int, list[Interval]] = {}
    for each in course:
        ended.setdefault(each.start_ns // plan.interval_ns, []).append(each)
    sizes = sorted({item.size_bytes for item in plan.mix})
    return RunFigures(
        name="_".join(record.phase.name.split()),
        started_unix_ns=did.started_unix_ns,
        rate_per_s=None if isinstance(arrival, Closed) else arrival.rate_per_s,
        loops=f"xfersize={sizes[0] if len(sizes) == 1 else 'mixed'} threads={plan.users * plan.depth}",
        interval_s=plan.interval_ns / 1e9,
        intervals=tuple(
            _interval(ended.get(number, ()), plan.interval_ns)
            for number in range(max(1, round(did.issuing_ns / plan.interval_ns)))
        ),
    )


def _interval(ended: Sequence[Interval], interval_ns: int) -> IntervalFigures:
    """What ended in one interval."""
    times: dict[str, Histogram] = {op: merge(e.response for e in ended if e.op == op) for op in ("read", "write")}
    others = merge(e.response for e in ended if e.op not in times)
    moved = sum(each.bytes for each in ended)
    return IntervalFigures(interval_ns / 1e9, moved, times["read"], times["write"], others)
