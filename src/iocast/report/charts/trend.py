"""One figure of a job on a target over time: a dot for each run, the levels, and where they change."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.history.target_history import Series
from iocast.model.codes import StatisticCode
from iocast.model.grading import LETTERS
from iocast.model.report import Axis, Chart, Column, Kind, Row, Table
from iocast.report.cells import cell_text
from iocast.report.charts.drawing.axis_labels import one_of, prefixed
from iocast.report.charts.drawing.axis_ticks import instants
from iocast.report.charts.drawing.parts import (
    LABEL_ROOM,
    Spec,
    chart,
    layer,
    legible,
    named,
    needed,
    number,
    numbers,
    padded_times,
    quantitative,
    time_axis,
    time_scale,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.followed_figure import FollowedFigure

PLACE = Place("trend")
HEIGHT = 190
MS = 1_000_000  # ns
LEVELS = (
    Column("from", "from"),
    Column("until", "until"),
    Column("level", "median", "text"),
    Column("change", "change"),
)


def tell(subject: FollowedFigure) -> Iterator[Chart]:
    """The chart of a figure that at least two runs have."""
    series, runs = subject.series, subject.runs
    if sum(value is not None for value in series.values) < 2:
        return
    kind: Kind = "grade" if series.figure is None else "rate" if series.figure == "throughput" else "duration"
    name = "Grade" if series.figure is None else "IOPS" if series.figure == "throughput" else "p99"
    columns = (
        Column("started", "started"),
        Column("run", "run"),
        Column("value", name, kind),
        Column("trust", "trust", "grade"),
    )
    rows = tuple(
        Row(
            {
                "started": text.instant(run.started_unix_ns),
                "started_unix_ns": run.started_unix_ns,
                "run": run.name,
                "value": shown_value(series.figure, value),
                "trust": run.trust or "",
                "counts": run.counts,
            }
        )
        for run, value in zip(runs, series.values, strict=True)
        if value is not None
    )
    yield Chart(
        kind="trend",
        key=subject.key,
        title=f"{series.row}: {name}" if series.row else name,
        summary=_summary(series, subject),
        x=Axis("started", "text"),
        y=Axis(name, kind, log=kind == "duration"),
        tables=(Table("", columns, rows, key="runs"), Table("", LEVELS, tuple(_levels(subject)), key="levels")),
    )


def shown_value(figure: StatisticCode | None, value: float) -> str | float:
    """A figure of a series as a cell: the letter of a grade's rank."""
    return LETTERS[len(LETTERS) - round(value)] if figure is None else value


def told_value(figure: StatisticCode | None, value: float) -> str:
    """The same as people read it."""
    if figure is None:
        return str(shown_value(figure, value))
    return cell_text("rate" if figure == "throughput" else "duration", value)


def told_change(figure: StatisticCode | None, share: float, after: float) -> str:
    """How far a level is from the one before; a grade has no percentages."""
    if figure is None:
        return f"to {shown_value(figure, after)}"
    return f"{'+' if share > 0 else '−'}{text.percent(abs(share))}"


def _levels(subject: FollowedFigure) -> Iterator[Row]:
    series, runs = subject.series, subject.runs
    shifts = dict(series.shifts)
    for level in series.levels:
        first, last = runs[level.start], runs[level.end - 1]
        share = shifts.get(level.start)
        yield Row(
            {
                "from": text.instant(first.started_unix_ns),
                "until": text.instant(last.started_unix_ns),
                "level": told_value(series.figure, level.middle),
                "change": "" if share is None else told_change(series.figure, share, level.middle),
                "start_unix_ns": first.started_unix_ns,
                "end_unix_ns": last.started_unix_ns,
                "middle": level.middle,
            }
        )


