"""What a database does, in a line or two of a live screen; unknown figures are left out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from iocast.analyse.live.instance_rates import FigureCode, InstanceFigure
from iocast.report.live.styled_lines import Line, line
from iocast.text import brief_throughput, brief_time

_NAMES: dict[FigureCode, str] = {
    "commits": "commits/s",
    "rollbacks": "rollbacks/s",
    "statements": "statements/s",
    "calls": "calls/s",
    "soft_parses": "soft parses/s",
    "hard_parses": "hard parses/s",
    "cursor_hits": "cursor cache hits/s",
    "blocks_read": "blocks read/s",
    "blocks_hit": "buffer hits/s",
    "wait_a_block": "wait a block",
    "logical_reads": "logical reads/s",
    "reads": "reads/s",
    "read_bytes": "read",
    "writes": "writes/s",
    "written_bytes": "written",
    "log_bytes": "log",
    "log_syncs": "log syncs/s",
    "log_sync": "log sync",
}
_GAP = "   "


def instance_lines(database: str, figures: Sequence[InstanceFigure], width: int) -> Iterator[Line]:
    """As many figures a line as fit."""
    shown = f"{database}:"
    for figure in figures:
        if figure.value is None:
            continue
        text = f"{_value(figure)} {_NAMES[figure.code]}"
        if len(shown) + len(_GAP) + len(text) > width:
            yield line(shown, "strong")
            shown = " " * len(f"{database}:")
        shown += _GAP + text
    yield line(shown, "strong")


def _value(figure: InstanceFigure) -> str:
    value = figure.value or 0.0
    if figure.code in ("wait_a_block", "log_sync"):
        return brief_time(value)
    if figure.code in ("read_bytes", "written_bytes", "log_bytes"):
        return brief_throughput(value)
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"
