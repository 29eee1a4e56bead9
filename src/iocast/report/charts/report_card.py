"""The report card of 2012: for each test its histogram, the scale of its time, and how the time grows with the load."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from iocast import text
from iocast.diagnose.aspects import ASPECTS
from iocast.diagnose.grades.hailey2012 import HEADLINE, TESTS, ClassicTest, classic_letters
from iocast.diagnose.grades.scales import letter_scale
from iocast.model.grading import Graded
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.report.charts.drawing.latency_buckets import BUCKET_ENDS_NS, bucket_colour, bucket_rows
from iocast.report.charts.drawing.legends import bucket_legend
from iocast.report.charts.drawing.parts import (
    OWN_COLOUR,
    Spec,
    chart,
    each_by,
    layer,
    needed,
    number,
    quantitative,
    tip,
)
from iocast.report.charts.drawing.theme import Theme
from iocast.report.charts.place import Place
from iocast.report.charts.subjects.graded_run import GradedRun

PLACE = Place("grade", wide=True, legends=(bucket_legend,))
MS = 1_000_000
ROW_HEIGHT = 104
BASE, TALL = 0.78, 0.42  # in each row: where the bars stand, and how high the highest is
HISTOGRAM, RIBBON, WEDGE = (0.0, 42.0), (47.0, 78.0), (85.0, 99.0)  # of 100 across
LABELLED_NS = (50_000, 1 * MS, 10 * MS, 100 * MS, 1000 * MS)
COLUMNS = (
    Column("test", "test"),
    Column("letter", "grade", "grade"),
    Column("p95", "p95", "duration"),
    Column("mean", "mean", "duration"),
    Column("scaling_letter", "scaling", "grade"),
    Column("scaling", "growth of p95 over growth of the load", "decimal"),
)
EDGES = (Column("test", "test"), Column("letter", "grade", "grade"), Column("below", "below", "duration"))
SHARES = (
    Column("test", "test"),
    Column("low", "from", "duration"),
    Column("high", "to", "duration"),
    Column("share", "share", "share"),
)
NOTE = (
    "Left: the response times at the base load. Middle: p95 (thick) and mean (thin) on the scale of 2012, made for hard"
    " disks. Right: the steeper, the more the response time grows with the load; flat is best."
)


def tell(graded: GradedRun) -> Iterator[Chart]:
    """The chart of the tests that have a letter on the scale of 2012."""
    parts = {part.code: part for part in graded.grades.parts if part.statistic == HEADLINE and part.letter}
    found = [(test, parts[test.code]) for test in TESTS if test.code in parts]
    if graded.grades.scale != "hailey2012" or not found:
        return
    rows = tuple(_row(graded, *each) for each in found)
    yield Chart(
        kind="report_card",
        key="report-card",
        title="Report card of 2012",
        summary=_summary(rows),
        x=Axis("response time", "duration"),
        y=Axis("test", "text"),
        tables=(
            Table("", COLUMNS, rows, key="tests"),
            Table("", EDGES, tuple(row for test, _ in found for row in _edges(test)), key="edges"),
            Table("", SHARES, tuple(row for each in found for row in _buckets(graded, *each)), key="buckets"),
        ),
        notes=(NOTE,),
    )


def _summary(rows: tuple[Row, ...]) -> str:
    letters = ", ".join(f"{row.cells['test']} {row.cells['letter']}" for row in rows)
    worst = max(rows, key=lambda row: number(row.cells["scaling"]) or 0.0).cells
    return f"{letters}. {worst['test']} grows most with the load: scaling {worst['scaling_letter']}."


def _row(graded: GradedRun, test: ClassicTest, part: Graded) -> Row:
    letters = classic_letters(test, part.figures["base_ms"], part.figures["scaled_ms"])
    base = next(row for row in graded.facts.rows if row.name == part.phases[0])
    return Row(
        {
            "test": ASPECTS[test.code],
            "letter": letters.time,
            "p95": part.figures["base_ms"] * MS,
            "mean": base.response(test.op).mean_ns,
            "scaling_letter": letters.scaling,
            "scaling": letters.scaling_value,
        }
    )


def _edges(test: ClassicTest) -> Iterator[Row]:
    for letter, limit_ms in letter_scale("hailey2012", test.scale).limits.items():
        yield Row({"test": ASPECTS[test.code], "letter": letter, "below": limit_ms * MS})


def _buckets(graded: GradedRun, test: ClassicTest, part: Graded) -> Iterator[Row]:
    base = next(row for row in graded.facts.rows if row.name == part.phases[0])
    for row in bucket_rows("", base.response(test.op)):
        yield Row({**{key: row.cells[key] for key in ("low", "high", "share")}, "test": ASPECTS[test.code]})


def draw(about: Chart, theme: Theme, width: int) -> Spec:
    """A row for each test: histogram, ribbon of letters with both times, wedge of the scaling letter."""
    tests = needed(about.table("tests"))
    place = {str(row.cells["test"]): at for at, row in enumerate(tests.rows)}
    bars = list(_bars(needed(about.table("buckets")), place, theme))
    bands: list[Spec] = []
    marks: list[Spec] = []
    words: list[Spec] = []
    wedges: list[Spec] = []
    for at, row in enumerate(tests.rows):
        limits = [each for each in needed(about.table("edges")).rows if each.cells["test"] == row.cells["test"]]
        edges = [number(each.cells["below"]) or 0.0 for each in limits]
        bands += _bands(at, [str(each.cells["letter"]) for each in limits], edges, theme, words)
        for key, thick, colour in (("mean", 0.25, theme.faster), ("p95", 0.6, theme.ink)):
            where = _across(number(row.cells[key]) or 0.0, edges)
            marks.append(_box(where - thick / 2, where + thick / 2, at + BASE - 0.3, at + BASE, colour))
            if key == "p95":
                words.append(_word(where, at + BASE - 0.36, _letter_and_time(row)))
        wedges += _wedge(at, row, theme)
        words.append(_word(HISTOGRAM[0], at + 0.14, str(row.cells["test"]), "left"))
        words.append(_word(WEDGE[0], at + 0.3, _letter_and_growth(row), "left"))
        words += [_word(_left(ns), at + BASE + 0.12, text.brief_time(ns)) for ns in LABELLED_NS]
        marks.append(_box(*HISTOGRAM, at + BASE, at + BASE + 0.01, theme.line))
    x, y = quantitative("x", {"domain": [0, 100]}), quantitative("y", {"domain": [len(tests.rows), 0]})
    rect: Spec = {"x": x, "x2": {"field": "x2"}, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR}
    area: Spec = {"x": x, "y": y, "y2": {"field": "y2"}, "fill": OWN_COLOUR, **each_by("of")}
    said = {align: [word for word in words if word["align"] == align] for align in ("left", "center")}
    layers = [
        layer("rect", [*bands, *bars, *marks], rect),
        layer("area", wedges, area),
        *(
            layer({"type": "text", "align": align, "fontSize": 10}, each, {"x": x, "y": y, "text": {"field": "t"}})
            for align, each in said.items()
        ),
        layer("rect", _tips(tests), {**rect, "fillOpacity": {"value": 0}}, silent=False),
    ]
    return chart(width, ROW_HEIGHT * len(tests.rows), layers)


def _tips(tests: Table) -> Iterator[Spec]:
    """An invisible box over each row that tells its figures."""
    for at, row in enumerate(tests.rows):
        yield {**_box(0, 100, at, at + 1, "transparent"), "tip": tip(tests, row, "test")}


def _letter_and_time(row: Row) -> str:
    return f"{row.cells['letter']} {text.brief_time(number(row.cells['p95']) or 0.0)}"


def _letter_and_growth(row: Row) -> str:
    return f"{row.cells['scaling_letter']} {text.decimal(number(row.cells['scaling']) or 0.0)}"


def _bars(buckets: Table, place: dict[str, int], theme: Theme) -> Iterator[Spec]:
    for row in buckets.rows:
        low, share = (number(row.cells[key]) or 0.0 for key in ("low", "share"))
        left, at = _left(low), place[str(row.cells["test"])]
        yield _box(left, left + 2.4, at + BASE - TALL * share, at + BASE, bucket_colour(low, theme))


def _left(low_ns: float) -> float:
    """Where the bucket that begins at, or nearest to, a time has its left edge: all are as wide."""
    step = (HISTOGRAM[1] - HISTOGRAM[0]) / (len(BUCKET_ENDS_NS) - 1)
    return min(range(len(BUCKET_ENDS_NS) - 1), key=lambda each: abs(BUCKET_ENDS_NS[each] - low_ns)) * step


def _bands(at: int, letters: list[str], edges: list[float], theme: Theme, words: list[Spec]) -> Iterator[Spec]:
    """A band for each letter, as wide as the others, with the time where it ends."""
    colours = {"A": theme.fast, "B": theme.middling, "C": theme.slow}
    for (low, high), letter in zip(pairwise([0.0, *edges]), letters, strict=True):
        left, right = _across(low, edges), _across(high, edges)
        words.append(_word(right, at + BASE + 0.12, text.brief_time(high)))
        yield _box(left + 0.1, right - 0.1, at + BASE - 0.14, at + BASE, colours[letter[0]])


def _across(time_ns: float, edges: list[float]) -> float:
    """Where a time stands on the ribbon; what is beyond its last edge stands at its end."""
    step = (RIBBON[1] - RIBBON[0]) / (len(edges) + 0.5)
    for band, (low, high) in enumerate(pairwise([0.0, *edges])):
        if time_ns <= high:
            return RIBBON[0] + step * (band + (time_ns - low) / (high - low))
    return RIBBON[1]


def _wedge(at: int, row: Row, theme: Theme) -> Iterator[Spec]:
    """A ramp from the base load to the scaled one: flat where the time does not grow, full where all is waiting."""
    colours = {"A": theme.fast, "B": theme.middling, "C": theme.slow}
    rise = TALL * min(1.0, max(0.02, number(row.cells["scaling"]) or 0.0))
    colour = colours.get(str(row.cells["scaling_letter"])[0], theme.lost)
    for x, high in ((WEDGE[0], 0.0), (WEDGE[1], rise)):
        yield {"x": x, "y": at + BASE, "y2": at + BASE - high, "c": colour, "of": at}


def _box(left: float, right: float, top: float, bottom: float, colour: str) -> Spec:
    return {"x": left, "x2": right, "y": bottom, "y2": top, "c": colour}


def _word(x: float, y: float, said: str, align: str = "center") -> Spec:
    return {"x": x, "y": y, "t": said, "align": align}
