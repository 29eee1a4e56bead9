"""Does throughput scale with more readers?

What it is: one, two, and more sequential readers, each in separate files, in blocks of 1 MiB.
Why it matters: one stream seldom reaches the bandwidth of the storage, and many streams may reach that of a cache:
"bandwidth" measured with one or with six concurrent copies differs by the number of copies, not by the storage.
How it shows: throughput grows with the readers, to a ceiling; where the device moves nothing, it was the page cache.
How to confirm: throughput of the most readers over that of one, with a limit of 1.5; the bytes at the device are
counted.
What to change: measure scans with as many streams as there will be.
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided
from iocast.diagnose.experiments.named.trial_rows import MIB, device_share, every_figures, in_turns, row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.results.experiments import ReadersRow
from iocast.model.run import Run
from iocast.model.workload import Sequential
from iocast.text import brief_percent, number

NAME = "concurrent-readers"
WRITES = False
DEFAULTS = Defaults(size_bytes=6 * 64 * MIB, streams=6, block_bytes=MIB)
MORE = 1.5
LESS = 0.9  # of one reader's throughput: on a disk several sequential streams cost seeks [J]
FROM_MEMORY = 0.05


def files(setup: TrialSetup) -> int:
    """A file for each of the most readers."""
    return max(1, setup.streams)


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """One, two and the most readers, in turns."""
    setup.parts(setup.streams, 1 << 60)
    direct = setup.target.direct is not False
    every = [
        row(
            f"{users} reader" + ("s" if users > 1 else ""),
            1,
            work("read", setup.block_bytes, Sequential(), users=users, direct=direct),
            seconds=setup.seconds,
        )
        for users in sorted({1, min(2, setup.streams), setup.streams})
    ]
    return in_turns(every, setup.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """What each number of readers reaches, and from where."""
    run = runs[0]
    users = {each.phase.test: each.phase.workload.users for each in run.measured}
    every = every_figures(run)
    order = sorted(every, key=lambda test: users[test])
    rows = []
    for test in order:
        by_test = every[test]
        times = by_test.bytes_per_s / every[order[0]].bytes_per_s
        rows.append(
            ReadersRow(
                readers=users[test],
                moved_bytes_per_s=by_test.bytes_per_s,
                each_bytes_per_s=by_test.bytes_per_s / users[test],
                scaling=times,
                efficiency_share=times / users[test],
                mean_ns=by_test.mean_ns,
                device_share=device_share(run, test, "read"),
            )
        )
    if len(order) < 2:
        return Ruling(
            verdict="undecided", says="Nothing to compare: two numbers of readers are needed.", rows=tuple(rows)
        )
    decision = Decision(statistic="bytes_per_s", first=order[0], other=order[-1], limit=MORE, direction="above")
    least = "More readers move less in all than one" if times < LESS else "One reader nearly saturates the storage"
    outcome = decided(run, decision, "More readers reach {ratio} times the throughput", least)
    ends = f", with an efficiency of {brief_percent(rows[-1].efficiency_share)}."
    cached = [share for each in rows if (share := each.device_share) is not None and share <= FROM_MEMORY]
    moved = f"the device moved only {number(max(cached) * 100)}% of the bytes" if cached else ""
    memory = f" The page cache answered: {moved}." if moved else ""
    says = outcome.says + (ends if outcome.verdict != "undecided" else "") + memory
    return Ruling(verdict=outcome.verdict, says=says, rows=tuple(rows))
