"""Run: a plan, the host it ran on, what was measured and observed, and what could not be seen."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.measurement import Measurement
from iocast.model.plan import Phase, PhasePlan, Plan

SCHEMA_VERSION = 1


class Host(Struct, frozen=True, kw_only=True):
    """The machine that made the load. Of an imported run "" and 0 where its source does not say."""

    name: str
    kernel: str
    cpus: int
    cpu_model: str
    memory_bytes: int
    memory_bytes_per_s: int | None = None  # measured copy bandwidth, one core
    virtualisation: str | None = None


class Sample(Struct, frozen=True):
    """One raw counter at one instant. `time_ns` is CLOCK_REALTIME; metrics are named by observer."""

    time_ns: int
    observer: str  # "diskstats"
    subject: str  # "vda", "" when there is only one
    metric: str  # "reads"
    value: float


class Blind(Struct, frozen=True):
    """An observer, or a part of one, that could not see, and why."""

    observer: str
    why: str


class Source(Struct, frozen=True, kw_only=True):
    """Whose measurement a run is that iocast did not make, and where it was read."""

    tool: str  # "fio", "ORION", "vdbench", "iostat"
    version: str = ""  # "" when it does not say
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what its figures count


class PhaseRecord(Struct, frozen=True, kw_only=True):
    """A phase that was run: what was asked, what the core was handed, what happened, what was sampled."""

    phase: Phase
    plan: PhasePlan
    measurement: Measurement
    samples: tuple[Sample, ...] = ()  # in time order; first and last are taken right around the load
    unstated: tuple[str, ...] = ()  # of an imported phase: what its source does not say, where a value stands in


class Run(Struct, frozen=True, kw_only=True):
    """Everything a report needs."""

    plan: Plan
    host: Host
    started_unix_ns: int
    status: Literal["running", "done", "interrupted", "failed"]
    phases: tuple[PhaseRecord, ...] = ()
    blind: tuple[Blind, ...] = ()
    files_whole: bool = False  # every byte of the work files was written by iocast, now or earlier, and checked
    warnings: tuple[str, ...] = ()  # what the workshop wants a reader to know
    iocast_version: str = ""
    source: Source | None = None  # None: measured by iocast
    schema_version: int = SCHEMA_VERSION

    @property
    def measured(self) -> tuple[PhaseRecord, ...]:
        """The phases that are rows of a report."""
        return tuple(record for record in self.phases if record.phase.role == "measure")
