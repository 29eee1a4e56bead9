"""The loads that are compared: what iocast, fio and t/io_uring are all asked for, and the bar for each."""

from __future__ import annotations

from typing import Literal

import msgspec

from iocast.model.workload import MixItem, Op, Sequential, Sync, Uniform, Workload

MIB, GIB = 1 << 20, 1 << 30
HOT_BYTES, DIRECT_BYTES, ZRAM_BYTES = 256 * MIB, 2 * GIB, 512 * MIB
Where = Literal["file", "zram", "ring"]


class Cell(msgspec.Struct, frozen=True):
    """One load. `bars` are ratios in I/Os per CPU-second against peers, or groups of them, that must be reached."""

    name: str
    file_bytes: int
    size_bytes: int
    depth: int
    direct: bool
    bars: dict[str, float]
    in_order: bool = False
    op: Op = "read"
    sync: Sync = "none"
    where: Where = "file"

    @property
    def machine_cpu(self) -> bool:
        """True when part of the work is done by threads of the kernel that belong to no process."""
        return self.sync != "none"

    @property
    def least_s(self) -> float:
        """A run takes at least so long: the machine counts its work in steps of 10 ms."""
        return 2.0 if self.machine_cpu else 0.0

    @property
    def workload(self) -> Workload:
        """For iocast."""
        locality = Sequential() if self.in_order else Uniform()
        mix = (MixItem(self.op, self.size_bytes),)
        return Workload(mix=mix, locality=locality, depth=self.depth, direct=self.direct, sync=self.sync)

    @property
    def fio_options(self) -> list[str]:
        """For fio."""
        return [
            f"--rw={'' if self.in_order else 'rand'}{self.op}",
            f"--bs={self.size_bytes}",
            f"--direct={int(self.direct)}",
            "--invalidate=0",  # or fio drops the cache at its start, and a hot file is not hot
            f"--size={self.file_bytes}",
            *([f"--sync={self.sync}"] if self.sync != "none" else []),
        ]


BEST = {"the best of fio": 1.0}
DEPTHS = (1, 8, 32, 128)


def _cells() -> list[Cell]:
    made = []
    for size_bytes in (4096, 8192):
        for depth in DEPTHS:
            bars = {"fio default": 1.8, "fio tuned": 1.3} if depth == 32 else BEST
            name = f"{size_bytes >> 10}k-d{depth}"
            made.append(Cell(f"hot-{name}", HOT_BYTES, size_bytes, depth, direct=False, bars=bars))
            made.append(Cell(f"direct-{name}", DIRECT_BYTES, size_bytes, depth, direct=True, bars=BEST))
        for depth in (1, 32):
            name = f"zram-{size_bytes >> 10}k-d{depth}"
            made.append(Cell(name, ZRAM_BYTES, size_bytes, depth, direct=True, bars=BEST, where="zram"))
    made.append(Cell("seq-1m-d8", DIRECT_BYTES, MIB, 8, direct=True, bars={"fio tuned": 1.5}, in_order=True))
    made.append(Cell("dsync-8k-d1", DIRECT_BYTES, 8192, 1, direct=True, bars=BEST, op="write", sync="dsync"))
    made.append(Cell("nop-d128", HOT_BYTES, 4096, 128, direct=True, bars={"t/io_uring": 0.85}, where="ring"))
    return made


CELLS = {cell.name: cell for cell in _cells()}
QUICK = ("hot-4k-d1", "hot-4k-d32", "direct-4k-d32", "seq-1m-d8", "zram-4k-d1", "nop-d128")
