"""Operations on names beside fio's filecreate, filestat and filedelete, mdtest and elbencho.

    python bench/metadata.py [--dir DIR] [--files 20000] [--threads 1,2,4] [--rounds 7] [--mdtest PROGRAM]
        [--elbencho PROGRAM] [--without fio,...] [--out FILE]

Each round makes, looks up and removes the same number of files without data in one directory a thread, once by every
engine, in an order that turns; what counts is the ratio of operations per CPU-second within a round, and its median.
CPU time is what the engine's threads used while they did the operations: iocast's of its whole process during the
phase, less what a phase of one file a thread takes, fio's as it reports it. mdtest and elbencho are processes of their
own: theirs is that of the process less what the same command takes for one file a thread. Several threads are several
mdtests of one rank, so that no rank's waiting for others is counted.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec

from iocast import load
from iocast.load.marks import MAKER, Mark, write_mark
from iocast.load.tree_files import empty_tree, make_place, remove_tree
from iocast.load.work_files import WorkFile
from iocast.model.measurement import Measurement
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.target import Target
from iocast.model.tree import Present, Tree, totals, tree_plan
from iocast.model.workload import MixItem, Op, Workload

OPS: dict[Op, str] = {"create": "filecreate", "stat": "filestat", "unlink": "filedelete"}
Figures = dict[Op, tuple[float, float]]  # operations a second, and per CPU-second
Engine = Callable[[Path, int, int], Figures]  # directory, threads, files a thread


def sized(place: Path) -> None:
    """fio stats and deletes only files of its size, and would write them first: they get it as a hole."""
    for each in place.rglob("f*"):
        os.truncate(each, 4096)


def iocast(place: Path, threads: int, files: int, engine: str = "auto") -> Figures:
    """What all files take, less what one file a thread takes."""
    few = _in_trees(place, threads, 1, engine)
    did = _in_trees(place, threads, files, engine)
    more = threads * (files - 1)
    return {op: (did[op].rate_per_s, more * 1e9 / max(1, _cpu_ns(did[op]) - _cpu_ns(few[op]))) for op in OPS}


def _cpu_ns(did: Measurement) -> int:
    return did.cpu_user_ns + did.cpu_system_ns


def _in_trees(place: Path, threads: int, files: int, engine: str) -> dict[Op, Measurement]:
    """A tree for each thread, of one directory; through a ring eight operations of each user in flight, and statx."""
    tree = Tree(depth=1, width=1, files=files, own=True)
    wanted, sums = tree_plan(tree, threads), totals(tree, threads)
    path = place / "iocast-tree"
    file = WorkFile(str(path), sums.span_bytes, fill=True)
    target = Target(path=str(place), kind="directory")
    write_mark(file.path, Mark(MAKER, file.size_bytes, whole=False))
    make_place(file, wanted)
    made: dict[Op, Measurement] = {}
    present: Present = "none"
    for op in OPS:
        does: Op = "statx" if op == "stat" and engine == "uring" else op
        depth = 8 if engine == "uring" else 1
        work = Workload(mix=(MixItem(does, 0),), users=threads, depth=depth, direct=False)
        phase = Phase(name=op, test=op, workload=work, length=Length(ios=sums.files))
        plan = Plan(name="bench", target=target, phases=(phase,), files=WorkFiles(1, 0), tree=tree)
        told = load.phase_plan(plan, phase, (file,), seed=1)
        assert told.tree is not None
        told = msgspec.structs.replace(told, engine=engine, tree=msgspec.structs.replace(told.tree, present=present))
        did, _ = load.measure(told, lambda *_: True)
        assert did.ios == sums.files, (op, did.errors)
        made[op] = did
        present = "all"
        if op == "create":
            sized(place)
    empty_tree(file, wanted)
    remove_tree(str(path))
    return made


def fio(place: Path, threads: int, files: int) -> Figures:
    """Three runs over the same files: each job has a directory of its own."""
    usual = ["fio", "--thread", "--group_reporting", "--output-format=json", "--fallocate=none", "--openfiles=1"]
    usual += [f"--nrfiles={files}", "--filesize=4k", "--bs=4k", f"--directory={place}", "--rw=read"]
    usual += ["--create_serialize=0", "--file_service_type=sequential", "--filename_format=d$jobnum/f$filenum"]
    for job in range(threads):
        (place / f"d{job}").mkdir()
    made: Figures = {}
    for op, engine in OPS.items():
        options = [f"--name={op}", f"--ioengine={engine}", f"--numjobs={threads}"]
        if op == "unlink":
            options.append("--unlink=0")
        said = subprocess.run([*usual, *options], capture_output=True, text=True, check=True).stdout
        job = json.loads(said[said.index("{") :])["jobs"][0]
        ran_s = job["job_runtime"] / 1e3
        done = threads * files
        cpu_s = (job["usr_cpu"] + job["sys_cpu"]) / 100 * ran_s
        took_s = max(job["read"]["runtime"], job["write"]["runtime"], 1) / 1e3
        made[op] = (done / took_s, done / max(1e-3, cpu_s))
        if op == "create":
            sized(place)
    shutil.rmtree(place)
    place.mkdir()
    return made


def took(commands: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Seconds by the clock and of CPU that commands take which run side by side."""
    began = time.perf_counter()
    running = [
        subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for each in commands
    ]
    cpu_s = 0.0
    for command, each in zip(commands, running, strict=True):
        _, status, used = os.wait4(each.pid, 0)
        cpu_s += used.ru_utime + used.ru_stime
        if status:
            said: str = each.stderr.read() if each.stderr else ""
            raise SystemExit(f"{' '.join(command)}: {said}")
    return time.perf_counter() - began, cpu_s


