"""Does the storage or the kernel read ahead?

What it is: small reads at 1x1, sequential and random, with direct I/O; and random ones through the page cache.
Why it matters: read-ahead makes scans fast, and a sequential test flatters storage whose random reads are slow; through
the page cache it may read much that was not requested.
How it shows: sequential reads take less than half the time of random ones (a disk whose arm need not seek does the
same); buffered random reads move a fifth more bytes at the device than were requested.
How to confirm: both in alternating rounds, the ratio of the means; the limit is 0.5. The bytes at the device are
counted.
What to change: measure random access with random reads; for random access through the cache lower read_ahead_kb, or use
POSIX_FADV_RANDOM.
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, rows_with_device, times_as_fast
from iocast.diagnose.experiments.named.trial_rows import MIB, device_share, in_turns, row, tests, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.text import number

NAME = "read-ahead"
WRITES = False
DEFAULTS = Defaults(size_bytes=256 * MIB, seconds=1.0)
MOST = 16 << 30
QUICKER = 0.5
TOO_MUCH = 1.2  # source row K8, 6
SEQUENTIAL, BUFFERED = "sequential", "random buffered"
DECISION = Decision(statistic="mean", first="random", other=SEQUENTIAL, limit=QUICKER, direction="below")


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Sequential and random, and random through the cache where there is one."""
    size = setup.parts(1, MOST)
    direct = setup.target.direct is not False
    loads = {
        SEQUENTIAL: work("read", setup.block_bytes, Sequential(), direct=direct),
        "random": work("read", setup.block_bytes, direct=direct),
    }
    if not setup.simulated:
        loads[BUFFERED] = work("read", setup.block_bytes, Uniform(repeats=False), direct=False)
    once = [row(test, 1, load, seconds=setup.seconds, size=size) for test, load in loads.items()]
    return in_turns(once, setup.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Sequential against random, and the bytes that were not requested."""
    run = runs[0]
    shares = {test: device_share(run, test, "read") for test in tests(run)}
    outcome = decided(
        run,
        DECISION,
        if_rejected="No read-ahead: sequential reads are not much faster.",
    )
    says = outcome.says
    if outcome.verdict == "confirmed":
        says += f" Sequential reads are {times_as_fast(outcome)}: read-ahead, or an arm that need not seek."
    most = shares.get(BUFFERED)
    wasted = ""
    if most is not None and most > TOO_MUCH:
        wasted = f" Buffered random reads move {number(most)} times the bytes that were requested."
    return Ruling(verdict=outcome.verdict, says=says + wasted, rows=rows_with_device(run, shares))
