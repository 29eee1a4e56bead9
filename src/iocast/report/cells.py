"""A cell of a table as compact text, the same in every renderer."""

from __future__ import annotations

import re

from iocast import text
from iocast.model.report import SAME, Cell, Figure, Kind
from iocast.report.wording import words

LEAST_P = 1e-15  # what is smaller than the arithmetic can tell is not called impossible


def cell_text(kind: Kind, cell: Cell) -> str:
    """A raw cell as compact text. Units stand in the cell, for MB/s and IOPS in the head of the column."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return words(cell) if kind == "code" else cell
    if kind == "names" and isinstance(cell, tuple):
        return ", ".join(str(each) for each in cell)
    if isinstance(cell, tuple):
        several = numbers(cell)
        if kind == "duration":
            return text.duration_between(*several[:2])
        return text.load(*several[:2]) if kind == "load" else text.strip(several)
    return _number_text(kind, cell)


def _number_text(kind: Kind, value: float) -> str:
    match kind:
        case "duration":
            return text.duration(value, space="")
        case "milliseconds":
            return text.milliseconds(value)
        case "figures":
            return text.five_figures(value)
        case "exact_share":
            return f"{value:.2%}"
        case "tenth_share":
            return "0.0%" if -0.0005 < value <= 0 else f"{value:.1%}"
        case "whole_share":
            return f"{value:.0%}"
        case "percentile":
            return f"p{value * 100:g}"
        case "instant":
            return text.instant(int(value)) if value else ""
        case "p_value":
            return f"{value:.2g}" if value >= LEAST_P else f"< {LEAST_P:g}"
        case "bytes":
            return text.size(value)
        case "decimal_bytes":
            return text.decimal_size(value)
        case "bytes_per_s":
            return text.megabytes_per_s(value)
        case "rate":
            return text.rate(value)
        case "decimal":
            return text.decimal(value)
        case "ratio":
            return text.number(value)
        case "relative":
            return _relative(value)
        case "share":
            return text.percent(value)
        case _:
            return text.whole(value)


def _relative(value: float) -> str:
    """In percent up to twice as good, then as a factor."""
    if value >= 2:
        return f"{value:,.0f}x" if value >= 99.95 else f"{text.three_figures(value)}x"
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def with_unit(figure: Figure) -> tuple[str, str]:
    """A figure in large print, and its unit."""
    shown = cell_text(figure.kind, figure.value)
    match = re.fullmatch(r"([\d.,]+)\s*([^\d.,]*)", shown)
    units = {"rate": "IOPS", "bytes_per_s": "MB/s"}
    if figure.kind in units:
        return shown, units[figure.kind]
    return (match[1], match[2]) if match else (shown, "")


def figure_text(figure: Figure) -> str:
    """The same in a line: "2.19 ms"."""
    return " ".join(filter(None, with_unit(figure)))


def numbers(cell: Cell) -> tuple[float, ...]:
    """The numbers of a cell that holds several."""
    return tuple(float(each) for each in cell) if isinstance(cell, tuple) else ()


def as_good(kind: Kind, cell: Cell) -> bool:
    """True for a relative figure within a tenth of 1."""
    return kind == "relative" and isinstance(cell, int | float) and abs(cell - 1) <= SAME + 1e-12
