"""Traces read beside their peers: MB and events per CPU-second, in pairs.

    python bench/traces.py [--peers PYTHON] [--rounds 5] [--lines 600000] [--dir DIR] [KIND ...]

It makes traces of its own, reads each with every tool in turn, each time in a process of its own, and counts the CPU
time of that process. What counts is the ratio within a round and its median.
PYTHON has the peers (`python -m venv peers && peers/bin/pip install duckdb polars pyarrow`); DuckDB alone
is there without. KIND is oracle, blktrace, msr, strace or blkparse. Build first:
`cargo build --release --package iocast-core --example trace_columns`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MSR_TYPES = {"ts": "BIGINT", "host": "VARCHAR", "disk": "INTEGER", "op": "VARCHAR", "off": "BIGINT", "size": "INTEGER",
             "lat": "BIGINT"}  # fmt: skip
_CPU = """
import resource, sys
used = lambda: sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
"""
# Each reads sys.argv[1] into typed columns, or writes them to sys.argv[2], and prints its CPU seconds.
PEERS = {
    "DuckDB": f"""{_CPU}
import duckdb
duckdb.execute("set threads=1")
before = used()
table = "read_csv(?, header=false, auto_detect=false, columns={MSR_TYPES!r})"
duckdb.execute(f"create table t as select * from {{table}}", [sys.argv[1]])
print(used() - before)
""",
    "DuckDB to Parquet": f"""{_CPU}
import duckdb
duckdb.execute("set threads=1")
before = used()
table = "read_csv(?, header=false, auto_detect=false, columns={MSR_TYPES!r})"
duckdb.execute(f"copy (select * from {{table}}) to '{{sys.argv[2]}}' (format parquet, compression zstd)", [sys.argv[1]])
print(used() - before)
""",
    "Polars": f"""{_CPU}
import os
os.environ["POLARS_MAX_THREADS"] = "1"
import polars as pl
kinds = {{"BIGINT": pl.Int64, "VARCHAR": pl.String, "INTEGER": pl.Int32}}
schema = {{name: kinds[kind] for name, kind in {MSR_TYPES!r}.items()}}
before = used()
pl.read_csv(sys.argv[1], has_header=False, schema=schema)
print(used() - before)
""",
    "pyarrow": f"""{_CPU}
import pyarrow as pa
from pyarrow import csv
pa.set_cpu_count(1)
kinds = {{"BIGINT": pa.int64(), "VARCHAR": pa.string(), "INTEGER": pa.int32()}}
types = {{name: kinds[kind] for name, kind in {MSR_TYPES!r}.items()}}
before = used()
csv.read_csv(sys.argv[1], csv.ReadOptions(column_names=list(types), use_threads=False),
             convert_options=csv.ConvertOptions(column_types=types))
print(used() - before)
""",
}
TO_COLUMNS = ("DuckDB", "Polars", "pyarrow")


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


def own(path: Path, to: Path | None) -> Callable[[], float]:
    """iocast, into columns or into a file."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = [str(target / "release/examples/trace_columns"), str(path), *(["--to", str(to)] if to else [])]
    return lambda: float(json.loads(subprocess.run(command, capture_output=True, check=True).stdout)["cpu_s"])


def peer(python: str, text: str, path: Path, to: Path) -> Callable[[], float]:
    """Another tool."""
    command = [python, "-c", text, str(path), str(to)]
    return lambda: float(subprocess.run(command, capture_output=True, check=True, text=True).stdout)


def tools(kind: str, path: Path, folder: Path, python: str) -> dict[str, Callable[[], float]]:
    """All that read the trace, iocast first."""
    to = folder / "out.parquet"
    found = {"iocast": own(path, None), "iocast to Parquet": own(path, to)}
    if kind == "msr":
        for name, text in PEERS.items():
            run = peer(python, text, path, to)
            try:
                run()
            except subprocess.CalledProcessError:
                print(f"{name} is not there", file=sys.stderr)
                continue
            found[name] = run
    return found


def compare(kind: str, path: Path, folder: Path, python: str, rounds: int, lines: int) -> None:
    """Prints a row for each tool."""
    runs = tools(kind, path, folder, python)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds):
        names = list(runs)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            seconds[name].append(runs[name]())
    size_mb = path.stat().st_size / 1e6
    for name, found in seconds.items():
        own_name = "iocast to Parquet" if "Parquet" in name else "iocast"
        ratio = statistics.median(other / mine for mine, other in zip(seconds[own_name], found, strict=True))
        best = min(found)
        print(
            f"| {kind} | {name} | {size_mb / statistics.median(found):.0f} | {size_mb / best:.0f} "
            f"| {lines / 1e6 / best:.1f} | {ratio:.2f} |",
            flush=True,
        )


def main() -> None:
    """Makes the traces and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", nargs="*", metavar="KIND", help="oracle, blktrace, msr, strace, blkparse")
    parser.add_argument("--peers", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lines", type=int, default=600_000)
    parser.add_argument("--dir", type=Path, default=None)
    asked = parser.parse_args()
    print("| trace | tool | MB a CPU-s, median | best | million lines a CPU-s, best | CPU time against iocast's |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=asked.dir) as place:
        folder = Path(place)
        for kind in asked.kinds or KINDS:
            path = folder / NAMES[kind]
            with path.open("wb") as file:
                file.writelines(KINDS[kind](asked.lines, random.Random(1)))
            compare(kind, path, folder, asked.peers, asked.rounds, asked.lines)
            path.unlink()


if __name__ == "__main__":
    main()
