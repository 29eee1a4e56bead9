"""Phase and Plan: what is to be done, in which order, for how long; PhasePlan: what the core is handed."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from iocast.model.simulated import SimulatedDevice
from iocast.model.target import Target
from iocast.model.workload import Arrival, Locality, MixItem, Payload, Sync, Workload

Role = Literal["fill", "warm", "measure", "probe"]
EngineName = Literal["uring", "sync", "sim"]


class Length(Struct, frozen=True, forbid_unknown_fields=True):
    """When a phase ends: whichever of the given limits is reached first; at least one is given."""

    seconds: float | None = None
    ios: int | None = None
    bytes: int | None = None


class Phase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workload for one length. `test` and `label` name its row: "randread", "randread 8k x 16"."""

    name: str
    test: str
    workload: Workload
    length: Length
    role: Role = "measure"
    region_start_bytes: int = 0
    region_size_bytes: int | None = None  # None: to the end


class WorkFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """The files a plan wants laid out: how many, how large each."""

    count: int
    size_bytes: int


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A target, the phases to run on it, and all that makes a second run the same."""

    name: str  # of the job: "card quick", "hailey"
    target: Target
    phases: tuple[Phase, ...]
    files: WorkFiles
    engine: EngineName = "uring"
    seed: int = 1
    interval_ns: int = 1_000_000_000
    job: str = ""  # the job file as it was read


class FileRegion(Struct, frozen=True, forbid_unknown_fields=True):
    """A file or device and the part of it that I/O may touch."""

    path: str
    start_bytes: int
    size_bytes: int


class PhasePlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Exactly what crosses into the core for one phase (crates/iocast-core/src/plan.rs), and is archived."""

    name: str
    role: Role
    engine: EngineName
    files: tuple[FileRegion, ...]
    mix: tuple[MixItem, ...]
    locality: Locality
    arrival: Arrival
    users: int
    depth: int
    direct: bool
    sync: Sync
    fsync_every: int
    payload: Payload
    length: Length
    interval_ns: int
    seed: int
    payload_seed: int = 0  # what is written differs from run to run, whatever the seed
    slow_limit: int = 64
    error_limit: int = 10_000
    simulated: SimulatedDevice | None = None
