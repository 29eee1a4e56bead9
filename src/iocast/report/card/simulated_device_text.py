"""What a simulated device is, in words: its service, and every option that is on."""

from __future__ import annotations

import errno
from collections.abc import Iterator

from iocast import text
from iocast.model.service_laws import (
    BimodalLaw,
    ConstantLaw,
    DiskLaw,
    ExponentialLaw,
    GammaLaw,
    LognormalLaw,
    ServiceLaw,
    TableLaw,
    UniformLaw,
)
from iocast.model.simulated_device import (
    SimulatedCache,
    SimulatedDevice,
    SimulatedErrors,
    SimulatedLimit,
    SimulatedThin,
)


def describe(device: SimulatedDevice) -> str:
    """One sentence: how it serves, then what is on, without the full stop."""
    return f"It has {'; '.join([_serving(device), *_in_front(device), *_placing(device), *_disturbing(device)])}"


def law(service: ServiceLaw) -> str:
    """A service law in a few words: "exponential around 5 ms"."""
    if isinstance(service, ConstantLaw):
        return f"always {_time(service.mean_ns)}"
    if isinstance(service, ExponentialLaw):
        return f"exponential around {_time(service.mean_ns)}"
    if isinstance(service, LognormalLaw | GammaLaw):
        kind = "lognormal" if isinstance(service, LognormalLaw) else "gamma"
        return f"{kind} around {_time(service.mean_ns)} (cv {text.decimal(service.cv)})"
    if isinstance(service, UniformLaw):
        return f"{_time(service.low_ns)} to {_time(service.high_ns)}"
    if isinstance(service, BimodalLaw):
        spread = ", each exponential" if service.exponential else ""
        share = text.percent(service.fast_percent / 100)
        return f"{share} {_time(service.fast_ns)}, the others {_time(service.slow_ns)}{spread}"
    if isinstance(service, TableLaw):
        return f"by a table of quantiles up to {_time(service.points[-1].ns)}"
    assert isinstance(service, DiskLaw)
    return f"of a disk arm at {text.whole(service.rpm)} rpm"


def _serving(device: SimulatedDevice) -> str:
    words = [f"{device.servers} server{'s' if device.servers > 1 else ''}, service time {law(device.service)}"]
    if device.write_service:
        words.append(f"writes {law(device.write_service)}")
    if device.bandwidth_bytes_per_s:
        words.append(text.brief_throughput(device.bandwidth_bytes_per_s))
    if device.fsync_ns:
        words.append(f"fsync {_time(device.fsync_ns)}")
    said = ", ".join(words)
    if device.stripe:
        stripe = text.size(device.stripe.stripe_bytes)
        return f"{device.stripe.members} members striped by {stripe}, each with {said}"
    return said


def _in_front(device: SimulatedDevice) -> Iterator[str]:
    if device.link:
        rtt = _time(device.link.rtt_ns)
        yield f"a link of {text.brief_throughput(device.link.bytes_per_s)} each way, {rtt} round trip"
    yield from map(_limit, device.limits)
    if device.serialised != "none":
        yield f"{'writes' if device.serialised == 'writes' else 'reads and writes'} one at a time"
    if device.cache:
        yield _cache(device.cache)
    if device.read_ahead:
        ahead = device.read_ahead
        yield f"read-ahead of {text.size(ahead.window_bytes)}, ready in {_time(ahead.hit_ns)}"


def _limit(limit: SimulatedLimit) -> str:
    rate = text.brief_throughput(limit.rate_per_s) if limit.counts == "bytes" else f"{text.rate(limit.rate_per_s)} IOPS"
    counted = f" (counted by {text.size(limit.unit_bytes)})" if limit.unit_bytes else ""
    if not limit.bucket:
        return f"a cap of {rate}{counted}"
    saved = text.capacity(int(limit.bucket)) if limit.counts == "bytes" else text.rate(limit.bucket)
    return f"a baseline of {rate}{counted} and {saved} of burst credits"


