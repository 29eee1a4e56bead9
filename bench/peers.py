"""The engines in a comparison: each runs a cell once and says its I/Os per second, and per second of CPU time.

The CPU time of a peer is that of its whole process, kernel workers included, less what it needs to start and end
(measured by a run of one I/O); that of iocast is of its whole process during the phase. For durable writes it is that
of the whole machine: the kernel makes what a ring wrote durable on work queues of its own, which belong to no process.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from cells import Cell

from iocast import load
from iocast.load.work_files import WorkFile
from iocast.model.plan import Length, Phase, Plan

ROOT = Path(__file__).resolve().parents[1]
FIO = ("fio", "--name=j", "--thread", "--norandommap", "--randrepeat=0", "--output-format=json")
RING = ("--ioengine=io_uring",)
UNITS = {"": 1.0, "K": 1e3, "M": 1e6}


class Figures(msgspec.Struct, frozen=True):
    """One run."""

    iops: float
    iops_per_cpu_s: float
    p50_us: float = 0.0
    p99_us: float = 0.0
    engine: str = ""


Run = Callable[[float], Figures | None]  # seconds -> figures; None when it refuses these options here


def iocast(cell: Cell, plan: Plan, path: Path) -> Run:
    """iocast with the engine that it chooses itself, and all that it always records.

    Its places are others in every run, as those of fio are: a cache below would know them otherwise.
    """
    seeds = itertools.count(time.time_ns())

    def run(seconds: float) -> Figures:
        phase = Phase(name=cell.name, test="bench", workload=cell.workload, length=Length(seconds=seconds))
        file = WorkFile(str(path), cell.file_bytes, fill=False)
        before_s = machine_cpu_s()
        result, _series = load.measure(load.phase_plan(plan, phase, (file,), seed=next(seeds)), lambda *_: True)
        assert not result.errors, result.errors
        cpu_s = (result.cpu_user_ns + result.cpu_system_ns) / 1e9
        if cell.machine_cpu:
            cpu_s = machine_cpu_s() - before_s
        return Figures(
            result.rate_per_s,
            result.ios / max(1e-9, cpu_s),
            result.service().quantile_ns(0.5) / 1e3,
            result.service().quantile_ns(0.99) / 1e3,
            result.engine.name,
        )

    return run


def nop_ring(cell: Cell) -> Run | None:
    """The worker of iocast on no-ops; None where it is not built."""
    program = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release" / "examples" / "nop_ring"
    if not program.exists():
        return None

    def run(seconds: float) -> Figures:
        said = subprocess.run([program, str(cell.depth), str(seconds)], capture_output=True, check=True).stdout
        done = json.loads(said)
        return Figures(done["ios"] / done["seconds"], done["ios"] * 1e9 / done["cpu_ns"])

    return run


def fio_settings(cell: Cell) -> dict[str, tuple[str, ...]]:
    """fio as it comes, tuned, and the other engines that could be its best; all keep the queue at the cell's depth.

    "fio tuned" notices every completion at once, as iocast does; "batched" waits for a quarter of the queue.
    """
    depth, quarter = f"--iodepth={cell.depth}", max(1, cell.depth // 4)
    fixed = (*RING, depth, "--fixedbufs", "--registerfiles", f"--iodepth_batch_submit={quarter}")
    fixed = (*fixed, f"--iodepth_batch_complete_max={cell.depth}")
    settings = {
        "fio default": (*RING, depth),
        "fio tuned": (*fixed, "--iodepth_batch_complete_min=1"),
        "fio libaio": ("--ioengine=libaio", depth),
        "fio psync": ("--ioengine=psync", f"--numjobs={cell.depth}", "--group_reporting"),
    }
    if cell.depth >= 32:
        settings["fio tuned, batched"] = (*fixed, f"--iodepth_batch_complete_min={quarter}")
    if cell.depth > 32:
        del settings["fio psync"]  # a thread an I/O: no longer anybody's setting
    return settings


def fio(cell: Cell, path: Path, options: tuple[str, ...]) -> Run:
    """fio with these options, its latency statistics on."""
    command = (*FIO, f"--filename={path}", *cell.fio_options, *options)

    @functools.cache
    def starting_s() -> float:
        return min(_cpu((*command, "--number_ios=1"))[1] for _ in range(3))

    def run(seconds: float) -> Figures | None:
        before_s = machine_cpu_s()
        said, cpu_s = _cpu((*command, "--time_based", f"--runtime={round(seconds * 1000)}ms"))
        if not said:
            return None
        if cell.machine_cpu:
            cpu_s = machine_cpu_s() - before_s
        job = json.loads(said[said.index("{") :])["jobs"][0]
        done = job[cell.op]
        percentiles = done["clat_ns"].get("percentile", {})
        return Figures(
            done["iops"],
            done["total_ios"] / max(cpu_s - starting_s(), 1e-9),
            percentiles.get("50.000000", 0) / 1e3,
            percentiles.get("99.000000", 0) / 1e3,
        )

    return run


def t_io_uring(cell: Cell, path: Path) -> Run | None:
    """How fio's author measures the kernel: no latencies, fixed buffers; None where it is not at hand."""
    program = os.environ.get("T_IO_URING") or shutil.which("t-io_uring")
    if not program or cell.op != "read":
        return None
    batch = str(min(32, cell.depth))
    command = (program, f"-d{cell.depth}", "-s", batch, "-c", batch, f"-b{cell.size_bytes}", "-p0", "-B1", "-F1", "-X1")
    command = (*command, f"-O{int(cell.direct)}", f"-R{int(not cell.in_order)}", f"-N{int(cell.where == 'ring')}")

    def run(seconds: float) -> Figures | None:
        whole = max(2, round(seconds))  # it counts in seconds, and its first line is not a whole one
        said, cpu_s = _cpu((*command, f"-r{whole}", str(path)))
        rates = [float(n) * UNITS[unit] for n, unit in re.findall(r"^IOPS=([\d.]+)([KM]?),", said, re.MULTILINE)]
        if not rates:
            return None
        iops = sum(rates) / len(rates)
        return Figures(iops, iops * whole / max(cpu_s, 1e-9))

    return run


