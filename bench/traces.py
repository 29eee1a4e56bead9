"""Traces read beside their peers: CPU time and time, in rounds, with what is lost.

    python bench/traces.py [--peers PYTHON] [--blkparse PROGRAM] [--parsetrc SCRIPT] [--rounds 5] [--lines 600000]
                           [--dir DIR] [KIND ...]

It makes traces of its own, reads each with every tool in turn, each time in a process of its own, and counts what
that process took from the moment when it is loaded (programs: all of it). What counts is the ratio within a round and
its median. PYTHON has the peers (`python -m venv peers && peers/bin/pip install duckdb polars pyarrow`); DuckDB alone
is there without. blkparse is found on the PATH; parsetrc.pl is a script of its own. KIND is oracle, blktrace, msr,
strace or blkparse. Build first: `cargo build --locked --release --package iocast-core --example trace_columns`.

A row is marked where iocast is the slower one, or misses the bar of `BARS`. The time on all processors means something
on a machine with nothing else to do; the CPU time beside it says what sharing the work costs.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
MSR_TYPES = {"ts": "BIGINT", "host": "VARCHAR", "disk": "INTEGER", "op": "VARCHAR", "off": "BIGINT", "size": "INTEGER",
             "lat": "BIGINT"}  # fmt: skip
_BEFORE = """
import json, os, resource, sys, time
threads = int(sys.argv[3])
os.environ["POLARS_MAX_THREADS"] = str(threads)
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
"""
_AFTER = """
print()
print(json.dumps({"cpu_s": used() - before, "wall_s": time.monotonic() - began}))
"""
_BEGIN = "before, began = used(), time.monotonic()"
_TABLE = f"read_csv(?, header=false, auto_detect=false, columns={MSR_TYPES!r})"
_DUCKDB = f"""
import duckdb
duckdb.execute(f"set threads = {{threads}}")
duckdb.execute("set enable_progress_bar = false")
{_BEGIN}
"""
_POLARS = f"""
import polars as pl
kinds = {{"BIGINT": pl.Int64, "VARCHAR": pl.String, "INTEGER": pl.Int32}}
schema = {{name: kinds[kind] for name, kind in {MSR_TYPES!r}.items()}}
{_BEGIN}
"""
# Each reads sys.argv[1] into typed columns, or writes them to sys.argv[2], with sys.argv[3] threads.
PEERS = {
    "DuckDB": f"""{_DUCKDB}
duckdb.execute("create table t as select * from {_TABLE}", [sys.argv[1]])
""",
    "Polars": f"""{_POLARS}
pl.read_csv(sys.argv[1], has_header=False, schema=schema)
""",
    "pyarrow": f"""
import pyarrow as pa
from pyarrow import csv
pa.set_cpu_count(threads)
kinds = {{"BIGINT": pa.int64(), "VARCHAR": pa.string(), "INTEGER": pa.int32()}}
types = {{name: kinds[kind] for name, kind in {MSR_TYPES!r}.items()}}
{_BEGIN}
csv.read_csv(sys.argv[1], csv.ReadOptions(column_names=list(types), use_threads=threads > 1),
             convert_options=csv.ConvertOptions(column_types=types))
""",
    "DuckDB to Parquet": f"""{_DUCKDB}
table = "{_TABLE}"
duckdb.execute(f"copy (select * from {{table}}) to '{{sys.argv[2]}}' (format parquet, compression zstd)", [sys.argv[1]])
""",
    "Polars to Parquet": f"""{_POLARS}
