"""What watching block requests costs: the same load without and with the watch in turns, I/Os per second of CPU time.

    python bench/block_watch.py DIRECTORY [--rounds 9] [--time 2] [--depth 32]

Needs root (tracefs) and a directory whose file system stands on a device that handles requests.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
from pathlib import Path
from statistics import median

from iocast import _core
from iocast.load.core_phases import measure
from iocast.model.plan import FileRegion, Length, PhasePlan
from iocast.model.workload import Closed, MixItem, Uniform, Unique
from iocast.observe.block import BUDGET_PER_S, watched_layers
from iocast.observe.target.device_stack import describe

SIZE_BYTES = 256 << 20


def plan(path: Path, depth: int, seconds: float) -> PhasePlan:
    """4k random reads by O_DIRECT."""
    return PhasePlan(
        name="bench",
        role="measure",
        engine="uring",
        files=(FileRegion(str(path), 0, SIZE_BYTES),),
        mix=(MixItem("read", 4096),),
        locality=Uniform(),
        arrival=Closed(),
        users=1,
        depth=depth,
        direct=True,
        sync="none",
        fsync_every=0,
        payload=Unique(),
        length=Length(seconds=seconds),
        interval_ns=1_000_000_000,
        seed=7,
    )


def cpu_s() -> float:
    """CPU time of this process, the watch's thread included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def machine_s() -> float:
    """CPU time of the whole machine: what interrupts take from others is in it, and what others do is too."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return (sum(ticks) - ticks[3] - ticks[4] - ticks[7]) / os.sysconf("SC_CLK_TCK")


def one(path: Path, depth: int, seconds: float, options: dict[str, object] | None) -> tuple[float, ...]:
    """I/Os a second, I/Os per CPU-second of the process and of the machine, requests lost."""
    watch = _core.BlkWatch(json.dumps(options)) if options is not None else None
    before = cpu_s(), machine_s()
    did = measure(plan(path, depth, seconds), lambda *_: True)[0]
    used = cpu_s() - before[0], machine_s() - before[1]
    lost = 0
    if watch is not None:
        lost = json.loads(watch.snapshot())["lost_events"]
        watch.stop()
    return did.rate_per_s, did.ios / used[0], did.ios / used[1], lost


def main() -> None:
    """Prints one row a way of watching, with the median of the ratios within rounds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--time", type=float, default=2.0)
    parser.add_argument("--depth", type=int, default=32)
    asked = parser.parse_args()
    path = asked.directory / f"iocast-bench-{os.getpid()}"
    devices = [{"major": layer.major, "minor": layer.minor} for layer in watched_layers(describe(str(asked.directory)))]
    ways: dict[str, dict[str, object] | None] = {
        "off": None,
        "off again": None,
        "within the budget": {"devices": devices, "budget_per_s": BUDGET_PER_S},
        "everything": {"devices": devices},
        "everything, unfiltered": {},
    }
    try:
        path.write_bytes(os.urandom(SIZE_BYTES))
        rounds = []
        names = list(ways)
        for number in range(asked.rounds):
            turned = names[number % len(names) :] + names[: number % len(names)]
            rounds.append({name: one(path, asked.depth, asked.time, ways[name]) for name in turned})
    finally:
        path.unlink(missing_ok=True)
    for name in names:
        rates, per_cpu, lost = (median(each[name][part] for each in rounds) for part in (0, 1, 3))
        ratios = [sorted(each[name][part] / each["off"][part] for each in rounds) for part in (0, 1, 2)]
        said = "  ".join(f"{median(r):.3f} ({r[0]:.2f}-{r[-1]:.2f})" for r in ratios)
        print(f"{name:24} {rates:9,.0f}/s {per_cpu:9,.0f}/CPU-s  lost {lost:.0f}  IOPS, process, machine: {said}")


if __name__ == "__main__":
    main()
