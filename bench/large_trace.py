"""A trace of 100 million I/Os, profiled: CPU time, time and the most memory of `iocast profile`.

    python bench/large_trace.py [--events 100000000] [--dir DIR] [--keep]

The trace is a table of MSR Cambridge (5.5 GB) on three disks: a fifth of the I/Os are four sequential streams of
64 KiB, the others of 4 to 16 KiB at places of which few are much used; latencies have two modes. Every run makes the
same bytes. Needs room for the trace, its table of events and what DuckDB spills: three times the trace at the most.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb

_ROWS = """
with drawn as (
    select i, hash(i) % 1000003 / 1000003.0 as place, hash(i + 7) % 1000003 / 1000003.0 as kind,
           hash(i + 13) % 1000003 / 1000003.0 as took
    from range({events}) numbers(i)
)
select 128166372003061629 + i * 2000 + hash(i + 3) % 1500 as stamp,
       'hm',
       hash(i + 5) % 3 as disk,
       case when i % 5 = 0 or kind < 0.7 then 'Read' else 'Write' end as op,
       case when i % 5 = 0 then (i // 5 % 4) * 250000000000 + (i // 20) * 65536
            else (power(place, 4) * 20000000)::bigint * 8192 end as start,
       case when i % 5 = 0 then 65536 when kind < 0.2 then 4096 when kind < 0.9 then 8192 else 16384 end as size,
       (case when took < 0.6 then 900 + took * 2000 else 30000 + took * 60000 end)::bigint as latency
from drawn
"""


def make(path: Path, events: int) -> None:
    """Writes the trace."""
    con = duckdb.connect()
    con.execute("set memory_limit = '2GB'")
    con.execute("set enable_progress_bar = false")
    con.execute(f"copy ({_ROWS.format(events=events)}) to '{path}' (format csv, header false)")


def profiled(path: Path, to: Path) -> None:
    """Prints what the profile took."""
    command = [sys.executable, "-m", "iocast", "profile", str(path), "--out", str(to)]
    began = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    wall_s = time.monotonic() - began
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    table_mb = sum(file.stat().st_size for file in to.rglob("*") if file.is_file()) / 1e6
    print(f"trace           {path.stat().st_size / 1e9:.2f} GB")
    print(f"left behind     {table_mb:.0f} MB")
    print(f"CPU time        {used.ru_utime:.0f} s user, {used.ru_stime:.0f} s system")
    print(f"time            {wall_s:.0f} s on {os.cpu_count()} processors, others at work on them or not")
    print(f"memory at most  {used.ru_maxrss / 1024:.0f} MiB")


def main() -> None:
    """Makes the trace, profiles it, takes it away."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=100_000_000)
    parser.add_argument("--dir", type=Path, default=None)
    parser.add_argument("--keep", action="store_true", help="the trace stays in DIR")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.dir) as place:
        trace = (asked.dir if asked.keep and asked.dir else Path(place)) / f"msr-{asked.events}.csv"
        if not trace.exists():
            make(trace, asked.events)
        profiled(trace, Path(place) / "profile")


if __name__ == "__main__":
    main()
