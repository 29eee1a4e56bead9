"""Which layer loses the time: nine rules over the gaps between layers, with figures and what would refute the verdict.

A gap is the mean of an upper layer less that of the one below, times how often the upper one was used: the time lost
there. Of the lowest layers (the driver, a round trip) it is what is above a usual time. The largest one is the
verdict, if it is worth a word: a call has to lose MIN_GAP_NS and GAP_SHARE of its time. The thresholds come from four
planted cases on PostgreSQL 15 to 17, whose means stand in the tests:

1. A read call takes longer than its bio, and its process waited for a processor for most of that, or a quota held its
   control group: CPU.
2. The same where a control group is at its limit, which then sets the rate: a throttle; without either: the file system
   or a lock.
3. A request takes much longer than the driver: the queue of the device, or others who share it. Where others read most
   of what the device reads and keep it busy, its times are theirs: they are named, whichever layer their I/Os wait in.
4. The driver itself is slow: the device, or what is below it.
5. A sync call takes much longer than a write and a flush: the journal.
6. NFS: waits for a slot are the client's; a long round trip is the network's or the server's.
7. A read of the database takes much longer than its call: the engine.
8. The client waits much longer than the database: the network between them, or the client.
9. The database counts next to no reads while its calls and the device are busy: late statistics, or another process.
   PostgreSQL reports at most once a second: what lies below it is judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.live.layer_times import LayerTimes, ReachedLimit
from iocast.model.codes import LayerCode, LostTimeCode
from iocast.text import brief_percent, brief_throughput, brief_time, counted, five_figures

MIN_GAP_NS = 30_000  # less than this between two layers costs what system calls and interrupts cost
GAP_SHARE = 0.4  # of the upper layer's mean
WAIT_SHARE = 0.5  # of a gap that has to be waits for a processor
# A call: beside one busy process on two processors it is 16 to 20 us (measured), and no starvation.
MIN_WAIT_NS = 25_000
SEEN_SHARE = 0.25  # of the upper layer's mean, where the waits that make it are seen themselves
QUOTA_SHARE = 0.05  # of the time in which a quota held the group
SLOW_DEVICE_NS = 2_000_000  # of flash; whoever knows the device says better
SYNC_FACTOR = 4.0  # a sync call writes a journal: two writes and a flush are usual
MIN_SYNC_GAP_NS = 500_000
# From here on a gap is the file system's by elimination: a processor that sleeps takes a while, too.
MIN_ELSE_NS = 100_000
OTHERS_SHARE = 0.5  # of the bytes read, and how many I/Os they keep outstanding: from here on others are named
OTHERS_OUTSTANDING = 4.0
SHARED_NS = 300_000  # of a call: from here on it is slow enough for others to matter
WAITED_SHARE = 0.5  # of the time of reads of a device: calls that wait less do not wait for them (read-ahead)
SLOW_ROUND_TRIP_NS = 10_000_000
MIN_QUEUE_NS = 1_000_000  # the kernel sums whole milliseconds
QUEUE_FACTOR = 1.0  # of the round trip
LEAST = 20  # calls: of fewer no mean is told
CACHED_SHARE = 0.05  # of the read calls: from here on the page cache is named
LATE_SHARE = 0.02  # of the reads: whoever watches reads a little, too
BUSY_READS = 100  # of a device, while the database counts none


class Lost(Struct, frozen=True, kw_only=True):
    """Time that is lost in one layer. `lost_ns` of all calls together; `evidence`: the figures that say so."""

    code: LostTimeCode
    rule: int
    lost_ns: float
    evidence: Mapping[str, float]
    says: str
    refuted_by: str
    remedy: str = ""


class LayersVerdict(Struct, frozen=True, kw_only=True):
    """The layer that loses the most, and the others that lose some. `missing`: layers that were not seen."""

    code: LostTimeCode
    says: str
    refuted_by: str
    remedy: str = ""
    rule: int | None = None
    evidence: Mapping[str, float] = {}
    lost_share: float | None = None  # of the time between the instants; above 1 where several wait
    others: tuple[Lost, ...] = ()
    missing: tuple[LayerCode, ...] = ()


def verdict(times: LayerTimes, slow_device_ns: float = SLOW_DEVICE_NS) -> LayersVerdict:
    """The verdict of the times between two instants. `slow_device_ns`: from when on the driver's mean is slow."""
    missing = tuple(layer for layer in _NEEDED if layer not in times.layers)
    late = _late(times)
    if late is not None:  # its means are of other reads: what lies below it is judged without them
        below = replace(times, layers={layer: each for layer, each in times.layers.items() if layer != "database"})
        told = verdict(below, slow_device_ns)
        return _told(late, times, (), missing) if told.rule is None else replace(told, others=(*told.others, late))
    found = [lost for rule in _RULES for lost in rule(times, slow_device_ns)]
    if any("others_share" in lost.evidence for lost in found):  # means of the device are those of others
        found = [lost for lost in found if lost.code not in ("file_system", "device")]
    found.sort(key=lambda lost: -lost.lost_ns)
    if found:
        return _told(found[0], times, tuple(found[1:]), missing)
    if not any(layer.count >= LEAST for layer in times.layers.values()):
        return LayersVerdict(
            code="unknown",
            says="Too little was seen to judge: fewer than " + counted(LEAST, "I/O") + " in any layer.",
            refuted_by="more I/O, or a longer look",
            missing=missing,
        )
    return LayersVerdict(
        code="none",
        says=f"No layer loses time{_summed_up(times)}.",
        refuted_by="a percentile far above these means: look at the tails",
        evidence={} if times.cached_share is None else {"cached_share": times.cached_share},
        missing=missing,
    )


