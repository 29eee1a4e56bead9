"""Does a file system let direct I/Os through one at a time only?

What it is: eight direct writes at once, by threads and by io_uring, over written blocks, into holes, and past the end
of a file; the device's own counters say how many arrive there. Each file system in its turn, and the raw device as
control; on simulated devices the depth follows from Little's law, and reads are the control.
Why it matters: a file system that takes a lock for each write lets one through at a time, whatever the database asks
for; which one does so depends on the kernel and on whether blocks are overwritten or allocated, not on its name.
How it shows: the device sees a quarter or less of what the control shows it.
How to confirm: this experiment; the control itself must reach half of what was asked for, else the device is too fast.
What to change: write into files that are allocated and written already; another file system, or the raw device.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.comparison import median_of
from iocast.analyse.facts import Facts
from iocast.diagnose.experiments.named.trial_outcome import Ruling, table_of
from iocast.diagnose.experiments.named.trial_request import Asked, Defaults, cannot
from iocast.diagnose.experiments.named.trial_rows import MIB, figures, records, row, tests, work
from iocast.diagnose.words import number
from iocast.model.plan import EngineName, Phase
from iocast.model.report import Column, Row
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform

NAME = "dio-matrix"
WRITES = True
IMAGES = ("raw", "ext2", "ext3", "ext4", "xfs", "btrfs")  # what is made on loop devices where nothing is given
DEFAULTS = Defaults(size_bytes=128 * MIB, seconds=2.0, rounds=1, depth=8)
SERIALISED, ENOUGH = 0.25, 0.5  # source row G1
ENGINES: dict[str, EngineName] = {"threads": "sync", "ring": "uring"}
ALONE, CONTROL = ", alone", "reads"
COLUMNS = (
    Column("where", "on"),
    Column("test", "writes"),
    Column("by", "by"),
    Column("asked", "asked", "count", "I/Os at once"),
    Column("device", "at the device", "decimal", "mean queue of the device"),
    Column("rate", "IOPS", "rate"),
    Column("mean", "mean", "duration"),
    Column("verdict", "verdict"),
)


def phases(asked: Asked) -> tuple[Phase, ...]:
    """Every case by threads and by a ring; on a simulated device alone and at once."""
    if asked.target.direct is False:
        raise cannot(asked, "it takes no direct I/O, which is what this experiment is about", "give another path")
    cases = _simulated(asked) if asked.simulated else _real(asked)
    return tuple(cases)


def _simulated(asked: Asked) -> Iterator[Phase]:
    for at in range(1, asked.rounds + 1):
        for op, test in (("read", CONTROL), ("write", "overwrite")):
            for depth, name in ((1, test + ALONE), (asked.depth, test)):
                load = work("read" if op == "read" else "write", asked.block_bytes, depth=depth)
                yield row(name, at, load, seconds=asked.seconds)


def _real(asked: Asked) -> Iterator[Phase]:
    size = asked.parts(1, 1 << 30)
    once = Uniform(repeats=False)
    for at in range(1, asked.rounds + 1):
        if at > 1 and asked.target.kind != "block":  # the round before left holes: before a read they are filled
            yield row("lay out", at, work("read", MIB, Sequential()), moved_bytes=MIB, size=size, role="warm")
        for by, engine in ENGINES.items():
            load = work("write", asked.block_bytes, depth=asked.depth)
            yield row(f"overwrite, {by}", at, load, seconds=asked.seconds, size=size, engine=engine)
        for by, engine in ENGINES.items() if asked.target.kind != "block" else ():
            empty = work("trim", MIB, Sequential())
            yield row(f"empty, {by}", at, empty, moved_bytes=size, size=size, role="warm")
            load = work("write", asked.block_bytes, once, depth=asked.depth)
            yield row(f"allocating, {by}", at, load, seconds=asked.seconds, moved_bytes=size, size=size, engine=engine)
        for by, engine in ENGINES.items() if asked.target.kind != "block" else ():
            load = work("write", asked.block_bytes, Sequential(), depth=asked.depth)
            yield row(
                f"extending, {by}",
                at,
                load,
                seconds=asked.seconds,
                moved_bytes=size,
                size=size,
                engine=engine,
                from_nothing=True,
            )


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Each row against the control: the raw device, else the row with the deepest queue."""
    cells = [cell for run in runs for cell in (_simulated_rows(run) if _is_simulated(run) else _real_rows(run))]
    controls = [each for each in cells if each["where"] == "raw" or each["test"] == CONTROL] or cells
    seen = [_depth(each) for each in controls if each["device"] is not None]
    control = max(seen, default=0.0)
    for each in cells:
        each["verdict"] = _verdict(each, control)
    table = table_of(COLUMNS, [Row(dict(each)) for each in cells])
    stuck = [each for each in cells if each["verdict"] == "serialised"]
    asked = max((_asked(each) for each in cells), default=0.0)
    if control < ENOUGH * asked or not cells:
        says = (
            f"Even the control shows the device only {number(control)} of {number(asked)} at once: it is too fast, or "
            "serves one at a time, and nothing can be said of the file systems."
        )
        return Ruling(verdict="undecided", says=says, table=table)
    free = [each for each in cells if each["verdict"] == "parallel"]
    if stuck:
        names = "; ".join(f"{each['where']} {each['test']} by {each['by']} ({number(_depth(each))})" for each in stuck)
        says = f"One at a time: {names}; the control shows {number(control)} of {number(asked)} at once."
        return Ruling(verdict="confirmed", says=says, table=table)
    says = f"Nothing is let through one at a time: {len(free)} rows, control {number(control)} of {number(asked)}."
    return Ruling(verdict="rejected", says=says, table=table)


Cells = dict[str, str | float | int | tuple[float, ...] | tuple[str, ...] | None]


def _is_simulated(run: Run) -> bool:
    return run.plan.target.kind == "sim"


def _real_rows(run: Run) -> Iterator[Cells]:
    facts, target = Facts(run), run.plan.target
    where = "raw" if target.kind == "block" else target.filesystem or target.path
    for test in tests(run):
        name, _, by = test.partition(", ")
        queues = [
            io.queue_mean
            for each in records(run, test)
            if (io := facts.row(each).under_filesystem) is not None and io.queue_mean is not None
        ]
        yield _cells(run, test, where, name, by, median_of(queues) if queues else None)


def _simulated_rows(run: Run) -> Iterator[Cells]:
    """By Little's law: the rate with many at once times the time that one takes alone."""
    for test in (CONTROL, "overwrite"):
        many, one = figures(run, test), figures(run, test + ALONE)
        if many is not None and one is not None:
            at_once = many.rate_per_s * one.mean_ns / 1e9
            yield _cells(run, test, run.plan.target.path, test, "simulation", at_once)


def _cells(run: Run, test: str, where: str, name: str, by: str, queue: float | None) -> Cells:
    found = figures(run, test)
    assert found is not None
    asked = records(run, test)[0].measurement.asked_depth
    return {
        "where": where,
        "test": name,
        "by": by,
        "asked": asked,
        "device": queue,
        "rate": found.rate_per_s,
        "mean": found.mean_ns,
        "kernel": run.host.kernel,
        "mount": run.plan.target.mount_options,
    }


def _verdict(cells: Cells, control: float) -> str:
    if cells["device"] is None:
        return "not seen"
    if control < ENOUGH * _asked(cells):
        return "device too fast"
    return "serialised" if _depth(cells) <= SERIALISED * control else "parallel"


def _depth(cells: Cells) -> float:
    return float(str(cells["device"] or 0.0))


def _asked(cells: Cells) -> float:
    return float(str(cells["asked"]))
