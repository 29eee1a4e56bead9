"""View: counters between two samples, of a row that is finished, of one under way, and of a live screen alike."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from msgspec import Struct

from iocast.metrics import BUSY_NS, CPU_TIMES, EPOCH, IDLE_NS, IOWAIT_NS, PERIODS, QUEUE_NS, STEAL_NS
from iocast.model.run import Sample


class View(Struct, frozen=True):
    """How far the counters of one subject went. A metric that is missing, or was reset in between, is unknown: None."""

    subject: str
    elapsed_ns: int
    deltas: Mapping[str, int]

    def delta(self, metric: str) -> int | None:
        """How far a counter went."""
        return self.deltas.get(metric)

    def sum(self, *metrics: str) -> int | None:
        """How far several counters went together; None unless all of them are known."""
        return total(*(self.delta(metric) for metric in metrics))

    def per_s(self, *metrics: str) -> float | None:
        """The rate per second of one counter, or of several together."""
        return ratio(self.sum(*metrics), self.elapsed_ns, 1e9)

    def mean(self, metric: str, of: str) -> float | None:
        """How much of one counter came with each of another: bytes of a read (its size), ns of a read (await)."""
        return ratio(self.delta(metric), self.delta(of))

    @property
    def queue_mean(self) -> float | None:
        """The average number of requests at a device."""
        return ratio(self.delta(QUEUE_NS), self.elapsed_ns)

    @property
    def utilisation(self) -> float | None:
        """The share of the time in which a device had anything to do."""
        return ratio(self.delta(BUSY_NS), self.elapsed_ns)

    @property
    def idle_share(self) -> float | None:
        """The share of all processor time that nobody used."""
        return self._of_processors(IDLE_NS, IOWAIT_NS)

    @property
    def stolen_share(self) -> float | None:
        """The share of all processor time that the hypervisor gave to other guests."""
        return self._of_processors(STEAL_NS)

    def _of_processors(self, *times: str) -> float | None:
        """Of those times that the kernel tells; None where it told none."""
        whole = sum(self.deltas.get(name, 0) for name in CPU_TIMES)
        return ratio(sum(self.deltas.get(name, 0) for name in times), whole)


def views(samples: Iterable[Sample], observer: str, elapsed_ns: int | None = None) -> dict[str, View]:
    """A view of each subject of an observer that was sampled at least twice, from its first sample to its last.

    `elapsed_ns` is the time that rates refer to, where that is not the time between the samples: samples around a load
    also span its set-up, in which next to nothing happens.

    An observer that samples an epoch promises more (see `metrics.EPOCH`), and its counters are judged by it.
    """
    by_epoch: defaultdict[str, defaultdict[str, list[tuple[int, float]]]] = defaultdict(lambda: defaultdict(list))
    for sample in samples:
        if sample.observer == observer:
            by_epoch[sample.subject][sample.metric].append((sample.time_ns, sample.value))
    if EPOCH in by_epoch.get("", {}):
        return _views_of_epoch(by_epoch, elapsed_ns)
    by_subject = {}
    for subject, counters in by_epoch.items():
        first_ns = min([values[0][0] for values in counters.values()])
        spent_ns = max([values[-1][0] for values in counters.values()]) - first_ns
        if spent_ns <= 0:
            continue
        went = ((metric, _went(metric, values)) for metric, values in counters.items())
        known = {metric: delta for metric, delta in went if delta is not None}
        by_subject[subject] = View(subject, spent_ns if elapsed_ns is None else elapsed_ns, known)
    return by_subject


_Counters = Mapping[str, list[tuple[int, float]]]


def _views_of_epoch(by_name: Mapping[str, _Counters], elapsed_ns: int | None) -> dict[str, View]:
    """The views of an observer with an epoch: a counter of which nothing is listed at a sample stood at nought."""
    epochs = by_name[""][EPOCH]
    ticks = sorted({at for at, _ in epochs})
    spent_ns = ticks[-1] - ticks[0]
    if spent_ns <= 0:
        return {}
    whole = len({epoch for _, epoch in epochs}) == 1
    by_subject = {}
    for subject, counters in by_name.items():
        values = {metric: each for metric, each in counters.items() if metric != EPOCH}
        stands = whole and (subject == "" or _stands(dict(counters.get(EPOCH, ())), ticks, values.values()))
        if subject == "" and not values:
            continue
        went = {metric: _went_since(ticks, each) for metric, each in values.items()} if stands else {}
        known = {metric: round(delta) for metric, delta in went.items() if delta is not None}
        by_subject[subject] = View(subject, spent_ns if elapsed_ns is None else elapsed_ns, known)
    return by_subject


def _stands(own: Mapping[int, float], ticks: list[int], listed: Iterable[list[tuple[int, float]]]) -> bool:
    """Whether a subject is of one epoch at all of its samples; none at a sample is an epoch, too."""
    if len(own) == len(ticks):
        return len(set(own.values())) == 1
    return len({own.get(at) for values in listed for at, _ in values}) <= 1


def _went_since(ticks: list[int], values: list[tuple[int, float]]) -> float | None:
    """How far a counter went over all ticks; None when it went back, or was there and is not any more."""
    began = values[0][0]
    if len(ticks) == 2 and [at for at, _ in values] == ticks:  # a live screen: most are listed at both moments
        went = values[1][1] - values[0][1]
        return went if went >= 0 else None
    listed = {at for at, _ in values}
    if any(after < before for (_, before), (_, after) in pairwise(values)):
        return None
    if not listed.issuperset(tick for tick in ticks if tick >= began):
        return None
    return values[-1][1] - (values[0][1] if began <= ticks[0] else 0.0)


def _went(metric: str, values: list[tuple[int, float]]) -> int | None:
    """How far a counter went over all its samples; None when it was seen once only, or was reset in between."""
    if len(values) < 2:
        return None
    if len(values) == 2 and values[1][1] >= values[0][1]:  # a live screen has nearly nothing else
        return round(values[1][1] - values[0][1])
    period, went = PERIODS.get(metric), 0.0
    for (_, before), (_, after) in pairwise(values):
        if after < before and period is not None and before > period / 2 > after:
            went += period  # it starts again near nought, and was near its end before
        elif after < before / 2 and before > 0:  # the kernel lets some sums of times be negative
            return None  # another device of the same name, or a counter that was cleared
        went += after - before
    return round(went) if went >= 0 else None


def total(*values: int | None) -> int | None:
    """The sum, None when one is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def ratio(part: int | None, whole: int | None, factor: float = 1.0) -> float | None:
    """Part over whole; None when one is unknown, or the whole is 0."""
    if part is None or not whole:
        return None
    return part / whole if factor == 1.0 else part * factor / whole
