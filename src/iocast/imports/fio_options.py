"""The load that fio's job options describe: how many users, how deep, how large, where, how fast."""

from __future__ import annotations

from collections.abc import Mapping

from iocast.errors import SpecError
from iocast.imports.fio_words import locality, ops_of
from iocast.model.workload import Arrival, Closed, Constant, Locality, Op, Poisson, Sync
from iocast.units import parse_size

# They keep one I/O outstanding each, whatever iodepth says.
SYNCHRONOUS = frozenset({"sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "ftruncate", "filecreate"})
DEFAULT_ENGINE = "psync"
SECTOR = 512
SIZE_SLACK = 0.01  # short I/Os at the end of a file
_MANY_SIZES = ("bsrange", "bssplit", "blocksize_range", "blocksize_unaligned")


class Options:
    """The options of one job over the global ones. `alike` counts the entries of its name in the output."""

    def __init__(self, common: Mapping[str, str], own: Mapping[str, str], alike: int = 1) -> None:
        self.given = {**common, **own}
        self.alike = alike

    def get(self, *names: str) -> str:
        """The first of these options that is given, else ""."""
        return next((str(self.given[name]).strip() for name in names if name in self.given), "")

    @property
    def rw(self) -> str:
        """What it does: "randread", "" when it is not said."""
        return self.get("rw", "readwrite").lower()

    @property
    def ops(self) -> tuple[Op, ...]:
        """The operations that move data."""
        return ops_of(self.rw)

    @property
    def users(self) -> int | None:
        """Jobs in this entry: all of numjobs when their results stand in one, else one."""
        jobs = _whole(self.get("numjobs") or "1")
        return jobs if jobs is None or self.alike < jobs else 1

    @property
    def engine(self) -> str:
        """Its ioengine as it names it."""
        return self.get("ioengine") or DEFAULT_ENGINE

    @property
    def depth(self) -> int | None:
        """I/Os that each job keeps outstanding."""
        return 1 if self.engine in SYNCHRONOUS else _whole(self.get("iodepth", "iodepth_depth") or "1")

    @property
    def direct(self) -> bool | None:
        """O_DIRECT; fio's default is not."""
        if "buffered" in self.given and "direct" not in self.given:
            return self.get("buffered") == "0"
        return self.get("direct") not in ("", "0")

    @property
    def sync(self) -> Sync | None:
        """O_SYNC or O_DSYNC."""
        words: dict[str, Sync] = {"": "none", "0": "none", "none": "none", "dsync": "dsync"}
        return words.get(self.get("sync").lower(), "sync")

    @property
    def fdatasync(self) -> bool:
        """True when its flushes are fdatasync."""
        return self.get("fdatasync") not in ("", "0")

    @property
    def fsync_every(self) -> int:
        """Writes between two flushes, 0 for none."""
        return _whole(self.get("fdatasync" if self.fdatasync else "fsync") or "0") or 0

    @property
    def locality(self) -> Locality:
        """Where the I/O goes."""
        return locality(
            self.rw,
            self.get("random_distribution") or "random",
            self.get("percentage_random") or "100",
            "norandommap" in self.given,
        )

    @property
    def path(self) -> str:
        """The file, device or directory under test."""
        return self.get("filename", "directory")

    def size(self, op: Op, moved_bytes: int, ios: int) -> int | None:
        """The size of each I/O; None when they differ, or it cannot be told."""
        if any(name in self.given for name in _MANY_SIZES):
            return None
        exact = moved_bytes // ios if ios and moved_bytes % ios == 0 else None
        sizes = self.get("bs", "blocksize").split(",")
        text = sizes[min(len(sizes) - 1, 1 if op == "write" else 0)]
        try:
            size = parse_size(text) if text else None
        except SpecError:
            size = None
        if size is None or exact is not None:
            return exact
        # Of jobs with other sizes in one group the options tell those of one job only.
        return size if abs(ios * size - moved_bytes) <= SIZE_SLACK * moved_bytes else None

    def arrival(self, size_bytes: int | None) -> Arrival | None:
        """How I/Os come; None when a rate or think time is given that cannot be told in our terms."""
        if self.get("thinktime") not in ("", "0") or "latency_target" in self.given:
            return None
        rate = _sum(self.get("rate_iops"))
        moved = _sum(self.get("rate"))
        if rate is None and moved is not None:
            rate = moved / size_bytes if size_bytes else None
            if rate is None:
                return None
        if rate is None:
            return Closed()
        rate *= self.users or 1
        return Poisson(rate) if self.get("rate_process") == "poisson" else Constant(rate)


class Untold(Options):
    """The options of an entry that sums up several jobs: nothing is known of all of them."""

    users = depth = direct = sync = None
    engine = rw = path = ""

    def __init__(self) -> None:
        super().__init__({}, {})

    def size(self, op: Op, moved_bytes: int, ios: int) -> int | None:
        """The size that all have, if it is one."""
        exact = moved_bytes // ios if ios and moved_bytes % ios == 0 else 0
        return exact if exact and exact % SECTOR == 0 else None

    def arrival(self, size_bytes: int | None) -> Arrival | None:
        """Not known."""
        return None


def _whole(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text) > 0 else None


def _sum(text: str) -> float | None:
    """The rates of reads and writes together ("500" or "400,100"); None when there is none."""
    try:
        parts = [parse_size(part) for part in text.split(",") if part]
    except SpecError:
        return None
    return float(sum(parts)) if parts else None
