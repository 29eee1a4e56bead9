"""What is said of phases that the storage ended: it did not answer any more, or failed too often."""

from __future__ import annotations

from iocast.errors import LoadError
from iocast.model.run import PhaseRecord


def hung(record: PhaseRecord) -> LoadError:
    """Nothing more is tried on storage that does not answer: each further phase would only wait as long."""
    left = record.measurement.abandoned_ios
    return LoadError(
        f"{record.plan.files[0].path} does not answer: {left} I/Os of {record.phase.name} never came back, "
        "and the phases after it were not begun",
        "look for time-outs and resets in the kernel's log (dmesg): a path, a disk or a server is stuck",
    )


def broken(records: list[PhaseRecord]) -> LoadError:
    """What was measured is what came before the limit: no run that others may be compared with."""
    ended = ", ".join(f"{each.phase.name} after {each.measurement.error_count:,}" for each in records)
    return LoadError(
        f"so many I/Os failed that phases ended before their time: {ended} errors",
        "the card names the errors and where the first were; the figures are those until then",
    )
