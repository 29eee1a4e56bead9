"""Does a forecast's interval hold? `make forecast-coverage` measures ladders of simulated storage, and counts.

Each system is climbed by a closed ladder many times with other seeds, as `iocast forecast --measure` would; from each
ladder the response is forecast at six loads, and held against the truth: open-loop runs of millions of I/Os. A figure
is covered when the truth lies in its interval. The first systems are those that the rule was designed on (models A4);
the others were first measured when it was final. The tables go into docs/forecast.md.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median

from msgspec import Struct

from iocast import archive, jobs
from iocast.analyse.facts import Facts
from iocast.forecast.flow_equivalent import TooClose
from iocast.forecast.ladder_search import find_ladder
from iocast.forecast.load_forecast import Figure, Forecaster
from iocast.forecast.measured_ladder import MeasuredLadder, RequestedLoad
from iocast.forecast.open_rows import inside, open_rows, touches
from iocast.load import PlannedGroup, loader_of
from iocast.model.histogram import Histogram, merge
from iocast.model.run import Host, PhaseRecord, Run

PAGE = Path(__file__).resolve().parents[1] / "docs" / "forecast.md"
MARK = "<!-- {}: written by `make forecast-coverage` -->\n"
END = "<!-- end -->"
HOST = Host(name="", kernel="", cpus=1, cpu_model="", memory_bytes=1 << 34)
SHARES = (0.3, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the capacity
BACK_SHARES = (0.4, 0.6, 0.8)  # of the throughput at the last load
QUANTILES = (0.5, 0.95, 0.99)
NAMES = ("mean", "p50", "p95", "p99")
TRUTH_IOS, TRUTH_RUNS = 1_000_000, 2
MOST_USERS = 1024
BAR = 0.90
RETROGRADE = 1.1  # times as many IOPS with fewer outstanding: more load does harm
GROUPS = {
    "design": "systems of the design",
    "own": "other systems",
    "fresh": "systems first measured when all was final",
    "bursts": "systems with a neighbour in bursts",
    "late": "more with a neighbour, not looked at meanwhile",
    "hidden": "whose neighbour comes and goes within an interval of a row",
}
PHASE = '[[phase]]\ntest = "mix"\nread = {read}\nwrite = {write}\n{load}\n'
JOB = 'name = "forecast"\n[defaults]\nsize = "8k"\npattern = "random"\ntime = "{seconds}s"\n'


class System(Struct, frozen=True):
    """A simulated device. `group`: "design": the rule was made on it; "own": a throttle and constant services among
    them led to the last two rules of the lower end; "fresh": first measured afterwards; "bursts", "late": the same of
    neighbours; "hidden": closed rows cannot show it, and the open rows of --measure decide."""

    name: str
    device: str
    group: str = "design"
    read: int = 100  # percent
    loads: tuple[int, ...] = ()  # of its ladder; (): doubled until it is saturated
    seconds: float = 20.0  # of each row


def _pool(name: str, law: str, servers: int, more: str = "", group: str = "design", **about: object) -> System:
    device = f"sim:nvme,bandwidth=none,servers={servers},service={law}{more}"
    return System(name, device, group, **about)  # type: ignore[arg-type]


def _stripe(name: str, law: str, stripes: int, servers: int = 1, more: str = "", group: str = "design") -> System:
    return _pool(name, law, servers, f",stripe={stripes}:8KiB{more}", group)


BIMODAL, H2, H10, H20 = (
    "bimodal:90%:400us:6400us",
    "hyper:90%:500us:5500us",
    "hyper:95%:500us:10500us",
    "hyper:97.5%:500us:20500us",
)
DELAY = ",link=10GB/s:1ms"
own = partial(_pool, group="own")
own_stripe = partial(_stripe, group="own")
fresh = partial(_pool, group="fresh")
bursts = partial(_pool, group="bursts")
late = partial(_pool, group="late")
hidden = partial(_pool, group="hidden")
SYSTEMS = (
    _pool("M/M/1", "exponential:1ms", 1),
    _pool("M/M/8", "exponential:1ms", 8),
    _pool("bimodal M/G/8", BIMODAL, 8),
    _pool("near-constant/8", "lognormal:1ms:0.1", 8),
    _pool("M/D/1", "constant:1ms", 1),
    _stripe("8 striped exponential", "exponential:1ms", 8),
    _stripe("8 striped constant", "constant:1ms", 8),
    _stripe("8 striped bimodal", BIMODAL, 8),
    _pool("4 servers behind a delay", "exponential:1ms", 4, DELAY),
    _pool("lognormal/16", "lognormal:1ms:1.5", 16),
    _stripe("24 striped, cv 1.8", "gamma:1ms:1.8", 24),
    _stripe("2x4 bimodal", BIMODAL, 2, 4),
    _pool("H2, cs2 10, 4 servers", H10, 4),
    _pool("H2, cs2 20, 2 servers", H20, 2),
    _pool("H2 behind a delay, 2 servers", H2, 2, DELAY),
    _pool("70% hits before 4 servers", "exponential:1ms", 4, ",hit=70%:50us"),
    _pool("85% hits before 8 bimodal", BIMODAL, 8, ",hit=85%:50us"),
    _pool("H2 behind a delay, 6 servers", H10, 6, DELAY),
    _stripe("10 striped H2", H2, 10),
    _stripe("4x3 lognormal", "lognormal:1ms:1.2", 4, 3),
    _pool("50% hits before 8 bimodal", BIMODAL, 8, ",hit=50%:50us"),
    _pool("near-constant behind a delay", "lognormal:1ms:0.1", 1, DELAY),
    _stripe("5 striped behind a delay", "exponential:1ms", 5, 1, DELAY),
    _pool("cv 1.8 on 3 servers", "gamma:1ms:1.8", 3),
    _stripe("30% hits before 8 striped H2", H2, 8, 1, ",hit=30%:50us"),
    own("uniform/6", "uniform:500us..1500us", 6),
    own("gamma, cv 0.5, 3 servers", "gamma:1ms:0.5", 3),
    own_stripe("6x2 gamma, cv 0.7", "gamma:1ms:0.7", 6, 2),
    own("long tail/4", "table:50%=600us/90%=1500us/99%=8ms/100%=20ms", 4),
    own("16 servers that hinder each other", "exponential:1ms", 16, ",usl=0.02:0.0005"),
    own("16 servers capped at 5000 IOPS", "exponential:1ms", 16, ",iops=5000/s"),
    own("40 striped constant", "constant:1ms", 4, ",stripe=10:8KiB"),
    own("70/30 mix, slow writes, 8 servers", "lognormal:500us:0.5", 8, ",write=exponential:3ms", read=70),
    own("M/M/8, card's loads", "exponential:1ms", 8, loads=(1, 8, 32, 64)),
    own("M/M/8, rows of 5 s", "exponential:1ms", 8, seconds=5.0),
    System("sim:hdd", "sim:hdd", "own", seconds=120.0),
    System("sim:sata-ssd", "sim:sata-ssd", "own", seconds=5.0),
    System("sim:nvme", "sim:nvme", "own", seconds=3.0),
    System("sim:cached-array", "sim:cached-array", "own", seconds=60.0),
    own_stripe("8 striped, card's loads", "exponential:1ms", 8),
    fresh("8 servers capped at 3000 IOPS", "lognormal:1ms:0.5", 8, ",iops=3000/s"),
    fresh("16 servers capped at 40 MB/s", "gamma:1ms:0.8", 16, ",throughput=40MB/s"),
    fresh("3 striped uniform", "uniform:200us..1800us", 1, ",stripe=3:8KiB"),
    fresh("16 striped gamma behind a delay", "gamma:1ms:0.5", 1, ",stripe=16:8KiB,link=10GB/s:2ms"),
    fresh("5x2 H2 behind 20% hits", H2, 2, ",stripe=5:8KiB,hit=20%:100us"),
    fresh("constant/4", "constant:1ms", 4),
    fresh("50/50 mix, H2 writes, 6 servers", "gamma:600us:0.5", 6, f",write={H2}", read=50),
    fresh("lognormal/2, cv 2", "lognormal:1ms:2", 2),
    bursts("4 servers, neighbour of 0.3 in 1.5 s", "exponential:1ms", 4, ",noise=3000/s:300ms/1500ms"),
    bursts("8 servers, neighbour of 0.4 in 1.7 s", "lognormal:1ms:0.5", 8, ",noise=6500/s:400ms/1700ms"),
    bursts("6 servers, neighbour of 2 in 8 s", "gamma:1ms:0.5", 6, ",noise=4500/s:2s/8s", seconds=60.0),
    bursts("16 servers, light neighbour of 1 in 3 s", "exponential:2ms", 16, ",noise=2000/s:1s/3s"),
    late("3 servers, neighbour of 0.8 in 3 s", "gamma:1ms:1.3", 3, ",noise=2400/s:800ms/3s", seconds=30.0),
    late("12 servers behind a delay, neighbour of 0.5 in 2 s", "exponential:1ms", 12, f"{DELAY},noise=9000/s:500ms/2s"),
    late("8 striped, neighbour of 1 in 4 s", "exponential:1ms", 1, ",stripe=8:8KiB,noise=5000/s:1s/4s", seconds=30.0),
    hidden("2 servers, neighbour of 50 in 250 ms", "exponential:500us", 2, ",noise=3500/s:50ms/250ms"),
    hidden("constant/4, neighbour of 0.2 in 0.5 s", "constant:1ms", 4, ",noise=2500/s:200ms/500ms"),
)
CARD = (1, 8, 32, 64)


def measured(system: System, load: str, seed: int, seconds: float) -> tuple[Run, PhaseRecord]:
    """One row of a system, in memory."""
    phase = PHASE.format(read=system.read, write=100 - system.read, load=load)
    job = jobs.parse_job(JOB.format(seconds=max(0.001, round(seconds, 3))) + phase, "forecast")
    plan = jobs.plan(job, jobs.parse_target(system.device), seed=seed, memory_bytes=1 << 34)[0]
    loader = loader_of(plan)
    layout = loader.lay_out()
    group = PlannedGroup((loader.phase_plan(plan.phases[0], layout.files, seed),), None)
    ((phase_plan, did, intervals),) = loader.measure(group, lambda *_: True)
    series = archive.series(intervals, phase_plan.interval_ns, did)
    record = PhaseRecord(phase=plan.phases[0], plan=phase_plan, measurement=did, series=series)
    return Run(plan=plan, host=HOST, started_unix_ns=0, status="done", phases=(record,)), record


def climbed(system: System, seed: int) -> Run:
    """A ladder: doubled until it is saturated and four times as deep as needed, or the loads of the system."""
    records: list[PhaseRecord] = []
    users, run = 1, None
    fixed = CARD if system.name.endswith("card's loads") else system.loads
    for at in range(20):
        users = fixed[at] if fixed else 1 << at
        run, record = measured(system, f"users = 1\ndepth = {users}", seed * 100 + at, system.seconds)
        records.append(record)
        rates = [each.measurement.rate_per_s for each in records]
        if fixed:
            if at == len(fixed) - 1:
                break
        elif users >= MOST_USERS or (at and rates[-1] < 1.1 * rates[-2] and users >= 4 * rates[-1] / rates[0]):
            break
    assert run is not None
    return Run(plan=run.plan, host=HOST, started_unix_ns=0, status="done", phases=tuple(records))


def truth_at(system: System, rate: float, runs: int = TRUTH_RUNS, ios: int = TRUTH_IOS) -> Histogram:
    """The response to random arrivals, of so many I/Os."""
    load = f'rate = "{rate:.6f}/s"\narrival = "poisson"\nusers = 1\ndepth = 4096'
    return merge(measured(system, load, 10**6 + at, ios / rate)[1].measurement.response() for at in range(runs))


class Tally(Struct):
    """What came of one system: for each figure how many intervals held, lay too low, were asked for; their widths."""

    system: System
    held: list[int]
    low: list[int]
    asked: list[int]
    widths: list[list[float]]
    unknown: list[int]
    refused: int
    tries: int
    misses: list[str]


def capacity_of(system: System) -> float:
    """IOPS with as much outstanding as there can be; of storage that does less then, the most at any load."""
    seconds = max(20.0, 3 * system.seconds)

    def most(depth: int) -> float:
        return measured(system, f"users = 1\ndepth = {depth}", 77, seconds)[1].measurement.rate_per_s

    full = most(4096)
    return full if most(64) < RETROGRADE * full else max(map(most, (4, 8, 16, 32, 64, 128)))


def tried(system: System, seeds: int) -> Tally:
    """Forecasts one system from several ladders."""
    capacity = capacity_of(system)
    truths = {share: truth_at(system, share * capacity) for share in SHARES}
    tally = Tally(system, [0] * 4, [0] * 4, [0] * 4, [[], [], [], []], [0] * 4, 0, 0, [])
    for seed in range(1, seeds + 1):
        facts = Facts(climbed(system, seed))
        found = find_ladder(facts, RequestedLoad(size_bytes=8192, read_share=system.read / 100), {}, {})
        assert isinstance(found, MeasuredLadder), found
        forecaster = Forecaster(found)
        for share, truth in truths.items():
            tally.tries += 1
            try:
                figures = forecaster.at(share * capacity).figures
            except TooClose:
                tally.refused += 1
                continue
            for at, figure in enumerate(figures):
                right = truth.mean_ns / 1e9 if figure.q is None else truth.quantile_ns(figure.q) / 1e9
                if not figure.known:
                    tally.unknown[at] += 1
                    continue
                inside = figure.low_s * 0.998 <= right <= figure.high_s * 1.002
                tally.asked[at] += 1
                tally.held[at] += inside
                tally.low[at] += right > figure.high_s * 1.002
                tally.widths[at].append(math.inf if figure.held else figure.high_s / figure.low_s)
                if not inside:
                    tally.misses.append(f"{NAMES[at]} at {share:.0%}: {_miss(figure, right)}")
    return tally


def back_tested(system: System) -> tuple[int, int, int]:
    """A run whose first half is a ladder and whose second half open-loop rows: how many figures of these were measured,
    lie in the forecast's interval, or have an interval that reaches into it."""
    asked = RequestedLoad(size_bytes=8192, read_share=system.read / 100)
    first = climbed(system, 99)
    found = find_ladder(Facts(first), asked, {}, {})
    assert isinstance(found, MeasuredLadder), found
    rates = [share * found.ladder.last_per_s for share in BACK_SHARES]
    load = 'rate = "{:.6f}/s"\narrival = "poisson"\nusers = 1\ndepth = 4096'
    rows = [measured(system, load.format(rate), 555, system.seconds)[1] for rate in rates]
    second = Facts(Run(plan=first.plan, host=HOST, started_unix_ns=0, status="done", phases=tuple(rows)))
    pairs = [pair for row in open_rows(second, asked, {}, QUANTILES, Forecaster(found)) for pair in row.pairs()]
    return len(pairs), sum(inside(*pair) for pair in pairs), sum(touches(*pair) for pair in pairs)


