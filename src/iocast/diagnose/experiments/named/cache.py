"""Does the page cache answer instead of the device?

What it is: buffered and direct reads and writes of one small set of data, in turns.
Why it matters: what the page cache answers says nothing about storage; a buffered test may measure memory.
How it shows: buffered reads are many times as fast as direct ones, and the device moves none of their bytes.
How to confirm: this experiment counts the bytes at the device. Page cache: less than 5 % of what was read.
What to change: direct I/O in the test (`direct = true`), or in the database (O_DIRECT); on ZFS primarycache=metadata.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.diagnose.evidence import memory_words
from iocast.diagnose.experiments.named.trial_outcome import Ruling, decided, rows_with_device
from iocast.diagnose.experiments.named.trial_rows import MIB, device_share, figures, row, tests, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup
from iocast.model.experiment import Decision
from iocast.model.plan import Phase
from iocast.model.run import Run
from iocast.model.workload import Op, Sequential
from iocast.text import brief_percent, brief_throughput

NAME = "cache"
WRITES = False  # it leaves its writes out where it must not write
DEFAULTS = Defaults(seconds=1.0)
FROM_MEMORY = 0.05  # of the bytes may still come from the device (source row K7)
DECISION = Decision(
    statistic="bytes_per_s", first="read direct", other="read buffered", limit=2.0, direction="above", op="read"
)


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Reads and, where it may, writes, buffered and direct; before each buffered read the cache is filled."""
    return tuple(phase for at in range(1, setup.rounds + 1) for phase in _round(setup, at))


def _round(setup: TrialSetup, at: int) -> Iterator[Phase]:
    size = setup.parts(1, DEFAULTS.size_bytes)
    ops: tuple[Op, ...] = ("read", "write") if setup.may_write else ("read",)
    ways = (False, True) if setup.target.direct is not False else (False,)
    for op in ops:
        for direct in ways:
            if op == "read" and not direct:
                warm = work("read", MIB, Sequential(), direct=False)
                yield row("fill the cache", at, warm, moved_bytes=size, size=size, role="warm")
            load = work(op, setup.block_bytes, direct=direct, depth=setup.depth)
            yield row(f"{op} {'direct' if direct else 'buffered'}", at, load, seconds=setup.seconds, size=size)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Page cache when the device moved (nearly) nothing of what was read buffered; else by how much faster it was."""
    run = runs[0]
    ops = {each.phase.test: each.phase.workload.mix[0].op for each in run.measured}
    shares = {test: device_share(run, test, ops[test]) for test in tests(run)}
    rows = rows_with_device(run, shares)
    memory = memory_words(run.plan.target)
    if memory:
        buffered_figures = figures(run, "read buffered")
        speed = f" Buffered reads: {brief_throughput(buffered_figures.bytes_per_s)}." if buffered_figures else ""
        says = f"Memory answers every read, buffered or direct: {memory}.{speed}"
        return Ruling(verdict="confirmed", says=says, rows=rows)
    if "read direct" not in tests(run):
        why = run.plan.target.direct_why_not or "O_DIRECT is refused"
        says = f"Nothing to compare buffered reads with: no direct I/O on {run.plan.target.path} ({why})."
        return Ruling(verdict="undecided", says=says, rows=rows)
    outcome = decided(run, DECISION)
    buffered, direct = shares["read buffered"], shares["read direct"]
    if buffered is not None and buffered <= FROM_MEMORY:
        sentence = f"The device moved {brief_percent(buffered)} of the bytes of buffered reads"
        sentence += f", and {brief_percent(direct)} of those of direct ones" if direct is not None else ""
        return Ruling(
            verdict="confirmed",
            says=f"The page cache answers buffered reads. {sentence}. {outcome.says}",
            rows=rows,
        )
    ends = {
        "confirmed": "A cache on this machine answers buffered reads.",
        "rejected": "The page cache answers no buffered reads.",
    }
    says = f"{outcome.says} {ends.get(outcome.verdict, '')}".strip()
    return Ruling(verdict=outcome.verdict, says=says, rows=rows)
