"""What is kept of a run to compare many hosts: the rows that can be believed in a few figures, and their setting."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.statistics import published
from iocast.diagnose.comparable import CURED, USABLE
from iocast.diagnose.trust.isolation import others_per_s
from iocast.model.codes import DifferenceCode, TrustCode
from iocast.model.finding import Examination, Trust
from iocast.model.run import Run
from iocast.model.summary import Figures, RowFigures
from iocast.model.target import Layer
from iocast.model.workload import Constant, Poisson, RecordedTimes, Stepped, Workload
from iocast.text import capacity
from iocast.units import rate_text

# What keeps no row out of a fleet: repeats cure it, others' I/O is allowed for, and slow storage is the question.
NOT_ASKED: tuple[TrustCode, ...] = (*CURED, "isolation", "load_achieved", "anomalies")
_UNKNOWN_LOAD = frozenset({"users", "depth"})  # of an imported row that observes what others asked for


def figures_of(facts: Facts, examination: Examination) -> Figures:
    """The figures of a run: none of rows that are void, or whose integrity nobody can vouch for."""
    rows = [row for row in facts.rows if _is_believed(row, examination.trust.get(row.name))]
    names = Counter(map(_name_without_rate, rows))
    return Figures(
        setting=dict(_setting(facts.run)),
        model=" + ".join(dict.fromkeys(disk.model for disk in _disks(facts.run) if disk.model)) or None,
        rows=tuple(_row(row, name if names[name := _name_without_rate(row)] == 1 else row.name) for row in rows),
    )


def _is_believed(row: RowFacts, trust: Trust | None) -> bool:
    return bool(row.measurement.ios) and (
        trust is None or (not trust.void and trust.without(*NOT_ASKED).grade in USABLE)
    )


def _name_without_rate(row: RowFacts) -> str:
    """Hosts whose open loops have rates of their own still have the row in common; one host's ladder of rates has
    several."""
    rate_per_s = getattr(row.workload.arrival, "rate_per_s", None)
    return row.name if rate_per_s is None else row.name.replace(f" @{rate_text(rate_per_s)}", "")


def _row(row: RowFacts, name: str) -> RowFigures:
    mean_ns = row.mean_ns
    observed = not _UNKNOWN_LOAD.isdisjoint(row.record.unstated)
    return RowFigures(
        row=name,
        load=load_digest(row.workload),
        rate_per_s=row.record.ios_per_s,
        mean_ns=mean_ns if math.isfinite(mean_ns) and mean_ns > 0 else None,
        p99_ns=published(row.response(), 0.99),
        busy_per_s=_busy_per_s(row, is_open=row.is_open_loop or observed),
        is_open=row.is_open_loop or observed,
    )


def _busy_per_s(row: RowFacts, *, is_open: bool) -> float | None:
    """What the storage was asked for besides what its own answers let follow.

    In a closed loop the rate is users over latency: to allow a slow device for its low rate would hide every slow one.
    """
    others = others_per_s(row)
    if not is_open:
        return others
    rate = row.record.ios_per_s
    return None if rate is None else rate + (others or 0.0)


def load_digest(workload: Workload) -> str:
    """Sixteen signs that are equal for loads that differ in nothing, or only in the rate of an open loop."""
    arrival = workload.arrival
    if isinstance(arrival, Constant | Poisson | RecordedTimes | Stepped):
        arrival = replace(arrival, rate_per_s=0.0)
    text = msgspec.json.encode(replace(workload, arrival=arrival), order="deterministic")
    return hashlib.sha256(text).hexdigest()[:16]


def _disks(run: Run) -> tuple[Layer, ...]:
    """The lowest layers of the target."""
    return tuple(layer for layer in run.plan.target.layers if not layer.lower)


def _setting(run: Run) -> Iterator[tuple[DifferenceCode, str]]:
    """What may differ between hosts, as far as it is known."""
    host, target, disks = run.host, run.plan.target, _disks(run)
    if run.source is not None:
        yield "measured_by", f"{run.source.tool} {run.source.version}".strip()
    cpus = f"{host.cpus} x {host.cpu_model}" if host.cpus and host.cpu_model else ""
    memory = capacity(host.usable_memory_bytes) if host.usable_memory_bytes else ""
    facts: dict[DifferenceCode, str] = {
        "kernel": host.kernel,
        "processor": cpus,
        "memory": memory,
        "virtualisation": host.virtualisation or "",
        "iocast": run.iocast_version if run.source is None else "",
        "file_system": " ".join(filter(None, (target.filesystem, target.mount_options))),
        "device": _listed(disk.model for disk in disks),
        "firmware": _listed(disk.firmware for disk in disks),
        "scheduler": _listed(disk.scheduler for disk in disks),
        "queue_depth": _listed(str(disk.queue_depth or "") for disk in disks),
        "write_cache": _listed(disk.write_cache for disk in disks),
        "link": _listed(disk.link for disk in disks),
    }
    yield from ((code, value) for code, value in facts.items() if value)


def _listed(values: Iterator[str | None]) -> str:
    return ", ".join(sorted({value for value in values if value}))
