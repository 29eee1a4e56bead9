"""Moment, Interval: what all sources of a live watch said at one instant, and what happened between two of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise

from msgspec import Struct

from iocast.metrics import NO_BOUND, TICK, WATCH, bucket_upper_ns
from iocast.model.run import Sample
from iocast.model.view import View, views


class Moment(Struct, frozen=True, dict=True):
    """All samples of one instant, live or from a tape. `time_ns` is CLOCK_REALTIME, when the first was asked for."""

    time_ns: int
    samples: tuple[Sample, ...]

    @cached_property
    def by_observer(self) -> Mapping[str, tuple[Sample, ...]]:
        """The samples of each observer, in the order in which they were read."""
        grouped: dict[str, list[Sample]] = {}
        for sample in self.samples:
            grouped.setdefault(sample.observer, []).append(sample)
        return {observer: tuple(samples) for observer, samples in grouped.items()}

    @cached_property
    def _values(self) -> dict[str, dict[str, dict[str, float]]]:
        return {}

    def values(self, observer: str) -> Mapping[str, Mapping[str, float]]:
        """The figures of each subject as they stood: for those that are of an instant and not counters."""
        if observer not in self._values:
            self._values[observer] = self._as_they_stood(observer)
        return self._values[observer]

    def _as_they_stood(self, observer: str) -> dict[str, dict[str, float]]:
        by_subject: dict[str, dict[str, float]] = {}
        for sample in self.by_observer.get(observer, ()):
            by_subject.setdefault(sample.subject, {})[sample.metric] = sample.value
        return by_subject


class Interval(Struct, frozen=True, dict=True):
    """What happened between two moments. There is one for each line, each refresh and each column of a heat map."""

    before: Moment
    after: Moment

    @property
    def elapsed_ns(self) -> int:
        """From one moment to the next; each source's own time is that of its view."""
        return self.after.time_ns - self.before.time_ns

    @cached_property
    def _views(self) -> dict[str, dict[str, View]]:
        return {}

    def views(self, observer: str) -> dict[str, View]:
        """How far the counters of each subject went. A subject that is new in this interval is not in it."""
        if observer not in self._views:
            by_subject = views((*self._at_the_start(observer), *self.after.by_observer.get(observer, ())), observer)
            self._views[observer] = {
                subject: self._with_new_buckets(observer, view) for subject, view in by_subject.items()
            }
        return self._views[observer]

    def values(self, observer: str) -> Mapping[str, Mapping[str, float]]:
        """Figures that are no counters, as they stood at the end."""
        return self.after.values(observer)

    def _at_the_start(self, observer: str) -> Iterable[Sample]:
        """The last sample of each counter of the first moment: a source may tell of a new one that it stood at nought
        a moment earlier, which is no part of this interval.
        """
        return {(each.subject, each.metric): each for each in self.before.by_observer.get(observer, ())}.values()

    def _with_new_buckets(self, observer: str, view: View) -> View:
        """Buckets of a histogram appear when they are first needed (Oracle's do): one that was not there was empty."""
        before, after = (moment.values(observer).get(view.subject) for moment in (self.before, self.after))
        if before is None or after is None:
            return view
        new = {
            metric: round(value)
            for metric, value in after.items()
            if metric not in before and (metric == NO_BOUND or bucket_upper_ns(metric) is not None)
        }
        return View(view.subject, view.elapsed_ns, {**view.deltas, **new}) if new else view

    @property
    def observers(self) -> tuple[str, ...]:
        """Those that saw both moments."""
        return tuple(name for name in self.after.by_observer if name in self.before.by_observer)


def intervals(moments: Iterable[Moment]) -> Iterator[Interval]:
    """Each pair of neighbouring moments."""
    return (Interval(before, after) for before, after in pairwise(moments))


def moment_of(time_ns: int, samples: Iterable[Sample], number: int) -> Moment:
    """A moment that begins with its tick: the mark by which a tape is cut into moments again."""
    return Moment(time_ns, (Sample(time_ns, WATCH, "", TICK, number), *samples))


def moments_of(samples: Iterable[Sample]) -> Iterator[Moment]:
    """The moments of a tape, in order. What stands before the first tick belongs to none and is left out."""
    held: list[Sample] = []
    for sample in samples:
        if sample.observer == WATCH and sample.metric == TICK:
            if held:
                yield Moment(held[0].time_ns, tuple(held))
            held = [sample]
        elif held:
            held.append(sample)
    if held:
        yield Moment(held[0].time_ns, tuple(held))
