"""CPU-bound: this machine, not the storage, limited the rate; the test's threads had no processor time left.

What it is: a load that one or more threads cannot generate fast enough, or that the kernel of this machine cannot
carry.
Why it matters: the rate is the generator's. The storage may do far more, and the waits are not its own.
How it shows: the threads of the test were busy, or waited for a processor, nearly all of the time.
How to confirm: it is counted. More users, or fewer on a machine with few processors, change the rate.
What to change: more users, a machine with more processors, larger I/Os; until then its figures are a lower limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.facts import Facts, RowFacts
from iocast.diagnose.limits.by_load import bounds
from iocast.diagnose.limits.own_group import held_by_quota
from iocast.diagnose.preconditions import Only
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.text import counted

NEEDS: tuple[str, ...] = ()
ONLY: Only = ()

CODE: FindingCode = "generator_bound"
LOWER_LIMIT = "until then its figures are a lower limit."


def detect(facts: Facts) -> Iterator[Finding]:
    """Rows whose pace the generator itself set."""
    for row in facts.rows:
        bound = bounds(facts)[row.name]
        if bound.by == "generator":
            yield Finding(
                code=CODE,
                severity="severe",
                phase=row.name,
                says=f"{bound.says} The row is a lower limit of what the storage can do.",
                evidence=bound.evidence,
                remedy=_remedy(row, waited=bound.evidence["queued_share"] > bound.evidence["cpu_share"]),
            )


def _remedy(row: RowFacts, *, waited: bool) -> str:
    """Fewer users help only where they are more than the processors, and more only where they are fewer."""
    threads, cpus = row.measurement.generator.threads, row.run.host.cpus
    if held_by_quota(row):
        return f"Raise the CPU quota of the control group (cpu.max, cpu.cfs_quota_us); {LOWER_LIMIT}"
    if waited:
        crowd = f", or use no more users than its {counted(cpus, 'CPU')}" if threads > cpus > 0 else ""
        return f"Stop other work on this machine{crowd}; {LOWER_LIMIT}"
    more = f"Use more users: this machine has {cpus} CPUs" if threads < cpus else "Use a machine with more CPUs"
    return f"{more}; {LOWER_LIMIT}"
