"""Does a file system serialise direct writes?

What it is: eight outstanding direct writes, by threads and by io_uring (there is no libaio engine: io_uring submits as
it does), over written blocks, into holes, and past the end of a file; the device's counters give the queue depth there.
Each file system in turn, with the raw device as control; on simulated devices the depth follows from Little's law, and
reads are the control.
Why it matters: a file system that locks the file for each write sends one I/O at a time, whatever the database
submits; which one does so depends on the kernel and on whether blocks are overwritten or allocated, not on its name.
How it shows: the queue depth at the device is a quarter of the control's or less.
How to confirm: this experiment; the control must reach half of the requested depth, else the device is too fast.
What to change: write into files that are allocated and already written; another file system, or the raw device.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from iocast.analyse.comparison import median_of
from iocast.analyse.facts import Facts
from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_rows import MIB, figures, records, row, tests, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup, cannot
from iocast.diagnose.limits.device_queue import ENOUGH, queue_verdict
from iocast.model.plan import EngineName, Phase
from iocast.model.results.experiments import DirectWritesRow
from iocast.model.run import Run
from iocast.model.workload import Sequential, Uniform
from iocast.text import number

NAME = "dio-matrix"
WRITES = True
IMAGES = ("raw", "ext2", "ext3", "ext4", "xfs", "btrfs")  # what is made on loop devices where nothing is given
DEFAULTS = Defaults(size_bytes=128 * MIB, seconds=2.0, rounds=1, depth=8)
ENGINES: dict[str, EngineName] = {"threads": "sync", "ring": "uring"}
CASES = "overwrite", "allocating", "extending"
ALONE, CONTROL = ", alone", "reads"


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Every case by threads and by a ring; on a simulated device at 1 and at the full depth."""
    if setup.target.direct is False:
        raise cannot(setup, "no direct I/O here, which this experiment needs", "give another path")
    cases = _simulated(setup) if setup.simulated else _real(setup)
    return tuple(cases)


def _simulated(setup: TrialSetup) -> Iterator[Phase]:
    for at in range(1, setup.rounds + 1):
        for op, test in (("read", CONTROL), ("write", "overwrite")):
            for depth, name in ((1, test + ALONE), (setup.depth, test)):
                load = work("read" if op == "read" else "write", setup.block_bytes, depth=depth)
                yield row(name, at, load, seconds=setup.seconds)


