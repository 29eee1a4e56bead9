"""The times of the layers between two instants: of calls, bios, requests, the driver, the run queue and NFS."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.model.codes import LayerCode
from iocast.model.run import Sample
from iocast.model.view import View, views

Buckets = Mapping[int | None, int]  # by the bound that is not reached; None: the bucket without one

READ_CALLS = frozenset({"read", "pread64", "readv", "preadv", "preadv2", "uring_read"})
WRITE_CALLS = frozenset({"write", "pwrite64", "writev", "pwritev", "pwritev2", "uring_write"})
SYNC_CALLS = frozenset({"fsync", "fdatasync", "msync", "uring_fsync"})  # sync_file_range only begins to write
_CALLS: Mapping[LayerCode, frozenset[str]] = {
    "read_call": READ_CALLS,
    "write_call": WRITE_CALLS,
    "sync_call": SYNC_CALLS,
}
_BLOCK: Mapping[tuple[str, str], LayerCode] = {
    ("bio", "read"): "bio_read",
    ("bio", "write"): "bio_write",
    ("bio", "flush"): "bio_flush",
    ("request", "read"): "request_read",
    ("request", "write"): "request_write",
    ("driver", "read"): "driver_read",
    ("driver", "write"): "driver_write",
    ("driver", "flush"): "driver_flush",
}
# Of a limit: from here on it sets the rate.
REACHED = 0.9


class LayerTime(Struct, frozen=True, kw_only=True):
    """What one layer did: how many, their times together, and their distribution where its source has one."""

    layer: LayerCode
    count: int
    sum_ns: int
    bytes: int | None = None
    buckets: Buckets = {}

    @property
    def mean_ns(self) -> float | None:
        """None where nothing was done."""
        return self.sum_ns / self.count if self.count else None

    @property
    def spread_ns(self) -> float | None:
        """The standard deviation, by the upper bounds of the buckets. Where the source has no buckets it is the mean,
        as in an exponential distribution. None where nothing was done."""
        mean_ns, counted = self.mean_ns, sum(self.buckets.values())
        if mean_ns is None or not counted:
            return mean_ns
        highest_ns = max((upper_ns for upper_ns in self.buckets if upper_ns), default=0)
        squares = sum(count * ((upper_ns or 2 * highest_ns) - mean_ns) ** 2 for upper_ns, count in self.buckets.items())
        return math.sqrt(squares / counted)

    def below_ns(self, share: float) -> int | None:
        """The bound below which so large a share of the times lies; None where no bucket says so."""
        counted, all_of_them = 0, sum(self.buckets.values())
        for upper_ns, count in sorted(self.buckets.items(), key=lambda bucket: (bucket[0] is None, bucket[0] or 0)):
            counted += count
            if all_of_them and counted >= share * all_of_them:
                return upper_ns
        return None


class ReachedLimit(Struct, frozen=True, kw_only=True):
    """A limit of a control group, and what was done of what it limits."""

    device: str
    metric: str  # as in metrics.LIMITED
    limit_per_s: float
    rate_per_s: float

    @property
    def share(self) -> float:
        """Of the limit."""
        return self.rate_per_s / self.limit_per_s


class LayerTimes(Struct, frozen=True, kw_only=True):
    """All layers that were seen between two instants. `quota_share`: of the time in which a CPU quota held a group.
    `own_read_bytes`: what those who are followed read from storage, as the kernel charges it to processes;
    `own_asked_bytes`: what they asked for, cached or not.

    `parts`: one for each device that files stand on, with the calls on these files and the I/O of its `devices` only.
    `asynchronous`: calls that are mostly io_uring I/Os, for which a process need not wait. `flush_below`: flushes of
    the devices below. `watched`: whether the kernel's layers were watched. `major_faults`: page faults that waited for
    I/O; `has_aio`: a followed process uses libaio. Neither shows up as calls.
    """

    elapsed_ns: int
    layers: Mapping[LayerCode, LayerTime]
    limits: tuple[ReachedLimit, ...] = ()
    quota_share: float | None = None
    own_read_bytes: int | None = None
    own_asked_bytes: int | None = None
    parts: tuple[LayerTimes, ...] = ()
    devices: tuple[str, ...] = ()
    flush_below: Mapping[str, LayerTime] = {}
    asynchronous: tuple[LayerCode, ...] = ()
    watched: bool = True
    major_faults: int | None = None
    has_aio: bool = False

    def mean_ns(self, layer: LayerCode) -> float | None:
        """None where the layer was not seen, or did nothing."""
        layer_time = self.layers.get(layer)
        return layer_time.mean_ns if layer_time else None

    @property
    def cached_share(self) -> float | None:
        """The share of the read calls that the page cache answered, at the least: those for which there was no bio.

        Read-ahead, reads of others and calls of several bios make it smaller than it is. None where one was not seen.
        """
        calls = self.count("read_call")
        if not calls or "bio_read" not in self.layers:
            return None
        return max(0.0, 1 - self.count("bio_read") / calls)

    @property
    def others_share(self) -> float | None:
        """The share of the bytes read from the devices that nobody who is followed asked for, at the least.

        Calls that the page cache answers make it smaller than it is. None where one of both was not seen.
        """
        calls, requests = self.layers.get("read_call"), self.layers.get("request_read")
        if calls is None or calls.bytes is None or requests is None or not requests.bytes:
            return None
        return max(0.0, 1 - max(calls.bytes, self.own_read_bytes or 0) / requests.bytes)

    @property
    def own_cached_share(self) -> float | None:
        """The share of the bytes that the followed processes asked for and storage did not read, at the least.

        Both are the kernel's own counters of these processes. None where they read nothing or were not seen.
        """
        if not self.own_asked_bytes or self.own_read_bytes is None:
            return None
        return max(0.0, 1 - self.own_read_bytes / self.own_asked_bytes)

    def count(self, layer: LayerCode) -> int:
        """0 where it was not seen."""
        layer_time = self.layers.get(layer)
        return layer_time.count if layer_time else 0

    def sum_ns(self, layer: LayerCode) -> int | None:
        """None where the layer was not seen."""
        layer_time = self.layers.get(layer)
        return layer_time.sum_ns if layer_time else None

    @property
    def flush_ns(self) -> float | None:
        """The mean flush of the devices, also of flushes that writes ask for; None where there were none."""
        driver_ns = self.mean_ns("driver_flush")
        return self.mean_ns("bio_flush") if driver_ns is None else driver_ns

    @property
    def write_ns(self) -> float | None:
        """The mean write of the devices, without the flushes that writes ask for; None where there were none."""
        whole_ns, count = self.sum_ns("bio_write"), self.count("bio_write")
        if whole_ns is None or not count:
            return self.mean_ns("driver_write")
        flushes_ns = max(0, (self.sum_ns("driver_flush") or 0) - (self.sum_ns("bio_flush") or 0))
        return max((whole_ns - flushes_ns) / count, self.mean_ns("driver_write") or 0.0)


class _ByObserver:
    """Samples as they were read, gone through once: a live screen asks for six observers each second."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._samples: defaultdict[str, list[Sample]] = defaultdict(list)
        self._views: dict[str, tuple[View, ...]] = {}
        times = []
        for sample in samples:
            self._samples[sample.observer].append(sample)
            times.append(sample.time_ns)
        self.elapsed_ns = max(times) - min(times) if times else 0

    def samples(self, observer: str) -> Sequence[Sample]:
        """Those of one observer."""
        return self._samples.get(observer, ())

    def views(self, observer: str) -> Sequence[View]:
        """How far each of its subjects went."""
        if observer not in self._views:
            self._views[observer] = tuple(views(self.samples(observer), observer).values())
        return self._views[observer]


