"""The load engine beside fio: IOPS per CPU-second, interleaved, with all recording on.

    python bench/engine.py [--dir DIR] [--rounds 9] [--time 2] [--json FILE]

Each round runs every engine once, in an order that turns from round to round; what counts is the ratio of
two engines within a round, and its median over the rounds. CPU seconds of fio are those of its job thread
(the larger part of what it uses, so the comparison favours fio); those of iocast are of the whole process.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import msgspec

from iocast import _core, load
from iocast.load.files import WorkFile
from iocast.load.filling import claimed, create, fill_phase, finish
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.workload import MixItem, Sequential, Uniform, Workload
from iocast.observe.stack import describe

MIB, GIB = 1 << 20, 1 << 30


class Cell(msgspec.Struct, frozen=True):
    """One load: what iocast and fio are both asked for."""

    name: str
    file_bytes: int
    size_bytes: int
    depth: int
    direct: bool
    in_order: bool = False

    @property
    def workload(self) -> Workload:
        """For iocast."""
        locality = Sequential() if self.in_order else Uniform()
        mix = (MixItem("read", self.size_bytes),)
        return Workload(mix=mix, locality=locality, depth=self.depth, direct=self.direct)

    @property
    def fio_options(self) -> list[str]:
        """For fio."""
        return [
            f"--rw={'read' if self.in_order else 'randread'}",
            f"--bs={self.size_bytes}",
            f"--iodepth={self.depth}",
            f"--direct={int(self.direct)}",
            "--invalidate=0",  # or fio drops the cache at its start, and a hot file is not hot
            f"--size={self.file_bytes}",
        ]


CELLS = (
    Cell("hot file, 4k random, depth 32", 256 * MIB, 4096, 32, direct=False),
    Cell("O_DIRECT file, 4k random, depth 32", 2 * GIB, 4096, 32, direct=True),
    Cell("O_DIRECT file, 1 MiB in order, depth 8", 2 * GIB, MIB, 8, direct=True, in_order=True),
)
FIO = [
    "fio",
    "--name=j",
    "--thread",
    "--time_based",
    "--norandommap",
    "--randrepeat=0",
    "--output-format=json",
]
RING = ["--ioengine=io_uring"]
FIXED = [*RING, "--fixedbufs", "--registerfiles"]


def engines(cell: Cell) -> dict[str, list[str]]:
    """fio as it comes, and the settings that were found to be its best; each keeps the same queue depth.

    "tuned" notices every completion at once, as iocast does. "tuned, batched" waits for a quarter of the
    queue before it looks: fewer system calls, and later latencies.
    """
    quarter = max(1, cell.depth // 4)
    batched = [f"--iodepth_batch_submit={quarter}", f"--iodepth_batch_complete_max={cell.depth}"]
    return {
        "fio default": RING,
        "fio tuned": [*FIXED, *batched, "--iodepth_batch_complete_min=1"],
        "fio tuned, batched": [*FIXED, *batched, f"--iodepth_batch_complete_min={quarter}"],
        "fio tuned, huge pages": [*FIXED, *batched, "--iodepth_batch_complete_min=1", "--iomem=mmaphuge"],
    }


def run_fio(cell: Cell, path: Path, options: list[str], seconds: float) -> dict[str, float] | None:
    """One run of fio; None when it refuses these options on this machine."""
    command = [*FIO, f"--runtime={seconds}", f"--filename={path}", *cell.fio_options, *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 60, check=False)
    if done.returncode:
        return None
    job = json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]
    cpu_share = (job["usr_cpu"] + job["sys_cpu"]) / 100
    percentiles = job["read"]["clat_ns"].get("percentile", {})
    return {
        "iops": job["read"]["iops"],
        "iops_per_cpu_s": job["read"]["iops"] / max(cpu_share, 1e-9),
        "p50_us": percentiles.get("50.000000", 0) / 1e3,
        "p99_us": percentiles.get("99.000000", 0) / 1e3,
    }


def run_iocast(cell: Cell, plan: Plan, path: Path, seconds: float) -> dict[str, float]:
    """One phase of iocast, with all that it always records."""
    phase = Phase(name=cell.name, test="bench", workload=cell.workload, length=Length(seconds=seconds))
    file = WorkFile(str(path), cell.file_bytes, fill=False)
    result, _series = load.measure(load.phase_plan(plan, phase, (file,), seed=1), lambda *_: True)
    return {
        "iops": result.rate_per_s,
        "iops_per_cpu_s": result.ios * 1e9 / max(1, result.cpu_user_ns + result.cpu_system_ns),
        "p50_us": result.service().quantile_ns(0.5) / 1e3,
        "p99_us": result.service().quantile_ns(0.99) / 1e3,
    }


def lay_out(directory: Path, size_bytes: int) -> tuple[Plan, Path]:
    """A plan on a folder of its own, and its one work file, made if it is not there."""
    folder = directory / f"iocast-bench-{size_bytes // MIB}"
    folder.mkdir(exist_ok=True)
    plan = Plan(name="bench", target=describe(str(folder)), phases=(), files=WorkFiles(1, size_bytes))
    layout = load.lay_out(plan)
    (file,) = layout.files
    with claimed(layout):
        if file.fill:
            create(file)
            fill = load.phase_plan(plan, fill_phase(file, direct=True), (file,), seed=0)
            done, _series = load.measure(fill, lambda *_: True)
            assert not done.errors, done.errors
            finish(file)
    return plan, Path(file.path)


def compare(cell: Cell, plan: Plan, path: Path, rounds: int, seconds: float) -> dict[str, list[dict[str, float]]]:
    """All engines in turn, `rounds` times."""
    fio_options = engines(cell)
    results: dict[str, list[dict[str, float]]] = {name: [] for name in ("iocast", *fio_options)}
    for number in range(rounds):
        names = list(results)
        if not cell.direct:
            path.read_bytes()
        for name in names[number % len(names) :] + names[: number % len(names)]:
            if name == "iocast":
                results[name].append(run_iocast(cell, plan, path, seconds))
            elif (done := run_fio(cell, path, fio_options[name], seconds)) is not None:
                results[name].append(done)
        print(f"{cell.name}: round {number + 1} of {rounds}", file=sys.stderr)
    return {name: runs for name, runs in results.items() if len(runs) == rounds}


def table(cell: Cell, results: dict[str, list[dict[str, float]]]) -> str:
    """The cell as Markdown: medians, and the median of the ratios within rounds."""
    lines = [
        f"### {cell.name}",
        "",
        "| engine | IOPS | IOPS / CPU-s | p50 µs | p99 µs | iocast ÷ it |",
        "|---|---|---|---|---|---|",
    ]
    ours = [run["iops_per_cpu_s"] for run in results["iocast"]]
    for name, runs in results.items():
        middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        ratios = [a / run["iops_per_cpu_s"] for a, run in zip(ours, runs, strict=True)]
        ratio = f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})" if name != "iocast" else ""
        lines.append(
            f"| {name} | {middle['iops']:,.0f} | {middle['iops_per_cpu_s']:,.0f} "
            f"| {middle['p50_us']:,.1f} | {middle['p99_us']:,.1f} | {ratio} |"
        )
    return "\n".join([*lines, ""])


def main() -> None:
    """Runs all cells and prints their tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dir", type=Path, default=Path("."))
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--time", type=float, default=2.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    if not shutil.which("fio"):
        sys.exit("error: fio is not installed\n\nhint: apt-get install fio")
    directory = arguments.dir.resolve()
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True).stdout.strip()
    print(
        f"iocast {_core.__version__}, {version}, Linux {platform.release()}, {os.cpu_count()} CPUs, "
        f"{arguments.rounds} rounds of {arguments.time:g} s, load before {os.getloadavg()[0]:.2f}\n"
    )
    everything = {}
    for cell in CELLS:
        plan, path = lay_out(directory, cell.file_bytes)
        everything[cell.name] = compare(cell, plan, path, arguments.rounds, arguments.time)
        print(table(cell, everything[cell.name]), flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1))


if __name__ == "__main__":
    main()
