"""Writes the table of docs/guide/steadiness.md: how often a row is called steady, and how far off it then is.

Every system is a simulated device whose parameters are drawn; the truth is its rate an hour later. `python
docs/steadiness.py 20` runs 20 devices of each kind (some minutes) and prints the table.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from statistics import fmean, median

from iocast import load, runner
from iocast.analyse.steady import accepts, steadiness
from iocast.jobs import parse_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.load.loaders.simulator import enough_after
from iocast.model.plan import Until
from iocast.model.run import Series
from iocast.runner.scripts.until_steady import Watching

HOURS_S = 7200
JOB = f'name = "steadiness"\n[[phase]]\nsize = "8k"\nusers = 2\ntime = "{HOURS_S}s"\n'
ROWS_S = (30, 60, 300)
UNTIL_S = ((60, 480), (300, 2400))  # at_least, at_most

Draw = Callable[[random.Random], str]


def _stationary(draw: random.Random) -> str:
    law = draw.choice(("lognormal:8ms:0.5", "lognormal:8ms:1.2", "exponential:9ms", "bimodal:90%:4ms:40ms"))
    return draw.choice((f"sim:nvme,service={law}", "sim:hdd", f"sim:nvme,servers=1,service={law}"))


def _slow_start(draw: random.Random) -> str:
    return f"{_stationary(draw)},slow=0s..{draw.randint(10, 900)}s:{draw.uniform(1.2, 4):.2f}"


def _drift(draw: random.Random) -> str:
    return f"{_stationary(draw)},drift={draw.uniform(1.15, 3):.2f}:{draw.randint(60, 1800)}s"


def _cycle(draw: random.Random) -> str:
    period = draw.randint(15, 300)
    busy = max(2, round(period * draw.uniform(0.1, 0.5)))
    return f"{_stationary(draw)},noise={draw.randint(20, 90)}/s:{busy}s/{period}s"


def _stalls(draw: random.Random) -> str:
    return f"{_stationary(draw)},stall={draw.uniform(0.1, 2):.1f}s/{draw.randint(5, 60)}s"


def _cliff(draw: random.Random) -> str:
    return f"{_stationary(draw)},slow={draw.randint(20, 1800)}s..{HOURS_S}s:{draw.uniform(1.3, 4):.2f}"


KINDS: dict[str, Draw] = {
    "stationary": _stationary,
    "slow start (10 s to 15 min)": _slow_start,
    "drift (1 to 30 min)": _drift,
    "cycles (15 s to 5 min)": _cycle,
    "stalls": _stalls,
    "cliff (20 s to 30 min)": _cliff,
}


class _Quiet:
    def begin(self, *_: object) -> None: ...
    def tick(self, *_: object) -> None: ...
    def end(self, *_: object) -> None: ...
    def close(self) -> None: ...


def series_of(target: str, seed: int) -> Series:
    """Two hours of a simulated device."""
    made, _ = make_plan(parse_job(JOB, "steadiness.toml"), parse_target(target), seed=seed, memory_bytes=1 << 30)
    with tempfile.TemporaryDirectory() as out:
        done = runner.run(runner.Work(made, load.lay_out(made), out), _Quiet(), lambda: False)
    (record,) = done.run.measured
    return record.series


def results_of(series: Series) -> Iterator[tuple[str, float | None, float]]:
    """Each way to measure: what it reports, None when it does not call that steady, and the seconds that it took."""
    rates = series.rates_per_s
    for seconds in ROWS_S:
        found = steadiness(rates[:seconds])
        yield f"row of {seconds} s", fmean(rates[:seconds]) if found.b3 else None, seconds
    (phase,) = make_plan(parse_job(JOB, "steadiness.toml"), parse_target("sim:hdd"), seed=1, memory_bytes=1 << 30)[
        0
    ].phases
    for least, most in UNTIL_S:
        watching = Watching(phase, Until("b3", float(least)), accepts, series.interval_ns)
        part = Series(
            interval_ns=series.interval_ns,
            ios=series.ios[:most],
            bytes=series.bytes[:most],
            response_ns=series.response_ns[:most],
        )
        took = enough_after(part, watching)
        start = (watching.end.from_ns or 0) // series.interval_ns
        yield f"until steady, {least} s", fmean(rates[start : int(took)]) if took else None, took or most


def main(each: int) -> None:
    """The table, a line for each kind of device and each way to measure it."""
    print("| device | measured | called steady | within 5 % | median error | worst error | median time |")
    print("|---|---|---|---|---|---|---|")
    for kind, draw in KINDS.items():
        seen: dict[str, list[tuple[float | None, float]]] = {}
        for number in range(each):
            series = series_of(draw(random.Random(f"{kind} {number}")), 1000 + number)
            truth = fmean(series.rates_per_s[HOURS_S // 2 :])
            for how, rate, took in results_of(series):
                seen.setdefault(how, []).append((None if rate is None else abs(rate / truth - 1), took))
        for how, found in seen.items():
            errors = [error for error, _ in found if error is not None]
            good = f"{sum(error <= 0.05 for error in errors) / len(errors):.0%}" if errors else ""
            figures = (f"{median(errors):.1%}", f"{max(errors):.0%}") if errors else ("", "")
            time = f"{median(took for _, took in found):g} s"
            print("|", " | ".join((kind, how, f"{len(errors) / each:.0%}", good, *figures, time)), "|", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)
