"""One figure of a job on a target over time: a dot for each run, the levels, and where they change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.analyse.target_history import RunPoint, Series
from iocast.model.codes import StatisticCode
from iocast.model.grading import LETTERS
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.cells import cell_text
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import FollowedFigure
from iocast.report.plot.axes import LABEL_ROOM, Axis, Scale, known, padded_times, time_axis
from iocast.report.plot.axis_labels import one_of, prefixed
from iocast.report.plot.axis_ticks import instants
from iocast.report.plot.marks import Box, Dots, Plot, Point, Rings, Rules, Uprights, Word, Words
from iocast.report.plot.theme import Theme

PLACE = Place("trend")
HEIGHT = 190
MS = 1_000_000  # ns
VALUES = ("grade", "value_per_s", "value_ns")


class FollowedRun(Struct, frozen=True):
    """A run and its figure: a letter, IOPS or a p99."""

    started: Annotated[str, shown("started")]
    started_unix_ns: int
    run: Annotated[str, shown("run")]
    grade: Annotated[str | None, shown("Grade", "grade")]
    value_per_s: Annotated[float | None, shown("IOPS", "rate")]
    value_ns: Annotated[float | None, shown("p99", "duration")]
    trust: Annotated[str, shown("trust", "grade")]
    counts: bool

    @property
    def height(self) -> float | None:
        """Where it stands: letters by their ranks."""
        if self.grade is not None:
            return float(len(LETTERS) - LETTERS.index(self.grade)) if self.grade in LETTERS else None
        return self.value_ns if self.value_per_s is None else self.value_per_s

    @property
    def says(self) -> str:
        """What it says under the pointer."""
        value_text = cell_text("rate", self.value_per_s) or cell_text("duration", self.value_ns)
        return f"{self.run}: {self.grade or value_text}"


class FollowedLevel(Struct, frozen=True):
    """A stretch of runs with one median, and how far that is from the level before."""

    since: str
    until: str
    level: str
    change: str
    start_unix_ns: int
    end_unix_ns: int
    middle: float


class Trend(Chart, frozen=True, kw_only=True):
    """All runs that have the figure, and its levels."""

    kind: str = "trend"
    runs: tuple[FollowedRun, ...]
    levels: tuple[FollowedLevel, ...]


def tell(subject: FollowedFigure) -> Iterator[Trend]:
    """The chart of a figure that at least two runs have."""
    series = subject.series
    runs = [(run, value) for run, value in zip(subject.runs, series.values, strict=True) if value is not None]
    if len(runs) < 2:
        return
    name = "Grade" if series.figure is None else "IOPS" if series.figure == "throughput" else "p99"
    field_of = {"Grade": "grade", "IOPS": "value_per_s", "p99": "value_ns"}[name]
    yield Trend(
        key=subject.key,
        title=f"{series.row}: {name}" if series.row else name,
        summary=_summary(series, subject),
        runs=tuple(_run(run, series.figure, value) for run, value in runs),
        levels=tuple(_levels(subject)),
        leave=tuple(each for each in VALUES if each != field_of),
    )


def _run(run: RunPoint, figure: StatisticCode | None, value: float) -> FollowedRun:
    return FollowedRun(
        started=text.instant(run.started_unix_ns),
        started_unix_ns=run.started_unix_ns,
        run=run.name,
        grade=letter_of(value) if figure is None else None,
        value_per_s=value if figure == "throughput" else None,
        value_ns=None if figure in (None, "throughput") else value,
        trust=run.trust or "",
        counts=run.counts,
    )


def letter_of(rank: float) -> str:
    """The letter of a grade's rank."""
    return LETTERS[len(LETTERS) - round(rank)]


def told_value(figure: StatisticCode | None, value: float) -> str:
    """A figure of a series as people read it."""
    if figure is None:
        return letter_of(value)
    return cell_text("rate" if figure == "throughput" else "duration", value)


def told_change(figure: StatisticCode | None, share: float, after: float) -> str:
    """How far a level is from the one before; a grade has no percentages."""
    if figure is None:
        return f"to {letter_of(after)}"
    return f"{'+' if share > 0 else '−'}{text.percent(abs(share))}"


def _levels(subject: FollowedFigure) -> Iterator[FollowedLevel]:
    series, runs = subject.series, subject.runs
    shifts = dict(series.shifts)
    for level in series.levels:
        first, last = runs[level.start].started_unix_ns, runs[level.end - 1].started_unix_ns
        share = shifts.get(level.start)
        yield FollowedLevel(
            since=text.instant(first),
            until=text.instant(last),
            level=told_value(series.figure, level.middle),
            change="" if share is None else told_change(series.figure, share, level.middle),
            start_unix_ns=first,
            end_unix_ns=last,
            middle=level.middle,
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


def draw(chart: Trend, theme: Theme, width: int) -> Plot:
    """Dots over time, the level of each stretch, a line at each change."""
    runs, levels = chart.runs, chart.levels
    timed = "value_ns" not in chart.leave
    x, y = _calendar([run.started_unix_ns / MS for run in runs]), _axis(chart, timed=timed)
    dots = [Point(run.started_unix_ns / MS, run.height) for run in runs]
    sure, unsure = ([dot for dot, run in zip(dots, runs, strict=True) if run.counts == each] for each in (True, False))
    changes = [Word(level.start_unix_ns / MS, y.scale.high, level.change) for level in levels[1:]]
    steps = [Box(each.start_unix_ns / MS, each.middle, each.end_unix_ns / MS, each.middle) for each in levels]
    tone = theme.tail if timed else theme.accent
    marks = (
        Uprights([word.x for word in changes], dash=(4, 3), colour=theme.warn),
        Rules(steps, 2, colour=tone, opacity=0.55),
        Dots(sure, 42, colour=tone, opacity=0.85),
        Rings(unsure, 42, colour=theme.muted),
        Words(changes, "left", "top", dx=5, size=11, colour=theme.warn, rim=theme.ground),
        Dots(dots, 260, tips=[run.says for run in runs], opacity=0),
    )
    return Plot(width, HEIGHT, x, y, marks)


def _calendar(moments_ms: list[float]) -> Axis:
    low, high = min(moments_ms), max(moments_ms)
    ticks, written = instants(low, high, about=8)
    return Axis(Scale(low, high), label=written.__getitem__, ticks=ticks, grid=False)


def _axis(chart: Trend, *, timed: bool) -> Axis:
    if "grade" not in chart.leave:
        names = [*reversed(LETTERS)]
        whole = [at for at, name in enumerate(names, 1) if len(name) == 1]
        return Axis(Scale(0.5, len(names) + 0.9), label=one_of(names, first=1), ticks=whole, room=LABEL_ROOM)
    values = known(run.height for run in chart.runs)
    if timed:
        return time_axis(*padded_times(values, 0.12), room=LABEL_ROOM)
    return Axis(Scale(0, 1.15 * max(values, default=1.0)), label=prefixed, count=5, room=LABEL_ROOM)