def _real(setup: TrialSetup) -> Iterator[Phase]:
    size = setup.parts(1, 1 << 30)
    once = Uniform(repeats=False)
    for at in range(1, setup.rounds + 1):
        if at > 1 and setup.target.kind != "block":  # the round before left holes: before a read they are filled
            yield row("lay out", at, work("read", MIB, Sequential()), moved_bytes=MIB, size=size, role="warm")
        for by, engine in ENGINES.items():
            load = work("write", setup.block_bytes, depth=setup.depth)
            yield row(_named(CASES[0], by), at, load, seconds=setup.seconds, size=size, engine=engine)
        for by, engine in ENGINES.items() if setup.target.kind != "block" else ():
            empty = work("trim", MIB, Sequential())
            yield row(f"empty, {by}", at, empty, moved_bytes=size, size=size, role="warm")
            load = work("write", setup.block_bytes, once, depth=setup.depth)
            yield row(_named(CASES[1], by), at, load, seconds=setup.seconds, moved_bytes=size, size=size, engine=engine)
        for by, engine in ENGINES.items() if setup.target.kind != "block" else ():
            load = work("write", setup.block_bytes, Sequential(), depth=setup.depth)
            yield row(
                _named(CASES[2], by),
                at,
                load,
                seconds=setup.seconds,
                moved_bytes=size,
                size=size,
                engine=engine,
                from_nothing=True,
            )


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Each row against the control: the raw device, else the row with the deepest queue."""
    all_rows = [each for run in runs for each in (_simulated_rows(run) if _is_simulated(run) else _real_rows(run))]
    controls = [each for each in all_rows if each.where == "raw" or each.test == CONTROL] or all_rows
    control = max((each.device for each in controls if each.device is not None), default=0.0)
    rows = tuple(replace(each, verdict=queue_verdict(each.device, each.requested, control)) for each in all_rows)
    stuck = [each for each in rows if each.verdict == "serialised"]
    depth = max((each.requested for each in rows), default=0)
    if control < ENOUGH * depth or not rows:
        says = (
            f"Nothing can be said of the file systems: even the control has only {number(control)} of {number(depth)}"
            " I/Os outstanding at the device, which is too fast or serves one at a time."
        ) + _far_below(all_rows, control)
        return Ruling(verdict="undecided", says=says, rows=rows)
    free = [each for each in rows if each.verdict == "parallel"]
    if stuck:
        names = "; ".join(f"{each.where} {each.test} by {each.by} ({number(each.device or 0.0)})" for each in stuck)
        says = f"Serialised: {names}; the control has {number(control)} of {number(depth)} outstanding."
        return Ruling(verdict="confirmed", says=says, rows=rows)
    says = f"Not serialised: {len(free)} rows, control {number(control)} of {number(depth)} outstanding."
    return Ruling(verdict="rejected", says=says, rows=rows)


def _far_below(rows: list[DirectWritesRow], control: float) -> str:
    """What a deeper queue would tell: rows that have far less at the device than a control that has little itself."""
    far = [each for each in rows if queue_verdict(each.device, 0.0, control) == "serialised" and each.device != control]
    names = ", ".join(f"{each.where} {each.test} by {each.by} ({number(each.device or 0.0)})" for each in far)
    return f" Far below it: {names}; test these with a deeper queue (--depth)." if far else ""


def _is_simulated(run: Run) -> bool:
    return run.plan.target.kind == "sim"


def _real_rows(run: Run) -> Iterator[DirectWritesRow]:
    facts, target = Facts(run), run.plan.target
    where = "raw" if target.kind == "block" else target.filesystem or target.path
    for test in tests(run):
        name, by = _case(run, test)
        queues = [
            io.queue_mean
            for each in records(run, test)
            if (io := facts.row(each).under_filesystem) is not None and io.queue_mean is not None
        ]
        yield _row(run, test, where, name, by, median_of(queues) if queues else None)


def _named(case: str, by: str) -> str:
    return f"{case}, {by}"


def _case(run: Run, test: str) -> tuple[str, str]:
    """What is written, and by which engine: the two that a test's name is made of."""
    engine = next(each.phase.engine for each in run.measured if each.phase.test == test)
    by = next(by for by, name in ENGINES.items() if name == engine)
    return next(case for case in CASES if _named(case, by) == test), by


def _simulated_rows(run: Run) -> Iterator[DirectWritesRow]:
    """By Little's law: the rate at the full depth times the time that one takes alone."""
    for test in (CONTROL, "overwrite"):
        many, one = figures(run, test), figures(run, test + ALONE)
        if many is not None and one is not None:
            outstanding = many.rate_per_s * one.mean_ns / 1e9
            yield _row(run, test, run.plan.target.path, test, "simulation", outstanding)


def _row(run: Run, test: str, where: str, name: str, by: str, queue: float | None) -> DirectWritesRow:
    """Without a verdict: that needs the control."""
    row_figures = figures(run, test)
    assert row_figures is not None
    did = records(run, test)[0].measurement
    return DirectWritesRow(
        where=where,
        test=name,
        by=by,
        requested=did.asked_depth,
        device=queue,
        tasks=did.generator.threads or None,
        rate_per_s=row_figures.rate_per_s,
        mean_ns=row_figures.mean_ns,
        verdict="not_seen",
        kernel=run.host.kernel,
        mount=run.plan.target.mount_options,
    )
