"""How often `iocast fleet` finds a slow host in planted fleets, and how long ten thousand run folders take.

`python bench/fleets.py 100` judges 100 fleets of each kind: the table of docs/guide/fleet.md (some minutes).
`python bench/fleets.py --time` makes 10,000 folders below the current directory, times `runs` and `fleet` in processes
of their own, five times in turns, and removes them.
"""

from __future__ import annotations

import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from makers.planted_fleets import planted_fleet

from iocast.model.results.fleet import Fleet
from iocast.sessions.fleet import FleetRequest, fleet

HOSTS = (6, 12, 30)
SLOWER = (1.15, 1.25, 1.5, 2.0)
SLOW, BUSY = 2, 3
TURNS = 5
ROWS = {f"row {number}": 50e3 * number for number in range(1, 13)}  # as many as a card has


def named(result: Fleet, standing: str) -> set[str | None]:
    """The hosts that stand so."""
    return {each.host for each in result.slow if each.standing == standing}


def rates(fleets: int) -> None:
    """Prints the table of fleets with a slow host, with a busy one, and of equals."""
    print("| hosts | planted | found | another is slow |\n|---|---|---|---|")
    for hosts in HOSTS:
        for slower in (*SLOWER, None, 0.0):
            hits = wrong = 0
            for seed in range(fleets):
                result = judged(seed, hosts, slower)
                slow, standing = named(result, "slow") | named(result, "slow_once"), "slow" if slower else "busy"
                host = {f"db{SLOW:02}"} if slower else set()
                hits += f"db{SLOW if slower else BUSY:02}" in named(result, standing)
                wrong += bool(slow - host)
            planted = f"a host {slower:g} times as slow" if slower else "a busy host" if slower == 0.0 else "equals"
            share = "" if slower is None else f"{hits / fleets:.0%}"
            print(f"| {hosts} | {planted} | {share} | {wrong / fleets:.1%} |", flush=True)


def judged(seed: int, hosts: int, slower: float | None) -> Fleet:
    """A fleet of so many hosts, each with three runs: one of them slower, one busy (0), or all equal (None)."""
    slow = {SLOW: slower} if slower else {}
    busy = {BUSY: random.Random(seed).uniform(0.5, 2.0)} if slower == 0.0 else {}
    with tempfile.TemporaryDirectory() as room:
        planted_fleet(Path(room, "runs"), seed, hosts=hosts, slow=slow, busy=busy)
        result = fleet(FleetRequest(directories=(room,))).result
    assert isinstance(result, Fleet)
    return result


def processor_s() -> float:
    """Time on processors of all children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def times() -> None:
    """Prints how long verbs take on 10,000 folders of 12 rows: medians, least and most."""
    place = Path("iocast-bench-fleet").absolute()
    planted_fleet(place, 1, hosts=500, runs=20, rows=ROWS, slow={7: 1.6, 123: 2.0}, busy={3: 1.0})
    try:
        taken: dict[str, list[float]] = {}
        for _ in range(TURNS):
            for words in (("runs", str(place), "--limit", "50"), ("runs", str(place)), ("fleet", str(place))):
                verb, started, before = " ".join(words).replace(str(place), "DIR"), time.perf_counter(), processor_s()
                subprocess.run([sys.executable, "-m", "iocast", *words], check=True, stdout=subprocess.DEVNULL)
                taken.setdefault(verb, []).append(time.perf_counter() - started)
                taken.setdefault(f"{verb}, processors", []).append(processor_s() - before)
        for what, seconds in taken.items():
            print(f"{what}: {statistics.median(seconds):.2f} s ({min(seconds):.2f} to {max(seconds):.2f})")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    times() if sys.argv[1:] == ["--time"] else rates(int(sys.argv[1]) if sys.argv[1:] else 100)
