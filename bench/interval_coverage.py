"""Do printed intervals hold, and verdicts on single runs? `make coverage` measures simulated queues, and counts.

Each system is run many times with other seeds, as `iocast run` would; the truth is that of runs a hundred times as
long. A value is covered when it lies in the interval; one without an upper bound is open: it promises its lower bound
only. Two thirds of the first systems were used to choose the rule; the others were kept.

With --pairs two single runs are compared as `iocast compare` does: how often equal systems are "different in these two
runs", and how often one whose every service takes a tenth, a fifth longer or twice as long. Both tables go into
docs/trust.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median

from comparisons import verdicts
from msgspec import Struct
from msgspec.structs import replace

from iocast import archive, jobs
from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.comparable import Pair
from iocast.load import PlannedGroup, loader_of
from iocast.model.histogram import Histogram, merge
from iocast.model.plan import Plan
from iocast.model.run import Host, PhaseRecord, Run
from iocast.results.compared_values import STATISTICS

QUANTILES = (0.5, 0.95, 0.99)
NAMES = ("mean", "p50", "p95", "p99")
PAGE = Path(__file__).resolve().parents[1] / "docs" / "trust.md"
BEGIN, END = "<!-- coverage: written by `make coverage` -->\n", "<!-- end -->"
PAIRS_BEGIN = "<!-- pairs: written by `make coverage` -->\n"
PAIRED = ("M/M/1, 50", "M/M/1, 80", "M/M/1, 90", "bimodal M/G/1", "neighbour on", "bursts")
LONGER = (1.0, 1.1, 1.2, 2.0)  # times a service takes
MOST_FALSE = 0.02  # of pairs of equal systems that may differ in any figure
TRUTH_RUNS, TRUTH_SECONDS = 10, 600
DELAY = ",link=10GB/s:5ms"
HOST = Host(name="", kernel="", cpus=1, cpu_model="", memory_bytes=1 << 34)
JOB = """
name = "coverage"
[defaults]
size = "8k"
pattern = "random"
time = "{seconds}s"
[[phase]]
test = "read"
{load}
"""


class System(Struct, frozen=True):
    """A simulated device and a load whose percentiles are to be known."""

    name: str
    device: str
    load: str
    kept: bool = False  # not looked at while the rule was chosen

    def plan(self, seed: int, seconds: int) -> Plan:
        """One phase of so many seconds."""
        job = jobs.parse_job(JOB.format(seconds=seconds, load=self.load), "coverage")
        return jobs.plan(job, jobs.parse_target(self.device), seed=seed, memory_bytes=1 << 34)[0]


def _open(rate: float) -> str:
    return f'rate = "{rate:g}/s"\nusers = 1\ndepth = 256'


def _queue(
    name: str, law: str, servers: int, mean_us: float, load: float, more: str = "", *, kept: bool = False
) -> System:
    device = f"sim:nvme,bandwidth=none,servers={servers},service={law}{more}"
    return System(name, device, _open(load * servers * 1e6 / mean_us), kept)


def _stripe(name: str, law: str, stripes: int, load: float, *, servers: int = 1, more: str = "") -> System:
    device = f"sim:nvme,bandwidth=none,servers={servers},service={law},stripe={stripes}:8KiB{more}"
    return System(name, device, _open(load * stripes * servers * 100), kept=True)


def _hits(name: str, law: str, percent: int, servers: int, load: float, *, stripes: int = 1) -> System:
    device = f"sim:nvme,bandwidth=none,servers={servers},service={law},stripe={stripes}:8KiB,hit={percent}%:200us"
    return System(name, device, _open(load * stripes * servers * 100 / (1 - percent / 100)), kept=True)


SYSTEMS = (
    _queue("independent I/Os", "exponential:1ms", 1024, 1000, 0.003),
    *(_queue(f"M/M/1, {load:.0%} load", "exponential:1ms", 1, 1000, load) for load in (0.5, 0.8, 0.9, 0.95)),
    _queue("M/M/1 of 5 ms, 80% load", "exponential:5ms", 1, 5000, 0.8),
    _queue("M/M/8, 80% load", "exponential:1ms", 8, 1000, 0.8),
    _queue("M/M/8, 95% load", "exponential:1ms", 8, 1000, 0.95),
    _queue("bimodal M/G/8, 80% load", "bimodal:90%:400us:6400us", 8, 1000, 0.8),
    _queue("bimodal M/G/1, 70% load", "bimodal:90%:400us:6400us", 1, 1000, 0.7),
    System(
        "8 striped, 80% load", "sim:nvme,bandwidth=none,servers=1,service=exponential:5ms,stripe=8:8KiB", _open(1280)
    ),
    _queue("hyperexponential behind a delay, 70%", "hyper:90%:500us:5500us", 2, 1000, 0.7, ",link=10GB/s:1ms"),
    _queue("near-constant/8, 90% load", "lognormal:1ms:0.1", 8, 1000, 0.9),
    _queue("lognormal/16, 80% load", "lognormal:1ms:1.5", 16, 1000, 0.8),
    _queue("neighbour on for 1 s in 5", "exponential:1ms", 1, 1000, 0.3, ",noise=500/s:1s/5s"),
    _queue("stall of 100 ms every 2 s", "exponential:1ms", 8, 1000, 0.3, ",stall=100ms/2s"),
    System("closed loop, 32 on 8 servers", "sim:nvme,bandwidth=none,servers=8,service=exponential:1ms", "users = 32"),
    _queue("M/G/1 gamma, 85% load", "gamma:1ms:2", 1, 1000, 0.85, kept=True),
    _queue("M/M/2, 90% load", "exponential:2ms", 2, 2000, 0.9, kept=True),
    _queue("uniform M/G/4, 92% load", "uniform:500us..1500us", 4, 1000, 0.92, kept=True),
    _queue("hyperexponential/4, 85% load", "hyper:95%:500us:10500us", 4, 1000, 0.85, kept=True),
    _queue(
        "bursts: neighbour 300 ms in 1.7 s", "exponential:1ms", 2, 1000, 0.4, ",noise=1700/s:300ms/1700ms", kept=True
    ),
    _queue("stall of 30 ms every 700 ms", "lognormal:200us:0.5", 16, 200, 0.2, ",stall=30ms/700ms", kept=True),
    System("disk with a neighbour, closed 4", "sim:hdd,noise=40/s:2s/7s", "users = 4", kept=True),
    System(
        "closed loop, 4 on 1 server", "sim:nvme,bandwidth=none,servers=1,service=gamma:1ms:1.5", "users = 4", kept=True
    ),
    # What else forecasts were designed on: stripes, delays, hits, services that vary more than exponential ones; 10 ms.
    _stripe("8 striped constant, 80% load", "constant:10ms", 8, 0.8),
    _stripe("8 striped bimodal, 60% load", "bimodal:90%:5ms:55ms", 8, 0.6),
    _stripe("24 striped, cv 1.8, 70% load", "gamma:10ms:1.8", 24, 0.7),
    _stripe("10 striped hyperexponential, 70%", "hyper:90%:5ms:55ms", 10, 0.7),
    _stripe("5 striped behind a delay, 80% load", "exponential:10ms", 5, 0.8, more=DELAY),
    _stripe("2x4 bimodal, 80% load", "bimodal:90%:5ms:55ms", 2, 0.8, servers=4),
    _stripe("4x3 lognormal, 80% load", "lognormal:10ms:1.2", 4, 0.8, servers=3),
    _queue("8 servers behind a delay, 90% load", "exponential:10ms", 8, 10_000, 0.9, DELAY, kept=True),
    _queue("near-constant behind a delay, 90%", "lognormal:10ms:0.1", 1, 10_000, 0.9, DELAY, kept=True),
    _queue("hyperexponential/6 behind a delay, 80%", "hyper:95%:5ms:105ms", 6, 10_000, 0.8, DELAY, kept=True),
    _queue("hyperexponential/2, cv 4.5, 60% load", "hyper:97.5%:5ms:205ms", 2, 10_000, 0.6, kept=True),
    _queue("cv 1.8 on 3 servers, 80% load", "gamma:10ms:1.8", 3, 10_000, 0.8, kept=True),
    _hits("70% hits before 4 servers, 80% load", "exponential:10ms", 70, 4, 0.8),
    _hits("50% hits before 8 bimodal, 80% load", "bimodal:90%:5ms:55ms", 50, 8, 0.8),
    _hits("30% hits before 8 striped, 60% load", "hyper:90%:5ms:55ms", 30, 1, 0.6, stripes=8),
)


def measured(system: System, seed: int, seconds: int) -> RowFacts:
    """One run of a system, in memory."""
    plan = system.plan(seed, seconds)
    loader = loader_of(plan)
    layout = loader.lay_out()
    group = PlannedGroup((loader.phase_plan(plan.phases[0], layout.files, seed),), None)
    ((phase_plan, did, intervals),) = loader.measure(group, lambda *_: True)
    series = archive.series(intervals, phase_plan.interval_ns, did)
    record = PhaseRecord(phase=plan.phases[0], plan=phase_plan, measurement=did, series=series)
    run = Run(plan=plan, host=HOST, started_unix_ns=0, status="done", phases=(record,))
    return Facts(run).row(record)


class Tally(Struct):
    """What came of one system: for mean, p50, p95 and p99 how many intervals held, were open, and their half widths."""

    system: System
    covered: list[int]
    open: list[int]
    widths: list[list[float]]


def tried(system: System, runs: int, seconds: int) -> Tally:
    """Measures one system again and again."""
    truth: Histogram = merge(measured(system, 10**6 + at, TRUTH_SECONDS).response("read") for at in range(TRUTH_RUNS))
    true_ns = (truth.mean_ns, *(truth.quantile_ns(q) for q in QUANTILES))
    tally = Tally(system, [0] * 4, [0] * 4, [[], [], [], []])
    for seed in range(runs):
        row = measured(system, seed + 1, seconds)
        found = (row.mean("read"), *(row.quantile("read", q) for q in QUANTILES))
        for at, (estimate, right) in enumerate(zip(found, true_ns, strict=True)):
            low = -math.inf if estimate.low_ns is None else estimate.low_ns
            high = math.inf if estimate.high_ns is None else estimate.high_ns
            # A histogram knows a time to 0.2 %: what lies within one bucket is the same.
            tally.covered[at] += low * 0.998 <= right <= high * 1.002
            if math.isinf(low) or math.isinf(high):
                tally.open[at] += 1
            else:
                tally.widths[at].append((high - low) / 2 / estimate.value_ns)
    return tally


def told_apart(one: PhaseRecord, other: PhaseRecord) -> set[str]:
    """The figures by which two single runs are "different in these two runs"."""
    found = verdicts(Pair("", (one,), (other,)))
    return {what for what, verdict in found if verdict == "different_here"}


class Verdicts(Struct):
    """Of one system how many pairs of single runs are "different", by how much longer a service takes and by figure."""

    system: System
    seconds: int
    found: dict[float, Counter[str]]


def paired(system: System, runs: int, seconds: int) -> Verdicts:
    """Compares single runs of a system with others of it, and with such whose services take longer."""

    def made(longer: float, first: int) -> list[PhaseRecord]:
        device = f"{system.device},slow=0s..100000s:{longer}" if longer > 1 else system.device
        count = runs // 4 if longer > 1 else runs
        return [measured(replace(system, device=device), first + at, seconds).record for at in range(count)]

    start = made(1.0, 1)
    found = dict[float, Counter[str]]()
    for number, longer in enumerate(LONGER, 1):
        counts = found.setdefault(longer, Counter())
        for pair in zip(start, made(longer, 1 + number * 10**4), strict=False):
            different = told_apart(*pair)
            counts.update(("pairs", *different, *(("any",) if different else ())))
    return Verdicts(system, seconds, found)


def main() -> int:
    """Prints the table, and writes it into docs/trust.md with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="those whose names begin so")
    parser.add_argument("--pairs", action="store_true", help="compare single runs")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--write", action="store_true", help="write these rows into docs/trust.md")
    asked = parser.parse_args()
    names = tuple(asked.systems) or (PAIRED if asked.pairs else ("",))
    wanted = [each for each in SYSTEMS if each.name.startswith(names)]
    told = (wanted, *([value] * len(wanted) for value in (asked.runs, asked.seconds)))
    with ProcessPoolExecutor(2) as pool:
        if asked.pairs:
            verdicts = list(pool.map(paired, *told))
            table = _pairs_table(verdicts)
            bad = any(each.found[1.0]["any"] > MOST_FALSE * asked.runs for each in verdicts)
        else:
            found = list(pool.map(tried, *told))
            table = _table(found, asked.runs)
            bad = any(count < 0.9 * asked.runs for each in found for count in each.covered)
    print(table)
    if asked.write:
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(_with_table(page, table, PAIRS_BEGIN if asked.pairs else BEGIN), encoding="utf-8")
    return int(bad)


