"""Copies of one file by several ways: what was planned, and what each copy took."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

VERSION = 1

# The ways of copying, by the names that the core has for them.
MethodCode = Literal[
    "mmap_window",
    "read_write_large",
    "read_write_block",
    "copy_file_range",
    "sendfile",
    "splice",
    "direct",
    "uring_buffered",
    "uring_direct",
    "reflink",
]
METHODS: tuple[MethodCode, ...] = get_args(MethodCode)

# Whether the page cache had the source: dropped before the copy, or read before it.
CacheCode = Literal["cold", "warm"]
CACHES: tuple[CacheCode, ...] = get_args(CacheCode)

UNSUPPORTED = ("EXDEV", "EINVAL", "EOPNOTSUPP", "ENOSYS", "ENOTTY", "EPERM", "ENODEV", "EBADF")  # of a way, not a fault


class CopyRefusal(Struct, frozen=True):
    """Where a way of copying ended early: the call, its errno (0: the source ended), how much was copied by then."""

    call: str
    errno: int
    name: str
    at_bytes: int

    @property
    def unsupported(self) -> bool:
        """True where this way does not exist here, rather than having failed."""
        return self.name in UNSUPPORTED


class CopyFigures(Struct, frozen=True, kw_only=True):
    """What the core says of one copy; the `sync_` figures are those of the fsync after it. CPU is of this process."""

    bytes: int
    calls: int
    elapsed_ns: int
    user_ns: int
    system_ns: int
    sync_ns: int
    sync_user_ns: int
    sync_system_ns: int
    refused: CopyRefusal | None = None
    stopped: bool = False


class CopyCell(Struct, frozen=True):
    """A way of copying, with the source in the page cache or not, in one of the rounds (from 1)."""

    method: MethodCode
    cache: CacheCode
    round: int


class CopyTrial(Struct, frozen=True, kw_only=True):
    """One copy. None: unknown.

    `cached_bytes` is what the page cache had of the source before it, `shared_bytes` what the copy shares with other
    files, `same` whether what was read back is what the source holds.
    """

    cell: CopyCell
    figures: CopyFigures
    cached_bytes: int | None = None
    shared_bytes: int | None = None
    same: bool | None = None

    @property
    def whole(self) -> bool:
        """True for a copy that is complete, and proven to be one."""
        return self.figures.refused is None and not self.figures.stopped and self.same is True


class CopyFile(Struct, frozen=True, kw_only=True):
    """A file of a copy, and where it lies."""

    path: str
    filesystem: str
    device: str = ""  # "8:1", of its file system


class CopyPlan(Struct, frozen=True, kw_only=True):
    """What is copied where, how, how often. `block_bytes` is st_blksize of the destination."""

    source: CopyFile
    destination: CopyFile
    size_bytes: int
    allocated_bytes: int
    block_bytes: int
    cells: tuple[CopyCell, ...]  # in the order in which they were drawn
    rounds: int
    seed: int

    @property
    def methods(self) -> tuple[MethodCode, ...]:
        """The ways in their usual order."""
        drawn = {cell.method for cell in self.cells}
        return tuple(method for method in METHODS if method in drawn)

    @property
    def written_bytes(self) -> int:
        """What all copies together write at most."""
        return self.size_bytes * len(self.cells)


class CopyRun(Struct, frozen=True, kw_only=True):
    """Copies of one file: the plan, and the copies made so far in their order."""

    schema_version: int
    iocast_version: str
    host: str
    kernel: str
    started_unix_ns: int
    plan: CopyPlan
    digest: str = ""  # of the source: XXH3, 128 bits
    trials: tuple[CopyTrial, ...] = ()
    kept: str = ""  # the path of the copy that was to be kept

    @property
    def complete(self) -> bool:
        """True when every copy that was planned was made."""
        return len(self.trials) == len(self.plan.cells)
