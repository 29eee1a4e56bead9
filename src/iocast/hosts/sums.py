"""The sum of what several hosts did: one phase of all of them as a phase of one run, within the time that they share.

Counts and histograms are added bucket by bucket, so that percentiles of the sum are as exact as those of one host.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast.model.added_measurements import added
from iocast.model.histogram import merge
from iocast.model.hosts import HostRow
from iocast.model.measurement import EngineReport, Generator, Measurement, SlowIo
from iocast.model.plan import FileRegion, Phase, PhasePlan, Plan
from iocast.model.run import Host, PhaseRecord, Run, Sample, Series
from iocast.model.target import Layer
from iocast.model.workload import Arrival, Bursts, Constant, Poisson, Workload
from iocast.text import counted

ADDED = (metrics.DISKSTATS, metrics.CPU)  # observers whose counters are counts, which add up
_MOST_SLOW = 64
_ERRORS_SHOWN = 8


class HostPhase(Struct, frozen=True):
    """What one host did in a phase. `started_ns` is on the clock of the first."""

    host: str
    machine: str
    layers: tuple[Layer, ...]  # of its target
    record: PhaseRecord
    started_ns: int


class Window(Struct, frozen=True):
    """The part of one host's phase in which all others ran too, on its own clock from its start."""

    from_ns: int
    to_ns: int | None  # None: its end is that of all


def windows(parts: Sequence[HostPhase]) -> list[Window]:
    """What each host did while all did, in whole intervals; all of it where none began or ended an interval apart."""
    first, last = min(part.started_ns for part in parts), max(part.started_ns for part in parts)
    ends = [part.started_ns + part.record.measurement.issuing_ns for part in parts]
    interval_ns = min(part.record.plan.interval_ns for part in parts)
    apart = last - first >= interval_ns / 2
    short = max(ends) - min(ends) >= interval_ns / 2
    cut = []
    for part, end in zip(parts, ends, strict=True):
        late_ns = (last - part.started_ns + interval_ns - 1) // interval_ns * interval_ns if apart else 0
        left_ns = (min(ends) - part.started_ns) // interval_ns * interval_ns
        cut.append(Window(late_ns, left_ns if short and end - min(ends) >= interval_ns / 2 else None))
    return cut


def summed(parts: Sequence[HostPhase]) -> PhaseRecord:
    """The phase of all hosts; each record is cut to the common window already."""
    first = parts[0].record
    phase = _of_all(first.phase, len(parts))
    return PhaseRecord(
        phase=phase,
        plan=_plan(parts, phase.workload),
        measurement=_measurement(parts),
        samples=_samples(parts),
        series=Series(),
        unstated=first.unstated,
    )


def summed_plan(plan: Plan, count: int, path: str) -> Plan:
    """What all hosts are asked for together: every phase with the users of all, and so many times the work files."""
    phases = tuple(_of_all(phase, phase.hosts or count) for phase in plan.phases)
    files = replace(plan.files, count=plan.files.count * count, sizes=plan.files.sizes * count)
    return replace(plan, phases=phases, files=files, target=replace(plan.target, path=path))


def ramped(plan: Plan, counts: Sequence[int], number: int) -> Plan:
    """The plan of rank `number` where all phases are made by so many of the first hosts, one count after the other."""
    phases = tuple(
        replace(phase, name=f"{phase.name}, {counted(count, 'host')}", hosts=count)
        for count in counts
        if count > number
        for phase in plan.phases
    )
    return replace(plan, phases=phases)


def _of_all(phase: Phase, count: int) -> Phase:
    """What `count` hosts do of a phase: users and rates are those of all."""
    workload = phase.workload
    arrival = _arrival_of_all(workload.arrival, count)
    return replace(phase, workload=replace(workload, users=workload.users * count, arrival=arrival))