def layer_times(
    samples: Iterable[Sample],
    devices: Sequence[str] = (),
    commands: Sequence[str] = (),
    given: Sequence[LayerTime] = (),
) -> LayerTimes:
    """From the samples of the layers, first to last; of these devices and commands, or of all of them.

    Of a stack name one device: what goes through a loop device or a multipath is seen below it as well.
    `given` are layers that other samples tell of: the database, its client.
    """
    return _times_of(_ByObserver(samples), devices, commands, given)


def _times_of(
    by_observer: _ByObserver, devices: Sequence[str], commands: Sequence[str], given: Sequence[LayerTime]
) -> LayerTimes:
    blocks = {
        view.subject: view
        for view in by_observer.views(metrics.BLOCK_LAYER)
        if not devices or view.subject.split(metrics.PART)[0] in devices
    }
    calls = {
        view.subject: view
        for view in by_observer.views(metrics.SYSTEM_CALLS)
        if not commands or view.subject.split(metrics.PART)[0] in commands
    }
    layers = _of_devices(blocks, [subject.partition(metrics.PART)[0] for subject in blocks])
    for layer, names in _CALLS.items():
        _add(layers, layer, calls.values(), (1, names))
    processes = [
        view
        for view in by_observer.views(metrics.PROCESSES)
        if not commands or view.subject.partition(metrics.PART)[2] in commands
    ]
    for time in (_run_queue(by_observer, commands, processes), *_nfs(by_observer), *given):
        if time is not None:
            layers[time.layer] = time
    elapsed_ns = by_observer.elapsed_ns
    limits = _limits(by_observer, devices, blocks, elapsed_ns)
    return LayerTimes(
        elapsed_ns=elapsed_ns,
        layers=layers,
        limits=limits,
        quota_share=_quota_share(by_observer),
        own_read_bytes=_sum(processes, metrics.READ_BYTES),
        own_asked_bytes=_sum(processes, metrics.RCHAR),
        watched=any(by_observer.samples(each) for each in _KERNEL),
        major_faults=_sum(processes, metrics.MAJOR_FAULTS),
        has_aio=any(
            each.metric == metrics.AIO_CONTEXTS and each.value for each in by_observer.samples(metrics.PROCESSES)
        ),
    )


