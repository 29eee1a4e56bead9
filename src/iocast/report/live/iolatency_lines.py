"""watch iolatency: the histogram of perf-tools iolatency, of the requests of all devices together."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.analyse.live.latency_columns import ENDLESS_NS, Latencies
from iocast.analyse.live.layer_rows import layer_rows, together
from iocast.model.live.moment import Interval
from iocast.report.live.line_table import Table
from iocast.report.renderers.block_lines import BAR, stars

NAME = "iolatency"
OBSERVERS = ("block_layer",)
DATABASE = ""
HEADING: tuple[str, ...] = ()

_MS = 1_000_000


def table(interval: Interval) -> Table:
    """One row a bucket that has any request, with its bounds in ms: powers of two of a microsecond."""
    rows = tuple(
        (low / _MS, None if high == ENDLESS_NS else high / _MS, count) for low, high, count in _buckets(interval)
    )
    return Table((">=(ms)", "<(ms)", "I/O"), rows)


def _buckets(interval: Interval) -> list[tuple[int, int, int]]:
    """Without gaps from the lowest to the highest bucket that has any."""
    times = together([row.times for row in layer_rows(interval) if row.layer == "driver"])
    return _filled(times) if times is not None and times.total else []


def _filled(times: Latencies) -> list[tuple[int, int, int]]:
    bounds = sorted(upper for upper in times.counts if upper != ENDLESS_NS)
    buckets = []
    upper = bounds[0] if bounds else 0
    while bounds and upper <= bounds[-1]:
        buckets.append((upper // 2, upper, times.counts.get(upper, 0)))
        upper *= 2
    above = times.counts.get(ENDLESS_NS, 0)
    return [*buckets, (bounds[-1] if bounds else 0, ENDLESS_NS, above)] if above else buckets


def lines(interval: Interval) -> Iterator[str]:
    """Bars of ceil(38 n / most), as iolatency draws them."""
    buckets = _buckets(interval)
    most = max((count for *_, count in buckets), default=0)
    yield f"{'>=(ms)':>9} .. {'<(ms)':<9}: {'I/O':<8} |{'Distribution':<{BAR}}|"
    for low, high, count in buckets:
        bar = "#" * stars(count, most)
        upper = "" if high == ENDLESS_NS else _figure(high)
        yield f"{_figure(low):>9} -> {upper:<9}: {count:<8d} |{bar:<{BAR}}|"
    yield ""


def _figure(bound_ns: int) -> str:
    return f"{bound_ns / _MS:g}"
