"""The report card of 2012: for each test its histogram, the scale of its time, and how the time grows with the load."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

from msgspec import Struct

from iocast import text
from iocast.diagnose.aspects import ASPECTS
from iocast.diagnose.grades.hailey2012 import HEADLINE, TESTS, ClassicTest, classic_letters
from iocast.diagnose.grades.scales import letter_scale
from iocast.model.grading import Graded
from iocast.model.report import Chart
from iocast.model.results.shown import shown
from iocast.report.charts.latency_buckets import BUCKET_ENDS_NS, bucket_colour, bucket_legend, filled_buckets
from iocast.report.charts.place import Place
from iocast.report.charts.subjects import GradedRun
from iocast.report.plot.axes import Scale
from iocast.report.plot.marks import Areas, Band, Box, Boxes, Plot, Side, Word, Words
from iocast.report.plot.theme import Theme
from iocast.report.result_tables import tip

PLACE = Place("grade", wide=True, legends=(bucket_legend,))
MS = 1_000_000
ROW_HEIGHT = 104
BASE, TALL = 0.78, 0.42  # in each row: where the bars stand, and how high the highest is
HISTOGRAM, RIBBON, WEDGE = (0.0, 42.0), (47.0, 78.0), (85.0, 99.0)  # of 100 across
LABELLED_NS = (50_000, 1 * MS, 10 * MS, 100 * MS, 1000 * MS)
NOTE = (
    "Left: the response times at the base load. Middle: p95 (thick) and mean (thin) on the scale of 2012, made for hard"
    " disks. Right: the steeper, the more the response time grows with the load; flat is best."
)


class GradedTest(Struct, frozen=True):
    """A test with its letters."""

    test: Annotated[str, shown("test")]
    letter: Annotated[str, shown("grade", "grade")]
    p95_ns: Annotated[float, shown("p95", "duration")]
    mean_ns: Annotated[float, shown("mean", "duration")]
    scaling_letter: Annotated[str, shown("scaling", "grade")]
    scaling: Annotated[float, shown("growth of p95 over growth of the load", "decimal")]


class LetterEdge(Struct, frozen=True):
    """The time below which a test has a letter."""

    test: str
    letter: str
    below_ns: float


class GradedBucket(Struct, frozen=True):
    """The share of the I/Os of a test that took so long."""

    low_ns: int
    high_ns: int
    share: float
    test: str


class ReportCard(Chart, frozen=True, kw_only=True):
    """The tests that have a letter on the scale of 2012."""

    kind: str = "report_card"
    tests: tuple[GradedTest, ...]
    edges: tuple[LetterEdge, ...]
    buckets: tuple[GradedBucket, ...]


def tell(graded: GradedRun) -> Iterator[ReportCard]:
    """The chart of the tests that have a letter on the scale of 2012."""
    parts = {part.code: part for part in graded.grades.parts if part.statistic == HEADLINE and part.letter}
    tests_graded = [(test, parts[test.code]) for test in TESTS if test.code in parts]
    if graded.grades.scale != "hailey2012" or not tests_graded:
        return
    tests = tuple(_test(graded, *each) for each in tests_graded)
    yield ReportCard(
        key="report-card",
        title="Report card of 2012",
        summary=_summary(tests),
        notes=(NOTE,),
        tests=tests,
        edges=tuple(edge for test, _ in tests_graded for edge in _edges(test)),
        buckets=tuple(bucket for each in tests_graded for bucket in _buckets(graded, *each)),
    )


def _summary(tests: tuple[GradedTest, ...]) -> str:
    letters = ", ".join(f"{each.test} {each.letter}" for each in tests)
    worst = max(tests, key=lambda each: each.scaling)
    return f"{letters}. {worst.test} grows most with the load: scaling {worst.scaling_letter}."


def _test(graded: GradedRun, test: ClassicTest, part: Graded) -> GradedTest:
    letters = classic_letters(test, part.figures["base_ms"], part.figures["scaled_ms"])
    base = next(row for row in graded.facts.rows if row.name == part.phases[0])
    return GradedTest(
        ASPECTS[test.code],
        letters.time,
        part.figures["base_ms"] * MS,
        base.response(test.op).mean_ns,
        letters.scaling,
        letters.scaling_value,
    )


def _edges(test: ClassicTest) -> Iterator[LetterEdge]:
    for letter, limit_ms in letter_scale("hailey2012", test.scale).limits.items():
        yield LetterEdge(ASPECTS[test.code], letter, limit_ms * MS)


def _buckets(graded: GradedRun, test: ClassicTest, part: Graded) -> Iterator[GradedBucket]:
    base = next(row for row in graded.facts.rows if row.name == part.phases[0])
    for each in filled_buckets(base.response(test.op)):
        yield GradedBucket(*each, ASPECTS[test.code])


def draw(chart: ReportCard, theme: Theme, width: int) -> Plot:
    """A row for each test: histogram, ribbon of letters with both times, wedge of the scaling letter."""
    tests = chart.tests
    bands, bars, marks = list[_Box](), list(_bars(chart, theme)), list[_Box]()
    words: dict[Side, list[Word]] = {"left": [], "center": []}
    for at, test in enumerate(tests):
        limits = [edge for edge in chart.edges if edge.test == test.test]
        edges = [edge.below_ns for edge in limits]
        bands += _bands(at, limits, edges, theme)
        words["center"] += [Word(_across(edge, edges), at + BASE + 0.12, text.brief_time(edge)) for edge in edges]
        for time_ns, thick, colour in ((test.mean_ns, 0.25, theme.faster), (test.p95_ns, 0.6, theme.ink)):
            where = _across(time_ns, edges)
            marks.append((Box(where - thick / 2, at + BASE, where + thick / 2, at + BASE - 0.3), colour))
        marks.append((Box(HISTOGRAM[0], at + BASE + 0.01, HISTOGRAM[1], at + BASE), theme.line))
        time = f"{test.letter} {text.brief_time(test.p95_ns)}"
        words["center"].append(Word(_across(test.p95_ns, edges), at + BASE - 0.36, time))
        words["center"] += [Word(_left(ns), at + BASE + 0.12, text.brief_time(ns)) for ns in LABELLED_NS]
        words["left"].append(Word(HISTOGRAM[0], at + 0.14, test.test))
        words["left"].append(Word(WEDGE[0], at + 0.3, f"{test.scaling_letter} {text.decimal(test.scaling)}"))
    boxes, colours = zip(*bands, *bars, *marks, strict=True)
    whole = [Box(0, at + 1, 100, at) for at in range(len(tests))]
    drawn = (
        Boxes(boxes, colours=colours),
        Areas([_wedge(at, test) for at, test in enumerate(tests)], colours=[_tone(test, theme) for test in tests]),
        Words(words["left"], "left", size=10),
        Words(words["center"], "center", size=10),
        Boxes(whole, tips=[tip(test, "test") for test in tests], opacity=0),
    )
    return Plot(width, ROW_HEIGHT * len(tests), Scale(0, 100), Scale(len(tests), 0), drawn)


_Box = tuple[Box, str]  # with its colour


def _bars(chart: ReportCard, theme: Theme) -> Iterator[_Box]:
    places = {test.test: at for at, test in enumerate(chart.tests)}
    for each in chart.buckets:
        left, base = _left(each.low_ns), places[each.test] + BASE
        yield Box(left, base, left + 2.4, base - TALL * each.share), bucket_colour(each.low_ns, theme)


def _left(low_ns: float) -> float:
    """Where the bucket that begins at, or nearest to, a time has its left edge: all are as wide."""
    step = (HISTOGRAM[1] - HISTOGRAM[0]) / (len(BUCKET_ENDS_NS) - 1)
    return min(range(len(BUCKET_ENDS_NS) - 1), key=lambda each: abs(BUCKET_ENDS_NS[each] - low_ns)) * step


def _bands(at: int, limits: list[LetterEdge], edges: list[float], theme: Theme) -> Iterator[_Box]:
    """A band for each letter, as wide as the others."""
    colours = {"A": theme.fast, "B": theme.middling, "C": theme.slow}
    for (low, high), edge in zip(pairwise([0.0, *edges]), limits, strict=True):
        left, right = _across(low, edges) + 0.1, _across(high, edges) - 0.1
        yield Box(left, at + BASE, right, at + BASE - 0.14), colours[edge.letter[0]]


def _across(time_ns: float, edges: list[float]) -> float:
    """Where a time stands on the ribbon; what is beyond its last edge stands at its end."""
    step = (RIBBON[1] - RIBBON[0]) / (len(edges) + 0.5)
    for band, (low, high) in enumerate(pairwise([0.0, *edges])):
        if time_ns <= high:
            return RIBBON[0] + step * (band + (time_ns - low) / (high - low))
    return RIBBON[1]


def _wedge(at: int, test: GradedTest) -> list[Band]:
    """A ramp from the base load to the scaled one: flat where the time does not grow, full where all is waiting."""
    rise = TALL * min(1.0, max(0.02, test.scaling))
    return [Band(x, at + BASE, at + BASE - high) for x, high in ((WEDGE[0], 0.0), (WEDGE[1], rise))]


def _tone(test: GradedTest, theme: Theme) -> str:
    return {"A": theme.fast, "B": theme.middling, "C": theme.slow}.get(test.scaling_letter[0], theme.lost)
