"""Which layer loses the time: one rule over the gaps between layers, with figures and what would refute the verdict.

Hypothesis: one layer loses most of what a call takes. Its alternatives are the other layers, and all of them are judged
on the same means: of any two layers the gap is the mean of the upper one less what those below it take for one of its
uses, times the uses. The largest gap is the verdict, the others are told beside it. A gap is a loss where it is a third
of the upper layer's time, and more than a call costs anyway; what is seen to make it (waits for a processor, a quota, a
limit that is reached) is named for it, and the file system only by elimination.

1, 2. Above the block layer: a processor or a quota that calls waited for, a control group at its limit, which then sets
   the rate; without either the file system or a lock.
3. Between request and driver: the queue of the device, or others who share it. Where others read most of what the
   device reads and keep it busy, its times are theirs: they are named, whichever layer their I/Os wait in.
4. The driver: what is above a usual time is the device's, or of what is below it; of flushes, what calls wait for.
5. A sync call beyond what a journal writes and flushes: the journal.
6. NFS: waits for a slot that are longer than a round trip are the client's; a long round trip is the network's or the
   server's.
7. A read of the database beyond its call: the engine.
8. The client beyond the database: the network between them, or the client. Of 7 and 8 the two means are of I/Os counted
   at different times: a gap that chance explains is none.
9. The database counts next to no reads while its calls and the device are busy: late statistics, or another process.
   PostgreSQL reports at most once a second: what lies below it is judged all the same.

Calls are held against the devices that their files stand on, each device apart (`LayerTimes.parts`). Where calls cannot
be paired with their I/O, because too few have any or it takes less than a hundredth of the call, nothing is concluded
from the gap, and the time of that I/O is not told.

The times of a machine in good health were measured on PostgreSQL 15 to 18 (docs/live-verdict.md).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.analyse.live.layer_times import LayerTimes, ReachedLimit
from iocast.diagnose.live.loss_words import WORDS
from iocast.model.codes import LayerCode, LostTimeCode
from iocast.text import brief_percent, brief_throughput, brief_time, counted, five_figures

GAP_SHARE = 1 / 3  # of the upper layer's mean: it takes half as long again as what is below it
# A call waits 16 to 20 us for a processor beside one busy process on two (measured), and no layer is at fault.
MIN_GAP_NS = 25_000
# From here on a gap is the file system's, or the journal's, by elimination: a processor that sleeps takes a while, too.
MIN_ELSE_NS = 100_000
MOST = 0.5  # of a gap that is waits for a processor, of what a device reads, of the time of requests that is waited for
CHANCE = 3.0  # standard errors
NEXT_TO_NONE = 0.05  # of the time, or of the reads: less is not told
LEAST = 20  # calls: of fewer no mean is told
FEW = 3  # calls will do where they take a good part of the time: of a slow log there are no more in a second
LEAST_LOST = 0.01  # of the time between the instants: what is below it slows nobody down [J]
PAIRED = 0.01  # of a call: I/O that takes less of it is not what the call waited for
CALLS_APART = 4.0  # times the reads of a database: so many calls, or so few, are those of others
UNEXPLAINED_NS = 2_000_000  # a call that takes so long waited for something [J]
# What a sync call does in good health: data, the journal's blocks, a flush, the commit block, another flush. By that a
# write of 37 and a flush of 27 us are 165 (measured: 173).
JOURNAL_WRITES, JOURNAL_FLUSHES = 3, 2
SLOW_DEVICE_NS = 2_000_000  # of flash; whoever knows the device says better
SLOW_ROUND_TRIP_NS = 10_000_000
MIN_QUEUE_NS = 1_000_000  # the kernel sums whole milliseconds
# Of others' I/Os, and of a call: from here on they keep a device busy, and it is slow enough for them to matter. [J]
OTHERS_OUTSTANDING, SHARED_NS = 4.0, 300_000


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


_CODES: Mapping[str, LostTimeCode] = {"quota": "cpu", "shared": "device_queue", "flush": "device"}


def _lost(of: str, lost_ns: float, evidence: Mapping[str, float], shown: str) -> Lost:
    words = WORDS[of]
    code: LostTimeCode = _CODES.get(of, of)  # type: ignore[arg-type]
    return Lost(
        code=code,
        rule=words.rule,
        lost_ns=lost_ns,
        evidence=evidence,
        says=f"{words.opens}{shown}.",
        refuted_by=words.refuted_by,
        remedy=words.remedy,
    )


def verdict(times: LayerTimes, slow_device_ns: float = SLOW_DEVICE_NS) -> LayersVerdict:
    """The verdict of the times between two instants. `slow_device_ns`: from when on the driver's mean is slow."""
    missing = tuple(layer for layer in _NEEDED if layer not in times.layers)
    late = _late(times)
    if late is not None:  # its means are of other reads: what lies below it is judged without them
        below = replace(times, layers={layer: each for layer, each in times.layers.items() if layer != "database"})
        below_verdict = verdict(below, slow_device_ns)
        return (
            _verdict_of(late, times, (), missing)
            if below_verdict.rule is None
            else replace(below_verdict, others=(*below_verdict.others, late))
        )
    losses = [lost for part in times.parts or (times,) for lost in _losses(part, slow_device_ns)]
    losses += [lost for rule in _RULES_ABOVE for lost in rule(times)]
    losses = [lost for lost in losses if lost.lost_ns >= LEAST_LOST * times.elapsed_ns]
    losses.sort(key=lambda lost: -lost.lost_ns)
    if losses:
        return _verdict_of(losses[0], times, tuple(losses[1:]), missing)
    if unknown := _unknown(times):
        return LayersVerdict(code="unknown", says=unknown[0], refuted_by=unknown[1], missing=missing)
    return LayersVerdict(
        code="none",
        says=f"No layer loses time{_summed_up(times)}.",
        refuted_by="a percentile lies far above these means: look at the tails",
        evidence={} if _busiest(times).cached_share is None else {"cached_share": _busiest(times).cached_share or 0.0},
        missing=missing,
    )


