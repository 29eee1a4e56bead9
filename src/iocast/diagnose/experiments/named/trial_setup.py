"""What a person asks of a named experiment, and what it takes where nothing was asked."""

from __future__ import annotations

from msgspec import Struct

from iocast.errors import TargetError
from iocast.model.target import Target
from iocast.model.workload import Sync

MIB = 1 << 20


class Defaults(Struct, frozen=True, kw_only=True):
    """What an experiment takes when nothing else is asked for."""

    size_bytes: int = 64 * MIB  # of its work files, all together
    seconds: float = 2.0  # each row
    rounds: int = 3
    block_bytes: int = 8192
    depth: int = 1
    streams: int = 2
    files: int = 0  # of its tree


class TrialSetup(Struct, frozen=True, kw_only=True):
    """One experiment on one target. `size_bytes` is what there is: the work files, or all of the target."""

    target: Target
    size_bytes: int
    may_write: bool  # always true for those that write: where nothing may be written they are not asked
    seconds: float
    rounds: int
    block_bytes: int
    depth: int
    streams: int
    sync: Sync = "none"  # how each write of an experiment about writers is made durable
    sizes: tuple[int, ...] = ()  # of a sweep over sizes; (): those of the experiment
    files: int = 0  # of a tree of files
    cold: bool = False  # the kernel's cache of names can be dropped

    @property
    def simulated(self) -> bool:
        """True when time is virtual, and there is no kernel below."""
        return self.target.kind == "sim"

    def parts(self, count: int, most_bytes: int) -> int:
        """The size of each of `count` equal parts, at most so large, in whole MiB. Raises TargetError."""
        size = min(self.size_bytes // count, most_bytes) // MIB * MIB
        if size < MIB:
            raise TargetError(
                f"{self.target.path} is too small for {count} parts of 1 MiB: {self.size_bytes:,} bytes",
                "give it more with --size, or take a larger target",
            )
        return size

    def last(self, size_bytes: int) -> int:
        """Where the last part of that size begins, at a whole MiB."""
        return (self.size_bytes - size_bytes) // MIB * MIB


def cannot(setup: TrialSetup, why: str, hint: str) -> TargetError:
    """The error of an experiment that this target cannot show."""
    return TargetError(f"{setup.target.path}: {why}", hint)
