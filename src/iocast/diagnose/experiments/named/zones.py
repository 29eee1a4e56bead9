"""Is the beginning of the disk faster than its end?

What it is: random reads by two users and sequential reads by one, in the first and the last part of the target.
Why it matters: a spinning disk holds more on its outer tracks; a test on the first part of an empty disk shows more
than the full one will give.
How it shows: reads in the last part take longer, scans there reach fewer MB/s; on flash there is no difference.
How to confirm: the response time in the last part over that in the first, in alternating rounds; the limit is 1.1.
What to change: test the whole disk; keep data that must be fast in its first part.
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided
from iocast.diagnose.experiments.named.trial_rows import MIB, Figures, figures, in_turns, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.results.experiments import ZoneRow
from iocast.model.run import Run
from iocast.model.workload import Sequential
from iocast.text import brief_percent, brief_time

NAME = "zones"
WRITES = False
DEFAULTS = Defaults(size_bytes=256 * MIB, streams=2)
MOST = 2 << 30  # of each zone (source row A6)
SLOWER = 1.1
FIRST, LAST = "random, first part", "random, last part"
SCANS = ("sequential, first part", "sequential, last part")
DECISION = Decision(statistic="mean", first=FIRST, other=LAST, limit=SLOWER, direction="above")


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Both zones, random and sequential, in turns."""
    size = setup.parts(2, MOST)
    places = (0, setup.last(size))
    seconds, users = setup.seconds, setup.streams
    random = [
        row(test, 1, work("read", setup.block_bytes, users=users), seconds=seconds, start=start, size=size)
        for test, start in zip((FIRST, LAST), places, strict=True)
    ]
    scans = [
        row(test, 1, work("read", MIB, Sequential()), seconds=seconds, start=start, size=size)
        for test, start in zip(SCANS, places, strict=True)
    ]
    return in_turns((*random, *scans), setup.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """The last part against the first."""
    run = runs[0]
    rows = []
    for pair in ((FIRST, LAST), SCANS):
        first = figures(run, pair[0])
        for test in pair:
            zone_figures = figures(run, test)
            if zone_figures is not None and first is not None:
                slower = None if test == pair[0] else zone_figures.mean_ns / first.mean_ns - 1
                rows.append(_row(test, zone_figures, slower))
    outcome = decided(run, DECISION)
    slower = (outcome.ratio or 1.0) - 1
    says = f"{outcome.says.rstrip(' .')}."
    if outcome.verdict == "confirmed":
        says += f" Reads in the last part take {brief_percent(slower)} longer: the inner zone of a disk."
    elif outcome.verdict == "rejected":
        says += " No zone effect (below 10%)."
    first, last = figures(run, FIRST), figures(run, LAST)
    if first is not None and last is not None:
        says += (
            f" {brief_time(1e9 / first.rate_per_s)} and {brief_time(1e9 / last.rate_per_s)} of device time per read."
        )
    return Ruling(verdict=outcome.verdict, says=says, rows=tuple(rows))


def _row(test: str, zone_figures: Figures, slower: float | None) -> ZoneRow:
    return ZoneRow(
        test=test,
        ios=zone_figures.ios,
        each_ns=1e9 / zone_figures.rate_per_s,
        waited_ns=zone_figures.mean_ns,
        slower_share=slower,
        moved_bytes_per_s=zone_figures.bytes_per_s,
    )
