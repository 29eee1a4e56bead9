"""Run: a plan, the host it ran on, what was measured and observed, and what could not be seen."""

from __future__ import annotations

from functools import cached_property
from typing import Final, Literal

from msgspec import Struct

from iocast.model.block_times import BlockTimes
from iocast.model.hosts import HostPart
from iocast.model.measurement import Measurement
from iocast.model.plan import Phase, PhasePlan, Plan
from iocast.model.verification import Verification
from iocast.model.workload import Op

SCHEMA_VERSION = 2  # of a run folder


class Host(Struct, frozen=True, kw_only=True):
    """The machine that made the load. Of an imported run "" and 0 where its source does not say."""

    name: str
    kernel: str
    cpus: int
    cpu_model: str
    memory_bytes: int
    memory_bytes_per_s: int | None = None  # measured copy bandwidth, one core
    virtualisation: str | None = None
    memory_limit_bytes: int | None = None  # of the process's control group, its page cache included; None without one

    @property
    def usable_memory_bytes(self) -> int:
        """What may hold data of the process."""
        limit = self.memory_limit_bytes
        return self.memory_bytes if limit is None else min(limit, self.memory_bytes or limit)

    @property
    def whose_memory(self) -> str:
        """Who sets that, fit to stand before "memory"."""
        limited = self.memory_limit_bytes is not None and self.usable_memory_bytes == self.memory_limit_bytes
        return "its control group's" if limited else "this machine's"


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


class Maintenance(Struct, frozen=True, kw_only=True):
    """Work of the storage for itself that was under way before the first row."""

    task: str  # "md_resync", "lvm_pvmove", "zfs_scrub", "fstrim"; as the observer of maintenance names it
    subject: str  # "md127", "vg0-data", "tank", "/mnt/db"
    done: float | None = None  # the share of it
    below_target: bool = False  # False: elsewhere on this machine, as far as is known

    @property
    def family(self) -> str:
        """Whose work it is: "md", "lvm", "zfs", "btrfs"."""
        return self.task.split("_")[0]


class Source(Struct, frozen=True, kw_only=True):
    """Whose measurement a run is that iocast did not make, and where it was read."""

    tool: str  # "fio", "ORION", "vdbench", "iostat"
    version: str = ""  # "" when it does not say
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what its figures count


Provenance = Literal["real", "public-sample", "synthetic"]


class Tape(Struct, frozen=True, kw_only=True):
    """What makes a run a tape of a live watch: where its samples come from, and the texts that belong to them."""

    interval_ns: int
    provenance: Provenance = "real"
    sources: tuple[str, ...] = ()  # "PostgreSQL 18.1 on db1", beside the observers of the machine
    texts: dict[str, str] = {}  # subject -> the text of its statement, the name of its relation


# The quantiles at which the I/Os of each interval are counted: what is published, and two that show how neighbouring
# I/Os depend on each other where few lie beyond the others.
MARKS: Final = (0.5, 0.9, 0.95, 0.99, 0.999)


class OpSeries(Struct, frozen=True, kw_only=True):
    """One operation of a phase, interval by interval."""

    op: Op
    ios: tuple[int, ...]
    response_ns: tuple[int, ...]  # sum over those I/Os
    up_to: tuple[tuple[int, ...], ...]  # for each of MARKS: I/Os of at most the phase's own quantile


class Series(Struct, frozen=True, kw_only=True):
    """The phase second by second (or whatever an interval is): whole intervals only, from the first on."""

    interval_ns: int = 0
    ios: tuple[int, ...] = ()  # completed in the interval
    bytes: tuple[int, ...] = ()
    response_ns: tuple[int, ...] = ()  # sum over those I/Os
    ops: tuple[OpSeries, ...] = ()

    @property
    def elapsed_ns(self) -> int:
        """How long all of its intervals are together."""
        return len(self.ios) * self.interval_ns

    @property
    def rates_per_s(self) -> list[float]:
        """I/Os a second of each interval: what a closed loop is judged by."""
        return [ios * 1e9 / self.interval_ns for ios in self.ios]

    @property
    def responses_ns(self) -> list[float]:
        """The mean response time of each interval: what an open loop is judged by, whose rate is given."""
        pairs = zip(self.ios, self.response_ns, strict=True)
        return [mean_response_ns(ios, response_ns, self.interval_ns) for ios, response_ns in pairs]


