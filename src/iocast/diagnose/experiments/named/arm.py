"""Do two parts of the target share one arm?

What it is: two readers in the same part of the target, and two at its opposite ends.
Why it matters: two databases, or data and log, on different parts of one disk keep its arm seeking.
How it shows: readers at opposite ends see a much longer response time than those side by side.
How to confirm: the response time at opposite ends over that side by side, in alternating rounds; the limit is 1.5.
What to change: place them on different disks, or on flash.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided
from iocast.diagnose.experiments.named.trial_rows import MIB, figures, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.results.experiments import ArmRow
from iocast.model.run import Run

NAME = "arm"
WRITES = False
DEFAULTS = Defaults(size_bytes=256 * MIB)
MOST = 2 << 30  # of each end (source row A7)
FARTHER = 1.5
SAME = ("side by side, one", "side by side, other")
APART = ("opposite ends, first", "opposite ends, last")
SHOWN = {SAME: "side by side", APART: "opposite ends"}
DECISION = Decision(statistic="mean", first=SAME[0], other=APART[0], limit=FARTHER, direction="above")


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Both pairs, in turns."""
    return tuple(phase for at in range(1, setup.rounds + 1) for phase in _round(setup, at))


def _round(setup: TrialSetup, at: int) -> Iterator[Phase]:
    size = setup.parts(2, MOST)
    reads = work("read", setup.block_bytes)
    pairs = ((SAME, (0, 0)), (APART, (0, setup.last(size))))
    for names, starts in pairs if at % 2 else reversed(pairs):
        beside = f"round {at}: {SHOWN[names]}"
        for name, start in zip(names, starts, strict=True):
            yield row(name, at, reads, seconds=setup.seconds, start=start, size=size, together=beside)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Opposite ends against side by side."""
    run = runs[0]
    rows = tuple(row for names in (SAME, APART) if (row := _pair(run, names)) is not None)
    outcome = decided(
        run,
        DECISION,
        "The two ends share one arm: reads there take {ratio} times as long.",
        "They do not share an arm: the position of the readers makes no difference of that size.",
    )
    return Ruling(verdict=outcome.verdict, says=outcome.says, rows=rows)


def _pair(run: Run, names: tuple[str, str]) -> ArmRow | None:
    """Both readers of a pair in one row, as one process that has two threads would show them."""
    both = [pair for name in names if (pair := figures(run, name)) is not None]
    first = figures(run, SAME[0])
    if not both or first is None:
        return None
    slower = both[0].mean_ns / first.mean_ns - 1 if names == APART else None
    return ArmRow(
        test=SHOWN[names],
        ios=sum(each.ios for each in both),
        each_ns=1e9 / sum(each.rate_per_s for each in both),
        waited_ns=both[0].mean_ns,
        slower_share=slower,
        moved_bytes_per_s=sum(each.bytes_per_s for each in both),
    )
