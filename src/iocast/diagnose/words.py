"""How a diagnosis writes its figures inside a sentence (tables are formatted by the report)."""

from __future__ import annotations

from collections.abc import Sequence

from iocast.model.codes import AspectCode

# What letters are for, as it stands in a sentence.
ASPECTS: dict[AspectCode, str] = {
    "random_read": "random read",
    "commit": "commit",
    "scan": "scan",
    "scaling": "scaling",
    "write_interference": "write interference",
    "service_level": "service level",
    "random_read_8k": "random read 8K",
    "sequential_read_1m": "sequential read 1M",
    "write_1k": "write 1K",
    "write_128k": "write 128K",
}

_BINARY = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_DECIMAL = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))
_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"))


def percent(share: float) -> str:
    """A share as people say it: "0.4%", "12%", "below 0.1%"."""
    if 0 < share < 0.0005:
        return "below 0.1%"
    return f"{share:.1%}".replace(".0%", "%") if share < 0.0995 else f"{share:.0%}"


def data_size(size_bytes: float) -> str:
    """Binary, as memory, files and disks are written everywhere on a card: "3.2 GiB", "23.5 GiB"."""
    for factor, unit in _BINARY:
        if size_bytes >= factor:
            return f"{size_bytes / factor:.1f} {unit}"
    return f"{size_bytes:.0f} bytes"


def throughput(bytes_per_s: float) -> str:
    """Decimal bytes per second: "1.2 GB/s"."""
    return f"{_scaled(bytes_per_s, _DECIMAL, 'bytes')}/s"


def time(duration_ns: float) -> str:
    """A time with two figures: "62 µs", "1.2 ms"."""
    return _scaled(duration_ns, _TIMES, "ns") if duration_ns else "0 s"


def count(number: float, noun: str) -> str:
    """A whole number with its noun: "1 I/O", "12,400 I/Os"."""
    return f"{number:,.0f} {noun}" + ("" if round(number) == 1 else "s")


def number(value: float) -> str:
    """A number of anything, with three figures or all of the whole ones: "0.31", "7.98", "64", "12,400"."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def _scaled(value: float, units: Sequence[tuple[float, str]], smallest: str) -> str:
    for factor, unit in units:
        if value >= factor:
            scaled = value / factor
            return f"{scaled:.1f} {unit}" if scaled < 9.95 else f"{scaled:.0f} {unit}"
    return f"{value:.0f} {smallest}"
