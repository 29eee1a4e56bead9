"""The layer that loses the time, named on a live screen: verdict, figures, what would refute it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from iocast import metrics
from iocast.analyse.live.database_reads import POSTGRESQL_IO, database_reads
from iocast.analyse.live.layer_times import times_by_device
from iocast.diagnose.live.layers_verdict import LayersVerdict, verdict
from iocast.model.live.moment import Interval
from iocast.model.run import Sample
from iocast.report.live.styled_lines import Line, Style, line

_STACKED = ("loop", "dm-", "md", "zram", "ram")


def verdict_of(interval: Interval) -> LayersVerdict:
    """The layer that loses the time in an interval."""
    reads = database_reads(interval.views(POSTGRESQL_IO))
    return verdict(times_by_device(_samples(interval), _devices(interval), () if reads is None else (reads,)))


def verdict_lines(interval: Interval, width: int) -> Iterator[Line]:
    """What is slow, by which figures; then what would refute it, and the way out."""
    layers_verdict = verdict_of(interval)
    said: Style = "warn" if layers_verdict.rule else "strong"
    parts: list[tuple[str, Style]] = [(layers_verdict.says, said)]
    if layers_verdict.rule:
        parts += [(f"Refuted by: {layers_verdict.refuted_by}.", "dim"), (layers_verdict.remedy, "dim")]
    for text, style in parts:
        for each in textwrap.wrap(text, width):
            yield line(each, style)


def _samples(interval: Interval) -> Iterator[Sample]:
    yield from interval.before.samples
    yield from interval.after.samples


def _devices(interval: Interval) -> tuple[str, ...]:
    """Disks, not what is stacked on them: an I/O of a loop device is seen at its disk, too. Without disks: all."""
    names = {subject.partition(metrics.PART)[0] for subject in interval.views(metrics.BLOCK_LAYER) if subject}
    return tuple(sorted(name for name in names if not name.startswith(_STACKED)))
