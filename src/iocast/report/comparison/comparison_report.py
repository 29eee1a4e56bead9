"""The report of a comparison: what differs besides the results, a verdict for each row, percentiles, repeats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from iocast import text
from iocast.analyse.comparison import (
    MARGIN,
    Ratio,
    ab_ratio,
    difference,
    median_of,
    overlap,
    relative,
    shift,
    variation,
)
from iocast.analyse.statistics import bucket_shares
from iocast.diagnose.comparable import MEASURED_BY, Pair, Side, Unlike, pairs, unlike
from iocast.errors import AnalysisError
from iocast.model.histogram import Histogram, merge
from iocast.model.report import LATENCY_EDGES_NS, Cell, Column, Report, Row, Section, Table
from iocast.model.run import PhaseRecord
from iocast.report.charts import charts_at
from iocast.report.charts.subjects.compared_sides import Comparison
from iocast.report.comparison.compared_values import REPEATS, STATISTICS, iops, response, throughput, values
from iocast.report.comparison.relative_table import relative_sections

SCATTER = 0.10  # repeats that differ by more are looked into before anything is compared (models B4)
VERDICT_WORDS = {
    "equivalent": "equivalent: the difference is within 10% either way",
    "different": "different: the difference is beyond 10%",
    "small difference": "a small difference: it is there, and within or about 10%",
    "inconclusive": "inconclusive: these runs cannot tell",
}

COLUMNS = (
    Column("test", "row"),
    Column("what", "what"),
    Column("first", "first", "text"),
    Column("other", "other", "text"),
    Column("ratio", "ratio", "text", "the other over the first, with its 95% interval"),
    Column("relative", "kept", "relative", "performance relative to the first: 100% is equal, less is worse"),
    Column("verdict", "verdict"),
)


def compare(sides: Sequence[Side], *, charts: bool = False) -> Report:
    """The report of two or more sides; all are compared with the first. Raises AnalysisError."""
    first, others = sides[0], sides[1:]
    found = {other.label: pairs(first, other) for other in others}
    if not any(found.values()):
        raise AnalysisError(
            "these runs have no row in common: there is nothing to compare",
            "compare runs of the same job (`iocast report FOLDER` shows the rows of each)",
        )
    named = len(others) > 1
    sections = [
        section for other in others for section in _against(first, other, found[other.label], named, charts=charts)
    ]
    return Report(
        title="Comparison · " + " · ".join(side.label for side in sides),
        verdict=" ".join(_verdict(first, other, found[other.label]) for other in others),
        sections=(*sections, *relative_sections(first, others, found), *_repeats(sides)),
        next_steps=tuple(_next_steps(sides, found)),
    )


def _against(first: Side, other: Side, rows: tuple[Pair, ...], named: bool, *, charts: bool) -> Iterator[Section]:
    suffix = f": {first.label} and {other.label}" if named else ""
    differs = unlike(first, other, rows)
    if differs:
        cells = tuple(Row({"what": each.what, "first": each.first, "other": each.other}) for each in differs)
        columns = (Column("what", "what"), Column("first", first.label), Column("other", other.label))
        table = Table("", columns, cells, key="differences", notes=tuple(_what_figures_count(differs, first, other)))
        yield Section(f"What else is different{suffix}", tables=(table,))
    results = _results(first, other, rows)
    drawn = tuple((pair.name, _pooled(pair.first), _pooled(pair.other)) for pair in rows if charts and not pair.why_not)
    both = Comparison((first.label, other.label), tuple(row.cells for row in results.rows), drawn) if drawn else None
    seen = charts_at("compared results", both) if both else ()
    yield Section(f"Results{suffix}", tables=(results,), charts=seen)
    strips, times = _strips(first, other, rows), charts_at("compared times", both) if both else ()
    yield Section(f"Response times on one axis{suffix}", tables=(strips,), charts=times)
    moved = _percentiles(first, other, rows)
    curves = charts_at("compared percentiles", both) if both else ()
    if moved.rows or curves:
        yield Section(f"Percentiles{suffix}", tables=(moved,) if moved.rows else (), charts=curves)


def _what_figures_count(differs: tuple[Unlike, ...], *sides: Side) -> Iterator[str]:
    """What the figures of other tools count, where not all are of the same one."""
    if any(each.what == MEASURED_BY for each in differs):
        sources = [run.source for side in sides for run in side.runs if run.source is not None]
        yield from dict.fromkeys(f"{source.tool}: {note}" for source in sources for note in source.notes)


def _results(first: Side, other: Side, rows: tuple[Pair, ...]) -> Table:
    titles = {"first": first.label, "other": other.label}
    columns = tuple(Column(c.key, titles.get(c.key, c.title), c.kind, c.explain, c.spare) for c in COLUMNS)
    return Table("", columns, tuple(row for pair in rows for row in _pair_rows(pair)), key="rows", notes=(_note(rows),))


def _note(rows: tuple[Pair, ...]) -> str:
    count = min((min(len(pair.first), len(pair.other)) for pair in rows), default=0)
    if count < REPEATS:
        return (
            "A verdict needs repeats: with three runs of each side a true equality is seen four times in ten, with"
            " five eight times in ten. `iocast repeat 5 JOB PATH` makes them."
        )
    return (
        f"Equivalent means: the 90% interval of the ratio lies within {1 - MARGIN:.2f} and {1 / (1 - MARGIN):.2f}."
        " Each run counts as one observation (Welch's t on logarithms)."
    )


def _pair_rows(pair: Pair) -> Iterator[Row]:
    if pair.why_not:
        yield Row({"test": pair.name, "verdict": "not compared"}, note=pair.why_not)
        return
    for what, figure, show, more_is_better in STATISTICS:
        of_first, of_other = values(pair.first, figure), values(pair.other, figure)
        if of_first and of_other:
            yield Row(_cells(pair.name, what, of_first, of_other, show, more_is_better), part=what != "throughput")


def _cells(
    name: str,
    what: str,
    first: list[float],
    other: list[float],
    show: Callable[[float], str],
    more_is_better: bool,
) -> dict[str, Cell]:
    found, a, b = ab_ratio(first, other), median_of(first), median_of(other)
    kept = relative(a, b, more_is_better=more_is_better)
    return {
        "test": name if what == "throughput" else "",
        "phase": name,
        "what": what,
        "first": show(a),
        "other": show(b),
        "ratio": text.ratio(found.ratio, found.low, found.high),
        "relative": kept,
        "verdict": found.verdict,
        "first_value": a,
        "other_value": b,
        "ratio_value": found.ratio,
        "ratio_low": found.low,
        "ratio_high": found.high,
        "relative_value": kept,
        "within_tenth": str(abs(kept - 1) <= MARGIN).lower(),
        "repeats": f"{len(first)} and {len(other)}",
    }


def _strips(first: Side, other: Side, rows: tuple[Pair, ...]) -> Table:
    columns = (
        Column("test", "row"),
        Column("whose", "whose"),
        Column("latency", "latency", "strip"),
        Column("response_p50", "p50", "duration"),
        Column("response_p99", "p99", "duration"),
        Column("ks", "apart by", "text", "the largest distance of the two cumulative curves"),
    )
    cells = []
    for pair in (each for each in rows if not each.why_not):
        pooled = [_pooled(pair.first), _pooled(pair.other)]
        apart = overlap(*pooled)
        for at, (label, histogram) in enumerate(zip((first.label, other.label), pooled, strict=True)):
            strip: dict[str, Cell] = {
                "test": "" if at else pair.name,
                "phase": pair.name,
                "whose": label,
                "latency": tuple(bucket_shares(histogram, LATENCY_EDGES_NS)) if histogram.spread_known else None,
                "response_p50": histogram.quantile_ns(0.50),
                "response_p99": histogram.quantile_ns(0.99),
                "ks": f"{apart.ks:.0%}" if at and apart else "",
            }
            cells.append(Row(strip, part=bool(at)))
    return Table("", columns, tuple(cells), key="latency")


def _pooled(records: tuple[PhaseRecord, ...]) -> Histogram:
    return merge(record.measurement.response() for record in records)


def _percentiles(first: Side, other: Side, rows: tuple[Pair, ...]) -> Table:
    """The shift function of the rows that are not equivalent throughout."""
    columns = (
        Column("test", "row"),
        Column("q", "percentile"),
        Column("first", first.label, "duration"),
        Column("other", other.label, "duration"),
        Column("ratio", "ratio"),
        Column("p", "p (Holm)"),
    )
    cells = []
    for pair in (each for each in rows if not each.why_not and min(len(each.first), len(each.other)) >= 2):
        moves = shift(_responses(pair.first), _responses(pair.other))
        if all(move.ratio.verdict == "equivalent" for move in moves):
            continue
        for at, move in enumerate(moves):
            cells.append(
                Row(
                    {
                        "test": "" if at else pair.name,
                        "phase": pair.name,
                        "q": f"p{move.q * 100:g}",
                        "first": move.a_ns,
                        "other": move.b_ns,
                        "ratio": text.ratio(move.ratio.ratio, move.ratio.low, move.ratio.high),
                        "p": "" if move.p_value is None else f"{move.p_value:.2g}",
                    },
                    part=bool(at),
                )
            )
    return Table("", columns, tuple(cells), key="percentiles")


def _responses(records: tuple[PhaseRecord, ...]) -> list[Histogram]:
    return [record.measurement.response() for record in records]


def _verdict(first: Side, other: Side, rows: tuple[Pair, ...]) -> str:
    """Counts the verdicts, names the row that moved most."""
    compared = [pair for pair in rows if not pair.why_not]
    if not compared:
        return (
            f"{other.label} cannot be compared with {first.label}: {rows[0].why_not if rows else 'no row in common'}."
        )
    judged = [(pair, what, found, more) for pair in compared for what, found, more in _judged(pair)]
    counts = Counter(found.verdict for _, _, found, _ in judged)
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.most_common())
    pair, what, found, more = max(judged, key=lambda each: abs(difference(1.0, each[2].ratio).log_ratio))
    better = (found.ratio > 1) == more
    most = f" Most of all moved the {what} of {pair.name}: {_moved(found.ratio)} ({'better' if better else 'worse'})."
    figures = f"{text.counted(len(judged), 'figure')} of throughput and p99"
    return f"{other.label} against {first.label}: of {figures}, {said}.{most if found.ratio != 1 else ''}"


def _moved(ratio: float) -> str:
    """How far a ratio is from 1, as one says it: percent up to twice, then times."""
    if 0.5 < ratio < 2:
        return f"{text.percent(abs(ratio - 1))} {'higher' if ratio > 1 else 'lower'}"
    return f"{text.three_figures(ratio)} times as high" if ratio > 1 else f"down to 1/{text.three_figures(1 / ratio)}"


def _judged(pair: Pair) -> Iterator[tuple[str, Ratio, bool]]:
    for what, figure, _, more_is_better in STATISTICS:
        first, other = values(pair.first, figure), values(pair.other, figure)
        if first and other and what in ("throughput", "p99"):
            yield what, ab_ratio(first, other), more_is_better


def _repeats(sides: Sequence[Side]) -> Iterator[Section]:
    """How well each side repeats itself; nothing for single runs."""
    cells = [row for side in sides for row in repeat_rows(side)]
    if cells:
        yield Section("Do the repeats agree?", tables=(Table("", REPEAT_COLUMNS, tuple(cells), key="repeats"),))


REPEAT_COLUMNS = (
    Column("whose", "whose"),
    Column("test", "row"),
    Column("runs", "runs", "count"),
    Column("median", "median", "text"),
    Column("apart", "apart", "text", "the first run less the one that is furthest from it, over the first"),
    Column("scatter", "scatter", "text", "standard deviation over mean, of the rates"),
    Column("scatter_p99", "of p99", "text"),
    Column("agree", "verdict"),
)


def repeat_rows(side: Side) -> Iterator[Row]:
    """One row a test: how far its repeats differ, and whether that is fit to be published."""
    if len(side.runs) < 2:
        return
    names = dict.fromkeys(record.phase.name for run in side.runs for record in run.measured)
    for name in names:
        records = tuple(r for run in side.runs for r in run.measured if r.phase.name == name)
        rates, p99 = values(records, throughput), values(records, response(0.99))
        scatter, scatter_p99 = variation(rates), variation(p99)
        worst = max(scatter or 0.0, scatter_p99 or 0.0)
        verdict = "repeats" if worst <= SCATTER else "inconclusive: find out why before comparing"
        if len(rates) < REPEATS:
            verdict = f"incomplete: {len(rates)} of {REPEATS} repeats" if worst <= SCATTER else verdict
        yield Row(
            {
                "whose": side.label,
                "test": name,
                "runs": len(rates),
                "median": iops(median_of(rates)) if rates else "",
                "apart": _apart(rates),
                "scatter": "" if scatter is None else f"{scatter:.1%}",
                "scatter_p99": "" if scatter_p99 is None else f"{scatter_p99:.1%}",
                "agree": verdict,
            }
        )


def _apart(rates: list[float]) -> str:
    """The percent difference as the study of 2012 printed it."""
    if len(rates) < 2:
        return ""
    furthest = max(rates[1:], key=lambda rate: abs(math.log(rate / rates[0])))
    shown = f"{difference(rates[0], furthest).of_first:.1%}"
    return "0.0%" if shown == "-0.0%" else shown


def _next_steps(sides: Sequence[Side], found: dict[str, tuple[Pair, ...]]) -> Iterator[str]:
    if min(len(side.runs) for side in sides) < REPEATS:
        yield (
            "Repeat each side at least three times, five for a p99, one after the other in turns:"
            " iocast ab JOB TARGET_A TARGET_B --rounds 5"
        )
    refused = sum(bool(pair.why_not) for rows in found.values() for pair in rows)
    if refused:
        yield f"{text.counted(refused, 'row')} could not be compared: the reason stands beside each."


def repeats(side: Side, *, charts: bool = False) -> Report:
    """The report of several runs of one job on one target: do they agree?"""
    rows = tuple(repeat_rows(side))
    bad = [str(row.cells["test"]) for row in rows if str(row.cells["agree"]).startswith("inconclusive")]
    if bad:
        verdict = f"The repeats of {', '.join(bad)} differ by more than {SCATTER:.0%}: find out why before comparing."
    elif len(side.runs) < 2:
        verdict = "One run cannot tell whether it repeats."
    else:
        agreeing = "The only row repeats" if len(rows) == 1 else f"All {len(rows)} rows repeat"
        verdict = f"{agreeing} within {SCATTER:.0%} over {len(side.runs)} runs."
    table = Table("", REPEAT_COLUMNS[1:], rows, key="repeats")  # the title says whose they are
    section = Section("Do the repeats agree?", tables=(table,), charts=charts_at("repeats", side) if charts else ())
    return Report(title=f"Repeats · {side.label}", verdict=verdict, sections=(section,))