pl.scan_csv(sys.argv[1], has_header=False, schema=schema).sink_parquet(sys.argv[2], compression="zstd")
""",
}
CPUS = os.cpu_count() or 1
# Bars of traces.md 4.1: CPU time of the peer against iocast's, MB and million lines a CPU-second.
BARS = {
    ("msr", "DuckDB"): 1.3, ("msr", "Polars"): 1.3, ("msr", "pyarrow"): 1.3, ("oracle", "parsetrc.pl"): 40.0,
    ("blkparse", "blkparse writes it"): 5.0,
}  # fmt: skip


class Took(NamedTuple):
    """What one reading took."""

    cpu_s: float
    wall_s: float


def msr(lines: int, draw: random.Random) -> Iterator[bytes]:
    """Rows of MSR Cambridge."""
    at = 128166372003061629
    for _ in range(lines):
        at += draw.randrange(40_000)
        op, offset = draw.choice(("Read", "Write")), draw.randrange(1 << 27) * 512
        yield b"%d,hm,%d,%s,%d,%d,%d\n" % (
            at, draw.randrange(3), op.encode(), offset, draw.choice((4096, 8192, 65536)), draw.randrange(1_000, 300_000)
        )  # fmt: skip


def oracle(lines: int, draw: random.Random) -> Iterator[bytes]:
    """Waits of a session, a call for each twenty."""
    yield b"Oracle Database 12c Release 12.1.0.1.0\n"
    at = 1377520823036634
    for number in range(lines):
        took = draw.randrange(200, 12_000)
        at += took + draw.randrange(50)
        if number % 20:
            yield (
                b"WAIT #140386304541280: nam='db file sequential read' ela= %d file#=%d block#=%d blocks=1 "
                b"obj#=%d tim=%d\n"
                % (took, draw.randrange(1, 12), draw.randrange(4_000_000), draw.randrange(90_000), at)
            )
        else:
            yield b"FETCH #140386304541280:c=%d,e=%d,p=19,cr=24,cu=0,mis=0,r=1,dep=0,og=1,plh=2910648220,tim=%d\n" % (
                took // 3, took, at
            )  # fmt: skip


def blktrace(lines: int, draw: random.Random) -> Iterator[bytes]:
    """Records of queueing, issue and completion of requests, several under way."""
    at, sequence = 1_000, 0
    for _ in range(lines // 3):
        sector, size = draw.randrange(1 << 32) * 8, draw.choice((4096, 8192, 16384))
        write = draw.random() < 0.3
        for step in (1, 7, 8):
            at += draw.randrange(2_000)
            sequence += 1
            bits = (1 << 17 if write else 1 << 16) | step
            numbers = (0x65617407, sequence, at, sector, size, bits, 4_000 + sequence % 7, 8 << 20 | 16, 0, 0, 0)
            yield struct.pack("<IIQQIIIIIHH", *numbers)


def blkparse(lines: int, draw: random.Random) -> Iterator[bytes]:
    """The same as text."""
    at = 0
    for number in range(lines // 3):
        sector = draw.randrange(1 << 32) * 8
        for step in b"QDC":
            at += draw.randrange(2_000)
            yield b"  8,16   1 %8d %5d.%09d  4123  %c  WS %d + 8 [%s]\n" % (
                number, at // 10**9, at % 10**9, step, sector, b"0" if step == ord("C") else b"postgres"
            )  # fmt: skip


def strace(lines: int, draw: random.Random) -> Iterator[bytes]:
    """What strace -f -ttt -T -y says of a database."""
    at = 1795288863_000000
    for _ in range(lines):
        at += draw.randrange(300)
        file, offset, took = 16_390 + draw.randrange(20), draw.randrange(1 << 20) * 8192, draw.randrange(900)
        data = rb"\0\0\0\0p\213Y\r\0\0\0\0\334\5\340\10\360\37\4 \0\0"
        yield b'19071 %d.%06d pread64(11</var/lib/db/base/5/%d>, "%s"..., 8192, %d) = 8192 <0.%06d>\n' % (
            at // 10**6, at % 10**6, file, data, offset, took
        )  # fmt: skip


KINDS: dict[str, Callable[[int, random.Random], Iterator[bytes]]] = {
    "msr": msr, "oracle": oracle, "blktrace": blktrace, "blkparse": blkparse, "strace": strace,
}  # fmt: skip
NAMES = {"msr": "a.csv", "oracle": "a.trc", "blktrace": "a.blktrace.0", "blkparse": "a.txt", "strace": "s.txt"}


Run = Callable[[], Took]


def own(path: Path, to: Path | None, cpus: int = 1) -> Run:
    """iocast, into columns or into a file, on so many processors."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = [str(target / "release/examples/trace_columns"), str(path), *(["--to", str(to)] if to else [])]
    return lambda: _said(command, cpus)


def peer(python: str, name: str, path: Path, to: Path, threads: int = 1) -> Run:
    """Another tool with so many threads."""
    command = [python, "-c", _BEFORE + PEERS[name] + _AFTER, str(path), str(to), str(threads)]
    return lambda: _said(command, CPUS)


def _said(command: list[str], cpus: int) -> Took:
    def stay() -> None:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cpus])

    said = subprocess.run(command, capture_output=True, check=True, text=True, preexec_fn=stay).stdout
    found = json.loads(said.splitlines()[-1])
    return Took(found["cpu_s"], found["wall_s"])


def program(command: list[str], folder: Path) -> Run:
    """A program, all of it."""

    def run() -> Took:
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Took(cpu_s, time.monotonic() - began)

    return run


