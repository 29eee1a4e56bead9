"""Charts of a comparison: ratios with their intervals, both histograms on one axis, both percentile curves."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from iocast import text
from iocast.analyse.modes import GRID, Density, density
from iocast.analyse.statistics import published
from iocast.model.histogram import Histogram
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.charts.percentiles import CURVE, curve

RATIOS = (
    Column("row", "row"),
    Column("test", "test"),
    Column("what", "what"),
    Column("ratio", "ratio", "text"),
    Column("verdict", "verdict"),
)
SHAPES = (
    Column("row", "row"),
    Column("whose", "whose"),
    Column("p50", "p50", "duration"),
    Column("p99", "p99", "duration"),
    Column("max", "max", "duration"),
)
SPREADS = (
    Column("row", "row"),
    Column("whose", "whose"),
    Column("time", "time", "duration"),
    Column("density", "share a decade", "decimal"),
)
STEP = 2  # of the density's grid
FAINT = 0.004  # of the highest point, below which a curve is not seen

Both = tuple[str, Histogram, Histogram]  # a row, and its I/Os on the first side and on the other


def ratios(labels: Sequence[str], rows: Iterable[dict[str, Cell]]) -> Chart | None:
    """Each statistic of each row: the other side over the first. `rows` are the cells of the table of results."""
    known = [row for row in rows if isinstance(row.get("ratio_value"), float)]
    if not known:
        return None
    first, other = labels
    beyond = [row for row in known if row["verdict"] == "different"]
    sure = sum(row["ratio_low"] is not None for row in known)
    words = (
        f"{len(beyond)} of {len(known)} figures differ by more than a tenth."
        if sure
        else "These are single runs: a dot without a line is a ratio of which nobody knows how far chance moved it."
    )
    return Chart(
        kind="ratios",
        key=f"ratios-{_key(other)}",
        title=f"{other} over {first}",
        summary=words,
        x=Axis(f"{other} over {first}", "decimal", log=True),
        y=Axis("row", "text"),
        tables=(Table("", RATIOS, tuple(map(_ratio, known)), key="ratios"),),
        notes=(
            "The line is the 95% interval of the ratio; in the band both are the same within a tenth. Blue is better,"
            " red is worse, grey is undecided or the same.",
        ),
    )


def _ratio(row: dict[str, Cell]) -> Row:
    value = row["ratio_value"]
    better = isinstance(value, float) and (value > 1) == (row["what"] == "throughput")
    told = row["verdict"] in ("different", "small difference")
    shown = {key: row[key] for key in ("what", "ratio", "verdict", "ratio_value", "ratio_low", "ratio_high")}
    name = f"{row['phase']} · {row['what']}"
    side = ("better" if better else "worse") if told else "same"
    return Row({"row": name, "test": row["phase"], **shown, "side": side})


def sides(labels: Sequence[str], rows: Iterable[Both]) -> Chart | None:
    """Both histograms of each row, on one axis of time: the first above the line, the other below."""
    shapes, curves = list[Row](), list[Row]()
    for name, first, other in rows:
        found = [density(times) if times.spread_known else None for times in (first, other)]
        if not all(found):
            continue
        for label, times, shape in zip(labels, (first, other), found, strict=True):
            assert shape is not None
            shapes.append(_shape(name, label, times))
            curves += _spread(name, label, shape)
    if not shapes:
        return None
    first_label, other_label = labels
    return Chart(
        kind="sides",
        key=f"sides-{_key(other_label)}",
        title=f"How long the I/Os take: {first_label} above the line, {other_label} below",
        summary=_moved(shapes),
        x=Axis("response time", "duration", log=True),
        y=Axis("row", "text"),
        tables=(
            Table("", SHAPES, tuple(shapes), key="shapes"),
            Table("", SPREADS, tuple(curves), key="curves"),
        ),
        notes=("Each half holds all I/Os of its side. The tick is p50, the small dot p99.",),
    )


def _shape(name: str, label: str, times: Histogram) -> Row:
    tail = published(times, 0.99)
    return Row(
        {"row": name, "whose": label, "p50": times.quantile_ns(0.5), "p99": tail, "max": float(times.max_ns)},
    )


def _spread(name: str, label: str, found: Density) -> list[Row]:
    highest = max(found.values)
    seen = [at for at in range(0, len(found.values), STEP) if found.values[at] > FAINT * highest]
    first, last = max(0, seen[0] - STEP), min(seen[-1] + STEP + 1, len(found.values))
    return [
        Row({"row": name, "whose": label, "time": 10 ** (found.low + at * GRID), "density": found.values[at]})
        for at in range(first, last, STEP)
    ]


def _moved(shapes: list[Row]) -> str:
    """The row whose median moved most."""
    found = []
    for one, other in zip(shapes[::2], shapes[1::2], strict=True):
        a, b = one.cells["p50"], other.cells["p50"]
        if isinstance(a, float) and isinstance(b, float) and a > 0 and b > 0:
            found.append((max(a / b, b / a), str(one.cells["row"]), a, b))
    if not found:
        return "Both sides, row by row."
    most, name, a, b = max(found)
    if most < 1.005:
        return "The medians of all rows are the same."
    return f"On {name} half of the I/Os end within {text.duration_in_words(a)} and {text.duration_in_words(b)}."


def side_percentiles(labels: Sequence[str], row: Both) -> Chart | None:
    """The percentile curves of one row on both sides; None where another tool's buckets are too coarse."""
    name, *both = row
    if any(times.coarse is not None or times.total < 2 for times in both):
        return None
    points = tuple(point for label, times in zip(labels, both, strict=True) for point in curve(label, times))
    said = [
        f"{label} answers half within {text.duration_in_words(times.quantile_ns(0.5))}{_tail(times)}"
        for label, times in zip(labels, both, strict=True)
    ]
    return Chart(
        kind="side_percentiles",
        key=f"percentiles-{_key(labels[1])}-{_key(name)}",
        title=f"{name}: percentiles",
        summary="; ".join(said) + ".",
        x=Axis("of the I/Os", "share", log=True),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", SHAPES, tuple(_shape(name, *side) for side in zip(labels, both, strict=True)), key="shapes"),
            Table("", CURVE, points, key="curves"),
        ),
    )


def _tail(times: Histogram) -> str:
    tail = published(times, 0.99)
    return f", 99 in 100 within {text.duration_in_words(tail)}" if tail else ""


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "row"
