"""Prints the tables of docs/guide/gate.md: how often a gate closes on equal storage, and on storage 10% slower.

`python bench/gates.py 10` makes 10 gates of each kind on each simulated device of bench/comparisons.py, whose runs have
nothing in common (other offsets, other noise), and gates of ratios that are drawn from a distribution.
`python bench/gates.py 200 DIR` makes 200 gates of a directory against itself, in turns.
"""

from __future__ import annotations

import math
import random
import shutil
import statistics
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from comparisons import DEVICES, SHIFT, run

from iocast.analyse.comparison import ab_ratio
from iocast.diagnose.comparable import REPEATS, Pair
from iocast.results.comparison import gate_outcome
from iocast.sessions.gating import gate
from iocast.sessions.listener import Quiet
from iocast.sessions.requests.compare import GateRequest
from iocast.sessions.requests.run_options import RunOptions

FEW, MOST, SECONDS = 8, 20, 10
JOB = """
name = "gate"
[files]
size = "256MiB"
[defaults]
size = "8k"
time = "{seconds}s"
[[phase]]
test = "randread"
users = 1
[[phase]]
test = "randread"
users = 4
"""


def rounds(devices: tuple[str, str], load: str, seed: int) -> tuple[str, int]:
    """What a gate says of two simulated devices, and after how many rounds."""
    first, other = [], []
    for number in range(1, MOST + 1):
        first.append(run(devices[0], load, seed + 2 * number, SECONDS))
        other.append(run(devices[1], load, seed + 2 * number + 1, SECONDS))
        if number < REPEATS:
            continue
        outcome = gate_outcome([Pair("row", tuple(first), tuple(other), matched=True, any_time=2)])
        if outcome != "undecided":
            return outcome, number
    return "undecided", MOST


def simulated(times: int) -> None:
    """The table of simulated devices."""
    print("| devices | gates | regression | within 8 rounds | passed | undecided after 20 | rounds (median) |")
    print("|---|---|---|---|---|---|---|")
    for name, shift in (("equal", ""), ("10% slower", SHIFT)):
        found, lengths, quickly = Counter[str](), [], 0
        for at, (device, load) in enumerate(DEVICES):
            for time in range(times):
                outcome, took = rounds((device, device + shift), load, 1_000 * (at * times + time))
                found[outcome] += 1
                lengths.append(took)
                quickly += outcome == "regression" and took <= FEW
        total = len(lengths)
        counts = (found["regression"], quickly, found["passed"], found["undecided"])
        cells = " | ".join(f"{count / total:.1%}" for count in counts)
        print(f"| {name} | {total} | {cells} | {statistics.median(lengths):g} |", flush=True)


# Log ratios of pairs with mean 0 and scatter 1.
LAWS: dict[str, Callable[[random.Random], float]] = {
    "normal": lambda draw: draw.gauss(0, 1),
    "t with 3 degrees of freedom": lambda draw: draw.gauss(0, 1) / math.sqrt(draw.gammavariate(1.5, 2)),
    "each tenth five times as far": lambda draw: draw.gauss(0, 5 if draw.random() < 0.1 else 1) / math.sqrt(3.4),
    "exponential": lambda draw: draw.expovariate(1) - 1,
}


def is_closed(law: str, log_shift: float, scatter: float, figures: int, most: int, draw: random.Random) -> bool:
    """Whether a figure of a gate is found to be worse within `most` rounds of drawn ratios."""
    ratios: list[float] = []
    for number in range(1, most + 1):
        ratios.append(math.exp(log_shift + scatter * LAWS[law](draw)))
        if number < REPEATS:
            continue
        compared = ab_ratio([1.0] * number, ratios, matched=True, any_time=figures)
        if compared.verdict != "inconclusive":
            return compared.verdict != "equivalent" and compared.ratio < 1
    return False


def drawn(times: int) -> None:
    """The tables of drawn ratios: 10% worse, and equal."""
    draw, many = random.Random(1), (1, 2, 4, 8, 16)
    print("| pairs scatter by |", " | ".join(f"{figures} figures" for figures in many), "|")
    for scatter in (0.02, 0.03, 0.04, 0.05):
        found = [
            sum(is_closed("normal", math.log(0.9), scatter, figures, FEW, draw) for _ in range(times))
            for figures in many
        ]
        print(f"| {scatter:.0%} |", " | ".join(f"{count / times:.0%}" for count in found), "|", flush=True)
    for law in LAWS:
        closed = sum(is_closed(law, 0.0, 0.1, 2, 30, draw) for _ in range(5 * times))
        print(f"equal, {law}, scatter 10%, 2 figures, 30 rounds: {closed / times / 5:.1%}", flush=True)


def real(times: int, place: str) -> None:
    """Gates of a directory against itself."""
    found, lengths = Counter[str](), []
    with tempfile.TemporaryDirectory() as room:
        job = Path(room, "gate.toml")
        job.write_text(JOB.format(seconds=0.25))
        for time in range(times):
            out = str(Path(room, "runs"))
            request = GateRequest(
                baseline=place, path=place, job=str(job), options=RunOptions(out=out, seed=1 + 100 * time)
            )
            gated = gate(request, Quiet())
            assert gated is not None
            found[gated.verdict.outcome] += 1
            lengths.append(gated.verdict.rounds)
            shutil.rmtree(out)
            print(time + 1, dict(found), f"rounds (median) {statistics.median(lengths):g}", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        real(int(sys.argv[1]), sys.argv[2])
    else:
        simulated(int(sys.argv[1]))
        drawn(100 * int(sys.argv[1]))