def _summary(series: Series, subject: FollowedFigure) -> str:
    known = [value for value in series.values if value is not None]
    last = told_value(series.figure, known[-1])
    if not series.levels:
        return f"Latest: {last}."
    if not series.shifts:
        return f"No change: median {told_value(series.figure, series.levels[0].middle)}, latest {last}."
    at, share = max(series.shifts, key=lambda shift: abs(shift[1]))
    after = next(level.middle for level in series.levels if level.start == at)
    before = series.levels[[level.start for level in series.levels].index(at) - 1].middle
    when = text.instant(subject.runs[at].started_unix_ns)
    words = "" if series.figure is None else f" ({told_change(series.figure, share, after)})"
    moved = f"From {told_value(series.figure, before)} to {told_value(series.figure, after)}"
    return f"{moved}{words} at {when}; latest {last}."


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """Dots over time, the level of each stretch, a line at each change."""
    runs, levels = needed(about.table("runs")), needed(about.table("levels"))
    x = _calendar([_ms(row, "started_unix_ns") for row in runs.rows])
    graded = about.y.kind == "grade"
    y, top = _grade_axis() if graded else _axis(about, numbers(runs.rows, "value"))
    dots = [
        {
            "x": _ms(row, "started_unix_ns"),
            "y": _height(row.cells["value"], graded),
            "tip": f"{row.cells['run']}: {cell_text(about.y.kind, row.cells['value'])}",
            "counts": row.cells["counts"],
        }
        for row in runs.rows
    ]
    steps = [
        {"x": _ms(row, "start_unix_ns"), "x2": _ms(row, "end_unix_ns"), "y": number(row.cells["middle"])}
        for row in levels.rows
    ]
    changes = [{"x": _ms(row, "start_unix_ns"), "y": top, "t": row.cells["change"]} for row in levels.rows[1:]]
    tone = theme.tail if about.y.kind == "duration" else theme.accent
    place: Spec = {"x": x, "y": y}
    beside = {"type": "text", "align": "left", "baseline": "top", "dx": 5, "fontSize": 11}
    layers = [
        layer("rule", changes, {"x": x}, color=theme.warn, strokeDash=[4, 3]),
        layer("rule", steps, {**place, "x2": {"field": "x2"}}, color=tone, strokeWidth=2, opacity=0.55),
        layer("circle", [each for each in dots if each["counts"]], place, color=tone, size=42, opacity=0.85),
        layer(
            "point",
            [each for each in dots if not each["counts"]],
            place,
            color=theme.muted,
            size=42,
        ),
        *legible(beside, changes, named(x, y), theme, color=theme.warn),
        layer("circle", dots, place, silent=False, size=260, opacity=0),
    ]
    return chart(width, HEIGHT, layers)


def _ms(row: Row, key: str) -> float:
    return (number(row.cells[key]) or 0.0) / MS


def _calendar(moments_ms: list[float]) -> Spec:
    ticks, written = instants(min(moments_ms), max(moments_ms), about=8)
    axis = {"title": None, "grid": False, "values": ticks, "label": written.__getitem__}
    return quantitative("x", {"domain": [min(moments_ms), max(moments_ms)]}, axis)


def _height(value: object, graded: bool) -> float | None:
    if graded:
        return float(len(LETTERS) - LETTERS.index(value)) if value in LETTERS else None
    return value if isinstance(value, float) else None


def _axis(about: Chart, values: list[float]) -> tuple[Spec, float]:
    if about.y.kind == "duration":
        low, high = padded_times(values, 0.12)
        scale, ticks = time_scale(low, high)
        return quantitative("y", scale, time_axis(ticks, minExtent=LABEL_ROOM)), high
    top = 1.15 * max(values, default=1.0)
    axis = {"title": None, "label": prefixed, "tickCount": 5, "minExtent": LABEL_ROOM, "grid": True}
    return quantitative("y", {"domain": [0, top]}, axis), top


def _grade_axis() -> tuple[Spec, float]:
    names = [*reversed(LETTERS)]
    whole = [at for at, name in enumerate(names, 1) if len(name) == 1]
    axis = {"values": whole, "label": one_of(names, first=1), "title": None, "grid": True}
    return quantitative("y", {"domain": [0.5, len(names) + 0.9]}, {**axis, "minExtent": LABEL_ROOM}), len(names) + 0.9
