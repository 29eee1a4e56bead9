"""What is said of phases that the storage ended: it did not answer any more, or failed too often."""

from __future__ import annotations

from iocast.errors import LoadError
from iocast.model.run import PhaseRecord


def hung(record: PhaseRecord) -> LoadError:
    """Nothing more is tried on storage that does not answer: each further phase would only wait as long."""
    left = record.measurement.abandoned_ios
    return LoadError(
        f"{record.plan.files[0].path} does not respond: {left} I/Os of {record.phase.name} never completed, "
        "and later phases were not started",
        "check the kernel log (dmesg) for timeouts and resets: a path, disk or server hangs",
    )


def broken(records: list[PhaseRecord]) -> LoadError:
    """What was measured is what came before the limit: no run that others may be compared with."""
    ended = ", ".join(f"{each.phase.name} after {each.measurement.error_count:,}" for each in records)
    return LoadError(
        f"too many I/O errors: phases ended early: {ended} errors",
        "the card lists the errors and where the first occurred; its figures end there",
    )
