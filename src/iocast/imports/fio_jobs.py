"""One job of fio's normal output as it is gathered line by line, and the row that it becomes."""

from __future__ import annotations

import errno
import re
from collections.abc import Sequence

from iocast.imports import consistency
from iocast.imports.fio_options import SYNCHRONOUS
from iocast.imports.fio_words import (
    ALL,
    ALL_NOTE,
    MIXED_HINT,
    MIXED_ONLY,
    Shares,
    buckets,
    locality,
    ops_of,
    times,
    writes_per_flush,
)
from iocast.imports.source_files import LARGEST_NUMBER, refuse
from iocast.imports.stated_rows import OpFigures, Row
from iocast.model.measurement import ErrorCount
from iocast.model.workload import Op

_RANGE = re.compile(r"(\d+(?:\.\d+)?)\s*([kKMGT]?)i?B?-(\d+(?:\.\d+)?)\s*([kKMGT]?)i?B?")
_PLACES: tuple[Op, ...] = ("read", "write", "trim")
SIZE_SLACK = 0.01  # io= is printed with three figures or four


class StartLine:
    """What fio says of a job before it starts: "name: (g=0): rw=randread, bs=8K-8K/8K-8K, ioengine=..."."""

    def __init__(self, rw: str, sizes: str, engine: str, depth: int) -> None:
        self.rw, self.engine = rw.strip(), engine
        self.depth: int | None = 1 if engine in SYNCHRONOUS else depth
        self.sizes = [_one_size(*found) for found in _RANGE.findall(sizes)]

    @classmethod
    def of_all(cls, starts: Sequence[StartLine]) -> StartLine:
        """What all sections of a group have in common; an I/O of each operation is of those that do it."""
        engines, depths, kinds = ({getattr(each, name) for each in starts} for name in ("engine", "depth", "rw"))
        found = cls(kinds.pop() if len(kinds) == 1 else "", "", engines.pop() if len(engines) == 1 else "", 1)
        found.depth = depths.pop() if len(depths) == 1 else None
        for op in _PLACES:
            sizes = {each.size(op) for each in starts if op in ops_of(each.rw)}
            found.sizes.append(sizes.pop() if len(sizes) == 1 else None)
        return found

    def size(self, op: Op) -> int | None:
        """The size of each I/O; None for a range."""
        place = _PLACES.index(op)
        return self.sizes[place] if place < len(self.sizes) else None


def _one_size(low: str, low_unit: str, high: str, high_unit: str) -> int | None:
    sizes = {float(n) * 1024 ** " KMGT".index(unit.upper() or " ") for n, unit in ((low, low_unit), (high, high_unit))}
    return round(sizes.pop()) if len(sizes) == 1 and max(sizes) < LARGEST_NUMBER else None


class Side:
    """The reads, the writes or the fsyncs of a job."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.modern = False
        self.moved_bytes = self.runtime_ms = 0
        self.rate_per_s = 0.0
        self.latencies: dict[str, dict[str, float]] = {}
        self.quantiles: dict[str, list[tuple[float, float]]] = {}

    def mean_ns(self, which: str) -> float | None:
        """The mean of one latency line."""
        return self.latencies.get(which, {}).get("mean")


class Job:
    """A job of the output; it is whole when its `issued` line was seen."""

    def __init__(
        self, path: str, line: int, name: str, group: str, pid: str, jobs: int, err: int, start: StartLine | None
    ) -> None:
        self.path, self.line, self.name, self.group, self.pid = path, line, name, group, pid
        self.jobs, self.err, self.start = jobs, err, start
        self.date = ""
        self.output = 1  # of several in one file
        self.modern = False
        self.sides: dict[str, Side] = {}
        self.shares: dict[tuple[str, str], float] = {}
        self.issued: tuple[int, ...] = ()
        self.short: tuple[int, ...] = ()
        self.warnings: list[str] = []

    def row(self) -> Row:
        """The job as a row. Raises SourceError."""
        if "mixed" in self.sides and not {*_PLACES} & {*self.sides}:
            raise refuse(self.path, self.sides["mixed"].line, f"job {self.name}: {MIXED_ONLY}", MIXED_HINT)
        ops = [found for op in _PLACES if (found := self._op(op))]
        ops += self._sync()
        every = writes_per_flush({each.op: each.ios for each in ops})
        runtime_ms = max((side.runtime_ms for side in self.sides.values()), default=0)
        if ops and not runtime_ms:
            raise refuse(self.path, self.line, f"job {self.name} did I/O but states no run time")
        start = self.start
        if self.name == ALL:
            self.warnings.append(ALL_NOTE)
        return Row(
            name=self.name,
            test=(start.rw if start else "") or "+".join(each.op for each in ops) or self.name,
            ops=tuple(ops),
            elapsed_ns=runtime_ms * 1_000_000,
            users=self.jobs,
            depth=start.depth if start else None,
            fsync_every=every,
            derived=("fsync_every",) if every else (),
            locality=locality(start.rw if start else ""),
            engine=start.engine if start else "",
            errors=self._errors(),
        )

    def _op(self, op: Op) -> OpFigures | None:
        ios = self.issued[_PLACES.index(op)] if len(self.issued) > _PLACES.index(op) else 0
        side = self.sides.get(op)
        if not ios:
            return None
        if side is None:
            raise refuse(self.path, self.line, f"job {self.name} issued {ios} {op}s but says nothing of them")
        lat = side.latencies.get("lat") or side.latencies.get("clat") or {}
        means = (side.mean_ns(which) for which in ("slat", "clat", "lat"))
        self.warnings += consistency.parts_of_mean(f"{self.name}, {op}", *means)
        self.warnings += consistency.stated_rate(
            f"{self.name}, {op}", ios, side.runtime_ms * 1_000_000, side.rate_per_s
        )
        alone = sum(count > 0 for count in self.issued[: len(_PLACES)]) == 1
        shares: Shares = self.shares if alone else {}
        moved, size = self._bytes(op, ios, self.start.size(op) if self.start else None, side.moved_bytes)
        quantiles = side.quantiles.get("clat") or side.quantiles.get("lat") or []
        return OpFigures(
            op=op,
            ios=ios,
            bytes=moved,
            size_bytes=size,
            short_ios=self.short[_PLACES.index(op)] if len(self.short) > _PLACES.index(op) else 0,
            times=times(ios, lat, quantiles, buckets(shares)),
        )

    def _bytes(self, op: Op, ios: int, size: int | None, printed: int) -> tuple[int, int | None]:
        """Bytes and size of each: exact where count and size make the rounded amount, else that and no size."""
        if size is None:
            return printed, None
        if abs(ios * size - printed) > SIZE_SLACK * max(printed, ios * size):
            self.warnings.append(
                f"{self.name}, {op}: {ios} I/Os of {size} bytes are not the {printed} bytes it states: those are taken"
            )
            return printed, None
        return ios * size, size

    def _sync(self) -> list[OpFigures]:
        side = self.sides.get("sync")
        ios = self.issued[3] if len(self.issued) > 3 else 0
        if side is None or not ios:
            return []
        found = times(ios, side.latencies.get("lat", {}), side.quantiles.get("sync", []))
        return [OpFigures(op="fsync", ios=ios, bytes=0, size_bytes=0, times=found)]

    def _errors(self) -> tuple[ErrorCount, ...]:
        if not self.err:
            return ()
        name = errno.errorcode.get(self.err, f"error {self.err}")
        self.warnings.append(f"{self.name}: fio stopped this job with {name}")
        op = (*ops_of(self.start.rw if self.start else ""), "read")[0]
        return (ErrorCount(op, self.err, name, 1, ()),)