def _cache(cache: SimulatedCache) -> str:
    kept = text.capacity(cache.size_bytes) if cache.size_bytes else f"{text.percent(cache.read_hit_percent / 100)} hits"
    words = [f"a cache ({kept}, {_time(cache.hit_ns)})"]
    if cache.scan_resistant:
        words.append("bypassed by scans")
    if cache.write_back:
        words.append("write-back")
    if cache.dirty_bytes:
        rate = text.brief_throughput(cache.destage_bytes_per_s)
        words.append(f"up to {text.capacity(cache.dirty_bytes)}, then at {rate}")
    return ", ".join(words)


def _placing(device: SimulatedDevice) -> Iterator[str]:
    if device.max_io_bytes:
        yield f"I/Os above {text.size(device.max_io_bytes)} split"
    if device.fragment_bytes:
        yield f"fragments of {text.size(device.fragment_bytes)}"
    if device.tier:
        when = f"after {device.tier.after} accesses" if device.tier.after else f"every {_time(device.tier.period_ns)}"
        yield f"a fast tier of {text.capacity(device.tier.size_bytes)} ({_time(device.tier.fast_ns)}), filled {when}"
    if device.slc:
        slow = text.brief_throughput(device.slc.slow_bytes_per_s)
        yield f"an SLC area of {text.capacity(device.slc.size_bytes)}, then {slow}"
    if device.thin:
        yield from _thin(device.thin)
    if device.reduction:
        names = {"compression": device.reduction.compress, "dedupe": device.reduction.dedupe}
        if ways := [name for name, on in names.items() if on]:
            yield f"{' and '.join(ways)} (to {device.reduction.least_percent:g}% at best)"


def _thin(thin: SimulatedThin) -> Iterator[str]:
    unit = text.size(thin.unit_bytes)
    if thin.first_write_ns:
        yield f"{_time(thin.first_write_ns)} more for the first write to each {unit}"
    if thin.hole_ns is not None:
        yield f"unwritten {unit} read in {_time(thin.hole_ns)}"
    if thin.zero_ns is not None:
        yield f"zeros not written ({_time(thin.zero_ns)})"
    if thin.pool_bytes:
        yield f"a pool of {text.capacity(thin.pool_bytes)}"


def _disturbing(device: SimulatedDevice) -> Iterator[str]:
    if device.scaling:
        yield f"service time that grows with load (USL {device.scaling.contention:g}, {device.scaling.retrograde:g})"
    if device.zones:
        yield f"service and transfer times that grow to x {device.zones.inner_factor:g} at the last byte"
    if device.noise:
        bursts = (
            f", {_time(device.noise.burst_ns)} of every {_time(device.noise.every_ns)}" if device.noise.burst_ns else ""
        )
        yield f"{text.rate(device.noise.rate_per_s)} IOPS of other I/O{bursts}"
    if device.stall:
        yield f"stalls of {_time(device.stall.for_ns)} every {_time(device.stall.every_ns)}"
    if device.slow:
        begin, end = _time(device.slow.from_ns), _time(device.slow.to_ns)
        yield f"service time x {device.slow.factor:g} from {begin} to {end} of the run"
    if device.drift:
        yield f"service time that grows to x {device.drift.factor:g} in {_time(device.drift.over_ns)}"
    if device.tick_ns:
        yield f"completions seen every {_time(device.tick_ns)}"
    if device.errors:
        yield _errors(device.errors)


def _errors(errors: SimulatedErrors) -> str:
    name = errno.errorcode.get(errors.errno, str(errors.errno))
    where = [f"bytes {errors.start_bytes:,} to {errors.end_bytes:,}"] if errors.end_bytes else []
    where += [f"{errors.percent:g}% of I/Os"] if errors.percent else []
    where += [f"each {errors.every:,}th I/O"] if errors.every else []
    return f"{name} at {' and '.join(where)}"


def _time(value_ns: int) -> str:
    return text.brief_time(value_ns) if value_ns else "no time"