_NEEDED: tuple[LayerCode, ...] = ("read_call", "bio_read", "driver_read", "run_queue")


def _told(lost: Lost, times: LayerTimes, others: tuple[Lost, ...], missing: tuple[LayerCode, ...]) -> LayersVerdict:
    return LayersVerdict(
        code=lost.code,
        rule=lost.rule,
        says=lost.says,
        refuted_by=lost.refuted_by,
        remedy=lost.remedy,
        evidence=lost.evidence,
        lost_share=lost.lost_ns / times.elapsed_ns if times.elapsed_ns else None,
        others=others,
        missing=missing,
    )


def _summed_up(times: LayerTimes) -> str:
    names: tuple[tuple[LayerCode, str], ...] = (
        ("database", "database read"),
        ("read_call", "read call"),
        ("sync_call", "sync call"),
        ("driver_read", "driver read"),
    )
    known = [(name, times.mean_ns(layer)) for layer, name in names]
    parts = [f"{name} {brief_time(mean_ns)}" for name, mean_ns in known if mean_ns is not None]
    share = times.cached_share
    if share is not None and share >= CACHED_SHARE:
        parts.append(f"the page cache answers {brief_percent(share)} of the read calls")
    return ": " + ", ".join(parts) if parts else ""


def _is_gap(upper_ns: float, lower_ns: float, share: float = GAP_SHARE) -> bool:
    gap_ns = upper_ns - lower_ns
    return gap_ns >= MIN_GAP_NS and gap_ns >= share * upper_ns


def _block_part_ns(times: LayerTimes) -> float | None:
    """What of a read call its bios are: what the page cache answers has none.

    Bios beyond the number of calls are read-ahead, or of others.
    """
    bio_ns = times.mean_ns("bio_read") or times.mean_ns("request_read") or times.mean_ns("driver_read")
    if bio_ns is None:
        return 0.0 if "bio_read" in times.layers else None
    bios = times.count("bio_read") or times.count("request_read") or times.count("driver_read")
    return bio_ns * min(1.0, bios / times.count("read_call"))


