"""I/O limits of the test's own control group while a row ran, with the changes that somebody made meanwhile."""

from __future__ import annotations

from itertools import groupby

from msgspec import Struct

from iocast import metrics
from iocast.model.run import PhaseRecord


class Stretch(Struct, frozen=True):
    """From the first to the last look at which a limit was the same, in ns from the start of the row."""

    start_ns: int
    end_ns: int
    per_s: float


class OwnLimit(Struct, frozen=True):
    """What a row's process may do on a device: bytes or I/Os a second, as `metric` says."""

    subject: str
    metric: str
    per_s: float  # as the row ended
    stretches: tuple[Stretch, ...] = ()  # where somebody changed it, or set it, while the row ran


def own_limits(record: PhaseRecord) -> tuple[OwnLimit, ...]:
    """All that were seen, in order of device and metric."""
    began_ns, late_ns = record.measurement.started_unix_ns, 2 * record.series.interval_ns
    looks_of: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for each in record.samples:
        if each.observer == metrics.LIMITS and each.metric in metrics.LIMITED:
            looks_of.setdefault((each.subject, each.metric), []).append((each.time_ns - began_ns, each.value))
    limits = []
    for (subject, metric), looks in sorted(looks_of.items()):
        stretches = tuple(_stretch(list(same)) for _, same in groupby(looks, key=lambda look: look[1]))
        changed = len(stretches) > 1 or (late_ns and stretches[0].start_ns > late_ns)
        limits.append(OwnLimit(subject, metric, looks[-1][1], stretches if changed else ()))
    return tuple(limits)


def _stretch(looks: list[tuple[int, float]]) -> Stretch:
    return Stretch(looks[0][0], looks[-1][0], looks[0][1])
