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

from iocast.diagnose.experiments.named.trial_outcome import AT_THE_DEVICE, Ruling, decided, table_of
from iocast.diagnose.experiments.named.trial_request import Asked, Defaults
from iocast.diagnose.experiments.named.trial_rows import MIB, device_share, figures, in_turns, row, tests, work
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.report import Column, Row
from iocast.model.run import Run
from iocast.model.workload import Sequential
from iocast.text import brief_percent, number

NAME = "concurrent-readers"
WRITES = False
DEFAULTS = Defaults(size_bytes=6 * 64 * MIB, streams=6, block_bytes=MIB)
MORE = 1.5
LESS = 0.9  # of one reader's throughput: on a disk several sequential streams cost seeks [J]
FROM_MEMORY = 0.05
COLUMNS = (
    Column("readers", "readers", "count"),
    Column("moved", "MB/s", "bytes_per_s"),
    Column("each", "MB/s each", "bytes_per_s"),
    Column("scaling", "speed-up", "decimal", "throughput over that of one reader"),
    Column("efficiency", "efficiency", "share", "speed-up over the number of readers"),
    Column("mean", "mean", "duration"),
    AT_THE_DEVICE,
)


def files(asked: Asked) -> int:
    """A file for each of the most readers."""
    return max(1, asked.streams)


def phases(asked: Asked) -> tuple[Phase, ...]:
    """One, two and the most readers, in turns."""
    asked.parts(asked.streams, 1 << 60)
    direct = asked.target.direct is not False
    every = [
        row(
            f"{users} reader" + ("s" if users > 1 else ""),
            1,
            work("read", asked.block_bytes, Sequential(), users=users, direct=direct),
            seconds=asked.seconds,
        )
        for users in sorted({1, min(2, asked.streams), asked.streams})
    ]
    return in_turns(every, asked.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """What each number of readers reaches, and from where."""
    run = runs[0]
    users = {each.phase.test: each.phase.workload.users for each in run.measured}
    order = sorted(tests(run), key=lambda test: users[test])
    one = figures(run, order[0]) if order else None
    rows, shares = [], []
    for test in order:
        found = figures(run, test)
        assert found is not None
        assert one is not None
        times = found.bytes_per_s / one.bytes_per_s
        shares.append(device_share(run, test, "read"))
        rows.append(
            Row(
                {
                    "readers": users[test],
                    "moved": found.bytes_per_s,
                    "each": found.bytes_per_s / users[test],
                    "scaling": times,
                    "efficiency": times / users[test],
                    "mean": found.mean_ns,
                    "device": shares[-1],
                }
            )
        )
    table = table_of(COLUMNS, rows)
    if len(order) < 2:
        return Ruling(verdict="undecided", says="Nothing to compare: two numbers of readers are needed.", table=table)
    decision = Decision(statistic="bytes_per_s", first=order[0], other=order[-1], limit=MORE, direction="above")
    least = "More readers move less in all than one" if times < LESS else "One reader nearly saturates the storage"
    outcome = decided(run, decision, "More readers reach {ratio} times the throughput", least)
    ends = f", an efficiency of {brief_percent(float(str(rows[-1].cells['efficiency'])))}."
    cached = [share for share in shares if share is not None and share <= FROM_MEMORY]
    moved = f"the device moved only {number(max(cached) * 100)}% of the bytes" if cached else ""
    memory = f" The page cache answered: {moved}." if moved else ""
    says = outcome.says + (ends if outcome.verdict != "undecided" else "") + memory
    return Ruling(verdict=outcome.verdict, says=says, table=table)