def _arrival_of_all(arrival: Arrival, count: int) -> Arrival:
    match arrival:
        case Constant() | Poisson():
            return replace(arrival, rate_per_s=arrival.rate_per_s * count)
        case Bursts():
            return replace(arrival, ios=arrival.ios * count)
        case _:
            return arrival


def summed_host(hosts: Sequence[Host], machines: Sequence[str], name: str) -> Host:
    """The hosts as one machine: processors and memory of all, each machine once."""
    each = list(
        {machine or number: host for number, (machine, host) in enumerate(zip(machines, hosts, strict=True))}.values()
    )
    limits = [host.memory_limit_bytes for host in each]
    rates = [host.memory_bytes_per_s for host in each]
    return Host(
        name=name,
        kernel=_alike([host.kernel for host in each]),
        cpus=sum(host.cpus for host in each),
        cpu_model=_alike([host.cpu_model for host in each]),
        memory_bytes=sum(host.memory_bytes for host in each),
        memory_bytes_per_s=None if None in rates else sum(filter(None, rates)),
        virtualisation=_alike([host.virtualisation or "" for host in each]) or None,
        memory_limit_bytes=None if None in limits else sum(filter(None, limits)),
    )


def _alike(texts: list[str]) -> str:
    return ", ".join(dict.fromkeys(filter(None, texts)))


def host_row(part: HostPhase, whole: Measurement, began_ns: int) -> HostRow:
    """What one host did in the window, and how much lies outside. `whole` is its measurement before it was cut."""
    did = part.record.measurement
    response = did.response()
    known = bool(response.total)
    return HostRow(
        phase=part.record.phase.name,
        ios=did.ios,
        bytes=did.bytes,
        ios_per_s=did.iops,
        bytes_per_s=did.bytes_per_s,
        started_ns=max(0, part.started_ns - began_ns),
        elapsed_ns=did.elapsed_ns,
        mean_ns=response.mean_ns if known else None,
        p50_ns=response.quantile_ns(0.5) if known else None,
        p99_ns=response.quantile_ns(0.99) if known else None,
        errors=did.error_count,
        outside_ios=max(0, whole.ios - did.ios),
    )


def _plan(parts: Sequence[HostPhase], workload: Workload) -> PhasePlan:
    files = tuple(
        FileRegion(f"{part.host}:{region.path}", region.start_bytes, region.size_bytes)
        for part in parts
        for region in part.record.plan.files
    )
    return replace(parts[0].record.plan, files=files, users=workload.users, arrival=workload.arrival)


def _measurement(parts: Sequence[HostPhase]) -> Measurement:
    each = [part.record.measurement for part in parts]
    rates = [did.asked_rate_per_s for did in each]
    issuing_ns = min(did.issuing_ns for did in each)
    return replace(
        added(each),
        engine=_engine(each),
        started_unix_ns=min(did.started_unix_ns for did in each),
        asked_rate_per_s=None if None in rates else sum(filter(None, rates)),
        issuing_ns=issuing_ns,
        depth_mean=sum(did.depth_mean for did in each),
        stopped=_gravest(each),
        abandoned_ios=sum(did.abandoned_ios for did in each),
        lag=merge(did.lag for did in each),
        errors=tuple(replace(error, first=error.first[:_ERRORS_SHOWN]) for did in each for error in did.errors),
        slow=_slowest(parts),
        left_behind=(),
        cpu_user_ns=sum(did.cpu_user_ns for did in each),
        cpu_system_ns=sum(did.cpu_system_ns for did in each),
        unsent_arrivals=sum(did.unsent_arrivals for did in each),
        generator=_generators([did.generator for did in each]),
        commit=merge(did.commit for did in each),
        issue_error=merge(did.issue_error for did in each),
    )