def mean_response_ns(ios: int, response_ns: int, elapsed_ns: int) -> float:
    """The mean response; where nothing came back, whoever waited did so for all of the time."""
    return response_ns / ios if ios else float(elapsed_ns)


class Settled(Struct, frozen=True):
    """What a judge says of a series that is steady: from which interval on, and the pair that agrees.

    `before` and `after` are the means of what has settled before the last doubling of the time, and since then.
    """

    at: int
    before: float
    after: float


class SteadyEnd(Struct, frozen=True, kw_only=True):
    """How a phase that was to run until it is steady ended.

    The figures of a phase leave out its first `warm_up_ns`; nought in folders that were made before 0.2. `before` and
    `after`: the pair of results that agree, in I/Os a second, or in ns of response time for an open loop.
    """

    rule: Literal["b3", "snia"]
    reached: bool  # False: its longest time was over before
    judged: int  # how often it was asked
    from_ns: int | None = None  # steady from then on, since the start of the phase; None when not reached
    warm_up_ns: int = 0
    before: float | None = None
    after: float | None = None


class PhaseRecord(Struct, frozen=True, kw_only=True):
    """A phase that was run: what was asked, what the core was handed, what happened, what was sampled."""

    phase: Phase
    plan: PhasePlan
    measurement: Measurement
    samples: tuple[Sample, ...] = ()  # in time order; first and last are taken right around the load
    unstated: tuple[str, ...] = ()  # of an imported phase: what its source does not say, where a value stands in
    series: Series = Series()
    steady: SteadyEnd | None = None  # of a phase with `until`
    block: BlockTimes | None = None  # of all that ran concurrently, with the first of them; None: nobody could see

    @property
    def timed(self) -> bool:
        """False for an imported row that counts I/Os and does not say in how long; a stated rate needs no length."""
        return "length" not in self.unstated or "ios" in self.unstated

    @property
    def ios_per_s(self) -> float | None:
        """Completed I/Os a second, without syncs beside them; None for an imported row whose source states neither them
        nor their rate.
        """
        known = self.timed and (self.measurement.ios or "ios" not in self.unstated)
        return self.measurement.iops if known else None

    @property
    def bytes_per_s(self) -> float | None:
        """Bytes a second; None for an imported row whose source states neither them nor their rate."""
        known = self.timed and (self.measurement.bytes or "size" not in self.unstated)
        return self.measurement.bytes_per_s if known else None


def at_once(one: PhaseRecord, other: PhaseRecord) -> bool:
    """True when two phases of a run ran at the same time; then they share their samples."""
    return one.phase.together != "" and _group(one) == _group(other)


def _group(record: PhaseRecord) -> tuple[str, int]:
    return record.phase.together, record.measurement.started_unix_ns


class Run(Struct, frozen=True, kw_only=True, dict=True):
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
    verifications: tuple[Verification, ...] = ()  # in the order in which they were made, the last one counts
    source: Source | None = None  # None: measured by iocast
    tape: Tape | None = None  # of a live watch: its phases hold samples and no load
    maintenance: tuple[Maintenance, ...] = ()  # that was under way before the first row
    run_id: str = ""  # the same for ever, and no other run's; "" until it is saved
    hosts: tuple[HostPart, ...] = ()  # of a run that several hosts made at once: then it is the sum of theirs

    def beside(self, record: PhaseRecord) -> tuple[PhaseRecord, ...]:
        """All phases that ran at the same time as one, itself among them."""
        return self._groups.get(_group(record), ()) or (record,)

    @cached_property
    def _groups(self) -> dict[tuple[str, int], tuple[PhaseRecord, ...]]:
        """The phases of each group that ran concurrently; `dict=True` keeps them, they are no part of the value."""
        groups: dict[tuple[str, int], list[PhaseRecord]] = {}
        for record in self.phases:
            if record.phase.together:
                groups.setdefault(_group(record), []).append(record)
        return {group: tuple(records) for group, records in groups.items()}

    @property
    def measured(self) -> tuple[PhaseRecord, ...]:
        """The phases that are rows of a report."""
        return tuple(record for record in self.phases if record.phase.role == "measure")
