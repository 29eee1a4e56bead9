"""Writes did not come back as they were written.

What it is: blocks that were written with `verify` and, read back, are torn, lost, misplaced, corrupt or unreadable.
Why it matters: a database trusts what its storage acknowledged. A block that is later missing, or half written, is
corruption that no speed makes up for.
How it shows: each sector carries its offset and the number of its write; the journal in the run folder records what
was acknowledged.
How to confirm: `iocast verify RUN` reads all of it once more; check the kernel's log (dmesg) of that time.
What to change: the disk, the controller's or the drive's volatile cache, the path or the file system named; put no
database on it before that.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.verification import BAD_KINDS
from iocast.text import counted

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "writes_did_not_come_back"


def detect(facts: Facts) -> Iterator[Finding]:
    """One finding when the last verification of the run found bad blocks."""
    run = facts.run
    if not run.verifications:
        return
    last = run.verifications[-1]
    if not last.bad_blocks:
        return
    kinds = {kind: last.count(kind) for kind in BAD_KINDS if last.count(kind)}
    named = ", ".join(f"{number} {kind}" for kind, number in kinds.items())
    yield Finding(
        code=CODE,
        severity="severe",
        phase="",
        says=f"The storage did not keep what it acknowledged: {counted(last.bad_blocks, 'block')} of {last.blocks}"
        f" that were written and read back are bad ({named}).",
        evidence={"blocks": float(last.blocks), **{kind: float(number) for kind, number in kinds.items()}},
        remedy="Put no database on this storage: find the failing part with `iocast verify` and dmesg.",
    )
