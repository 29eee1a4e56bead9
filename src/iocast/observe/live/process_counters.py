"""The kernel's counters of a process: /proc/PID/io, and schedstat of its threads."""

from __future__ import annotations

from iocast import metrics

_IO = (
    metrics.RCHAR,
    metrics.WCHAR,
    metrics.SYSCR,
    metrics.SYSCW,
    metrics.READ_BYTES,
    metrics.WRITE_BYTES,
    metrics.CANCELLED_WRITE_BYTES,
)
_SCHEDSTAT = (metrics.RUN_NS, metrics.RUN_DELAY_NS, metrics.TIMESLICES)


def parse_process_io(text: str) -> dict[str, int]:
    """Counters by the kernel's names; others are left out."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: int(value) for name, _, value in pairs if name in _IO and value.strip().isdigit()}


def parse_schedstat(text: str) -> dict[str, int]:
    """Time on a processor, time of waiting for one, times it got one. {} where the kernel does not count them."""
    words = text.split()
    if len(words) != len(_SCHEDSTAT):
        return {}
    return {name: int(word) for name, word in zip(_SCHEDSTAT, words, strict=True)}
