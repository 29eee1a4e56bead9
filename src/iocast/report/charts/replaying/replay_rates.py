"""IOPS of a replay over time: what the trace issues, and what completed here."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from iocast import text
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.model.run import PhaseRecord
from iocast.report.charts.drawing.axis_labels import prefixed
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    Spec,
    chart,
    layer,
    needed,
    number,
    numbers,
    quantitative,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.drawing.time_grid import clock_axis, together
from iocast.report.charts.place import Place

PLACE = Place("replay", wide=True)
HEIGHT = 170
MOST = 400  # spans
SPANS = (
    Column("start", "from", "duration"),
    Column("end", "to", "duration"),
    Column("wanted", "IOPS in the trace", "rate"),
    Column("done", "IOPS here", "rate"),
)


def tell(record: PhaseRecord) -> Iterator[Chart]:
    """The chart of a replay that keeps to the times of its trace, of at least two intervals."""
    facts, asked, interval_ns = record.measurement.replay, record.phase.replay, record.series.interval_ns
    done = record.series.ios
    if facts is None or asked is None or asked.mode == "fast" or not interval_ns:
        return
    count = max(len(facts.due_ios), len(done))
    if count < 2:
        return
    rows = []
    for group in together(count, MOST):
        seconds = len(group) * interval_ns / 1e9
        here = done[group.start : group.stop]
        rows.append(
            Row(
                {
                    "start": group.start * interval_ns,
                    "end": group.stop * interval_ns,
                    "wanted": sum(facts.due_ios[group.start : group.stop]) / seconds,
                    "done": sum(here) / seconds if len(here) == len(group) else None,
                }
            )
        )
    table = Table("", SPANS, tuple(rows), key="spans")
    yield Chart(
        kind="replay_rates",
        key=f"replay-{record.phase.name.replace(' ', '-')}-rates",
        title="IOPS of the trace and here",
        summary=_summary(table),
        x=Axis("time", "duration"),
        y=Axis("IOPS", "rate"),
        tables=(table,),
        notes=("Grey: issued in the trace. Blue: completed here.",),
    )


def _summary(table: Table) -> str:
    """The busiest span, and what was completed in it."""
    busiest = max(table.rows, key=lambda row: number(row.cells["wanted"]) or 0.0)
    wanted, done = (number(busiest.cells[key]) for key in ("wanted", "done"))
    at = text.brief_time(number(busiest.cells["start"]) or 0.0)
    here = "" if done is None else f", {text.rate(done)} completed here"
    return f"The trace issues most at {at}: {text.rate(wanted)} IOPS{here}."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """The trace as a filled step, what completed as a line over it."""
    table = needed(about.table("spans"))
    end = max(numbers(table.rows, "end")) / 1e9
    most = max(*numbers(table.rows, "wanted", "done"), 1.0)
    x = quantitative("x", {"domain": [0, end]}, clock_axis())
    y = quantitative("y", {"domain": [0, 1.12 * most]}, {"title": "IOPS", "tickCount": 4})
    y["axis"] |= {"minExtent": LABEL_ROOM - 14, "grid": True, "label": prefixed}
    bars = [
        {
            "x": (number(row.cells["start"]) or 0.0) / 1e9,
            "x2": (number(row.cells["end"]) or 0.0) / 1e9,
            "y": number(row.cells["wanted"]),
            "y0": 0,
            "top": 1.12 * most,
            "tip": tip(table, row, "start", ("end",)),
        }
        for row in table.rows
    ]
    span: Spec = {"x": x, "x2": {"field": "x2"}}
    under: Spec = {**span, "y": y, "y2": {"field": "y0"}}
    over: Spec = {**span, "y": {**y, "field": "top"}, "y2": {"field": "y0"}}
    line: Spec = {"x": x, "y": y, "order": {"field": "o"}, "detail": {"field": "piece"}}
    layers = [
        layer("rect", bars, under, color=theme.muted, opacity=0.35),
        layer({"type": "line", "interpolate": "step-after"}, _line(table), line, color=theme.accent, strokeWidth=2),
        layer("rect", bars, over, silent=False, opacity=0),
    ]
    return chart(width, HEIGHT, layers)


def _line(table: Table) -> list[Spec]:
    """The completed rate as steps; where it is unknown the line is interrupted."""
    found: list[Spec] = []
    piece = 0
    for at, (row, following) in enumerate(pairwise((*table.rows, None))):
        assert row is not None
        done = number(row.cells["done"])
        if done is None:
            piece += 1
            continue
        ends = (number(row.cells["start"]), number(row.cells["end"]))
        found += [
            {"x": (end or 0.0) / 1e9, "y": done, "o": 2 * at + side, "piece": piece}
            for side, end in enumerate(ends)
            if not side or following is None or number(following.cells["done"]) is None
        ]
    return found