def beyond_start(commands: Callable[[int], Sequence[Sequence[str]]], threads: int, files: int) -> tuple[float, float]:
    """Operations a second and per CPU-second of commands that do so many files, less the same ones with one file."""
    (few_s, few_cpu_s), (all_s, all_cpu_s) = took(commands(1)), took(commands(files))
    more = threads * (files - 1)
    return more / max(1e-3, all_s - few_s), more / max(1e-3, all_cpu_s - few_cpu_s)


def mdtest(program: str, place: Path, threads: int, files: int) -> Figures:
    """A process for each thread, each in a directory of its own."""
    flags: dict[Op, str] = {"create": "-C", "stat": "-T", "unlink": "-r"}

    def commands(op: Op, count: int) -> list[list[str]]:
        each = [program, "-F", "-u", flags[op], "-n", str(count)]
        return [[*each, "-d", str(place / f"{count}-{thread}")] for thread in range(threads)]

    return {op: beyond_start(partial(commands, op), threads, files) for op in OPS}


def elbencho(program: str, place: Path, threads: int, files: int) -> Figures:
    """Its phases of files without data, one directory a thread."""
    flags: dict[Op, tuple[str, ...]] = {"create": ("-d", "-w"), "stat": ("--stat",), "unlink": ("-F",)}

    def commands(op: Op, count: int) -> list[list[str]]:
        path = place / str(count)
        path.mkdir(exist_ok=True)
        sizes = ["-t", str(threads), "-n", "1", "-N", str(count), "-s", "0"]
        return [[program, *flags[op], *sizes, "--nolive", str(path)]]

    return {op: beyond_start(partial(commands, op), threads, files) for op in OPS}


def engines_of(asked: argparse.Namespace) -> dict[str, Engine]:
    """All that are compared; those that are not here are told."""
    found: dict[str, Engine] = {"iocast": iocast, "iocast ring": partial(iocast, engine="uring")}
    if shutil.which("fio"):
        found["fio"] = fio
    for name, engine in (("mdtest", mdtest), ("elbencho", elbencho)):
        program = getattr(asked, name) or shutil.which(name)
        if program:
            found[name] = partial(engine, program)
    excluded = asked.without.split(",")
    missing = [name for name in ("fio", "mdtest", "elbencho") if name not in found and name not in excluded]
    if missing:
        print(f"not installed: {', '.join(missing)}")
    return {name: engine for name, engine in found.items() if name not in excluded}


def main() -> None:
    """Compares, prints a table, and leaves the figures where --out says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--dir", default=tempfile.gettempdir())
    parser.add_argument("--files", type=int, default=20_000, help="of each thread")
    parser.add_argument("--threads", default=f"1,{os.cpu_count()}")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--mdtest", metavar="PROGRAM", default="", help="default: mdtest on the PATH")
    parser.add_argument("--elbencho", metavar="PROGRAM", default="", help="default: elbencho on the PATH")
    parser.add_argument(
        "--without", metavar="ENGINES", default="", help="engines to leave out, for example 'iocast ring'"
    )
    parser.add_argument("--out", type=Path)
    asked = parser.parse_args()
    engines = engines_of(asked)
    found: dict[str, dict[str, list[Figures]]] = {}
    for threads in map(int, asked.threads.split(",")):
        results: dict[str, list[Figures]] = {name: [] for name in engines}
        names = list(engines)
        for number in range(asked.rounds):
            for name in names[number % len(names) :] + names[: number % len(names)]:
                place = Path(tempfile.mkdtemp(prefix="iocast-bench-", dir=asked.dir))
                try:
                    results[name].append(engines[name](place, threads, asked.files))
                finally:
                    shutil.rmtree(place)
            print(f"{threads} threads: round {number + 1} of {asked.rounds}", file=sys.stderr)
        found[str(threads)] = results
        print(table(threads, results))
    if asked.out:
        asked.out.write_bytes(msgspec.json.format(msgspec.json.encode(found)))


def table(threads: int, results: dict[str, list[Figures]]) -> str:
    """Medians, and the median of the ratios within rounds."""
    lines = [
        f"### {threads} thread{'s' if threads > 1 else ''}",
        "",
        "| operation | engine | ops/s | ops / CPU-s | iocast ÷ it |",
        "|---|---|---|---|---|",
    ]
    for op in OPS:
        for name, runs in results.items():
            rate, cpu = (statistics.median(run[op][at] for run in runs) for at in (0, 1))
            ours = zip(results["iocast"], runs, strict=True)
            ratios = sorted(mine[op][1] / its[op][1] for mine, its in ours)
            said = "" if name == "iocast" else f"{statistics.median(ratios):.2f} ({ratios[0]:.2f}–{ratios[-1]:.2f})"
            lines.append(f"| {op} | {name} | {rate:,.0f} | {cpu:,.0f} | {said} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
