"""Are written blocks lost, torn or misplaced?

What it is: random writes of several sizes, in which each sector carries its identity; then everything is read back.
Why it matters: storage that loses or tears acknowledged writes is worse than slow storage.
How it shows: torn, lost, misplaced or corrupt blocks.
How to confirm: this experiment; `iocast verify RUN` reads everything back later, also after a crash or power loss.
What to change: do not use this storage until the cause is known.
"""

from __future__ import annotations

from iocast.diagnose.experiments.named.trial_outcome import Ruling
from iocast.diagnose.experiments.named.trial_rows import row, work
from iocast.diagnose.experiments.named.trial_setup import Defaults, TrialSetup, cannot
from iocast.model.plan import Phase
from iocast.model.results.experiments import ReadBackRow
from iocast.model.run import Run
from iocast.model.verification import BAD_KINDS
from iocast.model.workload import MixItem, Workload
from iocast.text import counted

NAME = "verify"
WRITES = True
DEFAULTS = Defaults(rounds=1, depth=4)
SIZES = (4096, 8192, 65536)


def phases(setup: TrialSetup) -> tuple[Phase, ...]:
    """Writes, and what reads them back, in every round."""
    if setup.simulated:
        raise cannot(setup, "a simulated device keeps no data to read back", "give a directory")
    size = setup.parts(1, 1 << 40)
    load = Workload(
        mix=tuple(MixItem("write", each) for each in SIZES),
        depth=setup.depth,
        direct=setup.target.direct is not False,
        fsync_every=64,
    )
    back = work("read", 4096, direct=False)
    rows: list[Phase] = []
    for at in range(1, setup.rounds + 1):
        rows.append(row("write", at, load, seconds=setup.seconds, size=size, verify=True, verify_block_bytes=4096))
        rows.append(row("read back", at, back, moved_bytes=0, role="verify"))
    return tuple(rows)


def judge(runs: tuple[Run, ...]) -> Ruling:
    """Confirmed when even one block is not intact."""
    run = runs[0]
    if not run.verifications:
        return Ruling(verdict="undecided", says="Nothing was read back.")
    verification = run.verifications[-1]
    counts = {
        "read back": verification.blocks,
        "intact": verification.intact,
        "with overlapping writes": verification.undecided,
    }
    counts |= {kind: verification.count(kind) for kind in BAD_KINDS}
    rows = tuple(ReadBackRow(what=what, count=number) for what, number in counts.items())
    size = f"{counted(verification.blocks, 'block')} of {verification.block_bytes:,} bytes"
    if verification.bad_blocks:
        bad = ", ".join(f"{verification.count(kind):,} {kind}" for kind in BAD_KINDS if verification.count(kind))
        return Ruling(verdict="confirmed", says=f"Not all of {size} are intact: {bad}.", rows=rows)
    if not verification.complete or not verification.blocks:
        return Ruling(verdict="undecided", says=f"Only {size} were read back.", rows=rows)
    says = f"All of the {size} that were written are intact: none is torn, lost or misplaced."
    return Ruling(verdict="rejected", says=says, rows=rows)
