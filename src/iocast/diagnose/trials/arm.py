"""Do two places share one arm?

What it is: two readers in the same part of the target, and two at its opposite ends.
Why it matters: two databases, or data and log, that were given a part each of one disk send its arm to and fro.
How it shows: the readers at opposite ends wait much longer than those side by side.
How to confirm: the time of a read at opposite ends over that side by side, against 1.5, in turns.
What to change: put them on different disks, or on flash.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.diagnose.trials.asked import Asked, Defaults
from iocast.diagnose.trials.rows import MIB, figures, row, work
from iocast.diagnose.trials.ruling import Ruling, decided, table_of
from iocast.diagnose.trials.zones import COLUMNS, zone_row
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.run import Run

NAME = "arm"
WRITES = False
DEFAULTS = Defaults(size_bytes=256 * MIB)
MOST = 2 << 30  # of each end (source row A7)
FARTHER = 1.5
SAME = ("side by side, one", "side by side, other")
APART = ("opposite ends, first", "opposite ends, last")
DECISION = Decision(statistic="mean", first=SAME[0], other=APART[0], limit=FARTHER, direction="above")


def phases(asked: Asked) -> tuple[Phase, ...]:
    """Pairs at once, in turns."""
    return tuple(phase for at in range(1, asked.rounds + 1) for phase in _round(asked, at))


def _round(asked: Asked, at: int) -> Iterator[Phase]:
    size = asked.parts(2, MOST)
    reads = work("read", asked.block_bytes)
    pairs = ((SAME, (0, 0)), (APART, (0, asked.last(size))))
    for names, starts in pairs if at % 2 else reversed(pairs):
        beside = f"round {at}: {names[0].partition(',')[0]}"
        for name, start in zip(names, starts, strict=True):
            yield row(name, at, reads, seconds=asked.seconds, start=start, size=size, together=beside)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Opposite ends against side by side."""
    run = runs[0]
    near = figures(run, SAME[0])
    rows = []
    for test in (*SAME, *APART):
        found = figures(run, test)
        if found is not None and near is not None:
            rows.append(zone_row(test, found, found.mean_ns / near.mean_ns - 1 if test in APART else None))
    outcome = decided(
        run,
        DECISION,
        "The two ends share one arm: reads there take {ratio} times as long.",
        "They share no arm: where the readers are makes no difference of that size.",
    )
    return Ruling(verdict=outcome.verdict, says=outcome.says, table=table_of(COLUMNS, rows))