def _losses(times: LayerTimes, slow_device_ns: float) -> list[Lost]:
    """Of calls and their devices."""
    losses = [lost for rule in _RULES for lost in rule(times, slow_device_ns)]
    if any("others_share" in lost.evidence for lost in losses):  # means of the device are those of others
        losses = [lost for lost in losses if lost.code not in ("file_system", "device")]
    return losses


def _unknown(times: LayerTimes) -> tuple[str, str] | None:
    """Why nothing can be said, and what would tell; None where the layers are quick."""
    if not times.watched and not any(_mean(times, layer) for layer in ("client", "nfs_round_trip")):
        return "Layers are not watched (needs root): no verdict.", "a look as root shows a loss"
    if unseen := _without_calls(times):
        return f"Unknown: {unseen}", "the same I/O by calls that are watched shows a loss"
    used = times.layers.keys() if "read_call" not in times.layers else _USED  # I/O of devices alone may be others'
    if not any(times.count(layer) >= LEAST for layer in used):
        blocks = times.count("bio_read") + times.count("bio_write")
        if blocks >= LEAST:
            why = "almost no call that waits for one: the I/O is asynchronous, or that of other processes"
            says = f"Unknown: {blocks:,} block I/Os were seen, but {why}."
            return says, "the process of that I/O, followed with --pid, shows a loss"
        few = f"Too little was seen to judge: fewer than {counted(LEAST, 'I/O')} in any layer."
        return few, "more I/O or a longer observation shows a loss"
    for part in times.parts or (times,):
        for call, call_ns, below_ns in _calls_and_io(part):
            if call_ns >= UNEXPLAINED_NS and is_gap(call_ns, below_ns):
                if f"{call}_call" in part.asynchronous:
                    why = "asynchronous I/O waits for its process, too, and that is no latency of the storage"
                else:
                    why = "the I/O that was seen of its device does not account for it"
                says = f"Unknown: a {call} call takes {brief_time(call_ns)}; {why}."
                return says, "a longer look, or all I/O traced (--every-io), shows a layer that does"
    return None


def _without_calls(times: LayerTimes) -> str:
    """I/O that no watched call stands for, where there is enough of it to matter; else ""."""
    faults = times.major_faults or 0
    if faults >= max(LEAST, NEXT_TO_NONE * times.count("read_call")):
        per_s = faults * 1e9 / max(1, times.elapsed_ns)
        return f"{per_s:,.0f} page faults a second wait for I/O (mmap), and how long they take is not watched."
    if times.has_aio:
        return "it uses libaio, whose I/Os have no call of their own: see the block layer and the device."
    return ""


_USED: tuple[LayerCode, ...] = ("client", "database", "read_call", "write_call", "sync_call", "nfs_round_trip")


