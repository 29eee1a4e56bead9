"""The kernel's counters of block devices, as /proc/diskstats and sysfs print them."""

from __future__ import annotations

from collections.abc import Sequence

from iocast import metrics

_SECTOR_BYTES = 512  # of the counters, whatever the device's block is
_MS_NS = 1_000_000

# In the kernel's order (Documentation/admin-guide/iostats.rst): name and what one unit is worth.
_FIELDS: tuple[tuple[str, int], ...] = (
    (metrics.READS, 1),
    (metrics.READS_MERGED, 1),
    (metrics.READ_BYTES, _SECTOR_BYTES),
    (metrics.READ_NS, _MS_NS),
    (metrics.WRITES, 1),
    (metrics.WRITES_MERGED, 1),
    (metrics.WRITTEN_BYTES, _SECTOR_BYTES),
    (metrics.WRITE_NS, _MS_NS),
    (metrics.IN_FLIGHT, 1),
    (metrics.BUSY_NS, _MS_NS),
    (metrics.QUEUE_NS, _MS_NS),
    (metrics.DISCARDS, 1),  # from Linux 4.18
    (metrics.DISCARDS_MERGED, 1),
    (metrics.DISCARDED_BYTES, _SECTOR_BYTES),
    (metrics.DISCARD_NS, _MS_NS),
    (metrics.FLUSHES, 1),  # from Linux 5.5
    (metrics.FLUSH_NS, _MS_NS),
)
_LEAST_FIELDS = 11  # older kernels print only these


def parse_counters(fields: Sequence[str]) -> dict[str, int]:
    """Counters by name from the 11, 15 or 17 numbers of a `stat` file; fields to come are left out.

    Raises ValueError when they are fewer (partitions before Linux 2.6.25) or no numbers.
    """
    if len(fields) < _LEAST_FIELDS:
        raise ValueError(f"{len(fields)} fields instead of at least {_LEAST_FIELDS}")
    return {name: int(text) * unit for (name, unit), text in zip(_FIELDS, fields, strict=False)}


def parse_diskstats(text: str) -> dict[str, dict[str, int]]:
    """Counters by device name from /proc/diskstats (lines of 14, 18 or 20 fields; others are skipped)."""
    lines = (line.split() for line in text.splitlines())
    return {words[2]: parse_counters(words[3:]) for words in lines if len(words) >= 3 + _LEAST_FIELDS}
