"""The report of a comparison: what differs besides the results, a verdict for each row, percentiles, repeats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from iocast import text
from iocast.analyse.comparison import (
    MARGIN,
    Difference,
    Ratio,
    difference,
    median_of,
    overlap,
    relative,
    shift,
    variation,
)
from iocast.analyse.statistics import bucket_shares, published
from iocast.diagnose.comparable import REPEATS, Pair, Side, Unlike, only_indicative, pairs, unlike
from iocast.errors import AnalysisError
from iocast.model.codes import RepeatsCode, SectionCode, StatisticCode
from iocast.model.histogram import Histogram, merge
from iocast.model.report import LATENCY_EDGES_NS, Cell, Chart, Column, Report, Row, Section, Subject, Table
from iocast.model.run import PhaseRecord
from iocast.report.charts import charts_at
from iocast.report.charts.subjects.compared_sides import Comparison
from iocast.report.comparison.compared_values import STATISTICS, iops, ratio_of, response, throughput, values
from iocast.report.comparison.overall import (
    WAYS,
    Way,
    called,
    most_moved_first,
    overall_ratio,
    overall_table,
    title,
    way,
)
from iocast.report.comparison.relative_table import relative_sections
from iocast.report.prices import price_table
from iocast.report.subjects import subject
from iocast.report.wording import REPEATS as REPEATS_WORDS
from iocast.report.wording import SECTIONS, section, words

LEAST_P = 1e-15  # runs that agree to the bucket of the histogram have no scatter at all
SCATTER = 0.10  # repeats that differ by more are looked into before anything is compared (models B4)

COLUMNS = (
    Column("test", "row"),
    Column("what", "metric", "code"),
    Column("first", "first", "text"),
    Column("other", "other", "text"),
    Column("ratio", "ratio", "text", "the other over the first, with its 95% interval"),
    Column(
        "relative", "relative", "relative", "performance relative to the first: 100% is equal, less is worse", spare=1
    ),
    Column("verdict", "verdict", "code"),
)


def compare(sides: Sequence[Side], *, charts: bool = False) -> Report:
    """The report of two or more sides; all are compared with the first. Raises AnalysisError."""
    sides = called(sides)
    first, others = sides[0], sides[1:]
    found = {other.label: most_moved_first(pairs(first, other)) for other in others}
    if not any(found.values()):
        raise AnalysisError(
            "nothing to compare: these runs have no row in common",
            "compare runs of the same job (`iocast report FOLDER` shows the rows of each)",
        )
    named = len(others) > 1
    sections = [
        section for other in others for section in _against(first, other, found[other.label], named, charts=charts)
    ]
    return Report(
        title=title(sides),
        verdict=" ".join(_verdict(first, other, found[other.label]) for other in others),
        sections=(*sections, *relative_sections(first, others, found), *_repeats(sides), *_prices(sides)),
        next_steps=tuple(_next_steps(sides, found)),
        kind="comparison",
        subjects=_subjects(sides),
    )


def _against(first: Side, other: Side, rows: tuple[Pair, ...], named: bool, *, charts: bool) -> Iterator[Section]:
    both = (first.label, other.label)

    def part(code: SectionCode, tables: tuple[Table, ...], charts: tuple[Chart, ...] = ()) -> Section:
        heading = f"{SECTIONS[code]}: {both[0]} and {both[1]}" if named else SECTIONS[code]
        return Section(code, heading, (), tables, charts, both)

    differs = (*unlike(first, other, rows), *_found(first, other))
    if differs:
        cells = tuple(Row({"what": each.code, "first": each.first, "other": each.other}) for each in differs)
        columns = (Column("what", "difference", "code"), Column("first", first.label), Column("other", other.label))
        table = Table("", columns, cells, key="differences", notes=tuple(_what_figures_count(differs, first, other)))
        yield part("differences", (table,))
    results = _results(first, other, rows)
    drawn = tuple((pair.name, _pooled(pair.first), _pooled(pair.other)) for pair in rows if charts and not pair.why_not)
    seen = Comparison(both, tuple(row.cells for row in results.rows), drawn) if drawn else None
    overall = overall_table(overall_ratio(rows), _ways(rows))
    yield part("results", (overall, results), charts_at("compared results", seen) if seen else ())
    strips, times = _strips(first, other, rows), charts_at("compared times", seen) if seen else ()
    yield part("latency", (strips,), times)
    moved = _percentiles(first, other, rows)
    curves = charts_at("compared percentiles", seen) if seen else ()
    if moved.rows or curves:
        yield part("percentiles", (moved,) if moved.rows else (), curves)


def _found(first: Side, other: Side) -> Iterator[Unlike]:
    """What was found on one side only, or is certain there only: it may be all of the difference."""
    if first.findings != other.findings:
        yield Unlike("findings", *(_findings_of(side) for side in (first, other)))


def _findings_of(side: Side) -> str:
    found = (f"{words(code)}{'' if certain else ' (suspected)'}" for code, certain in side.findings.items())
    return ", ".join(found) or "none"


def _what_figures_count(differs: tuple[Unlike, ...], *sides: Side) -> Iterator[str]:
    """What the figures of other tools count, where not all are of the same one."""
    if any(each.code == "measured_by" for each in differs):
        sources = [run.source for side in sides for run in side.runs if run.source is not None]
        yield from dict.fromkeys(f"{source.tool}: {note}" for source in sources for note in source.notes)


def _results(first: Side, other: Side, rows: tuple[Pair, ...]) -> Table:
    titles = {"first": first.label, "other": other.label}
    columns = tuple(Column(c.key, titles.get(c.key, c.title), c.kind, c.explain, c.spare) for c in COLUMNS)
    notes = filter(None, (_note(rows), _trust(first, rows), _trust(other, rows)))
    return Table("", columns, tuple(row for pair in rows for row in _pair_rows(pair)), key="rows", notes=tuple(notes))


def _trust(side: Side, rows: tuple[Pair, ...]) -> str:
    """Which rows of a side are an indication only; "" where there are none."""
    weak, compared = only_indicative(side, rows), sum(not pair.why_not for pair in rows)
    if not weak:
        return ""
    which = "every row" if len(weak) >= compared else ", ".join(weak)
    return f"Trust C, indicative only: {which} of {side.label}."


def _note(rows: tuple[Pair, ...]) -> str:
    count = min((min(len(pair.first), len(pair.other)) for pair in rows), default=0)
    if count < REPEATS:
        here = ' "Different in these two runs": by more than the variation within each run; it may not repeat.'
        return (
            "A verdict needs at least three runs of each side. Where the sides are equal, three runs show it 40% of the"
            f" time, five 80%.{here if count == 1 else ''}"
        )
    matched = any(pair.matched for pair in rows)
    pairs_too = " Where runs of one round resemble each other, their ratios are compared (paired t)." if matched else ""
    bounds = f"{1 - MARGIN:.2f} and {1 / (1 - MARGIN):.2f}"
    return (
        f"Equivalent: the 90% interval of the ratio lies within {bounds}. Different: the 95% interval lies outside."
        " Small difference: it leaves out 1.00, but not all of that range."
        f" Each run counts as one observation (Welch's t on logarithms).{pairs_too}"
    )


def _pair_rows(pair: Pair) -> Iterator[Row]:
    if pair.why_not:
        cells: dict[str, Cell] = {"test": pair.name, "phase": pair.name, "verdict": "not_compared"}
        yield Row(cells | {"why_not": pair.why_not}, note=pair.why_not)
        return
    for what, figure, show, more_is_better in STATISTICS:
        of_first, of_other = values(pair.first, figure), values(pair.other, figure)
        if of_first and of_other:
            yield Row(_cells(pair, what, of_first, of_other, show, more_is_better), part=what != "throughput")


def _cells(
    pair: Pair,
    what: StatisticCode,
    first: list[float],
    other: list[float],
    show: Callable[[float], str],
    more_is_better: bool,
) -> dict[str, Cell]:
    name, found = pair.name, ratio_of(pair, what, first, other)
    a, b = median_of(first), median_of(other)
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
        "within_tenth": abs(kept - 1) <= MARGIN,
        "first_repeats": len(first),
        "other_repeats": len(other),
        "paired": found.paired,
    }


def _strips(first: Side, other: Side, rows: tuple[Pair, ...]) -> Table:
    columns = (
        Column("test", "row"),
        Column("whose", "side"),
        Column("latency", "histogram", "strip"),
        Column("response_p50", "p50", "duration"),
        Column("response_p99", "p99", "duration"),
        Column(
            "ks", "KS distance", "text", "Kolmogorov-Smirnov: the largest gap between the two cumulative distributions"
        ),
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
                "response_p50": published(histogram, 0.50),
                "response_p99": published(histogram, 0.99),
                "ks": f"{apart.ks:.0%}" if at and apart else "",
                "distance": apart.ks if at and apart else None,
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
        moves = shift(_responses(pair.first), _responses(pair.other), matched=pair.matched)
        if all(move.ratio.verdict == "equivalent" for move in moves):
            continue
        for at, move in enumerate(moves):
            cells.append(
                Row(
                    {
                        "test": "" if at else pair.name,
                        "phase": pair.name,
                        "q": f"p{move.q * 100:g}",
                        "quantile": move.q,
                        "first": move.a_ns,
                        "other": move.b_ns,
                        "ratio": text.ratio(move.ratio.ratio, move.ratio.low, move.ratio.high),
                        "ratio_value": move.ratio.ratio,
                        "ratio_low": move.ratio.low,
                        "ratio_high": move.ratio.high,
                        "p_value": move.p_value,
                        "p": "" if move.p_value is None else _p_value(move.p_value),
                    },
                    part=bool(at),
                )
            )
    return Table("", columns, tuple(cells), key="percentiles")


def _p_value(value: float) -> str:
    """Two digits; what is smaller than the arithmetic can tell is not called impossible."""
    return f"{value:.2g}" if value >= LEAST_P else f"< {LEAST_P:g}"


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
    counts, overall = _ways(rows), overall_ratio(rows)
    said = ", ".join(f"{counts[each]} {each}" for each in WAYS if counts[each] or each != "undecided")
    whole = f" Overall throughput ratio {text.ratio(overall.ratio, overall.low, overall.high)}." if overall else ""
    pair, what, found, more = max(judged, key=lambda each: abs(difference(1.0, each[2].ratio).log_ratio))
    told = {"same": "equivalent", "undecided": "inconclusive"}.get(moved := way(found, more_is_better=more), moved)
    most = f" Largest change: {words(what)} of {pair.name}, {_moved(found.ratio)} ({told})."
    figures = f"{text.counted(len(judged), 'figure')} of throughput and p99"
    return f"{other.label} against {first.label}: of {figures}, {said}.{whole}{most if found.ratio != 1 else ''}"


def _ways(rows: tuple[Pair, ...]) -> Counter[Way]:
    """How many figures are better, worse, the same."""
    return Counter(
        way(found, more_is_better=more) for pair in rows if not pair.why_not for _, found, more in _judged(pair)
    )


def _moved(ratio: float) -> str:
    """How far a ratio is from 1, in percent up to a factor of two, then as a factor."""
    if 0.5 < ratio < 2:
        return f"{text.percent(abs(ratio - 1))} {'higher' if ratio > 1 else 'lower'}"
    return f"{text.three_figures(ratio)} times as high" if ratio > 1 else f"down to 1/{text.three_figures(1 / ratio)}"


def _judged(pair: Pair) -> Iterator[tuple[StatisticCode, Ratio, bool]]:
    for what, figure, _, more_is_better in STATISTICS:
        first, other = values(pair.first, figure), values(pair.other, figure)
        if first and other and what in ("throughput", "p99"):
            yield what, ratio_of(pair, what, first, other), more_is_better


def _prices(sides: Sequence[Side]) -> Iterator[Section]:
    """What each side costs; nothing where no price was given."""
    table = price_table([(side.label, side.runs) for side in sides])
    if table is not None:
        yield section("prices", tables=(table,))


def _repeats(sides: Sequence[Side]) -> Iterator[Section]:
    """How well each side repeats itself; nothing for single runs."""
    cells = [row for side in sides for row in repeat_rows(side)]
    if cells:
        yield section("repeats", tables=(Table("", REPEAT_COLUMNS, tuple(cells), key="repeats"),))


REPEAT_COLUMNS = (
    Column("whose", "side"),
    Column("test", "row"),
    Column("runs", "runs", "count"),
    Column("median", "median", "text"),
    Column("apart", "max\ndeviation", "text", "first run minus the run furthest from it, over the first"),
    Column("symmetric", "symmetric\ndeviation", "text", "the same two runs: difference over their mean", spare=1),
    Column("scatter", "CV of\nIOPS", "text", "coefficient of variation: standard deviation over mean"),
    Column("scatter_p99", "CV of\np99", "text", "coefficient of variation of the p99"),
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
        worst, apart = max(scatter or 0.0, scatter_p99 or 0.0), _apart(rates)
        agree: RepeatsCode = "repeats" if worst <= SCATTER else "inconclusive"
        if agree == "repeats" and len(rates) < REPEATS:
            agree = "incomplete"
        verdict = REPEATS_WORDS[agree]
        if agree == "incomplete":
            verdict += f": {len(rates)} of {REPEATS} repeats"
        yield Row(
            {
                "whose": side.label,
                "test": name,
                "runs": len(rates),
                "median": iops(median_of(rates)) if rates else "",
                "apart": _signed(apart.of_first if apart else None),
                "symmetric": _signed(abs(apart.symmetric) if apart else None),
                "scatter": "" if scatter is None else f"{scatter:.1%}",
                "scatter_p99": "" if scatter_p99 is None else f"{scatter_p99:.1%}",
                "agree": verdict,
                "code": agree,
                "median_value": median_of(rates) if rates else None,
                "apart_value": apart.of_first if apart else None,
                "symmetric_value": abs(apart.symmetric) if apart else None,
                "scatter_value": scatter,
                "scatter_p99_value": scatter_p99,
            }
        )


def _signed(share: float | None) -> str:
    shown = "" if share is None else f"{share:.1%}"
    return "0.0%" if shown == "-0.0%" else shown


def _apart(rates: list[float]) -> Difference | None:
    """The first run and the one furthest from it, as the study of 2012 compared trials."""
    if len(rates) < 2:
        return None
    return difference(rates[0], max(rates[1:], key=lambda rate: abs(math.log(rate / rates[0]))))


def _next_steps(sides: Sequence[Side], found: dict[str, tuple[Pair, ...]]) -> Iterator[str]:
    if min(len(side.runs) for side in sides) < REPEATS:
        yield (
            "Repeat each side at least three times, five for a p99, in alternating order:"
            " iocast ab JOB TARGET_A TARGET_B --rounds 5"
        )
    refused = sum(bool(pair.why_not) for rows in found.values() for pair in rows)
    if refused:
        yield f"{text.counted(refused, 'row')} could not be compared: see the reason of each."


def repeats(side: Side, *, charts: bool = False) -> Report:
    """The report of several runs of one job on one target: do they agree?"""
    rows = tuple(repeat_rows(side))
    bad = [str(row.cells["test"]) for row in rows if row.cells["code"] == "inconclusive"]
    if bad:
        verdict = f"The repeats of {', '.join(bad)} differ by more than {SCATTER:.0%}: find the cause before comparing."
    elif len(side.runs) < 2:
        verdict = "Repeatability needs at least two runs."
    else:
        agreeing = (
            "The only row repeats"
            if len(rows) == 1
            else "Both rows repeat"
            if len(rows) == 2
            else f"All {len(rows)} rows repeat"
        )
        scatter = max(
            (max(_figure(row, "scatter_value"), _figure(row, "scatter_p99_value")) for row in rows), default=0
        )
        furthest = max((abs(_figure(row, "apart_value")) for row in rows), default=0)
        verdict = (
            f"{agreeing} over {len(side.runs)} runs: the coefficient of variation is at most"
            f" {text.brief_percent(scatter)}, and no run is more than {text.brief_percent(furthest)} from the first."
        )
    table = Table("", REPEAT_COLUMNS[1:], rows, key="repeats")  # the title says whose they are
    drawn = charts_at("repeats", side) if charts else ()
    return Report(
        title=f"Repeats · {side.label}",
        verdict=verdict,
        sections=(section("repeats", tables=(table,), charts=drawn),),
        kind="repeats",
        subjects=_subjects((side,)),
    )


def _figure(row: Row, key: str) -> float:
    value = row.cells[key]
    return value if isinstance(value, float) else 0.0


def _subjects(sides: Sequence[Side]) -> tuple[Subject, ...]:
    return tuple(subject(run, side=side.label) for side in sides for run in side.runs)