def _miss(figure: Figure, right_s: float) -> str:
    low, base, high, truth = (f"{each * 1e3:.3g}" for each in (figure.low_s, figure.base_s, figure.high_s, right_s))
    return f"{low} to {high} ms ({base}), is {truth}"


def _cell(tally: Tally, at: int) -> str:
    if not tally.asked[at]:
        return "–"
    width = median(tally.widths[at])
    told = f"{width:.2f}" if math.isfinite(width) else "upper end only"
    return f"{tally.held[at] / tally.asked[at]:.0%}, {told}"


def table(found: Sequence[Tally]) -> str:
    """A line a system: the share of intervals that held, and how many times the lower end the upper is."""
    lines = [f"| system | {' | '.join(NAMES)} | refused | too few I/Os |", f"|---|{'---|' * 6}"]
    for each in found:
        cells = " | ".join(_cell(each, at) for at in range(4))
        few = sum(each.unknown) / max(1, sum(each.unknown) + sum(each.asked))
        lines.append(f"| {each.system.name} | {cells} | {each.refused / each.tries:.0%} | {few:.0%} |")
    return "\n".join(lines) + "\n"


def totals(found: Sequence[Tally], group: str) -> tuple[str, bool]:
    """All systems of a group together, and whether they meet the bar."""
    mine = [each for each in found if each.system.group == group]
    cells, fine = [], True
    for at in range(4):
        asked, held, low = (sum(getattr(each, what)[at] for each in mine) for what in ("asked", "held", "low"))
        widths = [width for each in mine for width in each.widths[at]]
        if asked:
            cells.append(f"{held / asked:.1%}, {median(widths):.2f}, {low / asked:.1%}")
            fine = fine and held >= BAR * asked
    refused, tries = sum(each.refused for each in mine), sum(each.tries for each in mine)
    name = GROUPS[group]
    return f"| {len(mine)} {name} | {' | '.join(cells)} | {refused / max(1, tries):.0%} |\n", fine


