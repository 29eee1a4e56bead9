"""Phase and Plan: what is to be done, in which order, for how long; PhasePlan: what the core is handed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from iocast.model.calibration_request import CalibrationRequest
from iocast.model.database.database_load import CommitLoad, DatabaseLoad
from iocast.model.simulated_device import SimulatedDevice
from iocast.model.target import Target
from iocast.model.tree import Tree, TreePlan
from iocast.model.workload import Arrival, Locality, MixItem, Payload, Step, Sync, SyncOp, Workload

Role = Literal["fill", "warm", "measure", "probe", "verify"]
EngineName = Literal[
    "auto",
    "uring",
    "sync",
    "tree_ring",
    "tree_calls",
    "sim",
]
Left = Literal["exactly", "at_least", "at_most", "about"]  # what is said of the time left of a run
ReplayMode = Literal["fast", "timed", "dependent"]
Remap = Literal["refuse", "wrap", "scale"]
Polling = Literal["none", "sqpoll", "iopoll"]  # modes of io_uring, only on request


class Length(Struct, frozen=True, forbid_unknown_fields=True):
    """When a phase ends: whichever of the given limits is reached first; at least one is given.

    One that `follows` ends when all phases that run concurrently with it, and do not follow, have ended.
    """

    seconds: float | None = None
    ios: int | None = None
    bytes: int | None = None
    follows: bool = False


class Until(Struct, frozen=True, forbid_unknown_fields=True):
    """Ends a phase as soon as it is steady, its length at the latest.

    "b3": judged after twice, four times, eight times `first_s`: each doubling is compared with what has settled
    before it; "snia": five rounds of a fifth of `first_s` each, judged after every round.
    Closed loops are judged by their rate, open ones by their response.
    """

    rule: Literal["b3", "snia"] = "b3"
    first_s: float = 300.0


class Replay(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The trace whose rows are the I/Os of a phase, and how they are issued (crates/iocast-core/src/plan/replay.rs).

    "fast": in the order of the trace, as fast as the storage answers; "timed": at its times; "dependent": each a pause
    after the end of the I/O that its actor waited for. `speed` divides times and pauses.
    """

    events: str  # the event table that is read
    mode: ReplayMode
    speed: float = 1.0
    remap: Remap = "refuse"  # what becomes of places that the target does not have
    block_bytes: int = 1  # offsets and sizes are rounded outwards to multiples of it
    reads_only: bool = False
    targets: tuple[str, ...] = ()  # of the trace; all when empty
    files: dict[str, int] = {}  # of each target of the trace, the file of the plan by number; empty: on one line


