"""CPU-bound: this machine, not the storage, limited the rate; the test's threads had no processor time left.

What it is: a load that one or more threads cannot generate fast enough, or that the kernel of this machine cannot
carry.
Why it matters: the rate is the generator's. The storage may do far more, and the waits are not its own.
How it shows: the threads of the test were busy, or waited for a processor, nearly all of the time.
How to confirm: it is counted. More users, or fewer on a machine with few processors, change the rate.
What to change: more users, a machine with more processors, larger I/Os; read the row as a lower limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts
from iocast.diagnose.bound import bounds
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding

NEEDS: tuple[str, ...] = ()

CODE: FindingCode = "generator_bound"
WORKED = "Use more users, or a machine with more processors; read the row as a lower limit."
WAITED = "Stop other work on this machine, or use fewer users than it has processors; read the row as a lower limit."


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows whose pace the generator itself set."""
    for phase, bound in bounds(facts).items():
        if bound.by == "generator":
            yield Finding(
                code=CODE,
                severity="severe",
                phase=phase,
                says=f"{bound.says} The row is a lower limit of what the storage can do.",
                evidence=bound.evidence,
                remedy=WAITED if bound.evidence["queued_share"] > bound.evidence["cpu_share"] else WORKED,
            )
