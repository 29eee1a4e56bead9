"""Is the first write to a place slower than the next one?

What it is: a thousand blocks of a part are written once, and then once more; each round takes a part of its own, of
which nothing was written before (on files and devices what was there is trimmed away first).
Why it matters: thin space, and files that are made as they are written, find and clear room at the first write; a load
of fresh data suffers, a test that writes over its own file does not see it.
How it shows: p95 of the first pass is half as long again as that of the second, or more.
How to confirm: this experiment, p95 of both passes against 1.5.
What to change: write everything once before it counts, or allocate thick; preallocate files.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, usual_table
from iocast.diagnose.experiments.named.trial_request import Asked, Defaults
from iocast.diagnose.experiments.named.trial_rows import MIB, row, work
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform

NAME = "first-write"
WRITES = True
DEFAULTS = Defaults(size_bytes=48 * MIB)
MOST = 1 << 30  # of each part: so wide that most of its writes are the first in a unit of a MiB
WRITTEN = 1024  # in each pass
SLOWER = 1.5  # source row K8, 8
DECISION = Decision(
    statistic="p95", first="second pass", other="first pass", limit=SLOWER, direction="above", op="write"
)


def phases(asked: Asked) -> tuple[Phase, ...]:
    """A part a round: emptied, written, written again."""
    return tuple(phase for at in range(1, asked.rounds + 1) for phase in _round(asked, at))


def _round(asked: Asked, at: int) -> Iterator[Phase]:
    size = asked.parts(asked.rounds, MOST)
    start = (at - 1) * size
    if not asked.simulated:
        yield row("empty", at, work("trim", MIB, Sequential()), moved_bytes=size, start=start, size=size, role="warm")
    # The same blocks in both passes, none twice: an end by time would let the quicker pass come further.
    load = work("write", asked.block_bytes, Uniform(repeats=False), depth=asked.depth)
    ios = min(WRITTEN, size // asked.block_bytes)
    for test in ("first pass", "second pass"):
        yield row(test, at, load, ios=ios, start=start, size=size, same_offsets=True)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """The first pass against the second."""
    outcome = decided(
        runs[0],
        DECISION,
        "The first write to a place costs {ratio} times the next one: room is found and cleared as it is written.",
        "First writes cost no more than the next ones.",
    )
    return Ruling(verdict=outcome.verdict, says=outcome.says, table=usual_table(runs[0]))
