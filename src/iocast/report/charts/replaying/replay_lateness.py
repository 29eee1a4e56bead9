"""How late the I/Os of a replay were issued over its course, as a heat map."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.model.run import PhaseRecord
from iocast.report.charts.drawing.parts import LABEL_ROOM, Spec, needed, number, quantitative, time_axis, time_scale
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.drawing.time_grid import time_grid, together
from iocast.report.charts.place import Place

PLACE = Place("replay", wide=True)
MAX_COLUMNS = 240
FIRST_NS = 1024  # the upper edge of the first octave (crates/iocast-core/src/record/lateness.rs)
LEAST_OCTAVES = 6
LATE_NS = 1_000_000
MOMENTS = (
    Column("start", "from", "duration"),
    Column("end", "to", "duration"),
    Column("ios", "I/Os issued", "count"),
    Column("most", "latest below", "duration"),
)
SPAN = (Column("low", "from", "duration"), Column("high", "to", "duration"))


def tell(record: PhaseRecord) -> Iterator[Chart]:
    """The chart of a replay that keeps to times, of at least two intervals."""
    late, interval_ns = record.measurement.lateness, record.series.interval_ns
    if len(late.rows) < 2 or not interval_ns:
        return
    octaves = max(max(map(len, late.rows)), LEAST_OCTAVES)
    width_ns = late.width * interval_ns
    rows = tuple(
        _row([late.rows[at] for at in group], group.start * width_ns, group.stop * width_ns, octaves)
        for group in together(len(late.rows), MAX_COLUMNS)
    )
    ends = Row({"low": float(FIRST_NS) / 2, "high": float(FIRST_NS << (octaves - 1))})
    yield Chart(
        kind="replay_lateness",
        key=f"replay-{record.phase.name.replace(' ', '-')}-lateness",
        title="How late I/Os were issued",
        summary=_summary(record),
        x=Axis("time", "duration"),
        y=Axis("issued late by", "duration", log=True),
        tables=(Table("", MOMENTS, rows, key="moments"), Table("", SPAN, (ends,), key="span")),
    )


def _summary(record: PhaseRecord) -> str:
    error = record.measurement.issue_error
    late = 1.0 - error.share_up_to(LATE_NS)
    return (
        f"{text.percent(late) if late else 'None'} of the I/Os {'were' if late else 'was'} issued more than 1 ms late; "
        f"the latest by {text.brief_time(error.max_ns)}."
    )


def _row(parts: list[tuple[int, ...]], start: int, end: int, octaves: int) -> Row:
    counts = [0.0] * octaves
    for part in parts:
        for at, count in enumerate(part):
            counts[at] += count
    most = max((at for at, count in enumerate(counts) if count), default=None)
    cells = {"start": start, "end": end, "ios": int(sum(counts))}
    return Row({**cells, "most": None if most is None else FIRST_NS << most, "counts": tuple(counts)})


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The cells, and a logarithmic axis of lateness whose first step is all below a microsecond."""
    (span,) = needed(about.table("span")).rows
    low, high = number(span.cells["low"]) or 1.0, number(span.cells["high"]) or 2.0
    scale, ticks = time_scale(low, high)
    y = quantitative("y", scale, time_axis(ticks, title=about.y.title, grid=False, minExtent=LABEL_ROOM))
    return time_grid(needed(about.table("moments")), "counts", y, low, high, theme, width)
