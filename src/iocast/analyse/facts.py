"""Facts: everything that is derived from a run and from each of its rows, computed when first asked for, and once.

A detector, a component of trust, a grade and a section of a report take facts and derive nothing that is here. What
another room derives for itself is kept with the facts by `once`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from typing import Any, TypeVar

from msgspec.structs import replace

from iocast import metrics
from iocast.analyse import load_kind
from iocast.analyse.changepoint import ChangePoints, change_points
from iocast.analyse.combined_load import AddedUp, added_up, seen_by_devices
from iocast.analyse.device_io import DeviceIo, device_io, under_filesystem
from iocast.analyse.file_residency import Residency, residency
from iocast.analyse.ladder import Curve, Point, closed_curves, kind, of_random
from iocast.analyse.modes import Mode, modes
from iocast.analyse.own_limits import OwnLimit, own_limits
from iocast.analyse.places import Place, moved_share, passed_by_all, places
from iocast.analyse.rate_drops import (
    Drop,
    EarlyFall,
    LoneDips,
    ShortStep,
    beyond_chance,
    drop,
    early_fall,
    lone_dips,
    short_drop,
    short_step,
)
from iocast.analyse.row_pairs import Marks, groups, left_before, marks, pairs, written_before
from iocast.analyse.statistics import (
    FALLBACK_QS,
    HEADLINE_Q,
    MeanEstimate,
    QuantileEstimate,
    design_effect,
    design_effects,
    interval_range,
    mean_interval,
    quantile_interval,
)
from iocast.analyse.steady import Steadiness, steadiness
from iocast.analyse.time_breakdown import Whereabouts, whereabouts
from iocast.model.histogram import Histogram
from iocast.model.measurement import Measurement
from iocast.model.run import OpSeries, PhaseRecord, Run
from iocast.model.view import View, views
from iocast.model.workload import TREE_OPS, Op, Payload, Workload

OPS: tuple[Op, ...] = ("read", "write", "trim", "io", "fsync", "fdatasync", *TREE_OPS)

T = TypeVar("T")
Subject = TypeVar("Subject", "Facts", "RowFacts")


def once(derive: Callable[[Subject], T]) -> Callable[[Subject], T]:
    """For functions of a run's or a row's facts: computed when first asked for, then kept with those facts."""

    @wraps(derive)
    def kept(subject: Subject) -> T:
        value: T = subject.keep(derive, lambda: derive(subject))
        return value

    return kept


class _Kept:
    """What was derived before, by what derived it."""

    def __init__(self) -> None:
        self._derived: dict[object, Any] = {}

    def keep(self, key: object, derive: Callable[[], Any]) -> Any:
        """What `derive` gave the first time that `key` was asked for."""
        if key not in self._derived:
            self._derived[key] = derive()
        return self._derived[key]


class RowFacts(_Kept):
    """Everything that is derived from one phase of a run."""

    def __init__(self, facts: Facts, record: PhaseRecord, *, of_all: bool = False) -> None:
        super().__init__()
        self.facts = facts
        self.record = record
        self._of_all = of_all  # it is already all that ran at the same time, as one

    @property
    def run(self) -> Run:
        """The run that it is a phase of."""
        return self.facts.run

    @property
    def name(self) -> str:
        """The name of the phase."""
        return self.record.phase.name

    @property
    def measurement(self) -> Measurement:
        """What it did."""
        return self.record.measurement

    @property
    def workload(self) -> Workload:
        """What was asked of it."""
        return self.record.phase.workload

    # What kind of load it is.

    @cached_property
    def is_open_loop(self) -> bool:
        """True when I/Os are due at given times."""
        return load_kind.is_open_loop(self.record)

    @cached_property
    def is_really_direct(self) -> bool:
        """True when direct I/O was asked for and could be had."""
        return load_kind.really_direct(self.run, self.record)

    @property
    def is_past_the_host(self) -> bool:
        """True when the page cache of this machine has no part in it."""
        return self.facts.simulated or self.is_really_direct

    @cached_property
    def paced_ios(self) -> int:
        """I/Os that came by the clock, or after a pause."""
        return load_kind.paced_ios(self.record)

    @cached_property
    def paced_rate_per_s(self) -> float:
        """The same a second."""
        return load_kind.paced_rate_per_s(self.record)

    @property
    def paced_unit(self) -> str:
        """What that counts: "writes/s"."""
        return load_kind.paced_unit(self.record)

    @property
    def kept_up(self) -> float:
        """The share of the rate that was asked for; 0 where none was."""
        asked_per_s = self.measurement.asked_rate_per_s
        return self.paced_rate_per_s / asked_per_s if asked_per_s else 0.0

    @cached_property
    def bytes_read(self) -> int:
        """Bytes that the engine read."""
        return load_kind.bytes_of(self.measurement, "read")

    @cached_property
    def bytes_written(self) -> int:
        """Bytes that the engine wrote."""
        return load_kind.bytes_of(self.measurement, "write")

    @cached_property
    def only_reads(self) -> bool:
        """True when it asks for nothing but reads."""
        return load_kind.only(self.record, "read")

    @cached_property
    def only_writes(self) -> bool:
        """True when it asks for nothing but writes."""
        return load_kind.only(self.record, "write")

    @cached_property
    def waits_for_the_device(self) -> bool:
        """True for nothing but writes, each of which, or a flush after them, waits until it is durable."""
        return load_kind.waits_for_the_device(self.record)

    @cached_property
    def region(self) -> tuple[int, int]:
        """First byte and size of what it may touch, of each file."""
        return load_kind.region(self.record)

    @cached_property
    def data_bytes(self) -> int:
        """The size of what it may touch."""
        return load_kind.data_bytes(self.record)

    @cached_property
    def kind(self) -> str:
        """What it has in common with the rows of its curve."""
        return kind(self.record)

    @cached_property
    def marks(self) -> Marks:
        """Everything that tells it from other rows."""
        return marks(self.record)

    @cached_property
    def written_before(self) -> bool:
        """True when the run wrote to what it may touch before it, and did not trim it since."""
        return written_before(self.run, self.record)

    @cached_property
    def left_before(self) -> Payload:
        """What the run left on the target before it, as far as it is not all unique data."""
        return left_before(self.run, self.record)

    @cached_property
    def curve(self) -> Curve | None:
        """The first curve of its kind; None where it is on none."""
        curves = self.facts.curves
        return next((curve for curve in curves if self.facts.row(curve.rows[0]).kind == self.kind), None)

    # How long its I/Os took.

    def response(self, *ops: Op) -> Histogram:
        """Response times of the given operations (of all when none is given)."""
        histogram: Histogram = self.keep(("response", ops), lambda: self.measurement.response(*ops))
        return histogram

    def service(self, *ops: Op) -> Histogram:
        """Service times of the given operations (of all when none is given)."""
        histogram: Histogram = self.keep(("service", ops), lambda: self.measurement.service(*ops))
        return histogram

    def quantile(self, op: Op, q: float) -> QuantileEstimate:
        """A percentile of the response of one operation, with its interval."""
        estimate: QuantileEstimate = self.keep(
            ("quantile", op, q),
            lambda: quantile_interval(self.response(op), q, design_effect(self._effects(op), q)),
        )
        return estimate

    @cached_property
    def main_op(self) -> Op:
        """The operation of which it did most."""
        return max(OPS, key=lambda op: self.response(op).total)

    @cached_property
    def percentiles(self) -> tuple[QuantileEstimate, ...]:
        """The headline percentile of that operation, and those that stand in for it where a row is short."""
        return tuple(self.quantile(self.main_op, q) for q in (HEADLINE_Q, *FALLBACK_QS))

    @cached_property
    def percentile_range(self) -> QuantileEstimate | None:
        """The highest of them that is published, with the range in which it lay in every interval: None where it has
        an interval. A drift by less than a per cent makes all I/Os of a time depend on each other, and moves nothing.
        """
        highest, series = next((each for each in self.percentiles if each.enough), None), self.series_of(self.main_op)
        if highest is None or series is None or highest.relative_half_width is not None:
            return None
        low_ns, high_ns = interval_range(self.response(self.main_op), highest.q, series)
        return None if low_ns is None or high_ns is None else replace(highest, low_ns=low_ns, high_ns=high_ns)

    def _effects(self, op: Op) -> tuple[float, ...] | None:
        effects: tuple[float, ...] | None = self.keep(("effects", op), lambda: design_effects(self.series_of(op)))
        return effects

    def mean(self, op: Op) -> MeanEstimate:
        """The mean response of one operation, with its interval."""
        estimate: MeanEstimate = self.keep(
            ("mean", op), lambda: mean_interval(self.response(op).mean_ns, self.series_of(op))
        )
        return estimate

    def series_of(self, op: Op) -> OpSeries | None:
        """One operation interval by interval; None where it is not known."""
        return next((each for each in self.record.series.ops if each.op == op), None)

    @cached_property
    def modes(self) -> tuple[Mode, ...]:
        """The peaks of the response times."""
        return modes(self.response())

    @property
    def p50_ns(self) -> float:
        """The median response."""
        return self.response().quantile_ns(0.5)

    @property
    def mean_ns(self) -> float:
        """The mean response."""
        return self.response().mean_ns

    @cached_property
    def whereabouts(self) -> tuple[Whereabouts, ...]:
        """Where the time of its reads and of its writes went."""
        return tuple(whereabouts(self.run, self.record))

    # How it went on over time.

    @cached_property
    def rates_per_s(self) -> list[float]:
        """I/Os a second of each interval."""
        return self.record.series.rates_per_s

    @cached_property
    def change_points(self) -> ChangePoints | None:
        """Where its rate took another level."""
        return change_points(self.rates_per_s)

    @cached_property
    def steadiness(self) -> Steadiness:
        """Whether its rate had settled, or the response of an open loop."""
        return steadiness(self.record.series.responses_ns if self.is_open_loop else self.rates_per_s)

    @cached_property
    def lone_dips(self) -> LoneDips | None:
        """The few intervals in which its rate was far below the rest; None where there are none."""
        return lone_dips(self.rates_per_s)

    @cached_property
    def steadiness_but_dips(self) -> Steadiness:
        """Whether its rate had settled, those intervals apart."""
        return self.steadiness if self.lone_dips is None else steadiness(self.lone_dips.levelled)

    @cached_property
    def early_fall(self) -> EarlyFall | None:
        """That a closed loop was far faster in what was taken for its warm-up."""
        return None if self.is_open_loop else early_fall(self.record.series, self.steadiness)

    @cached_property
    def drop(self) -> Drop | None:
        """The deepest fall of its rate that lasted; None where it did not fall for good."""
        fall = drop(self.record.series, self.change_points)
        return fall if fall is not None and beyond_chance(fall, self.service(), self.measurement.ios) else None

    @cached_property
    def short_step(self) -> ShortStep | None:
        """Where it took another level, of a row of few intervals."""
        return short_step(self.rates_per_s)

    @cached_property
    def short_drop(self) -> Drop | None:
        """A fall to half or less in a row of few intervals, which may come back after its end; None without one."""
        return short_drop(self.record.series)

    # What ran beside it, and what the machine and the devices saw.

    @cached_property
    def beside(self) -> tuple[PhaseRecord, ...]:
        """All phases that ran at the same time, itself among them."""
        return (self.record,) if self._of_all else self.run.beside(self.record)

    @cached_property
    def seen_by_devices(self) -> RowFacts:
        """The row itself, or all that ran at the same time as one: a device's counters do not tell them apart."""
        if len(self.beside) == 1:
            return self
        every: AddedUp = self.facts.keep(("added_up", id(self.beside[0])), lambda: added_up(self.beside))
        return RowFacts(self.facts, seen_by_devices(self.record, every), of_all=True)

    @cached_property
    def processors(self) -> View:
        """What the machine's processors did while it ran; where nobody looked, nothing is known of them."""
        return views(self.record.samples, metrics.CPU).get("", View("", 0, {}))

    @cached_property
    def device_io(self) -> dict[str, DeviceIo]:
        """What each layer did while it ran, by name."""
        return device_io(self.record)

    @cached_property
    def under_filesystem(self) -> DeviceIo | None:
        """What the devices right under the file system did; None when not all of them were seen."""
        return under_filesystem(self.device_io, self.run.plan.target)

    @cached_property
    def places(self) -> tuple[Place, ...]:
        """The places that all of its I/O passed, down to the disks."""
        return places(self.device_io, self.run.plan.target)

    def share_of_device(self, op: Op) -> tuple[float, DeviceIo] | None:
        """Bytes that the device moved over bytes that the test did, and where; None when it is not known.

        Phases that ran concurrently count together.
        """
        every = self.seen_by_devices
        share: tuple[float, DeviceIo] | None = self.keep(
            ("share_of_device", op),
            lambda: moved_share(
                load_kind.bytes_of(every.measurement, op), op, passed_by_all(every.under_filesystem, every.places)
            ),
        )
        return share

    @property
    def device_share_of_reads(self) -> float | None:
        """The share of what it read that the device delivered; None when it is not known."""
        share = self.share_of_device("read")
        return None if share is None else share[0]

    @cached_property
    def own_limits(self) -> tuple[OwnLimit, ...]:
        """The I/O limits of the test's control group while it ran, by device and metric."""
        return own_limits(self.record)

    @cached_property
    def limits_of_its_ops(self) -> tuple[OwnLimit, ...]:
        """Those of them that its own operations come under."""
        ops = {item.op for item in self.workload.mix}
        return tuple(each for each in self.own_limits if metrics.LIMITED[each.metric][0] in ops)

    @cached_property
    def residency(self) -> Residency | None:
        """How much of the work files lay in the page cache before and after it."""
        return residency(self.record)


