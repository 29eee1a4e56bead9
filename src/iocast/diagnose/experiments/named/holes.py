"""Are reads of holes answered without the medium?

What it is: random reads of a region that was never written, and of one that was, in alternating rounds.
Why it matters: a file system or an array answers reads of holes from its metadata; a test on a file that was created
but never written measures nothing.
How it shows: reads of the empty region take less than half the time.
How to confirm: the ratio of the medians; the limit is 0.5.
What to change: write all work files with unique data before they are read.
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, rows_with_device, times_as_fast
from iocast.diagnose.experiments.named.trial_rows import MIB, device_share, in_turns, row, tests, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.run import Run
from iocast.model.workload import Sequential
from iocast.text import brief_percent

NAME = "holes"
WRITES = True
DEFAULTS = Defaults(seconds=1.0)
MOST = 256 * MIB  # of each part
TOO_QUICK = 0.5  # source row K8, 9
EMPTY, WRITTEN = "never written", "written"
DECISION = Decision(statistic="p50", first=WRITTEN, other=EMPTY, limit=TOO_QUICK, direction="below", op="read")


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """One part is written, the other emptied; then both are read."""
    size = setup.parts(2, MOST)
    written = work("write", MIB, Sequential(), depth=4)
    ground = [row("write", "before", written, moved_bytes=size, start=size, size=size, role="warm")]
    if not setup.simulated:
        ground.append(row("empty", "before", work("trim", MIB, Sequential()), moved_bytes=size, size=size, role="warm"))
    reads = work("read", setup.block_bytes, depth=setup.depth)
    pair = [
        row(test, 1, reads, seconds=setup.seconds, start=start, size=size, as_it_is=True)
        for test, start in ((EMPTY, 0), (WRITTEN, size))
    ]
    return (*ground, *in_turns(pair, setup.rounds))


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Empty against written, and what of the reads the device saw."""
    run = runs[0]
    shares = {test: device_share(run, test, "read") for test in tests(run)}
    outcome = decided(
        run,
        DECISION,
        if_rejected="Reads of holes take as long as others.",
    )
    says = outcome.says
    if outcome.verdict == "confirmed":
        says += f" Reads of holes do not reach the medium: they are {times_as_fast(outcome)}."
    share = shares.get(EMPTY)
    counted = f" The device moved {brief_percent(share)} of what was read there." if share is not None else ""
    return Ruling(verdict=outcome.verdict, says=says + counted, rows=rows_with_device(run, shares))