def _asynchronous(calls: Iterable[View]) -> tuple[LayerCode, ...]:
    counts: dict[str, int] = {}
    for view in calls:
        name = view.subject.split(metrics.PART)[1]
        counts[name] = counts.get(name, 0) + (view.delta(metrics.COUNT) or 0)
    return tuple(
        layer
        for layer, names in _CALLS.items()
        if sum(counts.get(name, 0) * (1 if name.startswith("uring_") else -1) for name in names) > 0
    )


_KERNEL = (metrics.KERNEL_LAYERS, metrics.BLOCK_LAYER, metrics.SYSTEM_CALLS)


def times_by_device(samples: Iterable[Sample], disks: Sequence[str], given: Sequence[LayerTime] = ()) -> LayerTimes:
    """As `layer_times` of `disks`, and apart for the files of each device: no call is held against the I/O of a device
    that its file does not stand on.
    """
    by_observer = _ByObserver(samples)
    times = _times_of(by_observer, disks, (), given)
    layers = dict(times.layers)
    if by_observer.samples(metrics.KERNEL_LAYERS):  # without a call the I/O of devices is that of others
        layers = {layer: LayerTime(layer=layer, count=0, sum_ns=0, bytes=0) for layer in _CALLS} | layers
    asynchronous = _asynchronous(by_observer.views(metrics.SYSTEM_CALLS))
    times = replace(times, layers=layers, asynchronous=asynchronous)
    calls: defaultdict[str, list[View]] = defaultdict(list)
    for view in by_observer.views(metrics.CALLS_BY_DEVICE):
        names, _, call = view.subject.partition(metrics.PART)
        calls[names].append(View(call, view.elapsed_ns, view.deltas))
    parts = [
        _part(times, by_observer, tuple(names.split(",")) if names else (), _of_calls(views_of_device))
        for names, views_of_device in sorted(calls.items())
    ]
    # Files without a name, and io_uring: where one device works, they stand on it.
    if parts and (rest := _left_over(times, parts)) and len(working := _working(by_observer)) == 1:
        parts.append(replace(_part(times, by_observer, working, rest), asynchronous=times.asynchronous))
    return replace(times, parts=tuple(parts))


def _working(by_observer: _ByObserver) -> tuple[str, ...]:
    blocks = (view for view in by_observer.views(metrics.BLOCK_LAYER) if view.delta(metrics.COUNT))
    return tuple(dict.fromkeys(view.subject.partition(metrics.PART)[0] for view in blocks))


def _of_calls(calls: Iterable[View]) -> dict[LayerCode, LayerTime]:
    layers: dict[LayerCode, LayerTime] = {}
    for layer, names in _CALLS.items():
        _add(layers, layer, calls, (0, names))
    return layers