def _above_block(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rules 1 and 2."""
    call_ns = times.mean_ns("read_call")
    if call_ns is None or times.count("read_call") < LEAST:
        return
    block_ns = _block_part_ns(times)
    if block_ns is None or not _is_gap(call_ns, block_ns, SEEN_SHARE):
        return
    lost_ns = (call_ns - block_ns) * times.count("read_call")
    evidence = {"read_call_ns": call_ns, "block_ns": block_ns, "read_calls": float(times.count("read_call"))}
    found = _without_device(
        times, lost_ns, evidence, "read", f"a read call takes {brief_time(call_ns)}, its bio {brief_time(block_ns)}"
    )
    known = found.code == "cpu" or _is_gap(call_ns, block_ns)
    if known and (found.code != "file_system" or call_ns - block_ns >= MIN_ELSE_NS):
        yield found


def _without_device(times: LayerTimes, lost_ns: float, evidence: dict[str, float], op: str, seen: str) -> Lost:
    """Who holds calls back above the block layer: the processor, a throttle, or the file system."""
    wait_ns = times.sum_ns("run_queue")
    waits = "" if wait_ns is None else f"; a call waits {brief_time(wait_ns / max(1, _calls(times)))} for a processor"
    evidence |= {} if wait_ns is None else {"run_queue_sum_ns": float(wait_ns)}
    quota = times.quota_share
    if quota is not None and quota >= QUOTA_SHARE:
        return _held_by_quota(quota, lost_ns, evidence, seen)
    limit = next((each for each in times.limits if metrics.LIMITED[each.metric][0] == op), None)
    if limit is not None:
        return Lost(
            code="throttle",
            rule=2,
            lost_ns=lost_ns,
            evidence=evidence | {"limit_per_s": limit.limit_per_s, "rate_per_s": limit.rate_per_s},
            says=f"Throttle above the block layer: {seen}{waits}; {_limit_said(limit)}. iostat does not see it.",
            refuted_by="the same gap with the limit lifted",
            remedy="Raise the I/O limit of the control group (io.max, blkio.throttle).",
        )
    if wait_ns is not None and wait_ns >= max(WAIT_SHARE * lost_ns, MIN_WAIT_NS * _calls(times)):
        return Lost(
            code="cpu",
            rule=1,
            lost_ns=lost_ns,
            evidence=evidence,
            says=f"CPU starvation, not the storage: {seen}{waits}.",
            refuted_by="the same gap while processors are idle",
            remedy="Free processors, or use fewer processes.",
        )
    unsure = "" if wait_ns is not None else " Waits for a processor were not seen: it may be the CPU."
    return Lost(
        code="file_system",
        rule=2,
        lost_ns=lost_ns,
        evidence=evidence,
        says=f"The file system layer, or a lock in it: {seen}{waits}; no control group is at a limit.{unsure}",
        refuted_by="the same gap on the bare device, or a limit outside of this machine's control groups",
        remedy="Compare direct I/O to the device with direct I/O to a file; look for writers that lock the same file.",
    )


def _held_by_quota(quota: float, lost_ns: float, evidence: Mapping[str, float], seen: str) -> Lost:
    share = brief_percent(min(1.0, quota))  # version 1 of control groups adds up what it held on each processor
    return Lost(
        code="cpu",
        rule=1,
        lost_ns=lost_ns,
        evidence={**evidence, "quota_share": quota},
        says=f"CPU quota: {seen}; the quota of its control group held it for {share} of the time.",
        refuted_by="the same gap with a larger quota",
        remedy="Raise the CPU quota of the control group (cpu.max), or use fewer processes.",
    )


def _calls(times: LayerTimes) -> int:
    return times.count("read_call") + times.count("write_call") + times.count("sync_call")


def _own(times: LayerTimes, op: str, requests: int) -> int:
    """Of so many requests of a device no more than those who are followed made calls for: the others are of others."""
    if "read_call" not in times.layers:
        return requests
    calls = times.count("read_call") if op == "reads" else times.count("write_call") + times.count("sync_call")
    return min(requests, calls)


def _waited_share(times: LayerTimes, op: str, layer: LayerCode, own: int) -> float:
    """The share of the time of these requests in which a call waits for one; below WAITED_SHARE it is 0."""
    called_ns, spent_ns = times.sum_ns("read_call"), own * (times.mean_ns(layer) or 0.0)
    if op != "reads" or called_ns is None or not spent_ns:
        return 1.0
    share = min(1.0, called_ns / spent_ns)
    return share if share >= WAITED_SHARE else 0.0


def _limit_said(limit: ReachedLimit) -> str:
    _, total = metrics.LIMITED[limit.metric]
    if total == metrics.IOS:
        rates = f"{five_figures(limit.rate_per_s)} of {five_figures(limit.limit_per_s)} IOPS"
    else:
        rates = f"{brief_throughput(limit.rate_per_s)} of {brief_throughput(limit.limit_per_s)}"
    return f"its control group does {rates} on {limit.device}"


def _shared(times: LayerTimes) -> Iterator[Lost]:
    """Rule 3, of reads: others keep the device busy."""
    share, call_ns, request_ns = times.others_share, times.mean_ns("read_call"), times.mean_ns("request_read")
    if share is None or call_ns is None or request_ns is None or times.count("read_call") < LEAST:
        return
    outstanding = share * (times.sum_ns("request_read") or 0) / max(1, times.elapsed_ns)
    held_ns = min(call_ns, request_ns)
    if share < OTHERS_SHARE or outstanding < OTHERS_OUTSTANDING or held_ns < SHARED_NS:
        return
    yield Lost(
        code="device_queue",
        rule=3,
        lost_ns=held_ns * times.count("read_call"),
        evidence={
            "read_call_ns": call_ns,
            "request_ns": request_ns,
            "others_share": share,
            "others_outstanding": outstanding,
        },
        says=f"The queue of the device, shared with others: they read {brief_percent(share)} of its bytes and keep "
        f"{round(outstanding)} I/Os outstanding; a read call takes {brief_time(call_ns)}, a request "
        f"{brief_time(request_ns)}{_tails(times, 'request_read')}.",
        refuted_by="the same time of a call while nobody else uses the device",
        remedy="Find the other load (top files, other processes), or give each its own device or I/O weight.",
    )


def _device_queue(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 3."""
    shared = list(_shared(times))
    yield from shared
    pairs: tuple[tuple[str, LayerCode, LayerCode, LayerCode], ...] = (
        ("reads", "bio_read", "request_read", "driver_read"),
        ("writes", "bio_write", "request_write", "driver_write"),
    )
    for name, bio, request, driver in pairs:
        upper = request if times.mean_ns(request) is not None else bio
        upper_ns, driver_ns = times.mean_ns(upper), times.mean_ns(driver)
        own = _own(times, name, times.count(upper))
        if upper_ns is None or driver_ns is None or own < LEAST or not _is_gap(upper_ns, driver_ns):
            continue
        waited = _waited_share(times, name, upper, own)
        if not waited or (shared and name == "reads"):
            continue
        yield Lost(
            code="device_queue",
            rule=3,
            lost_ns=(upper_ns - driver_ns) * own * waited,
            evidence={"request_ns": upper_ns, "driver_ns": driver_ns, "requests": float(times.count(upper))},
            says=f"The queue of the device, shared with others: a request of {name} takes {brief_time(upper_ns)}, "
            f"the driver {brief_time(driver_ns)}{_tails(times, upper)}.",
            refuted_by="the same gap while nobody else uses the device",
            remedy="Find the other load (top files, other processes), or give each its own device or I/O weight.",
        )


def _tails(times: LayerTimes, layer: LayerCode) -> str:
    half, most = times.layers[layer].below_ns(0.5), times.layers[layer].below_ns(0.99)
    return f" (p50 below {brief_time(half)}, p99 below {brief_time(most)})" if half and most else ""


def _device(times: LayerTimes, slow_ns: float) -> Iterator[Lost]:
    """Rule 4."""
    layers: tuple[tuple[str, LayerCode], ...] = (("reads", "driver_read"), ("writes", "driver_write"))
    for name, layer in layers:
        mean_ns = times.mean_ns(layer)
        own = _own(times, name, times.count(layer))
        waited = _waited_share(times, name, layer, own)
        if mean_ns is not None and mean_ns >= slow_ns and own >= LEAST and waited:
            yield Lost(
                code="device",
                rule=4,
                lost_ns=(mean_ns - slow_ns) * own * waited,
                evidence={"driver_ns": mean_ns, "slow_ns": slow_ns, "requests": float(times.count(layer))},
                says=f"The device, or what is below it: the driver takes {brief_time(mean_ns)} for {name}"
                f"{_tails(times, layer)}.",
                refuted_by="such a time being usual for this device: measure it with `iocast card`",
                remedy="Measure the device alone; look at the array, the path to it and the hypervisor.",
            )


def _journal(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 5."""
    sync_ns = times.mean_ns("sync_call")
    if sync_ns is None or times.count("sync_call") < LEAST or not times.layers.keys() & {"bio_write", "bio_flush"}:
        return
    write_ns, flush_ns = times.mean_ns("bio_write") or 0.0, times.mean_ns("bio_flush") or 0.0
    below_ns = write_ns + flush_ns
    if sync_ns < SYNC_FACTOR * below_ns or sync_ns - below_ns < MIN_SYNC_GAP_NS:
        return
    seen = f"a sync call takes {brief_time(sync_ns)}, a write {brief_time(write_ns)} and a flush {brief_time(flush_ns)}"
    evidence = {"sync_call_ns": sync_ns, "bio_write_ns": write_ns, "bio_flush_ns": flush_ns}
    lost_ns = (sync_ns - below_ns) * times.count("sync_call")
    above = _without_device(times, lost_ns, dict(evidence), "write", seen)
    if above.code != "file_system":
        yield above
        return
    yield Lost(
        code="journal",
        rule=5,
        lost_ns=lost_ns,
        evidence=evidence,
        says=f"The journal of the file system: {seen}.",
        refuted_by="the same time of a sync call in a file system of its own",
        remedy="Put the log on a file system of its own; look for others that sync on this one.",
    )


def _nfs(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 6."""
    queue_ns, trip_ns, count = (
        times.mean_ns("nfs_queue"),
        times.mean_ns("nfs_round_trip"),
        times.count("nfs_round_trip"),
    )
    if trip_ns is None or count < LEAST:
        return
    evidence = {"round_trip_ns": trip_ns, "operations": float(count)}
    if queue_ns is not None and queue_ns >= max(MIN_QUEUE_NS, QUEUE_FACTOR * trip_ns):
        yield Lost(
            code="nfs_slots",
            rule=6,
            lost_ns=queue_ns * count,
            evidence=evidence | {"queue_ns": queue_ns},
            says=f"The NFS client's queue: an operation waits {brief_time(queue_ns)} for a slot, "
            f"its round trip takes {brief_time(trip_ns)}.",
            refuted_by="the same wait with fewer users",
            remedy="Use more slots or connections (nconnect, tcp_max_slot_table_entries).",
        )
    if trip_ns >= SLOW_ROUND_TRIP_NS:
        yield Lost(
            code="nfs_server",
            rule=6,
            lost_ns=(trip_ns - SLOW_ROUND_TRIP_NS) * count,
            evidence=evidence,
            says=f"The network or the NFS server: the round trip takes {brief_time(trip_ns)}.",
            refuted_by="quick I/O on the server itself and a quick network: compare with its own figures",
            remedy="Look at retransmissions and the share of the link, then at the server.",
        )


def _engine(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 7. A quota holds a process when it comes back from a call (Linux 6.18): that is no time of the engine."""
    database_ns, call_ns = times.mean_ns("database"), times.mean_ns("read_call")
    if database_ns is None or call_ns is None or times.count("database") < LEAST or not _is_gap(database_ns, call_ns):
        return
    lost_ns = (database_ns - call_ns) * times.count("database")
    evidence = {"database_ns": database_ns, "read_call_ns": call_ns, "reads": float(times.count("database"))}
    called = f"takes {brief_time(database_ns)}, its call {brief_time(call_ns)}"
    if times.quota_share is not None and times.quota_share >= QUOTA_SHARE:
        yield _held_by_quota(times.quota_share, lost_ns, evidence, f"a read of the database {called}")
        return
    yield Lost(
        code="engine",
        rule=7,
        lost_ns=lost_ns,
        evidence=evidence,
        says=f"The database engine: a read of it {called}.",
        refuted_by="the engine counting several calls as one read (combined or asynchronous I/O)",
        remedy="Look at its locks, its waits for asynchronous I/O, and pinned buffers.",
    )


def _client_path(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 8."""
    server: LayerCode = "database" if times.mean_ns("database") is not None else "nfs_round_trip"
    client_ns, server_ns = times.mean_ns("client"), times.mean_ns(server)
    if client_ns is None or server_ns is None or times.count("client") < LEAST or not _is_gap(client_ns, server_ns):
        return
    yield Lost(
        code="client_path",
        rule=8,
        lost_ns=(client_ns - server_ns) * times.count("client"),
        evidence={"client_ns": client_ns, "server_ns": server_ns, "calls": float(times.count("client"))},
        says=f"The network, or the client: it waits {brief_time(client_ns)}, the server takes {brief_time(server_ns)}.",
        refuted_by="the same time of a client on the server itself",
        remedy="Look at the network's round trip, retransmissions and share of the link, then at the driver.",
    )


def _late(times: LayerTimes) -> Lost | None:
    """Rule 9: the verdict where nothing below the database loses time."""
    database, device_reads = times.layers.get("database"), times.count("bio_read") or times.count("driver_read")
    reads = _own(times, "reads", device_reads)
    if database is None or reads < BUSY_READS or database.count > LATE_SHARE * reads:
        return None
    return Lost(
        code="late_statistics",
        rule=9,
        lost_ns=0.0,
        evidence={"database_reads": float(database.count), "device_reads": float(device_reads)},
        says=f"The database counts {_few(database.count)} while the device did {five_figures(device_reads)}: its "
        "statistics come when a "
        "statement ends, or another process reads.",
        refuted_by="reads of the database that appear when the statement ends",
        remedy="Wait for the statement to end, or look at the system calls of its processes.",
    )


def _few(reads: int) -> str:
    return f"{five_figures(reads)} reads" if reads else "no reads"


_Rule = Callable[[LayerTimes, float], Iterator[Lost]]
_RULES: tuple[_Rule, ...] = (_above_block, _device_queue, _device, _journal, _nfs, _engine, _client_path)
