"""Is what comes next fetched before it is asked for?

What it is: small reads one at a time, in order and at random, past the page cache; and at random through it.
Why it matters: read-ahead makes scans quick, and a test in order flatters storage whose random reads are poor; through
the page cache it may fetch much that nobody asked for.
How it shows: reads in order take less than half the time of random ones (a disk's arm that need not move does the
same); buffered random reads move a fifth more bytes at the device than were asked for.
How to confirm: both in turns, the mean against one half; the bytes at the device are counted.
What to change: measure random reads at random; for random access through the cache set read_ahead_kb lower, or
POSIX_FADV_RANDOM.
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, table_with_device, times_as_quick
from iocast.diagnose.experiments.named.trial_request import Asked, Defaults
from iocast.diagnose.experiments.named.trial_rows import MIB, device_share, in_turns, row, tests, work
from iocast.diagnose.words import number
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform

NAME = "read-ahead"
WRITES = False
DEFAULTS = Defaults(size_bytes=256 * MIB, seconds=1.0)
MOST = 16 << 30
QUICKER = 0.5
TOO_MUCH = 1.2  # source row K8, 6
BUFFERED = "random buffered"
DECISION = Decision(statistic="mean", first="random", other="in order", limit=QUICKER, direction="below")


def phases(asked: Asked) -> tuple[Phase, ...]:
    """In order and at random, and at random through the cache where there is one."""
    size = asked.parts(1, MOST)
    direct = asked.target.direct is not False
    loads = {
        "in order": work("read", asked.block_bytes, Sequential(), direct=direct),
        "random": work("read", asked.block_bytes, direct=direct),
    }
    if not asked.simulated:
        loads[BUFFERED] = work("read", asked.block_bytes, Uniform(repeats=False), direct=False)
    once = [row(test, 1, load, seconds=asked.seconds, size=size) for test, load in loads.items()]
    return in_turns(once, asked.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """In order against random, and the bytes that nobody asked for."""
    run = runs[0]
    shares = {test: device_share(run, test, "read") for test in tests(run)}
    outcome = decided(
        run,
        DECISION,
        if_rejected="Reads in order are not much quicker: nothing is fetched ahead.",
    )
    says = outcome.says
    if outcome.verdict == "confirmed":
        says += f" Reads in order are {times_as_quick(outcome)}: they are fetched ahead, or no arm has to move."
    most = shares.get(BUFFERED)
    wasted = ""
    if most is not None and most > TOO_MUCH:
        wasted = f" Buffered random reads move {number(most)} times the bytes that were asked for."
    return Ruling(verdict=outcome.verdict, says=says + wasted, table=table_with_device(run, shares))