def tools(kind: str, path: Path, folder: Path, asked: argparse.Namespace) -> dict[str, Run]:
    """All that read the trace, iocast first."""
    to = folder / "out.parquet"
    found = {"iocast": own(path, None), "iocast to Parquet": own(path, to)}
    if kind == "msr":
        found[f"iocast to Parquet, {CPUS} processors"] = own(path, to, CPUS)
        found |= {name: peer(asked.peers, name, path, to) for name in PEERS}
        wide = {name: f"{name}, {CPUS} processors" for name in PEERS if "Parquet" in name}
        found |= {wide[name]: peer(asked.peers, name, path, to, CPUS) for name in wide}
    if kind == "oracle" and asked.parsetrc:
        found["parsetrc.pl"] = program(["bash", str(asked.parsetrc), str(path)], folder)
    if kind == "blktrace" and asked.blkparse:
        found["blkparse to text"] = program([asked.blkparse, "-q", "-i", "a", "-o", "/dev/null"], folder)
    if kind == "blkparse" and asked.blkparse:
        found["blkparse writes it"] = program([asked.blkparse, "-q", "-i", "b", "-o", "/dev/null"], folder)
    return {name: run for name, run in found.items() if _works(name, run)}


def _works(name: str, run: Run) -> bool:
    try:
        run()
    except (subprocess.CalledProcessError, OSError):
        print(f"{name} is not there", file=sys.stderr)
        return False
    return True


def compare(kind: str, path: Path, runs: dict[str, Run], rounds: int, lines: int) -> None:
    """Prints a row for each tool."""
    took: dict[str, list[Took]] = {name: [] for name in runs}
    for number in range(rounds):
        names = list(runs)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            took[name].append(runs[name]())
    size_mb = path.stat().st_size / 1e6
    for name, found in took.items():
        cpu_s, wall_s = [each.cpu_s for each in found], [each.wall_s for each in found]
        all_cpus = f", {CPUS} processors"
        mine = took["iocast" + " to Parquet" * ("Parquet" in name) + all_cpus * (name.endswith(all_cpus))]
        ratio = statistics.median(other / own.cpu_s for own, other in zip(mine, cpu_s, strict=True))
        times = statistics.median(other / own.wall_s for own, other in zip(mine, wall_s, strict=True))
        best = min(cpu_s)
        lost = ratio < BARS.get((kind, name), 1.0) and not name.startswith("iocast")
        print(
            f"| {kind} | {name} | {size_mb / statistics.median(cpu_s):.0f} | {size_mb / best:.0f} "
            f"| {lines / 1e6 / best:.1f} | {ratio:.2f}{' **missed**' if lost else ''} "
            f"| {min(wall_s):.2f} s | {times:.2f} |",
            flush=True,
        )
    one, all_of_them = "iocast to Parquet", f"iocast to Parquet, {CPUS} processors"
    if all_of_them in took:
        both = list(zip(took[one], took[all_of_them], strict=True))
        times = statistics.median(alone.wall_s / shared.wall_s for alone, shared in both)
        cost = statistics.median(shared.cpu_s / alone.cpu_s for alone, shared in both)
        best = min(alone.wall_s for alone, _ in both) / min(shared.wall_s for _, shared in both)
        print(
            f"\n{CPUS} processors against one, to Parquet: {times:.2f} times as fast (median of pairs), {best:.2f} "
            f"(best against best), for {cost:.2f} times the CPU time\n"
        )


def made(kind: str, folder: Path, asked: argparse.Namespace) -> tuple[Path, int]:
    """The trace of a kind, and its lines. With blkparse at hand it writes its text itself."""
    path = folder / NAMES[kind]
    if kind == "blkparse" and asked.blkparse:
        with (folder / "b.blktrace.0").open("wb") as file:
            file.writelines(blktrace(asked.lines, random.Random(1)))
        program([asked.blkparse, "-q", "-i", "b", "-o", path.name], folder)()
    else:
        with path.open("wb") as file:
            file.writelines(KINDS[kind](asked.lines, random.Random(1)))
    return path, asked.lines


def main() -> None:
    """Makes the traces and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="oracle, blktrace, msr, strace, blkparse")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--blkparse", default=shutil.which("blkparse"), metavar="PROGRAM")
    parser.add_argument("--parsetrc", default=None, type=Path, metavar="SCRIPT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=600_000)
    parser.add_argument("--dir", type=Path, default=None)
    asked = parser.parse_args()
    heading = "| trace | tool | MB a CPU-s, median | best | million lines a CPU-s, best | CPU time against iocast's "
    print(heading + "| best time | time against iocast's |")
    print("|---" * 8 + "|")
    with tempfile.TemporaryDirectory(dir=asked.dir) as place:
        folder = Path(place)
        for kind in asked.kinds or KINDS:
            path, lines = made(kind, folder, asked)
            compare(kind, path, tools(kind, path, folder, asked), asked.rounds, lines)
            path.unlink()


if __name__ == "__main__":
    main()
