"""A whole tape in one pass and bounded memory: what every subject did in all, and histograms and devices over time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import Struct

from iocast import metrics
from iocast.analyse.live.latency_columns import Latencies, latencies
from iocast.model.live.moment import Interval, Moment, intervals
from iocast.model.view import View

STRETCHES: Final = 120  # at most, of equal length, over which the course is told
_OF_AN_INSTANT: Final = ("sysmetric", "iofuncmetric")  # views that the database makes rates and means of itself
_GAP = 5  # times the interval of the tape: a longer rest was not watched, and is no interval


class Stretch(Struct, frozen=True):
    """One part of the course: what devices did, and what histograms gained. Times since the first moment."""

    start_ns: int
    end_ns: int
    devices: Mapping[str, View]
    histograms: Mapping[tuple[str, str], Latencies]


class TapeSummary(Struct, frozen=True):
    """All of a tape as something that was seen, and its course; without what single processes and files did."""

    started_ns: int
    elapsed_ns: int  # that was watched: without gaps
    length_ns: int  # from its first to its last moment
    moments: int
    totals: Mapping[str, Mapping[str, View]]
    course: tuple[Stretch, ...]
    means: Mapping[str, Mapping[str, Mapping[str, float]]] = {}  # observer → subject → what is no counter

    @property
    def observers(self) -> tuple[str, ...]:
        """All that saw anything."""
        return tuple(self.totals)

    def views(self, observer: str) -> Mapping[str, View]:
        """What each subject did in all; a counter that was reset leaves that interval out."""
        return self.totals.get(observer, {})

    def values(self, observer: str) -> Mapping[str, Mapping[str, float]]:
        """The mean over all moments of what is no counter."""
        return self.means.get(observer, {})


class _Sums:
    """Deltas of subjects, added up."""

    def __init__(self) -> None:
        self._deltas: dict[tuple[str, str], dict[str, int]] = {}
        self._elapsed_ns: dict[tuple[str, str], int] = {}

    def add(self, observer: str, view: View) -> None:
        """One interval of one subject. One of which nothing is known (a restart) is no part of the time either."""
        if not view.deltas:
            return
        key = (observer, view.subject)
        deltas = self._deltas.setdefault(key, {})
        for metric, gained in view.deltas.items():
            deltas[metric] = deltas.get(metric, 0) + gained
        self._elapsed_ns[key] = self._elapsed_ns.get(key, 0) + view.elapsed_ns

    def views(self) -> dict[str, dict[str, View]]:
        """By observer and subject."""
        by_observer: dict[str, dict[str, View]] = {}
        for (observer, subject), deltas in self._deltas.items():
            by_observer.setdefault(observer, {})[subject] = View(subject, self._elapsed_ns[observer, subject], deltas)
        return by_observer


class _Means:
    """Figures of an instant, over all moments."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, str], tuple[float, int]] = {}

    def add(self, moment: Moment) -> None:
        """What one moment says of them."""
        for observer in moment.by_observer:
            if observer.rpartition(".")[2] in _OF_AN_INSTANT:
                for sample in moment.by_observer[observer]:
                    if sample.metric != metrics.EPOCH:
                        key = (observer, sample.subject, sample.metric)
                        whole, count = self._found.get(key, (0.0, 0))
                        self._found[key] = whole + sample.value, count + 1

    def means(self) -> dict[str, dict[str, dict[str, float]]]:
        """By observer, subject and metric."""
        by_observer: dict[str, dict[str, dict[str, float]]] = {}
        for (observer, subject, metric), (whole, count) in self._found.items():
            by_observer.setdefault(observer, {}).setdefault(subject, {})[metric] = whole / count
        return by_observer


def summarise(moments: Iterable[Moment], interval_ns: int, length_ns: int) -> TapeSummary | None:
    """None for a tape without two moments. `length_ns`: how long it is, as its run says."""
    stretches = max(1, min(STRETCHES, length_ns // max(1, interval_ns)))  # none is shorter than an interval
    whole, means, parts = _Sums(), _Means(), [_Sums() for _ in range(stretches)]
    first: Interval | None = None
    last: Interval | None = None
    count = elapsed_ns = 0
    for interval in intervals(moments):
        first, last, count = first or interval, interval, count + 1
        if interval.elapsed_ns > _GAP * interval_ns:
            continue
        elapsed_ns += interval.elapsed_ns
        means.add(interval.after)
        since_ns = interval.after.time_ns - first.before.time_ns
        middle_ns = since_ns - interval.elapsed_ns // 2
        part = parts[min(stretches - 1, middle_ns * stretches // max(1, length_ns))]
        for observer in interval.observers:
            if observer in metrics.OF_SINGLE_ONES:  # a day has too many of them to be summed up
                continue
            for view in interval.views(observer).values():
                whole.add(observer, view)
                if observer == metrics.DISKSTATS or latencies(view) is not None:
                    part.add(observer, view)
    if first is None or last is None:
        return None
    length_ns = max(length_ns, 1)
    return TapeSummary(
        first.before.time_ns,
        elapsed_ns,
        last.after.time_ns - first.before.time_ns,
        count + 1,
        whole.views(),
        tuple(
            _stretch(at * length_ns // stretches, (at + 1) * length_ns // stretches, part)
            for at, part in enumerate(parts)
        ),
        means.means(),
    )


def _stretch(start_ns: int, end_ns: int, part: _Sums) -> Stretch:
    observer_views = part.views()
    figures = {
        (observer, subject): one
        for observer, views in observer_views.items()
        for subject, view in views.items()
        if (one := latencies(view)) is not None and one.total
    }
    return Stretch(start_ns, end_ns, observer_views.get(metrics.DISKSTATS, {}), figures)
