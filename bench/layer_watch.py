"""What watching the layers costs: the same reads without and with the watch in turns, CPU time of an I/O.

    python bench/layer_watch.py DIRECTORY [--rounds 9] [--ios 20000]
    python bench/layer_watch.py DIRECTORY --rate [--rounds 9] [--seconds 3] [--depth 32]

With --rate: the I/Os a second of a closed loop of io_uring without and with the watch, in turns, as ratios within a
round; with the budget that `iocast top` and cards have, and with every I/O traced.

Needs root (tracefs) and a directory whose file system stands on a device that handles requests. The reads are direct,
of 4k, at random places, one after the other by one thread, so that each is a system call, a bio, a request and a wait.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from statistics import median, quantiles

from block_watch import SIZE_BYTES, cpu_s, plan
from msgspec.structs import replace

from iocast import _core
from iocast.load.core_phases import measure
from iocast.model.plan import Length
from iocast.observe.block import watched_layers
from iocast.observe.live.kernel_layers import BUDGET_PER_S
from iocast.observe.target.device_stack import describe

Options = dict[str, object] | None


def ways(path: Path) -> dict[str, Options]:
    """What is watched, by its name in the table; None: nothing."""
    layers = watched_layers(describe(str(path)))[:1]
    blocks: dict[str, object] = {
        "blocks": True,
        "devices": [{"major": each.major, "minor": each.minor} for each in layers],
    }
    calls: dict[str, object] = {"calls": True, "pids": [os.getpid()]}
    return {
        "nothing": None,
        "nothing, again": None,
        "block layer": blocks,
        "system calls": calls,
        "both": blocks | calls,
        "both, and the run queue": blocks | calls | {"scheduler": True},
    }


def once(path: Path, options: Options, ios: int) -> tuple[float, float, int]:
    """CPU time of an I/O, records of an I/O, lost records."""
    load = replace(plan(path, 1, 60.0), engine="sync", length=Length(seconds=60.0, ios=ios))
    watch = None if options is None else _core.LayerWatch(json.dumps(options))
    begun = cpu_s()
    done = measure(load, lambda *_: True)[0].ios
    if watch is None:
        return (cpu_s() - begun) / done * 1e9, 0.0, 0
    seen = json.loads(watch.snapshot())
    used = cpu_s() - begun
    watch.stop()
    return used / done * 1e9, seen["events"] / done, seen["lost_events"]


def rate(path: Path, options: Options, seconds: float, depth: int) -> tuple[float, float, int, float]:
    """I/Os a second, the share of the time that was traced, lost records, the reads that were told of those made."""
    load = replace(plan(path, depth, seconds), engine="uring")
    watch = None if options is None else _core.LayerWatch(json.dumps(options))
    done = measure(load, lambda *_: True)[0]
    if watch is None:
        return done.ios * 1e9 / done.elapsed_ns, 0.0, 0, 0.0
    seen = json.loads(watch.snapshot())
    watch.stop()
    told = sum(each["counts"]["count"] for each in seen["blocks"] if (each["clock"], each["op"]) == ("driver", "read"))
    rate_per_s = done.ios * 1e9 / done.elapsed_ns
    return rate_per_s, seen["watched_ns"] / done.elapsed_ns, seen["lost_events"], told / done.ios


def rates(path: Path, rounds: int, seconds: float, depth: int) -> None:
    """Prints the ratios to nothing in the same round."""
    known = ways(path)
    both, all_of_them = known["both"], known["both, and the run queue"]
    assert both is not None
    assert all_of_them is not None
    budget = {"budget_per_s": float(BUDGET_PER_S)}
    chosen: dict[str, Options] = {
        "nothing": None,
        "nothing, again": None,
        "both, by default": both | budget,
        "with the run queue, default": all_of_them | budget,
        "both, every I/O": both,
    }
    found: dict[str, list[tuple[float, float, int, float]]] = {name: [] for name in chosen}
    for turn in range(rounds):
        names = list(chosen)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            found[name].append(rate(path, chosen[name], seconds, depth))
    ratio = "of nothing: median (quartiles)"
    print(f"{'watched':28} {'I/Os a second':>13} {ratio:>32} {'traced':>7} {'told':>7} {'lost':>5}")
    for name, runs in found.items():
        ratios = [run[0] / base[0] for run, base in zip(runs, found["nothing"], strict=True)]
        low, _, high = quantiles(ratios, n=4)
        said = f"{median(ratios):.3f} ({low:.3f} to {high:.3f})"
        traced, told = median(run[1] for run in runs), median(run[3] for run in runs)
        shown = f"{traced:7.0%} {told:7.1%}" if chosen[name] else " " * 15
        print(f"{name:28} {median(run[0] for run in runs):13,.0f} {said:>32} {shown} {sum(run[2] for run in runs):5}")


def main() -> None:
    """Prints the medians, and the quartiles of what each way costs more than nothing in the same round."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--ios", type=int, default=20_000)
    parser.add_argument("--rate", action="store_true")
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--depth", type=int, default=32)
    asked = parser.parse_args()
    path = asked.directory / "layer_watch.data"
    with path.open("wb") as file:
        file.write(os.urandom(SIZE_BYTES))
        os.fsync(file.fileno())
    if asked.rate:
        try:
            rates(path, asked.rounds, asked.seconds, asked.depth)
        finally:
            path.unlink()
        return
    try:
        chosen = ways(path)
        found: dict[str, list[tuple[float, float, int]]] = {name: [] for name in chosen}
        for turn in range(asked.rounds):
            names = list(chosen)
            for name in names[turn % len(names) :] + names[: turn % len(names)]:
                found[name].append(once(path, chosen[name], asked.ios))
    finally:
        path.unlink()
    print(f"{'watched':24} {'ns an I/O':>9} {'more, ns: median (quartiles)':>30} {'records':>8} {'lost':>5}")
    for name, runs in found.items():
        more = [run[0] - base[0] for run, base in zip(runs, found["nothing"], strict=True)]
        low, _, high = quantiles(more, n=4)
        records, lost = median(run[1] for run in runs), sum(run[2] for run in runs)
        said = f"{median(more):,.0f} ({low:,.0f} to {high:,.0f})"
        print(f"{name:24} {median(run[0] for run in runs):9,.0f} {said:>30} {records:8.2f} {lost:5}")


if __name__ == "__main__":
    main()