class Facts(_Kept):
    """A run with everything that is derived from it."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run
        self._rows: dict[int, RowFacts] = {}

    @property
    def simulated(self) -> bool:
        """True when the target is the simulated device."""
        return load_kind.simulated(self.run)

    @property
    def imported(self) -> bool:
        """True when another tool measured."""
        return self.run.source is not None

    def row(self, record: PhaseRecord) -> RowFacts:
        """The facts of one phase."""
        row_facts = self._rows.get(id(record))
        if row_facts is None:
            row_facts = self._rows[id(record)] = RowFacts(self, record)
        return row_facts

    @cached_property
    def rows(self) -> tuple[RowFacts, ...]:
        """The measured phases."""
        return tuple(self.row(record) for record in self.run.measured)

    @cached_property
    def curves(self) -> tuple[Curve, ...]:
        """The curves of closed rows that ran alone; none of what another tool measured."""
        return () if self.imported else closed_curves(point(row) for row in self.rows)

    @cached_property
    def virtual_times_ns(self) -> dict[int, tuple[int, int]]:
        """From when to when each phase ran, by its id, where no time passes between two of them: of a load in virtual
        time. What a phase leaves out of its figures, its warm-up, passed as well.
        """
        times: dict[int, tuple[int, int]] = {}
        now_ns = 0
        for record in self.run.phases:
            together = self.run.beside(record)
            if together[0] is not record:
                continue  # it began with the first of them
            ends = [now_ns]
            for each in together:
                from_ns = now_ns + (each.steady.warm_up_ns if each.steady is not None else 0)
                times[id(each)] = from_ns, from_ns + each.measurement.elapsed_ns
                ends.append(times[id(each)][1])
            now_ns = max(ends)
        return times

    def random_curves(self, *ops: Op) -> tuple[Curve, ...]:
        """The curves of random I/O of nothing but one of these operations, in their order."""
        return tuple(curve for op in ops for curve in self.curves if of_random(curve, op))

    def pairs(self, but: str = "") -> tuple[tuple[RowFacts, RowFacts], ...]:
        """Rows with answers that are alike in all but the field `but`, the earlier first; none of imported runs."""
        row_pairs: tuple[tuple[RowFacts, RowFacts], ...] = self.keep(("pairs", but), lambda: self._pairs(but))
        return row_pairs

    def _pairs(self, but: str) -> tuple[tuple[RowFacts, RowFacts], ...]:
        rows = [] if self.imported else [row for row in self.rows if row.measurement.ios]
        return tuple((rows[one], rows[other]) for one, other in pairs([row.marks for row in rows], but))

    @cached_property
    def groups(self) -> tuple[tuple[RowFacts, ...], ...]:
        """Rows that are alike in everything, in order, each kind together; none of imported runs."""
        rows = () if self.imported else self.rows
        return tuple(tuple(rows[at] for at in group) for group in groups([row.marks for row in rows]))


def point(row: RowFacts) -> Point:
    """A row as a point of a curve."""
    did = row.measurement
    return Point(row.record, did.asked_depth, did.rate_per_s, did.bytes_per_s, row.response())


def facts_of(run: Run | Facts) -> Facts:
    """The facts of a run; those that were made already are kept."""
    return run if isinstance(run, Facts) else Facts(run)
