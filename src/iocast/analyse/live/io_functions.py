"""Oracle's own rates of the last minute by what the I/O is for (GV$IOFUNCMETRIC), instance by instance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from iocast.analyse.live.database_views import observers_of
from iocast.model.live.readings import Readings

READS: Final = ("small_read", "large_read")
WRITES: Final = ("small_write", "large_write")
_BEGIN, _END = "begin_s", "end_s"


class IoFunction(Struct, frozen=True):
    """One function of one instance. `figures` as the view has them: `small_read_iops`, `large_write_mbps`, …"""

    instance: str
    function: str
    figures: Mapping[str, float]

    @property
    def begin_s(self) -> float | None:
        """When its minute began, by the server's own clock and zone; None on tapes of before."""
        return self.figures.get(_BEGIN)

    @property
    def end_s(self) -> float | None:
        """When its minute ended."""
        return self.figures.get(_END)


def io_functions(readings: Readings) -> tuple[IoFunction, ...]:
    """Those of each instance, by name."""
    functions = []
    for observer in observers_of(readings, "oracle", "iofuncmetric"):
        for subject, figures in readings.values(observer).items():
            instance, _, function = subject.partition("|")
            if function:
                functions.append(IoFunction(instance, function, figures))
    return tuple(sorted(functions, key=lambda each: (each.instance, each.function)))


def summed(functions: Sequence[IoFunction], kinds: Sequence[str], unit: str) -> float | None:
    """Of all functions and instances, in `iops` or `mbps`; None where one of them does not tell it."""
    values = [each.figures.get(f"{kind}_{unit}") for each in functions for kind in kinds]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def minutes(functions: Sequence[IoFunction]) -> dict[str, tuple[float, float]]:
    """Begin and end of the minute of each instance that tells them."""
    by_name = {}
    for each in functions:
        if each.begin_s is not None and each.end_s is not None:
            by_name[each.instance] = (each.begin_s, each.end_s)
    return by_name
