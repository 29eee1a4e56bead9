"""The load of a job of fio: how many users, how deep, where, how fast; from its options, or as far as it is told."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from iocast.errors import SpecError
from iocast.model.workload import Arrival, Closed, Constant, Locality, Op, Poisson, Sequential, Sync, Uniform, Unstated
from iocast.tools.fio.job_options import (
    OPTIONS,
    POISSON,
    RW,
    SYNC_WORDS,
    SYNCHRONOUS,
    canonical,
    last_of,
    ops_of,
    part_of,
)
from iocast.tools.fio.normal_text import StartLine
from iocast.tools.fio.quantities import read_size
from iocast.tools.foreign_numbers import whole_of

SECTOR = 512
SIZE_SLACK = 0.01  # short I/Os at the end of a file
_MANY_SIZES = ("bsrange", "bssplit", "bs_unaligned")


class Load(Struct, frozen=True, kw_only=True):
    """What is told of the load; None: not said, or not the same for all that an entry sums up."""

    rw: str = ""
    users: int | None = None
    depth: int | None = None
    direct: bool | None = None
    sync: Sync | None = None
    fsync_every: int | None = None  # None: to be worked out from the counts
    fdatasync: bool = False
    locality: Locality = Unstated()
    arrival: Arrival | None = None
    path: str = ""
    engine: str = ""


def told_by_start(start: StartLine | None, jobs: int) -> Load:
    """The load of the line that fio prints when a job starts."""
    if start is None:
        return Load(users=jobs)
    return Load(rw=start.rw, users=jobs, depth=start.depth, locality=locality(start.rw), engine=start.engine)


def locality(rw: str, distribution: str = "random", percentage_random: str = "100", no_map: bool = False) -> Locality:
    """Where rw= sends the I/O; without norandommap fio visits every block once before any comes again."""
    kind = rw.strip().lower()
    if kind in RW and not RW[kind].random:
        return Sequential()
    if kind.startswith("rand") and distribution == "random" and percentage_random in ("100", ""):
        return Uniform(repeats=no_map)
    return Unstated()


class Options:
    """The options of one job over the global ones. `alike` counts the entries of its name in the output."""

    def __init__(self, common: Mapping[str, str], own: Mapping[str, str], alike: int = 1) -> None:
        self.given = canonical({**common, **own})
        self.rw = self.get("rw").lower() if "rw" in self.given else ""
        self.ops = ops_of(self.rw)
        jobs = _whole(self.get("numjobs"))
        # Jobs in this entry: all of numjobs when their results stand in one, else one.
        self.users = jobs if jobs is None or alike < jobs else 1

    def get(self, name: str) -> str:
        """The option as it was given, else fio's default."""
        text = str(self.given.get(name, "")).strip()
        return text or (OPTIONS[name].default if name in OPTIONS else "")

    def on(self, name: str) -> bool:
        """Whether an option is given, and not as 0."""
        return str(self.given.get(name, "")).strip() not in ("", "0")

    def load(self, size_bytes: int | None) -> Load:
        """What these options ask for; `size_bytes` is that of the I/Os, where it is known."""
        engine, flush = self.get("ioengine"), "fdatasync" if self.on("fdatasync") else "fsync"
        opposite = last_of(self.given, "direct", "buffered") == "buffered"
        return Load(
            rw=self.rw.partition(":")[0],
            users=self.users,
            depth=1 if engine in SYNCHRONOUS else _whole(self.get("iodepth")),
            direct=self.get("buffered") == "0" if opposite else self.on("direct"),
            sync=SYNC_WORDS.get(self.get("sync").lower(), "sync"),
            fsync_every=_whole(self.get(flush)) or 0,
            fdatasync=flush == "fdatasync",
            locality=locality(
                self.rw,
                self.get("random_distribution"),
                self.get("percentage_random"),
                "norandommap" in self.given,
            ),
            arrival=self._arrival(size_bytes),
            path=self.get("filename") or self.get("directory"),
            engine=engine,
        )

    def size(self, op: Op, moved_bytes: int, ios: int) -> int | None:
        """The size of each I/O; None when they differ, or it is unknown."""
        if any(name in self.given for name in _MANY_SIZES):
            return None
        exact = moved_bytes // ios if ios and moved_bytes % ios == 0 else None
        if exact is not None or "bs" not in self.given or op not in ("read", "write", "trim"):
            return exact
        try:
            size = read_size(part_of(self.get("bs"), op))
        except SpecError:
            return None
        # Of jobs with other sizes in one group the options tell those of one job only.
        return size if abs(ios * size - moved_bytes) <= SIZE_SLACK * moved_bytes else None

    def _arrival(self, size_bytes: int | None) -> Arrival | None:
        """How I/Os come; None when a rate or think time is given that our terms do not have."""
        if self.on("thinktime") or "latency_target" in self.given:
            return None
        rate = _sum(self.get("rate_iops"))
        moved = _sum(self.get("rate"))
        if rate is None and moved is not None:
            if not size_bytes:
                return None
            rate = moved / size_bytes
        if rate is None:
            return Closed()
        rate *= self.users or 1
        return Poisson(rate) if POISSON.get(self.get("rate_process")) else Constant(rate)


def size_of_all(op: Op, moved_bytes: int, ios: int) -> int | None:
    """The size that all I/Os of an entry that sums up several jobs have, if it is one."""
    exact = moved_bytes // ios if ios and moved_bytes % ios == 0 else 0
    return exact if exact and exact % SECTOR == 0 else None


def _whole(text: str) -> int | None:
    return whole_of(text) or None


def _sum(text: str) -> float | None:
    """The rates of reads and writes together ("500" or "400,100"); None when there is none."""
    try:
        parts = [read_size(part.strip()) for part in text.split(",") if part.strip()]
    except SpecError:
        return None
    return sum(parts) if parts else None