def _calls_and_io(times: LayerTimes) -> Iterator[tuple[str, float, float]]:
    """Calls on devices that were seen, their mean, and what the I/O below takes of it."""
    read_ns, sync_ns = _mean(times, "read_call"), _mean(times, "sync_call")
    if read_ns is not None and "bio_read" in times.layers:
        yield "read", read_ns, _block_ns(times)
    if sync_ns is not None and "bio_write" in times.layers:
        yield "sync", sync_ns, _synced_ns(times)


_NEEDED: tuple[LayerCode, ...] = ("read_call", "bio_read", "driver_read", "run_queue")


def _verdict_of(
    lost: Lost, times: LayerTimes, others: tuple[Lost, ...], missing: tuple[LayerCode, ...]
) -> LayersVerdict:
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
    busiest = _busiest(times)
    known = [(name, (times if layer == "database" else busiest).mean_ns(layer)) for layer, name in names]
    share = busiest.cached_share
    if not _waited(busiest, "reads", "driver_read"):  # what the device reads is for others
        known = [each for each in known if each[0] != "driver read"]
    parts = [f"{name} {brief_time(mean_ns)}" for name, mean_ns in known if mean_ns is not None]
    if share is not None and share >= NEXT_TO_NONE:
        parts.append(f"the page cache answers {brief_percent(share)} of the read calls")
    return ": " + ", ".join(parts) if parts else ""


def _busiest(times: LayerTimes) -> LayerTimes:
    """The device that calls spent the most time on; all together where they are not told apart."""
    return max(times.parts, key=lambda part: sum(part.sum_ns(call) or 0 for call in _CALLS), default=times)


def _mean(times: LayerTimes, layer: LayerCode) -> float | None:
    """That of a layer that was used often enough to judge by."""
    return times.mean_ns(layer) if times.count(layer) >= LEAST else None


def is_gap(upper_ns: float, lower_ns: float) -> bool:
    """Whether what lies between two layers is a loss."""
    return upper_ns - lower_ns >= max(MIN_GAP_NS, GAP_SHARE * upper_ns)


_ENTERED: tuple[LayerCode, ...] = ("bio_read", "request_read", "driver_read")


def _block_ns(times: LayerTimes) -> float:
    """What I/O of the device takes of a read call. What the page cache answers has no bio, and bios beyond the number
    of calls are read-ahead, or of others."""
    entered = next((layer for layer in _ENTERED if times.count(layer)), None)
    if entered is None:
        return 0.0
    return (times.mean_ns(entered) or 0.0) * min(1.0, times.count(entered) / max(1, times.count("read_call")))