def main() -> int:
    """Prints the tables, and writes them into docs/forecast.md with --write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="those whose names begin so")
    parser.add_argument("--seeds", type=int, default=6, help="ladders of each system")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--back-test", action="store_true", help="the first half of a run foretells the second")
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    wanted = [each for each in SYSTEMS if each.name.startswith(tuple(asked.systems) or ("",))]
    if not wanted:
        parser.error(f"no system begins with {', '.join(asked.systems)}")
    if asked.write and len(wanted) < len(SYSTEMS):
        parser.error("--write is for all systems: a page of some would read as one of all")
    if asked.back_test:
        return _back_test(wanted, asked.processes, asked.write)
    found = []
    with ProcessPoolExecutor(asked.processes) as pool:
        for each in pool.map(tried, wanted, [asked.seeds] * len(wanted)):
            found.append(each)
            print(table([each]).splitlines()[-1], flush=True)
            for miss in each.misses[:6]:
                print(f"    {miss}")
    head = f"| all | {' | '.join(NAMES)} | refused |\n|---|{'---|' * 5}\n"
    rows = {group: totals(found, group) for group in GROUPS if any(each.system.group == group for each in found)}
    summary = head + "".join(row for row, _ in rows.values())
    print(summary)
    if asked.write:
        write("coverage", f"\n{summary}\n{table(found)}\n")
    return 0 if all(fine for group, (_, fine) in rows.items() if group != "hidden") else 1


def _back_test(wanted: Sequence[System], processes: int, save: bool) -> int:
    with ProcessPoolExecutor(processes) as pool:
        figures, ins, near = (sum(each) for each in zip(*pool.map(back_tested, wanted), strict=True))
    line = (
        f"{len(wanted)} systems, {figures} measured figures: {ins} ({ins / figures:.1%}) lie in the interval of the"
        f" forecast, {near} ({near / figures:.1%}) within the error of the measurement.\n"
    )
    print(line)
    if save:
        write("back-test", f"\n{line}\n")
    return 0 if near >= BAR * figures else 1


def write(what: str, text: str) -> None:
    """Between its marks in the page, and nowhere else."""
    page = PAGE.read_text(encoding="utf-8")
    begin = MARK.format(what)
    before, marked, rest = page.partition(begin)
    _, ended, after = rest.partition(END)
    if not marked or not ended:
        raise SystemExit(f"{PAGE} has no place for {what}: {begin.strip()} … {END}")
    PAGE.write_text(f"{before}{begin}{text}{END}{after}", encoding="utf-8")


def written(what: str) -> str:
    """What the page has of a table."""
    return PAGE.read_text(encoding="utf-8").partition(MARK.format(what))[2].partition(END)[0]


if __name__ == "__main__":
    sys.exit(main())
