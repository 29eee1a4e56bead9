"""Prints the table of docs/guide/compare.md: how often equal devices differ, and how often a slower service is found.

`python bench/comparisons.py 5` makes 5 comparisons of each kind on each of 20 simulated devices (some minutes).
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence

from iocast.archive import series
from iocast.diagnose.comparable import Pair
from iocast.jobs import parse_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.load import PlannedGroup, loader_of, phase_seed
from iocast.model.run import PhaseRecord
from iocast.results.compared_values import STATISTICS, ratio_of

RUNS = 5
SHIFT = ",slow=0s..100000s:1.1"  # every service takes a tenth longer
CLOSED, OPEN = "users = {}", 'rate = "{}/s"\narrival = "poisson"\nusers = 256'
DEVICES: tuple[tuple[str, str], ...] = (
    ("sim:hdd", CLOSED.format(1)),
    ("sim:hdd", CLOSED.format(16)),
    ("sim:hdd,stripe=8:64KiB", CLOSED.format(8)),
    ("sim:hdd,noise=20/s:1s/4s", CLOSED.format(4)),
    ("sim:hdd,stall=200ms/3s", CLOSED.format(4)),
    ("sim:nvme,service=lognormal:4ms:0.3,servers=8", CLOSED.format(4)),
    ("sim:nvme,service=lognormal:4ms:1.2,servers=8", CLOSED.format(4)),
    ("sim:nvme,service=exponential:4ms,servers=4", CLOSED.format(8)),
    ("sim:nvme,service=bimodal:90%:2ms:20ms,servers=8", CLOSED.format(4)),
    ("sim:nvme,service=bimodal:99%:2ms:60ms,servers=8", CLOSED.format(4)),
    ("sim:nvme,service=hyper:90%:2ms:20ms,servers=8", CLOSED.format(8)),
    ("sim:nvme,service=lognormal:4ms:0.5,servers=2,noise=100/s", CLOSED.format(2)),
    ("sim:nvme,service=lognormal:4ms:0.5,servers=2,noise=150/s:500ms/2s", CLOSED.format(4)),
    ("sim:nvme,service=uniform:2ms..6ms,servers=4", CLOSED.format(4)),
    ("sim:nvme,service=exponential:2ms,servers=1", OPEN.format(250)),
    ("sim:nvme,service=exponential:2ms,servers=1", OPEN.format(400)),
    ("sim:nvme,service=exponential:2ms,servers=1", OPEN.format(425)),
    ("sim:nvme,service=exponential:2ms,servers=8", OPEN.format(2000)),
    ("sim:nvme,service=bimodal:90%:2ms:20ms,servers=8", OPEN.format(1000)),
    ("sim:nvme,service=lognormal:4ms:0.5,servers=2,stall=100ms/2s", OPEN.format(200)),
)


def run(device: str, load: str, seed: int, seconds: int) -> PhaseRecord:
    """One run of one row."""
    job = f'name = "c"\n[[phase]]\nsize = "8k"\ntime = "{seconds}s"\n{load}\n'
    made, _ = make_plan(parse_job(job, "c.toml"), parse_target(device), seed=seed, memory_bytes=1 << 30)
    loader, (phase,) = loader_of(made), made.phases
    told = loader.phase_plan(phase, loader.lay_out().files, phase_seed(made, phase, 0))
    (did,) = loader.measure(PlannedGroup((told,), None), lambda *_: True)
    course = series(did.intervals, told.interval_ns, did.measurement)
    return PhaseRecord(phase=phase, plan=told, measurement=did.measurement, series=course)


def verdicts(pair: Pair) -> Iterator[tuple[str, str]]:
    """The verdict of each figure."""
    for figure in STATISTICS:
        found = ratio_of(pair, figure)
        if found is not None:
            yield figure.code, found.verdict


def comparisons(device: str, load: str, each: int, seconds: int) -> Iterator[tuple[str, Pair]]:
    """Equal devices and such that differ by a tenth: each with its own offsets, with the same, and as single runs."""
    count = each * RUNS

    def made(changed: str, start: int) -> list[PhaseRecord]:
        return [run(device + changed, load, start + at, seconds) for at in range(count)]

    a, again, b = made("", 1), made("", 5001), made(SHIFT, 1)

    def group(records: Sequence[PhaseRecord], at: int) -> tuple[PhaseRecord, ...]:
        return tuple(records[at * RUNS : (at + 1) * RUNS])

    for at in range(each):
        yield "equal", Pair("row", group(a, at), group(again, at), matched=True)
        yield "a tenth slower, own offsets", Pair("row", group(again, at), group(b, at))
        yield "a tenth slower, same offsets (`ab`)", Pair("row", group(a, at), group(b, at), matched=True)
    for at in range(count):
        yield "equal, single runs", Pair("row", (a[at],), (again[at],))


def main(each: int, seconds: int = 10) -> None:
    """The table: for each kind of comparison and each figure the share of verdicts that see a difference."""
    seen: dict[str, Counter[str]] = {}
    for device, load in DEVICES:
        here: dict[str, Counter[str]] = {}
        for kind, pair in comparisons(device, load, each, seconds):
            here.setdefault(kind, Counter()).update(counted(dict(verdicts(pair))))
        for kind, counts in here.items():
            seen.setdefault(kind, Counter()).update(counts)
        print(
            device, load.replace("\n", " "), {kind: _shares(counts) for kind, counts in here.items()}, file=sys.stderr
        )
    print('| devices | pairs | throughput | p50 | p95 | p99 | any response time | "different" of all figures |')
    print(f"|{'---|' * 8}")
    for kind, counts in seen.items():
        different = sum(number for name, number in counts.items() if name.endswith(" different"))
        print("|", " | ".join((kind, str(counts["pairs"]), *_shares(counts), str(different))), "|")


def counted(found: dict[str, str]) -> Iterator[str]:
    """What counts of one comparison: which figures it has, which of them differ, and whether a response time does."""
    told = {what for what, verdict in found.items() if verdict not in ("inconclusive", "equivalent")}
    yield from ("pairs", *(f"{what} compared" for what in found), *told, "any compared")
    yield from (f"{what} different" for what, verdict in found.items() if verdict == "different")
    if told - {"throughput"}:
        yield "any"


def _shares(counts: Counter[str]) -> list[str]:
    names = [*(what for what, *_ in STATISTICS), "any"]
    return [f"{counts[what] / counts[f'{what} compared']:.1%}" if counts[f"{what} compared"] else "" for what in names]


if __name__ == "__main__":
    main(*(int(each) for each in sys.argv[1:]))