def elbencho(cell: Cell, path: Path) -> Run | None:
    """elbencho: one thread on libaio (plain reads at depth 1), its histogram on as always; None where it cannot."""
    program = os.environ.get("ELBENCHO") or shutil.which("elbencho")
    if not program or cell.where == "ring" or cell.op != "read" or cell.sync != "none":
        return None
    command = (program, "--read", "--threads=1", f"--block={cell.size_bytes}", f"--iodepth={cell.depth}")
    command = (*command, f"--size={cell.file_bytes}", "--nolive", "--lathisto")
    command = (*command, *(("--direct",) if cell.direct else ()))

    def once(*options: str) -> tuple[dict[str, Any], float]:
        with tempfile.TemporaryDirectory() as place:
            told = Path(place) / "told.json"
            _, cpu_s = _cpu((*command, *options, f"--jsonfile={told}", str(path)))
            lines = told.read_text().splitlines() if told.exists() else []
        return json.loads(lines[-1])["last_done"] if lines else {}, cpu_s

    order = () if cell.in_order else ("--rand",)

    @functools.cache
    def starting_s() -> float:
        return min(once("--rand", f"--randamount={cell.size_bytes}")[1] for _ in range(3))

    def run(seconds: float) -> Figures | None:
        whole = max(1, round(seconds))  # it counts in seconds, and looks at the clock every other one
        done, cpu_s = once(*order, "--infloop", f"--timelimit={whole}")
        if not done.get("bytes"):
            return None
        ios = int(done["bytes"]) / cell.size_bytes
        return Figures(float(done["iops"]), ios / max(cpu_s - starting_s(), 1e-9))

    return run


def machine_cpu_s() -> float:
    """What all processors have worked since the start of the machine, in steps of 10 ms. Source: proc(5), "cpu"."""
    with open("/proc/stat", encoding="ascii") as stat:
        user, nice, system, _idle, _iowait, irq, softirq = (int(n) for n in stat.readline().split()[1:8])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def _cpu(command: tuple[str, ...]) -> tuple[str, float]:
    """What a command says ("" when it failed) and its CPU seconds, threads and kernel workers included."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    said = process.stdout.read()
    process.stdout.close()
    _pid, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    time.sleep(0.05)  # what the kernel still does for it is not the next one's
    return said if process.returncode == 0 else "", usage.ru_utime + usage.ru_stime