def _left_over(times: LayerTimes, parts: Sequence[LayerTimes]) -> dict[LayerCode, LayerTime]:
    """The calls that are in no part; none where all are."""
    layers: dict[LayerCode, LayerTime] = {}
    for layer in _CALLS:
        each = times.layers.get(layer, LayerTime(layer=layer, count=0, sum_ns=0))
        count = each.count - sum(part.count(layer) for part in parts)
        sum_ns = each.sum_ns - sum(part.sum_ns(layer) or 0 for part in parts)
        size = (each.bytes or 0) - sum(part.layers[layer].bytes or 0 for part in parts)
        known = count > 0 and sum_ns > 0
        layers[layer] = LayerTime(
            layer=layer, count=count if known else 0, sum_ns=sum_ns if known else 0, bytes=max(0, size) if known else 0
        )
    return layers if any(each.count for each in layers.values()) else {}


def _part(
    times: LayerTimes, by_observer: _ByObserver, devices: tuple[str, ...], calls: Mapping[LayerCode, LayerTime]
) -> LayerTimes:
    """Calls of the files on some devices and the I/O of these; the waits for a processor are shared out by calls."""
    blocks = {view.subject: view for view in by_observer.views(metrics.BLOCK_LAYER)}
    layers = dict(calls) | _of_devices(blocks, devices)
    if (waits := times.layers.get("run_queue")) is not None:
        share = sum(each.count for each in calls.values()) / max(1, sum(times.count(layer) for layer in _CALLS))
        layers["run_queue"] = replace(waits, count=round(waits.count * share), sum_ns=round(waits.sum_ns * share))
    below = _below(by_observer, devices)
    flushes = {name: _of_devices(blocks, (name,)).get("driver_flush") for name in below}
    return LayerTimes(
        elapsed_ns=times.elapsed_ns,
        layers=layers,
        limits=_limits(by_observer, (*devices, *below), blocks, times.elapsed_ns) if devices else (),
        quota_share=times.quota_share,
        own_read_bytes=times.own_read_bytes,
        own_asked_bytes=times.own_asked_bytes,
        devices=devices,
        flush_below={name: flush for name, flush in flushes.items() if flush is not None and flush.count},
    )


def _of_devices(blocks: Mapping[str, View], devices: Sequence[str]) -> dict[LayerCode, LayerTime]:
    of_these = [view for subject, view in blocks.items() if subject.partition(metrics.PART)[0] in devices]
    layers: dict[LayerCode, LayerTime] = {}
    for clock, layer in _BLOCK.items():
        _add(layers, layer, of_these, (1, frozenset({clock[0]})), (2, frozenset({clock[1]})))
    return layers


def _below(by_observer: _ByObserver, devices: Sequence[str]) -> tuple[str, ...]:
    """The devices below these, the nearest first."""
    pairs = dict.fromkeys(sample.subject for sample in by_observer.samples(metrics.DEVICES_BELOW))
    names: dict[str, None] = {}
    above = set(devices)
    while above:
        below = {lower for upper, _, lower in (each.partition(metrics.PART) for each in pairs) if upper in above}
        above = below - names.keys() - set(devices)
        names |= dict.fromkeys(sorted(above))
    return tuple(names)


def _add(
    layers: dict[LayerCode, LayerTime],
    layer: LayerCode,
    of: Iterable[View],
    *parts: tuple[int, frozenset[str]],
) -> None:
    """Adds up the views whose subjects have one of these names at each place.

    A layer that was watched and did nothing is one of count 0; one that was not watched is left out.
    """
    these = list(of)
    if not these:
        return
    count = sum_ns = size = 0
    buckets: dict[int | None, int] = {}
    for view in these:
        named = view.subject.split(metrics.PART)
        if not all(named[place] in names for place, names in parts):
            continue
        count += view.delta(metrics.COUNT) or 0
        sum_ns += view.delta(metrics.SUM_NS) or 0
        size += view.delta(metrics.BYTES) or 0
        for metric, went in view.deltas.items():
            upper_ns = metrics.bucket_upper_ns(metric)
            if upper_ns is not None or metric == metrics.NO_BOUND:
                buckets[upper_ns] = buckets.get(upper_ns, 0) + went
    layers[layer] = LayerTime(layer=layer, count=count, sum_ns=sum_ns, bytes=size, buckets=buckets)