def _with_table(page: str, table: str, begin: str) -> str:
    """The page with these rows; those of systems that were not measured now stay."""
    head, rest = page.split(begin)
    before, _, after = rest.partition(END)
    rows = {line.split(" | ")[0]: line for line in (*before.strip().splitlines(), *table.splitlines())}
    lines = "\n".join(rows.values())
    return f"{head}{begin}\n{lines}\n\n{END}{after}"


def _table(found: list[Tally], runs: int) -> str:
    lines = [f"| system | {' | '.join(NAMES)} |", f"|---|{'---|' * len(NAMES)}"]
    for each in found:
        cells = [_cell(each.covered[at] / runs, each.open[at] / runs, each.widths[at]) for at in range(4)]
        lines.append(f"| {each.system.name}{' (kept)' if each.system.kept else ''} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _pairs_table(found: list[Verdicts]) -> str:
    """The share of pairs that differ, where the systems are equal by figure and in any of them, else in any."""
    figures = [figure.code for figure in STATISTICS]
    heads = (*(f"equal: {what}" for what in figures), "equal: any", *(f"{longer:g}x: any" for longer in LONGER[1:]))
    lines = [f"| system | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    for each in found:
        asked = [(1.0, what) for what in (*figures, "any")] + [(longer, "any") for longer in LONGER[1:]]
        shares = (each.found[longer][what] / each.found[longer]["pairs"] for longer, what in asked)
        lines.append(f"| {each.system.name}, {each.seconds} s | {' | '.join(f'{share:.1%}' for share in shares)} |")
    return "\n".join(lines) + "\n"


def _cell(covered: float, unbounded: float, widths: list[float]) -> str:
    width = f", ±{median(widths):.1%}" if widths else ""
    return f"{covered:.0%}{width}{f', {unbounded:.0%} open' if unbounded else ''}"


if __name__ == "__main__":
    sys.exit(main())