class Phase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One workload for one length. `test` and `name` name its row: "randread", "randread 8k 16x1".

    Neighbours with the same `together` (that is not "") start on one clock and run concurrently.
    """

    name: str
    test: str
    workload: Workload
    length: Length
    until: Until | None = None
    role: Role = "measure"
    region_start_bytes: int = 0
    region_size_bytes: int | None = None  # None: to the end
    together: str = ""
    same_offsets: bool = False  # the same blocks in the same order as all other phases that say so
    engine: EngineName | None = None  # None: that of the plan; on a simulated target always "sim"
    verify: bool = False  # what it writes can be verified: by a phase of role "verify", or later
    verify_block_bytes: int | None = None  # written whole or not at all; None: what divides all sizes
    cold: bool = False  # the page cache is dropped of the files before it
    as_it_is: bool = False  # reads holes too, on purpose: what was trimmed before is not written again first
    from_nothing: bool = False  # the work files are cut to nothing before it, so that its writes make them longer
    replay: Replay | None = None  # its I/Os are the rows of a trace
    database: DatabaseLoad | CommitLoad | None = None  # its I/Os are statements; users are sessions
    tree: Tree | None = None  # the tree that it works in, where that is another than the plan's
    on_files: tuple[int, ...] = ()  # the work files that it works on, by number; (): all
    hosts: int | None = None  # of a run on many hosts: how many of them make it, from the first on; None: all


def groups_of(phases: tuple[Phase, ...]) -> tuple[tuple[Phase, ...], ...]:
    """The phases in order, neighbours that run concurrently in one tuple."""
    groups: list[list[Phase]] = []
    for phase in phases:
        if groups and phase.together and groups[-1][-1].together == phase.together:
            groups[-1].append(phase)
        else:
            groups.append([phase])
    return tuple(tuple(group) for group in groups)


def seconds_of(group: tuple[Phase, ...]) -> float:
    """How long phases that run concurrently take, as far as their lengths say: 0 when they end by I/Os or bytes."""
    return max(phase.length.seconds or 0.0 for phase in group)


def left_is(groups: Sequence[tuple[Phase, ...]]) -> Left:
    """What the stated lengths of these groups, which are still to run, say of the time that they will take."""
    without = [not seconds_of(group) for group in groups]
    may_end_early = any(phase.until is not None for group in groups for phase in group)
    if any(without[1:]):
        return "about" if may_end_early else "at_least"
    if any(without):  # the first one's time is estimated from how far it is
        return "about"
    return "at_most" if may_end_early else "exactly"


def stand_in(group: tuple[Phase, ...]) -> Phase:
    """What stands for phases that run concurrently where one is shown: the one that lasts longest, under their name."""
    if len(group) == 1:
        return group[0]
    longest = max(group, key=lambda phase: phase.length.seconds or 0.0)
    return msgspec.structs.replace(longest, name=f"{longest.together}: {len(group)} together")


class WorkFiles(Struct, frozen=True, forbid_unknown_fields=True):
    """The files a plan wants laid out: how many, how large each, and how they are one line of bytes."""

    count: int
    size_bytes: int
    stripe_bytes: int = 0  # 0: one after the other
    sizes: tuple[int, ...] = ()  # bytes of each, where they differ; then `size_bytes` is the largest
    names: tuple[str, ...] = ()  # what the job calls them: "data.0.0"

    @property
    def each_bytes(self) -> tuple[int, ...]:
        """The size of each."""
        return self.sizes or (self.size_bytes,) * self.count


class Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A target, the phases to run on it, and all that makes a second run the same."""

    name: str  # of the job: "card quick", "hailey"
    target: Target
    phases: tuple[Phase, ...]
    files: WorkFiles
    engine: EngineName = "auto"
    polling: Polling = "none"
    seed: int = 1
    interval_ns: int = 1_000_000_000
    job: str = ""  # the job file as it was read
    experiment: str = ""  # the named experiment that it is, which judges the run
    calibration: CalibrationRequest | None = None  # the search that it is, which chooses its rows as it goes
    tree: Tree | None = None  # its phases work in a tree of files, and not in work files

    @property
    def groups(self) -> tuple[tuple[Phase, ...], ...]:
        """The phases in order, those that run concurrently in one tuple."""
        return groups_of(self.phases)

    def tree_of(self, phase: Phase) -> Tree | None:
        """The tree that a phase works in."""
        return phase.tree or self.tree

    @property
    def trees(self) -> tuple[Tree, ...]:
        """All trees that its phases work in, in the order in which they are needed."""
        return tuple(dict.fromkeys(tree for phase in self.phases if (tree := self.tree_of(phase)) is not None))

    @property
    def most_users(self) -> int:
        """The users of the phase that has most."""
        return max((phase.workload.users for phase in self.phases), default=1)

    @property
    def expected_seconds(self) -> float:
        """How long all phases take, as far as their lengths say."""
        return sum(seconds_of(group) for group in self.groups)


class FileRegion(Struct, frozen=True, forbid_unknown_fields=True):
    """A file or device and the part of it that I/O may touch."""

    path: str
    start_bytes: int
    size_bytes: int


class Concatenated(Struct, frozen=True, tag="concatenated", tag_field="kind", forbid_unknown_fields=True):
    """One file after the other."""


class Striped(Struct, frozen=True, tag="striped", tag_field="kind", forbid_unknown_fields=True):
    """The first `stripe_bytes` on the first file, the next ones on the second, and round again; a multiple of
    every I/O's size, so that no I/O is on two of them."""

    stripe_bytes: int


Layout = Concatenated | Striped


class VerifyPlan(Struct, frozen=True, forbid_unknown_fields=True):
    """How the writes of a phase are recorded (crates/iocast-core/src/verify/journal.rs)."""

    journal: str
    run_id: int
    block_bytes: int
    first_blocks: tuple[int, ...]  # for each file, the journal's entry of its first block


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
    polling: Polling = "none"
    payload_seed: int = 0  # what is written differs from run to run, whatever the seed
    layout: Layout = Concatenated()
    fsync_op: SyncOp = "fsync"
    slow_limit: int = 64
    error_limit: int = 10_000
    verify: VerifyPlan | None = None
    simulated: SimulatedDevice | None = None
    replay: Replay | None = None
    steps: tuple[Step, ...] = ()
    tree: TreePlan | None = None