def _engine(each: Sequence[Measurement]) -> EngineReport:
    engines = [did.engine for did in each]
    flags = [flag for flag in engines[0].flags if all(flag in engine.flags for engine in engines)]
    return EngineReport(
        name=", ".join(dict.fromkeys(engine.name for engine in engines)),
        flags=tuple(flags),
        buffers=", ".join(dict.fromkeys(engine.buffers for engine in engines)),
        notes=tuple(dict.fromkeys(note for engine in engines for note in engine.notes)),
    )


def _gravest(each: Sequence[Measurement]) -> str:
    order = ("hung", "errors", "interrupted", "finished")
    return min((did.stopped for did in each), key=order.index)


def _slowest(parts: Sequence[HostPhase]) -> tuple[SlowIo, ...]:
    """The slowest of all, their files numbered as in the plan of the sum."""
    every: list[SlowIo] = []
    before = 0
    for part in parts:
        every += [replace(io, file=io.file + before) for io in part.record.measurement.slow]
        before += len(part.record.plan.files)
    return tuple(sorted(every, key=lambda io: -io.response_ns)[:_MOST_SLOW])


def _generators(each: Sequence[Generator]) -> Generator:
    if not all(generator.threads for generator in each):
        return Generator()
    return Generator(
        threads=sum(generator.threads for generator in each),
        user_ns=sum(generator.user_ns for generator in each),
        system_ns=sum(generator.system_ns for generator in each),
        queued_ns=sum(generator.queued_ns for generator in each),
        involuntary_switches=sum(generator.involuntary_switches for generator in each),
        absences=tuple(sorted((one for generator in each for one in generator.absences), key=lambda one: one.start_ns)),
    )


_Key = tuple[str, str, str]  # observer, subject, metric


def _samples(parts: Sequence[HostPhase]) -> tuple[Sample, ...]:
    """Counters of disks and processors, added up under the names that the first host has for them.

    Disks go by their place in the stack; what two hosts of one machine both see is counted once.
    """
    names = [layer.name for layer in parts[0].layers]
    alike = all(len(part.layers) == len(names) for part in parts)
    counters: dict[_Key, list[list[Sample]]] = {}
    looked_at: set[tuple[str, _Key]] = set()
    for part in parts:
        own = {layer.name: name for layer, name in zip(part.layers, names, strict=False)} if alike else {}
        of_this: dict[_Key, list[Sample]] = {}
        for sample in part.record.samples:
            if sample.observer in ADDED:
                of_this.setdefault((sample.observer, sample.subject, sample.metric), []).append(sample)
        for key, samples in of_this.items():
            observer, subject, metric = key
            place = own.get(subject, "") if observer == metrics.DISKSTATS else subject
            if (observer == metrics.DISKSTATS and not place) or (part.machine and (part.machine, key) in looked_at):
                continue
            looked_at.add((part.machine, key))
            counters.setdefault((observer, place, metric), []).append(samples)
    hosts = {key: len(each) for key, each in counters.items()}
    most = {observer: max((n for key, n in hosts.items() if key[0] == observer), default=0) for observer in ADDED}
    every = [
        sample
        for key, each in counters.items()
        if key[0] == metrics.DISKSTATS or hosts[key] == most[key[0]]
        for sample in _added_samples(each)
    ]
    return tuple(sorted(every, key=lambda sample: sample.time_ns))


def _added_samples(each: list[list[Sample]]) -> list[Sample]:
    """One counter of several hosts: first and last samples are right around the load, those between go by number."""
    count = min(map(len, each))
    if count < 2:
        return []
    columns = [[*samples[: count - 1], samples[-1]] for samples in each]
    return [replace(row[0], value=sum(sample.value for sample in row)) for row in zip(*columns, strict=True)]


def of_all(run: Run, name: str, hosts: Sequence[Host], machines: Sequence[str], path: str) -> Run:
    """A run as it begins on the first host, as that of all of them."""
    return replace(
        run,
        plan=summed_plan(run.plan, len(hosts), path),
        host=summed_host(hosts, machines, name),
        blind=(),
        maintenance=run.maintenance,
        warnings=(),
        run_id="",
    )
