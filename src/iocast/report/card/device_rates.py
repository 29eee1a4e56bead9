"""I/Os of the application beside requests at the device; a run without device counters is a passive result."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.device_io import DeviceIo
from iocast.analyse.facts import Facts, RowFacts
from iocast.analyse.load_kind import MOVING
from iocast.model.report import Row

DIFFERS = 0.05  # source row C17
PASSIVE_NOTE = "Passive result: no device counters were recorded, so nothing confirms these figures at the device."


def device_rate(device: DeviceIo | None) -> float | None:
    """Requests with data that the device completed a second; None when it was not seen."""
    if device is None or device.reads is None or device.data_writes is None or not device.elapsed_ns:
        return None
    return (device.reads + device.data_writes) * 1e9 / device.elapsed_ns


def device_cells(row: RowFacts, device: DeviceIo | None) -> dict[str, float | None]:
    """What the device did a second, and how many times what the application did; {} when it is unknown."""
    seen, did = device_rate(device), row.measurement
    if seen is None or row.workload.trims:
        return {}
    if row.record.phase.database is not None:
        return {"device_rate": seen}  # a statement is no request
    asked = sum(part.ios for part in did.classes if part.op in MOVING) * 1e9 / max(1, did.elapsed_ns)
    return {"device_rate": seen, "device_rate_ratio": seen / asked if asked else None}


def differs(row: Row) -> bool:
    """True when the device's rate is more than 5% off the application's."""
    times = row.cells.get("device_rate_ratio")
    return isinstance(times, float) and abs(times - 1) > DIFFERS


def notes(facts: Facts, rows: tuple[Row, ...]) -> Iterator[str]:
    """Which rows differ and most of all where; or that nothing was seen to compare with."""
    if not facts.simulated and not any("device_rate" in row.cells for row in rows):
        yield PASSIVE_NOTE
    apart = [row for row in rows if differs(row)]
    if apart:
        worst = max(apart, key=_distance).cells
        name = worst.get("phase") or worst["name"]
        where = f"1 row, {name}" if len(apart) == 1 else f"{len(apart)} rows, most on {name}"
        seen, times = float(str(worst["device_rate"])), float(str(worst["device_rate_ratio"]))
        sent = text.rate(seen / times if times else None)
        yield (
            f"Device IOPS differ from the application's by more than 5% on {where}: {sent} submitted,"
            f" {text.rate(seen)} at the device."
        )


def _distance(row: Row) -> float:
    times = float(str(row.cells["device_rate_ratio"]))
    return max(times, 1 / times) if times else float("inf")