def _run_queue(by_observer: _ByObserver, commands: Sequence[str], processes: Sequence[View]) -> LayerTime | None:
    """By tracepoints where they were on; else by the schedstat of the processes, which has no distribution."""
    layers: dict[LayerCode, LayerTime] = {}
    wanted = ((0, frozenset(commands)),) if commands else ()
    _add(layers, "run_queue", by_observer.views(metrics.RUN_DELAYS), *wanted)
    if layers:
        return layers["run_queue"]
    stated = [view for view in processes if view.delta(metrics.RUN_DELAY_NS) is not None]
    if not stated:
        return None
    sum_ns = sum(view.delta(metrics.RUN_DELAY_NS) or 0 for view in stated)
    return LayerTime(
        layer="run_queue", count=sum(view.delta(metrics.TIMESLICES) or 0 for view in stated), sum_ns=sum_ns
    )


def _sum(of: Iterable[View], metric: str) -> int | None:
    known = [delta for view in of if (delta := view.delta(metric)) is not None]
    return sum(known) if known else None


def _nfs(by_observer: _ByObserver) -> Iterable[LayerTime]:
    """READ, WRITE and COMMIT of all mounts together."""
    data = [
        view
        for view in by_observer.views(metrics.NFS_CLIENT)
        if view.subject.rpartition(metrics.PART)[2] in ("READ", "WRITE", "COMMIT") and view.delta(metrics.OPS)
    ]
    count = sum(view.delta(metrics.OPS) or 0 for view in data)
    sources: tuple[tuple[LayerCode, str], ...] = (("nfs_queue", metrics.QUEUE_NS), ("nfs_round_trip", metrics.RTT_NS))
    for layer, metric in sources:
        known = [view.delta(metric) for view in data]
        if count and all(value is not None and value >= 0 for value in known):
            yield LayerTime(layer=layer, count=count, sum_ns=sum(value or 0 for value in known))


def _limits(
    by_observer: _ByObserver, devices: Sequence[str], blocks: Mapping[str, View], elapsed_ns: int
) -> tuple[ReachedLimit, ...]:
    """Limits that a group came near to, by what it did itself; by the bios of the device where that is not counted."""
    limits = {
        (sample.subject, sample.metric): sample.value
        for sample in by_observer.samples(metrics.THROTTLING)
        if sample.metric in metrics.LIMITED and sample.value > 0
    }
    groups = {view.subject: view for view in by_observer.views(metrics.THROTTLING)}
    reached = []
    for (subject, metric), limit in sorted(limits.items()):
        device = subject.rpartition(metrics.PART)[2]
        if devices and device not in devices:
            continue
        op, total = metrics.LIMITED[metric]
        done = groups[subject].per_s(_COUNTERS[op, total]) if subject in groups else None
        if done is None:
            done = _bios_per_s(blocks, (device, "bio", op), total, elapsed_ns)
        if done >= REACHED * limit:
            reached.append(ReachedLimit(device=device, metric=metric, limit_per_s=limit, rate_per_s=done))
    return tuple(reached)


def _bios_per_s(blocks: Mapping[str, View], of: tuple[str, str, str], total: str, elapsed_ns: int) -> float:
    what = metrics.COUNT if total == metrics.IOS else metrics.BYTES
    bios = (view for name, view in blocks.items() if tuple(name.split(metrics.PART)[:3]) == of)
    return sum(view.delta(what) or 0 for view in bios) * 1e9 / elapsed_ns if elapsed_ns else 0.0


_COUNTERS = {
    ("read", metrics.IOS): metrics.READS,
    ("write", metrics.IOS): metrics.WRITES,
    ("read", metrics.BYTES): metrics.READ_BYTES,
    ("write", metrics.BYTES): metrics.WRITTEN_BYTES,
}


def _quota_share(by_observer: _ByObserver) -> float | None:
    """Of the group that was held the longest; None without a quota."""
    held = [view for view in by_observer.views(metrics.THROTTLING) if metrics.PART not in view.subject]
    shares = [
        view.deltas[metrics.THROTTLED_NS] / view.elapsed_ns for view in held if metrics.THROTTLED_NS in view.deltas
    ]
    return max(shares, default=None)