def _above_block(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rules 1 and 2."""
    call_ns, calls = _mean(times, "read_call"), times.count("read_call")
    entered = next((layer for layer in _ENTERED if times.count(layer)), None)
    if call_ns is None or (entered is None and "bio_read" not in times.layers):
        return
    block_ns = _block_ns(times)
    if is_gap(call_ns, block_ns):
        paired = entered is not None and times.count(entered) >= MOST * calls and block_ns >= PAIRED * call_ns
        evidence = {"read_call_ns": call_ns, "read_calls": float(calls)} | ({"block_ns": block_ns} if paired else {})
        said = f"a read call takes {brief_time(call_ns)}" + (f", its bio {brief_time(block_ns)}" if paired else "")
        yield from _without_device(times, (call_ns - block_ns) * calls, evidence, "read", said, paired)


def _without_device(
    times: LayerTimes, lost_ns: float, evidence: dict[str, float], op: str, shown: str, paired: bool
) -> Iterator[Lost]:
    """Who holds calls back above the block layer: a quota, a throttle, the processor; else the file system, or the
    journal of what is synced, where the gap is long enough for that and calls are `paired` with their I/O."""
    wait_ns, calls = times.sum_ns("run_queue"), _calls(times)
    waits = "" if wait_ns is None else f"; a call waits {brief_time(wait_ns / max(1, calls))} for a processor"
    if wait_ns is not None and wait_ns > sum(times.sum_ns(each) or 0 for each in _CALLS):  # not within calls alone
        waits = "; its processes wait longer for a processor than their calls take"
    evidence |= {} if wait_ns is None else {"run_queue_sum_ns": float(wait_ns)}
    limit = next((each for each in times.limits if metrics.LIMITED[each.metric][0] == op), None)
    call: LayerCode = "read_call" if op == "read" else "sync_call"
    if _has_quota(times):
        yield _held_by_quota(times, lost_ns, evidence, shown)
    elif limit is not None:
        evidence |= {"limit_per_s": limit.limit_per_s, "rate_per_s": limit.rate_per_s}
        yield _lost("throttle", lost_ns, evidence, f"{shown}{waits}; {_limit_said(limit)}. iostat does not see it")
    elif wait_ns is not None and wait_ns >= max(MOST * lost_ns, MIN_GAP_NS * calls):
        yield _lost("cpu", lost_ns, evidence, f"{shown}{waits}")
    elif lost_ns < MIN_ELSE_NS * times.count(call) or not paired or call in times.asynchronous:
        return
    elif op == "write":
        yield _lost("journal", lost_ns, evidence, shown)
    else:
        unsure = "" if wait_ns is not None else ". Waits for a processor were not seen: it may be the CPU"
        yield _lost("file_system", lost_ns, evidence, f"{shown}{waits}; no control group is at a limit{unsure}")


def _has_quota(times: LayerTimes) -> bool:
    return times.quota_share is not None and times.quota_share >= NEXT_TO_NONE


def _held_by_quota(times: LayerTimes, lost_ns: float, evidence: Mapping[str, float], shown: str) -> Lost:
    quota = times.quota_share or 0.0
    share = brief_percent(min(1.0, quota))  # version 1 of control groups adds up what it held on each processor
    said = f"{shown}; the quota of its control group held it for {share} of the time"
    return _lost("quota", lost_ns, {**evidence, "quota_share": quota}, said)


_CALLS: tuple[LayerCode, ...] = ("read_call", "write_call", "sync_call")


def _calls(times: LayerTimes) -> int:
    return sum(times.count(call) for call in _CALLS)


def _own(times: LayerTimes, op: str, requests: int) -> int:
    """Of so many requests of a device no more than those who are followed made calls for: the others are of others."""
    if "read_call" not in times.layers:
        return requests
    reads = times.count("read_call")
    return min(requests, reads if op == "reads" else _calls(times) - reads)


def _waited(times: LayerTimes, op: str, layer: LayerCode) -> float:
    """How many of the requests of a layer calls waited for, each from its begin to its end: 0 where they waited for
    less than most of that time (read-ahead, writes of the page cache), or for too few to judge by."""
    own = _own(times, op, times.count(layer))
    calls: tuple[LayerCode, ...] = ("read_call",) if op == "reads" else ("write_call", "sync_call")
    called_ns, spent_ns = sum(times.sum_ns(call) or 0 for call in calls), own * (times.mean_ns(layer) or 0.0)
    share = min(1.0, called_ns / spent_ns) if "read_call" in times.layers and spent_ns else 1.0
    return own * share if own >= LEAST and share >= MOST else 0.0


def _limit_said(limit: ReachedLimit) -> str:
    _, total = metrics.LIMITED[limit.metric]
    if total == metrics.IOS:
        rates = f"{five_figures(limit.rate_per_s)} of {five_figures(limit.limit_per_s)} IOPS"
    else:
        rates = f"{brief_throughput(limit.rate_per_s)} of {brief_throughput(limit.limit_per_s)}"
    return f"its control group does {rates} on {limit.device}"


def _shared(times: LayerTimes) -> Iterator[Lost]:
    """Rule 3, of reads: others keep the device busy."""
    share, call_ns, request_ns = times.others_share, _mean(times, "read_call"), times.mean_ns("request_read")
    if share is None or call_ns is None or request_ns is None:
        return
    outstanding = share * (times.sum_ns("request_read") or 0) / max(1, times.elapsed_ns)
    held_ns = min(call_ns, request_ns)
    if share < MOST or outstanding < OTHERS_OUTSTANDING or held_ns < SHARED_NS:
        return
    evidence = {"read_call_ns": call_ns, "request_ns": request_ns}
    evidence |= {"others_share": share, "others_outstanding": outstanding}
    shown = (
        f"they read {brief_percent(share)} of its bytes and keep {round(outstanding)} I/Os outstanding; a read call"
        f" takes {brief_time(call_ns)}, a request {brief_time(request_ns)}{_tails(times, 'request_read')}"
    )
    yield _lost("shared", held_ns * times.count("read_call"), evidence, shown)


_OPS: tuple[tuple[str, LayerCode, LayerCode, LayerCode], ...] = (
    ("reads", "bio_read", "request_read", "driver_read"),
    ("writes", "bio_write", "request_write", "driver_write"),
)


def _device_queue(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 3."""
    shared = list(_shared(times))
    yield from shared
    for name, bio, request, driver in _OPS:
        upper = request if times.mean_ns(request) is not None else bio
        upper_ns, driver_ns, waited = times.mean_ns(upper), times.mean_ns(driver), _waited(times, name, upper)
        if upper_ns is not None and name == "writes":  # a write that asks for a flush waits for it before the driver
            upper_ns -= min(upper_ns, (times.sum_ns("driver_flush") or 0) / times.count(upper))
        if upper_ns is None or driver_ns is None or not is_gap(upper_ns, driver_ns) or not waited:
            continue
        if not (shared and name == "reads"):
            evidence = {"request_ns": upper_ns, "driver_ns": driver_ns, "requests": float(times.count(upper))}
            shown = f"a request of {name} takes {brief_time(upper_ns)}, the driver {brief_time(driver_ns)}"
            yield _lost("device_queue", (upper_ns - driver_ns) * waited, evidence, f"{shown}{_tails(times, upper)}")


def _tails(times: LayerTimes, layer: LayerCode) -> str:
    half, most = times.layers[layer].below_ns(0.5), times.layers[layer].below_ns(0.99)
    return f" (p50 below {brief_time(half)}, p99 below {brief_time(most)})" if half and most else ""


def _device(times: LayerTimes, slow_ns: float) -> Iterator[Lost]:
    """Rule 4."""
    for name, _, _, layer in _OPS:
        mean_ns, waited = times.mean_ns(layer), _waited(times, name, layer)
        if mean_ns is not None and mean_ns >= slow_ns and waited:
            evidence = {"driver_ns": mean_ns, "slow_ns": slow_ns, "requests": float(times.count(layer))}
            shown = f"the driver takes {brief_time(mean_ns)} for {name}{_tails(times, layer)}"
            yield _lost("device", (mean_ns - slow_ns) * waited, evidence, shown)


def _slow_flush(times: LayerTimes, slow_ns: float) -> Iterator[Lost]:
    """Rule 4, of flushes: those that sync calls, or writes that sync themselves, wait for."""
    flush_ns = times.flush_ns
    if flush_ns is None or flush_ns < slow_ns:
        return
    names: tuple[tuple[LayerCode, str], ...] = (("sync_call", "sync"), ("write_call", "write"))
    for layer, name in names:
        call_ns, calls = times.mean_ns(layer), times.count(layer)
        enough = calls >= LEAST or (calls >= FEW and (times.sum_ns(layer) or 0) >= GAP_SHARE * times.elapsed_ns)
        if call_ns is not None and enough and call_ns >= MOST * flush_ns:
            evidence = {f"{layer}_ns": call_ns, "flush_ns": flush_ns, "slow_ns": slow_ns}
            waits = max(1.0, min(float(JOURNAL_FLUSHES), call_ns // flush_ns))  # others may share a flush
            of = f" of {' and '.join(times.devices)}" if times.devices else ""
            shown = (
                f"a flush{of} takes {brief_time(flush_ns)}{_flushed_below(times)}, a {name} call {brief_time(call_ns)}"
            )
            yield _lost("flush", (flush_ns - slow_ns) * waits * calls, evidence, shown)
            return


def _flushed_below(times: LayerTimes) -> str:
    """Whether the flush of a device below is as slow."""
    parts = (
        f"of {name} below it {brief_time(flush.mean_ns)}"
        for name, flush in times.flush_below.items()
        if flush.mean_ns is not None
    )
    return "".join(f" ({part})" for part in parts)


def _synced_ns(times: LayerTimes) -> float:
    """What a sync call waits for in good health."""
    return JOURNAL_WRITES * (times.write_ns or 0.0) + JOURNAL_FLUSHES * (times.flush_ns or 0.0)


def _journal(times: LayerTimes, _: float) -> Iterator[Lost]:
    """Rule 5."""
    sync_ns, write_ns, flush_ns = _mean(times, "sync_call"), times.write_ns, times.flush_ns
    if sync_ns is None or not times.layers.keys() & {"bio_write", "bio_flush"}:
        return
    usual_ns = _synced_ns(times)
    if is_gap(sync_ns, usual_ns):
        evidence, shown = {"sync_call_ns": sync_ns}, f"a sync call takes {brief_time(sync_ns)}"
        paired = usual_ns >= PAIRED * sync_ns
        for name, each_ns in (("write", write_ns), ("flush", flush_ns)):
            if paired and each_ns is not None:
                evidence[f"bio_{name}_ns"] = each_ns
                shown += f", a {name} {brief_time(each_ns)}"
        lost_ns = (sync_ns - usual_ns) * times.count("sync_call")
        yield from _without_device(times, lost_ns, evidence, "write", shown, paired)


def _nfs(times: LayerTimes) -> Iterator[Lost]:
    """Rule 6."""
    queue_ns, trip_ns, count = times.mean_ns("nfs_queue"), _mean(times, "nfs_round_trip"), times.count("nfs_round_trip")
    if trip_ns is None:
        return
    evidence, trip = {"round_trip_ns": trip_ns, "operations": float(count)}, f"round trip takes {brief_time(trip_ns)}"
    if queue_ns is not None and queue_ns >= max(MIN_QUEUE_NS, trip_ns):
        shown = f"an operation waits {brief_time(queue_ns)} for a slot, its {trip}"
        yield _lost("nfs_slots", queue_ns * count, evidence | {"queue_ns": queue_ns}, shown)
    if trip_ns >= SLOW_ROUND_TRIP_NS:
        yield _lost("nfs_server", (trip_ns - SLOW_ROUND_TRIP_NS) * count, evidence, f"the {trip}")


def _by_chance_ns(times: LayerTimes, upper: LayerCode, lower: LayerCode) -> float:
    """How far the means of two samples of the times of the lower layer lie apart in one pair of 700."""
    spread_ns = times.layers[lower].spread_ns or 0.0
    return CHANCE * spread_ns * math.sqrt(1 / times.count(upper) + 1 / times.count(lower))


def _engine(times: LayerTimes) -> Iterator[Lost]:
    """Rule 7. A quota holds a process when it comes back from a call (Linux 6.18): that is no time of the engine.

    The database reports its reads up to a second late, so the two means may be of different reads. A gap that two
    samples of the same distribution could show by chance is not a loss. Calls beyond the number of reads are of other
    files, and the page cache answers most of them: all time of calls may be that of the reads.
    """
    database_ns, mean_ns = _mean(times, "database"), _mean(times, "read_call")
    reads, calls = times.count("database"), times.count("read_call")
    # Where calls are far fewer or far more they are not those of these reads.
    if database_ns is None or mean_ns is None or not reads / CALLS_APART <= calls <= CALLS_APART * reads:
        return
    call_ns = mean_ns * max(1.0, calls / reads)
    if not is_gap(database_ns, call_ns) or database_ns - call_ns < _by_chance_ns(times, "database", "read_call"):
        return
    lost_ns = (database_ns - call_ns) * reads
    evidence = {"database_ns": database_ns, "read_call_ns": call_ns, "reads": float(reads)}
    called = f"takes {brief_time(database_ns)}, its call {brief_time(call_ns)}"
    if _has_quota(times):
        yield _held_by_quota(times, lost_ns, evidence, f"a read of the database {called}")
    else:
        yield _lost("engine", lost_ns, evidence, f"a read of it {called}")


def _client_path(times: LayerTimes) -> Iterator[Lost]:
    """Rule 8."""
    server: LayerCode = "database" if times.mean_ns("database") is not None else "nfs_round_trip"
    client_ns, server_ns = _mean(times, "client"), times.mean_ns(server)
    if client_ns is None or server_ns is None or not is_gap(client_ns, server_ns):
        return
    if client_ns - server_ns >= _by_chance_ns(times, "client", server):
        evidence = {"client_ns": client_ns, "server_ns": server_ns, "calls": float(times.count("client"))}
        shown = f"it waits {brief_time(client_ns)}, the server takes {brief_time(server_ns)}"
        yield _lost("client_path", (client_ns - server_ns) * times.count("client"), evidence, shown)


def _late(times: LayerTimes) -> Lost | None:
    """Rule 9: the verdict where nothing below the database loses time. Of so many reads of the device next to none
    would be enough to judge by."""
    database, device_reads = times.layers.get("database"), times.count("bio_read") or times.count("driver_read")
    reads = _own(times, "reads", device_reads)
    if database is None or NEXT_TO_NONE * reads < max(LEAST, database.count):
        return None
    evidence = {"database_reads": float(database.count), "device_reads": float(device_reads)}
    few = f"{five_figures(database.count)} reads" if database.count else "no reads"
    shown = f"{few} while the device did {five_figures(device_reads)}: its statistics come when a statement ends, or"
    return _lost("late_statistics", 0.0, evidence, f"{shown} another process reads")


_Rule = Callable[[LayerTimes, float], Iterator[Lost]]
_RULES: tuple[_Rule, ...] = (_above_block, _device_queue, _device, _slow_flush, _journal)
_RULES_ABOVE: tuple[Callable[[LayerTimes], Iterator[Lost]], ...] = (_nfs, _engine, _client_path)
