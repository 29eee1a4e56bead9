"""I/Os of the application beside requests at the device; a run without device counters is a passive result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast import text
from iocast.analyse.facts import Facts
from iocast.model.results.card import MeasuredRow

DIFFERS = 0.05  # source row C17
PASSIVE_NOTE = "No device counters were recorded: nothing confirms these figures at the device."


def differs(row: MeasuredRow) -> bool:
    """True when the device's rate is more than 5% off the application's."""
    return row.device_rate_ratio is not None and abs(row.device_rate_ratio - 1) > DIFFERS


def notes(facts: Facts, rows: Sequence[MeasuredRow]) -> Iterator[str]:
    """Which rows differ and most of all where; or that nothing was seen to compare with."""
    if not facts.simulated and not any(row.device_rate_per_s is not None for row in rows):
        yield PASSIVE_NOTE
    apart = [row for row in rows if differs(row)]
    if apart:
        worst = max(apart, key=_distance)
        where = f"1 row, {worst.phase}" if len(apart) == 1 else f"{len(apart)} rows, most on {worst.phase}"
        at_device_per_s, times = worst.device_rate_per_s, worst.device_rate_ratio
        sent = text.rate(at_device_per_s / times if at_device_per_s is not None and times else None)
        yield (
            f"Device IOPS differ from the application's by more than 5% on {where}: {sent} submitted,"
            f" {text.rate(at_device_per_s)} at the device."
        )


def _distance(row: MeasuredRow) -> float:
    times = row.device_rate_ratio
    return max(times, 1 / times) if times else float("inf")
