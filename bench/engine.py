"""The load engine beside its peers: IOPS per CPU-second, interleaved, with all recording on.

    python bench/engine.py [CELL ...] [--quick] [--dir DIR] [--rounds 9] [--time 0.4] [--out DIR]

Each round runs every engine once, in an order that turns from round to round; what counts is the ratio of
two engines within a round, and its median over the rounds. A control (fio tuned against itself) says how much
of a ratio is the machine's noise. CELL is a name such as hot-4k-d32, or the beginning of some: hot, zram.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import peers
import places
from cells import CELLS, QUICK, Cell
from peers import Figures, Run

from iocast import _core
from iocast.model.plan import Plan
from iocast.observe.host import describe_host

NOISY = 0.15
CONTROL = "control: fio tuned again"


def runs_of(cell: Cell, plan: Plan | None, path: Path) -> dict[str, Run]:
    """Every engine that can run the cell, iocast first."""
    others = {"t/io_uring": peers.t_io_uring(cell, path), "elbencho": peers.elbencho(cell, path)}
    extra = {name: run for name, run in others.items() if run}
    if plan is None:
        own = peers.nop_ring(cell)
        return ({"iocast": own} if own else {}) | extra
    fio = {name: peers.fio(cell, path, options) for name, options in peers.fio_settings(cell).items()}
    return {"iocast": peers.iocast(cell, plan, path), **fio, **extra, CONTROL: fio["fio tuned"]}


def compare(cell: Cell, runs: dict[str, Run], path: Path, rounds: int, seconds: float) -> dict[str, list[Figures]]:
    """All engines in turn, `rounds` times; those that refuse are left out."""
    results: dict[str, list[Figures]] = {name: [] for name in runs}
    for number in range(rounds):
        names = list(results)
        if not cell.direct:
            path.read_bytes()
        for name in names[number % len(names) :] + names[: number % len(names)]:
            done = runs[name](seconds)
            if done is None:
                del results[name]
            else:
                results[name].append(done)
        print(f"{cell.name}: round {number + 1} of {rounds}", file=sys.stderr)
    return results


def ratios(ours: list[Figures], theirs: list[Figures]) -> list[float]:
    """Of I/Os per CPU-second, round by round, in order of size."""
    return sorted(a.iops_per_cpu_s / b.iops_per_cpu_s for a, b in zip(ours, theirs, strict=True))


def median_ratios(results: dict[str, list[Figures]]) -> dict[str, float]:
    """iocast against each peer, the control left out."""
    peers = {name: runs for name, runs in results.items() if name not in ("iocast", CONTROL)}
    return {name: statistics.median(ratios(results["iocast"], runs)) for name, runs in peers.items()}


def verdicts(cell: Cell, results: dict[str, list[Figures]]) -> Iterator[tuple[str, float, float]]:
    """For each bar: against whom, the median ratio, the bar."""
    medians = median_ratios(results)
    fios = {name: ratio for name, ratio in medians.items() if name.startswith("fio")}
    for peer, bar in cell.bars.items():
        best = min(fios, key=lambda name: fios[name]) if peer == "the best of fio" and fios else peer
        if best in medians:
            yield best if best == peer else f"{peer}, {best}", medians[best], bar


def noise(results: dict[str, list[Figures]]) -> float | None:
    """How far the control is from 1; None without one."""
    if CONTROL not in results or "fio tuned" not in results:
        return None
    return abs(statistics.median(ratios(results["fio tuned"], results[CONTROL])) - 1)


def table(cell: Cell, results: dict[str, list[Figures]]) -> str:
    """The cell as Markdown: medians, the median of the ratios within rounds, and the bars."""
    head = ["| engine | IOPS | IOPS / CPU-s | p50 µs | p99 µs | iocast ÷ it |", "|---|---|---|---|---|---|"]
    lines = [f"### {cell.name}", "", *head]
    for name, runs in results.items():
        iops, per_cpu, p50, p99 = (
            statistics.median(getattr(run, field) for run in runs)
            for field in ("iops", "iops_per_cpu_s", "p50_us", "p99_us")
        )
        times = f"{p50:,.1f} | {p99:,.1f}" if p50 else "|"
        used = ", ".join(sorted({run.engine for run in runs} - {""}))
        shown = f"**iocast** ({used})" if used else name
        all_ratios = ratios(results["iocast"], runs)
        ratio = f"{statistics.median(all_ratios):.2f} ({all_ratios[0]:.2f}–{all_ratios[-1]:.2f})"
        lines.append(f"| {shown} | {iops:,.0f} | {per_cpu:,.0f} | {times} | {'' if name == 'iocast' else ratio} |")
    off = noise(results)
    said = [
        f"{'reached' if ratio >= bar else 'MISSED'}: {ratio:.2f} of {bar:.2f} ({peer})"
        for peer, ratio, bar in verdicts(cell, results)
    ]
    said += [f"control {off:+.0%}{': NOISY, no verdict' if off > NOISY else ''}"] if off is not None else []
    return "\n".join([*lines, "", "; ".join(said), ""])


@contextmanager
def place(cell: Cell, directory: Path) -> Iterator[tuple[Plan | None, Path]]:
    """A plan and a path for the cell."""
    if cell.where == "zram":
        with places.zram() as made:
            yield made
    else:
        plan, path = places.work_file(directory, cell.file_bytes)
        yield (None if cell.where == "ring" else plan), path


def chosen(names: list[str], quick: bool) -> list[Cell]:
    """The cells that were named, or begin so; all without a name."""
    wanted = names or (list(QUICK) if quick else list(CELLS))
    cells = [cell for name, cell in CELLS.items() if any(name == one or name.startswith(f"{one}-") for one in wanted)]
    if not cells:
        sys.exit(f"error: no cell called {' '.join(names)}\n\nhint: {' '.join(CELLS)}")
    return cells


def arguments() -> argparse.Namespace:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cells", nargs="*", metavar="CELL")
    parser.add_argument("--quick", action="store_true", help="six cells, three rounds")
    parser.add_argument("--dir", type=Path, default=Path("."), help="where the work files are (2.3 GiB)")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--time", type=float, default=0.4, help="seconds of each run")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results")
    asked = parser.parse_args()
    asked.rounds = asked.rounds or (3 if asked.quick else 9)
    return asked


def main() -> None:
    """Runs the cells, prints their tables, and writes all figures with the machine they came from."""
    asked = arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that a zram device of ours goes in any case
    if not shutil.which("fio"):
        sys.exit("error: fio is not installed\n\nhint: apt-get install fio")
    fio = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    machine = {
        "iocast": _core.__version__,
        "fio": fio,
        "kernel": platform.release(),
        "host": msgspec.to_builtins(describe_host()),
        "load_before": os.getloadavg()[0],
        "rounds": asked.rounds,
        "seconds": asked.time,
    }
    print(
        f"iocast {_core.__version__}, {fio}, Linux {platform.release()}, {os.cpu_count()} CPUs, "
        f"{asked.rounds} rounds of {asked.time:g} s, load before {os.getloadavg()[0]:.2f}\n"
    )
    everything: dict[str, object] = {}
    for cell in chosen(asked.cells, asked.quick):
        if cell.where == "zram" and (why := places.why_no_zram()):
            print(f"### {cell.name}\n\nskipped: {why}\n")
            continue
        with place(cell, asked.dir.resolve()) as (plan, path):
            runs = runs_of(cell, plan, path)
            if "iocast" not in runs:
                print(f"### {cell.name}\n\nskipped: build it with cargo build --locked --release --example nop_ring\n")
                continue
            results = compare(cell, runs, path, asked.rounds, max(asked.time, cell.least_s))
        print(table(cell, results), flush=True)
        everything[cell.name] = msgspec.to_builtins(results)
    asked.out.mkdir(exist_ok=True)
    file = asked.out / f"{time.strftime('%Y-%m-%d-%H%M%S', time.gmtime())}.json"
    file.write_text(json.dumps({"machine": machine, "cells": everything}, indent=1) + "\n")
    print(f"All figures: {file}", file=sys.stderr)


if __name__ == "__main__":
    main()
