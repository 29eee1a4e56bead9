"""Workload: what kind of I/O, how much at once, where and when; it knows no target and no length."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, get_args

from msgspec import Struct

from iocast.model.service_laws import ServiceLaw
from iocast.model.tree import Select, Tree

# Of a tree of files only: what goes to its names, in the order in which reports list them.
TreeOp = Literal[
    "create",
    "mkdir",
    "rmdir",
    "open",
    "close",
    "stat",
    "statx",
    "access",
    "readdir",
    "readdirplus",
    "rename",
    "link",
    "symlink",
    "unlink",
    "fsyncdir",
    "setattr",
    "setxattr",
    "getxattr",
    "statfs",
]
# "io": reads or writes, an imported result does not say which. No job asks for it.
Op = Literal["read", "write", "fsync", "fdatasync", "trim", "io", TreeOp]
SyncOp = Literal["fsync", "fdatasync"]
PLACED: Final[tuple[Op, ...]] = ("read", "write", "trim")  # what has a size and a place
TREE_OPS: Final[tuple[Op, ...]] = get_args(TreeOp)
# Of those, what goes to a directory and not to a file.
DIRECTORY_OPS: Final[frozenset[Op]] = frozenset(("readdir", "readdirplus", "fsyncdir", "statfs"))
# After these a tree has other names.
NAMING_OPS: Final[frozenset[Op]] = frozenset(("create", "mkdir", "rmdir", "rename", "link", "symlink", "unlink"))
# And these change its files or directories otherwise.
_CHANGING: Final[frozenset[Op]] = frozenset((*NAMING_OPS, "write", "trim", "setattr", "setxattr"))


MOST_USERS = 4096
LARGEST_IO_BYTES = 1 << 30


def pass_ios(tree: Tree, ops: Iterable[Op], users: int) -> int:
    """Operations in which users go through all their files once, or through all directories that have files."""
    trees = users if tree.own else 1
    of_directories = all(op in DIRECTORY_OPS for op in ops)
    return (tree.files_each // tree.files if of_directories else tree.files_each) * trees


def starts_empty(ops: Iterable[Op]) -> bool:
    """True for a phase that makes files and removes none: it begins without files."""
    done = set(ops)
    return "create" in done and "unlink" not in done


class MixItem(Struct, frozen=True, forbid_unknown_fields=True):
    """One operation of the mix. `size_bytes` is 0 where no data moves; weights are relative."""

    op: Op
    size_bytes: int
    weight: float = 1.0


class Sequential(Struct, frozen=True, tag="sequential", tag_field="kind", forbid_unknown_fields=True):
    """Each user goes forward through the blocks and starts again at the end.

    `start` says where: "own_region" (the region is cut into one part a user, each stays in its part), "own_offset"
    (each user starts at its share and goes on through all of it, as fio.sh does) or "same" (all at its beginning).
    """

    start: Literal["own_region", "own_offset", "same"] = "own_region"
    backwards: bool = False  # from the end towards the beginning


class Stride(Struct, frozen=True, tag="stride", tag_field="kind", forbid_unknown_fields=True):
    """Each user jumps `stride_bytes` from the start of one I/O to the start of the next."""

    stride_bytes: int


class Uniform(Struct, frozen=True, tag="uniform", tag_field="kind", forbid_unknown_fields=True):
    """Every block is equally likely; without `repeats` none comes again before all others were visited."""

    repeats: bool = True


class Zipf(Struct, frozen=True, tag="zipf", tag_field="kind", forbid_unknown_fields=True):
    """Block of rank k has a probability proportional to k ** -theta; hot blocks are scattered."""

    theta: float = 0.99


class Hotspot(Struct, frozen=True, tag="hotspot", tag_field="kind", forbid_unknown_fields=True):
    """`access_percent` of the I/Os go to the first `space_percent` of the region."""

    space_percent: float = 20.0
    access_percent: float = 80.0


class Unstated(Struct, frozen=True, tag="unstated", tag_field="kind", forbid_unknown_fields=True):
    """The tool whose result was imported does not say where its I/O went. The core is never asked for it."""


class RecordedPlaces(Struct, frozen=True, tag="recorded", tag_field="kind", forbid_unknown_fields=True):
    """Where the rows of a trace say: of a replay."""


class Append(Struct, frozen=True, tag="append", tag_field="kind", forbid_unknown_fields=True):
    """Only of a step: it goes on where the last I/O ended of the steps that it joins, and starts again at the end.

    `again_percent` of the I/Os begin `again_bytes` before: with the last block, which was not full.
    """

    again_bytes: int = 0
    again_percent: float = 0.0


Locality = Sequential | Stride | Uniform | Zipf | Hotspot | Unstated | RecordedPlaces | Append


class Closed(Struct, frozen=True, tag="closed", tag_field="kind", forbid_unknown_fields=True):
    """Each of users x depth outstanding I/Os is followed by the next one after `think_ns`."""

    think_ns: int = 0


class Constant(Struct, frozen=True, tag="constant", tag_field="kind", forbid_unknown_fields=True):
    """Open loop: I/Os are due at equal distances, `rate_per_s` over all users together."""

    rate_per_s: float


class Poisson(Struct, frozen=True, tag="poisson", tag_field="kind", forbid_unknown_fields=True):
    """Open loop: I/Os are due at exponential distances, `rate_per_s` over all users together."""

    rate_per_s: float


class Bursts(Struct, frozen=True, tag="bursts", tag_field="kind", forbid_unknown_fields=True):
    """Open loop: `ios` I/Os over all users together are due at once, at the start and then every `every_ns`."""

    ios: int
    every_ns: int

    @property
    def rate_per_s(self) -> float:
        """I/Os per second, on average."""
        return self.ios * 1e9 / self.every_ns


class RecordedTimes(Struct, frozen=True, tag="recorded", tag_field="kind", forbid_unknown_fields=True):
    """Open loop: I/Os are due when the rows of a trace say: of a replay. `rate_per_s` is the mean."""

    rate_per_s: float
    longest_gap_ns: int = 0


class Stepped(Struct, frozen=True, tag="stepped", tag_field="kind", forbid_unknown_fields=True):
    """Open loop of sessions that go from step to step: pauses count from the start of an I/O. The rate is the mean."""

    rate_per_s: float


Arrival = Closed | Constant | Poisson | Bursts | RecordedTimes | Stepped


class SizeWeight(Struct, frozen=True, forbid_unknown_fields=True):
    """A size of a step's I/Os and its weight."""

    size_bytes: int
    weight: float


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of I/O of a session: what it does, where, how long the session pauses after it, and what comes next.

    Its region lies on the line of all files, within one of them. Steps that join one another share the end of their
    last I/O, where `Append` goes on.
    """

    op: Op
    start_bytes: int
    size_bytes: int
    pause: ServiceLaw
    next: tuple[float, ...]  # for each step, the weight with which it comes next
    locality: Locality = Uniform()
    joins: int = 0  # the number of a step
    sizes: tuple[SizeWeight, ...] = ()  # none of a sync


class Unique(Struct, frozen=True, tag="unique", tag_field="kind", forbid_unknown_fields=True):
    """Incompressible; no two 4 KiB blocks ever written are the same."""


class Zeros(Struct, frozen=True, tag="zeros", tag_field="kind", forbid_unknown_fields=True):
    """All zero bytes."""


class Repeated(Struct, frozen=True, tag="repeated", tag_field="kind", forbid_unknown_fields=True):
    """One incompressible block, the same every time: it dedupes."""


class Dedupable(Struct, frozen=True, tag="dedupable", tag_field="kind", forbid_unknown_fields=True):
    """`percent` of the 4 KiB blocks are one of sixteen, the others unique: storage that dedupes saves them."""

    percent: float


class Compressible(Struct, frozen=True, tag="compressible", tag_field="kind", forbid_unknown_fields=True):
    """Unique blocks of which `percent` of the bytes are zero, so they shrink by about that much."""

    percent: float


Payload = Unique | Zeros | Repeated | Dedupable | Compressible
Sync = Literal["none", "sync", "dsync", "rwf_dsync"]


class Workload(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The I/O of one phase. Open-loop rates and mixes are over all users; depth is per user."""

    mix: tuple[MixItem, ...]
    locality: Locality = Uniform()
    arrival: Arrival = Closed()
    users: int = 1
    depth: int = 1
    direct: bool = True
    sync: Sync = "none"  # O_SYNC, O_DSYNC, or RWF_DSYNC on each write
    fsync_every: int = 0  # each user syncs after so many writes; 0: never
    fsync_op: SyncOp = "fsync"
    payload: Payload = Unique()
    steps: tuple[Step, ...] = ()  # of each user, one after the other; empty: all I/Os are drawn from the mix
    select: Select = "sequential"  # of a tree: the order in which each user takes its files and directories
    stop_after: int | None = None  # of a tree: reads and writes of a file before the next one's turn; None: to its end

    @property
    def writes(self) -> bool:
        """True when any operation of the mix changes the target: data, names or attributes."""
        return any(item.op in _CHANGING for item in self.mix)

    @property
    def names(self) -> bool:
        """True when any operation of the mix gives a tree other names."""
        return any(item.op in NAMING_OPS for item in self.mix)

    @property
    def starts_together(self) -> bool:
        """True when several users go in order from the same byte."""
        return self.users > 1 and isinstance(self.locality, Sequential) and self.locality.start == "same"

    @property
    def tree_only(self) -> bool:
        """True when any operation of the mix exists in a tree of files only."""
        return any(item.op in TREE_OPS for item in self.mix)

    @property
    def trims(self) -> bool:
        """True when any operation of the mix gives blocks back to the storage."""
        return any(item.op == "trim" for item in self.mix)

    @property
    def commits(self) -> bool:
        """True when each user's writes and the sync after them make commits, one after the other."""
        return self.fsync_every > 0 and self.depth == 1

    @property
    def asked_depth(self) -> int:
        """I/Os that a closed loop keeps outstanding: users x depth."""
        return self.users * self.depth
