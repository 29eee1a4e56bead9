"""Are requests split or merged on the way to the device?

What it is: sequential reads, and writes where allowed, of sizes from 4 KiB to 4 MiB, direct and buffered; the device's
counters give the size of its requests. Before each buffered read the page cache is dropped of the file, so that it
reaches the device.
Why it matters: merging small I/Os lengthens their response time and raises throughput; splitting a large I/O costs
several requests.
How it shows: the average request at the device is over 1.5 times the submitted size (or more than a fifth were
merged): consolidation. It is less than three quarters of it: fragmentation.
How to confirm: this experiment counts both ends.
What to change: for large I/O raise max_sectors_kb (or rsize, wsize of NFS); measure small I/O with direct I/O.
"""

from __future__ import annotations

from iocast.analyse.device_io import DeviceIo, together
from iocast.analyse.facts import Facts
from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_rows import in_turns, records, row, tests, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup, cannot
from iocast.model.plan import Phase
from iocast.model.results.experiments import RequestsRow, Sent
from iocast.model.run import Run
from iocast.model.workload import Op, Sequential
from iocast.text import capacity, counted

NAME = "request-size"
WRITES = False  # it leaves its writes out where it must not write
DEFAULTS = Defaults(seconds=0.5, rounds=1)
SIZES = tuple(4096 << (2 * step) for step in range(6))  # 4 KiB to 4 MiB
GATHERED, MERGED, CUT = 1.5, 0.2, 0.75  # source rows K8 4 and 5


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Every size, operation and way, in turns."""
    if setup.simulated:
        why = "a simulated device has no kernel below it, and no counters"
        raise cannot(setup, why, "its option max_io= decides what it splits; give a file or a device")
    size = setup.parts(1, DEFAULTS.size_bytes)
    ways = (True, False) if setup.target.direct is not False else (False,)
    ops: tuple[Op, ...] = ("read", "write") if setup.may_write else ("read",)
    every = [
        row(
            f"{op} {capacity(block)} {'direct' if direct else 'buffered'}",
            1,
            work(op, block, Sequential(), direct=direct, fsync_every=0 if direct or op == "read" else 64),
            seconds=setup.seconds,
            size=size,
            cold=not direct and op == "read",
        )
        for op in ops
        for direct in ways
        for block in SIZES
        if block <= size
    ]
    return in_turns(every, setup.rounds)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Both ends of every row; fragmented and consolidated ones are named."""
    run = runs[0]
    top = run.plan.target.layers[0] if run.plan.target.layers else None
    rows = tuple(_row(run, test, top.max_io_bytes if top else None) for test in tests(run))
    cut = [each for each in rows if each.verdict == "fragmentation"]
    gathered = [each for each in rows if each.verdict == "consolidation"]
    if not any(each.device_bytes for each in rows):
        says = "Request sizes unknown: the device's counters saw nothing."
        return Ruling(verdict="undecided", says=says, rows=rows)
    if not cut and not gathered:
        return Ruling(verdict="rejected", says="Requests reach the device at their submitted size.", rows=rows)
    parts = [
        f"{counted(len(ratios), 'row')} {word} ({_most(ratios)})"
        for ratios, word in ((cut, "split"), (gathered, "merged"))
        if ratios
    ]
    says = f"Requests change size on the way: {' and '.join(parts)}."
    return Ruling(verdict="confirmed", says=says, rows=rows)


def _most(rows: list[RequestsRow]) -> str:
    """The row that changed most, in words."""
    worst = max(rows, key=lambda each: abs((each.times or 0.0) - 1))
    return f"{worst.test}: {capacity(worst.asked_bytes)} became {capacity(worst.device_bytes or 0.0)}"


def _row(run: Run, test: str, most: int | None) -> RequestsRow:
    rows = records(run, test)
    op = rows[0].phase.workload.mix[0].op
    asked_bytes = rows[0].phase.workload.mix[0].size_bytes
    facts = Facts(run)
    parts = [io for each in rows if (io := facts.row(each).under_filesystem) is not None]
    io = together(parts) if parts else None
    size = None if io is None else io.read_size_bytes if op == "read" else io.write_size_bytes
    return RequestsRow(
        test=test,
        asked_bytes=asked_bytes,
        device_bytes=size,
        times=size / asked_bytes if size else None,
        merged_share=io.merged_share if io else None,
        limit_bytes=most,
        verdict="not seen" if io is None or size is None else verdict_of(asked_bytes, size, io),
    )


def verdict_of(asked_bytes: int, size_bytes: float, io: DeviceIo) -> Sent:
    """What became of the requests of one row."""
    if size_bytes < CUT * asked_bytes:
        return "fragmentation"
    if size_bytes > GATHERED * asked_bytes or (io.merged_share or 0.0) > MERGED:
        return "consolidation"
    return "as sent"
