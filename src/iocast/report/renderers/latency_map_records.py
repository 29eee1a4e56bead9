"""Renders a run as records for LatencyMap tools: what each row's operations took, interval by interval."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TextIO

from iocast.errors import SpecError
from iocast.model.histogram import Histogram, bucket_bounds_ns
from iocast.model.measurement import Course
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Op
from iocast.report.renderers.safe_words import SafeLines
from iocast.tools.latency_map.latency_records import Series, records_text

OPS: tuple[Op, ...] = ("read", "write")
NONE = (
    "no row of this run has reads or writes over time",
    "records need intervals: those of a run of iocast, not of an imported one",
)


def render_records(run: Run, courses: Mapping[int, Course], out: TextIO) -> None:
    """Writes the reads, then the writes, of all measured rows with a course. Raises SpecError when there is none."""
    every = [
        series
        for number, record in enumerate(run.phases)
        if record.phase.role == "measure"
        for series in _series(record, courses.get(number, ()))
    ]
    if not every:
        raise SpecError(*NONE)
    SafeLines(out).write(records_text(every))


def _series(record: PhaseRecord, course: Course) -> Iterator[Series]:
    begun_us = record.measurement.started_unix_ns // 1_000
    step_ns = record.plan.interval_ns
    for op in OPS:
        ended = [each for each in course if each.op == op]
        if not ended:
            continue
        grown: dict[int, Counter[int]] = {}
        issued = record.measurement.issuing_ns // step_ns + 2  # a table may say that it ended long after
        for at in range(min(issued, max(each.start_ns for each in ended) // step_ns + 1)):
            grown[at] = Counter()
        for each in ended:
            grown.setdefault(each.start_ns // step_ns, Counter()).update(_by_octave(each.response))
        steps = tuple((begun_us + (at + 1) * step_ns // 1_000, counts) for at, counts in grown.items())
        yield Series(f"{' '.join(record.phase.name.replace(',', ' ').split())} {op}", begun_us, steps)


def _by_octave(times: Histogram) -> Counter[int]:
    """The counts by the greatest power of two that is not above their bucket; what is below 2 ns is at 1."""
    octaves: Counter[int] = Counter()
    for index, count in zip(times.index, times.count, strict=True):
        low = bucket_bounds_ns(index)[0]
        octaves[1 << max(0, low.bit_length() - 1)] += count
    return octaves
