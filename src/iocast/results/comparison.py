"""Sides against the first of them: what differs besides the results, a verdict a figure, percentiles, repeats."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from iocast.analyse.comparison import (
    MARGIN,
    Difference,
    Ratio,
    ab_ratio,
    accuracy,
    difference,
    median_of,
    overlap,
    relative,
    variation,
)
from iocast.analyse.comparison import shift as shifted
from iocast.analyse.statistics import bucket_shares, published
from iocast.diagnose.comparable import REPEATS, Pair, Side, pairs
from iocast.model.codes import RepeatsCode, StatisticCode
from iocast.model.histogram import Histogram, merge
from iocast.model.report import LATENCY_EDGES_NS
from iocast.model.results.comparison import (
    Compared,
    ComparedPair,
    Comparison,
    GateOutcome,
    Overall,
    Relative,
    Repeats,
    Shift,
    SideLatency,
    Unlike,
)
from iocast.model.run import PhaseRecord
from iocast.results.compared_values import (
    JUDGED,
    P99,
    RELATIVE,
    STATISTICS,
    THROUGHPUT,
    Statistic,
    ratio_of,
    values,
)

SCATTER = 0.10  # repeats that differ by more are looked into before anything is compared (models B4)
Way = Literal["better", "worse", "same", "undecided"]
Outcome = Literal["worse", "undecided", "refused", "fine"]


def compared(
    sides: Sequence[Side],
    rows: Mapping[str, Sequence[Pair]],
    differences: Mapping[str, tuple[Unlike, ...]],
) -> Comparison:
    """Two or more sides; all are compared with the first. `rows` and `differences` are those of each other label."""
    first, others = sides[0], sides[1:]
    return Comparison(
        pairs=tuple(_pair(first, other, rows[other.label], differences[other.label]) for other in others),
        relative=tuple(_relative([rows[other.label] for other in others])),
        repeats=tuple(each for side in sides for each in repeats_of(side)),
    )


def _pair(first: Side, other: Side, rows: Sequence[Pair], differences: tuple[Unlike, ...]) -> ComparedPair:
    known = [pair for pair in rows if not pair.why_not]
    compared_rows = tuple(each for pair in rows for each in _compared(pair))
    return ComparedPair(
        first=first.label,
        other=other.label,
        overall=_overall(known, compared_rows),
        rows=compared_rows,
        differences=differences,
        latency=tuple(each for pair in known for each in _latency(pair, (first.label, other.label))),
        percentiles=tuple(each for pair in known for each in _shifts(pair)),
    )


def _compared(pair: Pair) -> Iterator[Compared]:
    if pair.why_not:
        yield Compared(phase=pair.name, verdict="not_compared", why_not=pair.why_not)
        return
    for figure in STATISTICS:
        ratio = ratio_of(pair, figure)
        if ratio is not None:
            yield _figure(pair, figure, ratio)


def _figure(pair: Pair, figure: Statistic, compared: Ratio) -> Compared:
    first, other = values(pair.first, figure), values(pair.other, figure)
    a, b = median_of(first), median_of(other)
    kept = relative(a, b, more_is_better=figure.more_is_better)
    (first_per_s, first_ns), (other_per_s, other_ns) = figure.by_unit(a), figure.by_unit(b)
    return Compared(
        phase=pair.name,
        statistic=figure.code,
        first_per_s=first_per_s,
        first_ns=first_ns,
        other_per_s=other_per_s,
        other_ns=other_ns,
        ratio=compared.ratio,
        ratio_low=compared.low,
        ratio_high=compared.high,
        relative=kept,
        verdict=compared.verdict,
        within_tenth=abs(kept - 1) <= MARGIN,
        first_repeats=len(first),
        other_repeats=len(other),
        paired=compared.paired,
    )


def _overall(known: Sequence[Pair], rows: Sequence[Compared]) -> Overall:
    counts, ratio = Counter(map(way, filter(is_judged, rows))), _overall_ratio(known)
    return Overall(
        ratio=None if ratio is None else ratio.ratio,
        ratio_low=None if ratio is None else ratio.low,
        ratio_high=None if ratio is None else ratio.high,
        better=counts["better"],
        worse=counts["worse"],
        same=counts["same"],
        undecided=counts["undecided"],
    )


def is_judged(row: Compared) -> bool:
    """Whether a verdict counts the figure."""
    return any(row.statistic == figure.code for figure in JUDGED)


def way(row: Compared) -> Way:
    """What the ratio of a figure means for the other side."""
    if row.verdict == "equivalent":
        return "same"
    if row.verdict == "inconclusive" or row.ratio is None:
        return "undecided"
    return "better" if (row.ratio > 1) == (row.statistic == THROUGHPUT.code) else "worse"


def outcome(row: Compared) -> Outcome:
    """What came of a figure: what only one run of each side shows is undecided."""
    if row.verdict == "not_compared":
        return "refused"
    if row.verdict in ("inconclusive", "different_here"):
        return "undecided"
    return "worse" if way(row) == "worse" else "fine"


def gate_outcome(pairs: Sequence[Pair]) -> GateOutcome:
    """What a gate says of rows: one figure that is worse closes it; it opens when each is known to be kept."""
    rows = [row for pair in pairs for row in _compared(pair) if pair.why_not or is_judged(row)]
    outcomes = {outcome(row) for row in rows}
    if "worse" in outcomes:
        return "regression"
    return "passed" if outcomes == {"fine"} else "undecided"


def judged_pairs(first: Side, other: Side, margin: float = MARGIN) -> tuple[Pair, ...]:
    """The rows of two sides, of each of which a verdict counts the figures of JUDGED."""
    return pairs(first, other, figures=len(JUDGED), margin=margin)


def most_moved_first(rows: Iterable[Pair]) -> tuple[Pair, ...]:
    """Rows by how far throughput or p99 moved, the furthest first; those that are not compared last."""
    return tuple(sorted(rows, key=_moved, reverse=True))


def _moved(pair: Pair) -> float:
    if pair.why_not:
        return -1.0
    moves = [0.0]
    for figure in JUDGED:
        first, other = values(pair.first, figure), values(pair.other, figure)
        if first and other:
            moves.append(abs(math.log(median_of(other) / median_of(first))))
    return max(moves)


def _overall_ratio(known: Sequence[Pair]) -> Ratio | None:
    """The geometric mean of the throughputs of all compared rows, the other side over the first.

    Each run of a side gives one mean over its rows, so that what rows share, such as a slow hour, is in the interval.
    """
    first = _means([values(pair.first, THROUGHPUT) for pair in known])
    other = _means([values(pair.other, THROUGHPUT) for pair in known])
    any_time = max((pair.any_time for pair in known), default=0)
    return ab_ratio(first, other, matched=bool(any_time), any_time=any_time) if first and other else None


def _means(rows: Sequence[Sequence[float]]) -> list[float]:
    """One mean a run, of the rows that all have one value of each run."""
    runs = max(map(len, rows), default=0)
    whole = [row for row in rows if len(row) == runs]
    if not runs:
        return []
    return [math.exp(math.fsum(math.log(row[at]) for row in whole) / len(whole)) for at in range(runs)]


def pooled(records: tuple[PhaseRecord, ...]) -> Histogram:
    """The response times of all repeats together."""
    return merge(record.measurement.response() for record in records)


def _latency(pair: Pair, labels: tuple[str, str]) -> Iterator[SideLatency]:
    both = [pooled(pair.first), pooled(pair.other)]
    apart = overlap(*both)
    for at, (label, histogram) in enumerate(zip(labels, both, strict=True)):
        yield SideLatency(
            phase=pair.name,
            side=label,
            latency_shares=bucket_shares(histogram, LATENCY_EDGES_NS) if histogram.spread_known else None,
            response_p50_ns=published(histogram, 0.50),
            response_p99_ns=published(histogram, 0.99),
            distance=apart.ks if at and apart else None,
        )


def _shifts(pair: Pair) -> Iterator[Shift]:
    """The shift function of a row that is not equivalent throughout."""
    if min(len(pair.first), len(pair.other)) < 2:
        return
    times = [[record.measurement.response() for record in records] for records in (pair.first, pair.other)]
    moves = shifted(*times, matched=pair.matched, any_time=pair.any_time)
    if all(move.ratio.verdict == "equivalent" for move in moves):
        return
    for move in moves:
        yield Shift(
            phase=pair.name,
            quantile=move.q,
            first_ns=move.a_ns,
            other_ns=move.b_ns,
            ratio=move.ratio.ratio,
            ratio_low=move.ratio.low,
            ratio_high=move.ratio.high,
            p_value=move.p_value,
        )


def _relative(sides: Sequence[Sequence[Pair]]) -> Iterator[Relative]:
    """The table of the virtualisation study: any number of configurations against the first."""
    pairs = [{pair.name: pair for pair in rows if not pair.why_not} for rows in sides]
    for name in dict.fromkeys(name for of_side in pairs for name in of_side):
        yield from _kept(name, [of_side.get(name) for of_side in pairs])


def _kept(name: str, pairs: Sequence[Pair | None]) -> Iterator[Relative]:
    baseline = next(pair.first for pair in pairs if pair is not None)
    fewest = min((min(len(pair.first), len(pair.other)) for pair in pairs if pair is not None), default=0)
    for figure in RELATIVE:
        start = values(baseline, figure)
        if not start:
            continue
        others = [values(pair.other, figure) if pair is not None else [] for pair in pairs]
        per_s, ns = figure.by_unit(median_of(start))
        yield Relative(
            phase=name,
            statistic=figure.code,
            first_per_s=per_s,
            first_ns=ns,
            relative=tuple(
                relative(median_of(start), median_of(own), more_is_better=figure.more_is_better) if own else None
                for own in others
            ),
            repeats=fewest,
        )


def repeats_of(side: Side) -> Iterator[Repeats]:
    """One row a test: how far its repeats differ, and whether that is fit to be published; nothing for a single run."""
    if len(side.runs) < 2:
        return
    names = dict.fromkeys(record.phase.name for run in side.runs for record in run.measured)
    for name in names:
        records = tuple(r for run in side.runs for r in run.measured if r.phase.name == name)
        rates = values(records, THROUGHPUT)
        slow = values(records, P99)
        scatter, scatter_p99, apart = variation(rates), variation(slow), _apart(rates)
        yield Repeats(
            side=side.label,
            phase=name,
            runs=len(rates),
            median_per_s=median_of(rates) if rates else None,
            apart_share=apart.of_first if apart else None,
            symmetric_share=abs(apart.symmetric) if apart else None,
            scatter_share=scatter,
            scatter_p99_share=scatter_p99,
            accuracy_share=accuracy(rates, any_time=bool(side.until_sure)),
            accuracy_p99_share=accuracy(slow, any_time=bool(side.until_sure)),
            verdict=agree(max(scatter or 0.0, scatter_p99 or 0.0), len(rates)),
        )


def accuracies(rows: Sequence[Repeats]) -> dict[StatisticCode, list[tuple[float | None, str]]]:
    """How well each figure of JUDGED is known in each row that has it, with the row; None: not at all."""
    return {
        "throughput": [(row.accuracy_share, row.phase) for row in rows if row.median_per_s],
        "p99": [(row.accuracy_p99_share, row.phase) for row in rows if row.scatter_p99_share is not None],
    }


def is_known(rows: Sequence[Repeats]) -> bool:
    """Whether throughput and p99 of every row are known to 10 %; False of fewer than two runs."""
    shares = [share for figure in accuracies(rows).values() for share, _ in figure]
    return bool(rows) and all(share is not None and share <= MARGIN for share in shares)


def agree(worst: float, runs: int) -> RepeatsCode:
    """Whether repeats with that scatter may be relied on."""
    if worst > SCATTER:
        return "inconclusive"
    return "repeats" if runs >= REPEATS else "incomplete"


def _apart(rates: list[float]) -> Difference | None:
    """The first run and the one furthest from it, as the study of 2012 compared trials."""
    if len(rates) < 2:
        return None
    return difference(rates[0], max(rates[1:], key=lambda rate: abs(math.log(rate / rates[0]))))
