"""Is the first write to a block slower than an overwrite?

What it is: a thousand blocks of a region are written once, and then overwritten; each round takes a new region that was
never written (on files and devices it is trimmed first).
Why it matters: thin volumes, and files that grow as they are written, allocate and zero space at the first write; a
load of new data is slowed down, a test that overwrites its file does not see it.
How it shows: the p95 of the first pass is at least 1.5 times that of the second; or its mean is, where a few slow
writes of both passes (misses of a cache, a lower tier) make the p95.
How to confirm: this experiment, the p95 and the mean of both passes; the limit is 1.5.
What to change: write everything once before it counts, or use thick provisioning; preallocate files.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, usual_rows
from iocast.diagnose.experiments.named.trial_rows import MIB, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
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


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """A part a round: emptied, written, written again."""
    return tuple(phase for at in range(1, setup.rounds + 1) for phase in _round(setup, at))


def _round(setup: TrialSetup, at: int) -> Iterator[Phase]:
    size = setup.parts(setup.rounds, MOST)
    start = (at - 1) * size
    if not setup.simulated:
        yield row("empty", at, work("trim", MIB, Sequential()), moved_bytes=size, start=start, size=size, role="warm")
    # The same blocks in both passes, none twice: an end by time would let the quicker pass come further.
    load = work("write", setup.block_bytes, Uniform(repeats=False), depth=setup.depth)
    ios = min(WRITTEN, size // setup.block_bytes)
    for test in ("first pass", "second pass"):
        yield row(test, at, load, ios=ios, start=start, size=size, same_offsets=True)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """The first pass against the second."""
    outcomes = [
        decided(
            runs[0],
            decision,
            "The first write to a block takes {ratio} times as long as an overwrite: it allocates and zeroes space.",
            "First writes take less than 1.5 times as long as overwrites.",
        )
        for decision in (DECISION, replace(DECISION, statistic="mean"))
    ]
    outcome = next((each for each in outcomes if each.verdict == "confirmed"), outcomes[0])
    return Ruling(verdict=outcome.verdict, says=outcome.says, rows=usual_rows(runs[0]))
