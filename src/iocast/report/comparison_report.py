"""The report of a comparison: what differs besides the results, a verdict for each row, percentiles, repeats."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from iocast import text
from iocast.analyse.comparison import MARGIN
from iocast.diagnose.comparable import REPEATS, Pair, Side, only_indicative, unlike
from iocast.errors import AnalysisError
from iocast.model.codes import SectionCode
from iocast.model.report import Chart, Report, Section, Subject, Table
from iocast.model.results.comparison import (
    Compared,
    ComparedPair,
    Comparison,
    Gate,
    Overall,
    Relative,
    Repeated,
    Repeats,
    Shift,
    SideLatency,
    SidePrice,
    Unlike,
)
from iocast.report.card.row_labels import labels_among
from iocast.report.charts import charts_at
from iocast.report.charts.subjects import ComparedSides
from iocast.report.prices import side_prices
from iocast.report.result_tables import result_table
from iocast.report.subjects import subject
from iocast.report.wording import SECTIONS, section, words
from iocast.results.comparison import (
    SCATTER,
    accuracies,
    compared,
    is_judged,
    is_known,
    judged_pairs,
    most_moved_first,
    outcome,
    pooled,
    repeats_of,
    way,
)

OVERALL_NOTE = (
    "Overall: the geometric mean of the throughput ratios of all compared rows (95% interval where there are repeats)."
)
RELATIVE_NOTE = (
    "100% is as fast as {first}, less is slower: {first} over the other for response time, the other over {first} for"
    " throughput; the medians of the repeats. Green is within 10%."
)


def compare(sides: Sequence[Side], *, charts: bool = False, gate: Gate | None = None) -> Report:
    """The report of two or more sides; all are compared with the first. Raises AnalysisError."""
    sides = called(sides)
    first, others = sides[0], sides[1:]
    margin = gate.limit_share if gate else MARGIN
    rows = {other.label: most_moved_first(judged_pairs(first, other, margin)) for other in others}
    if not any(rows.values()):
        raise AnalysisError(
            "nothing to compare: these runs have no row in common",
            "compare runs of the same job (`iocast report FOLDER` shows the rows of each)",
        )
    differences = {other.label: tuple(_differences(first, other, rows[other.label])) for other in others}
    prices = side_prices([(side.label, side.runs) for side in sides])
    result = replace(compared(sides, rows, differences), prices=prices, gate=gate)
    named = len(others) > 1
    sections = [
        part
        for other, pair in zip(others, result.pairs, strict=True)
        for part in _against((first, other), rows[other.label], pair, named, charts=charts)
    ]
    return Report(
        title=title(sides, "Comparison" if gate is None else "Gate"),
        verdict=" ".join(map(_verdict, result.pairs)) if gate is None else _gate_verdict(result.pairs[0], gate),
        sections=(*sections, *_relative(sides, result), *_repeats(result), *_prices(result)),
        next_steps=tuple(_next_steps(sides, result)),
        kind="comparison",
        subjects=_subjects(sides),
        result=result,
    )


def _against(
    sides: tuple[Side, Side], rows: tuple[Pair, ...], pair: ComparedPair, named: bool, *, charts: bool
) -> Iterator[Section]:
    both = (pair.first, pair.other)
    headings = {"first": pair.first, "other": pair.other}

    def part(code: SectionCode, tables: tuple[Table, ...], charts: tuple[Chart, ...] = ()) -> Section:
        heading = f"{SECTIONS[code]}: {both[0]} and {both[1]}" if named else SECTIONS[code]
        return Section(code, heading, (), tables, charts, both)

    if pair.differences:
        notes = tuple(_what_figures_count(pair.differences, sides))
        table = result_table(Unlike, pair.differences, key="differences", headings=headings, notes=notes)
        yield part("differences", (table,))
    drawn = tuple((each.name, pooled(each.first), pooled(each.other)) for each in rows if charts and not each.why_not)
    compared = ComparedSides(both, pair.rows, drawn) if drawn else None
    overall = result_table(Overall, (pair.overall,), key="overall", notes=(OVERALL_NOTE,))
    notes = tuple(filter(None, (_note(rows), *(_trust(side, rows) for side in sides))))
    results = result_table(Compared, pair.rows, key="rows", headings=headings, notes=notes)
    yield part("results", (overall, results), charts_at("compared results", compared) if compared else ())
    times = result_table(SideLatency, pair.latency, key="latency")
    yield part("latency", (times,), charts_at("compared times", compared) if compared else ())
    titles = {"first_ns": pair.first, "other_ns": pair.other}
    moved = result_table(Shift, pair.percentiles, key="percentiles", headings=titles)
    curves = charts_at("compared percentiles", compared) if compared else ()
    if moved.rows or curves:
        yield part("percentiles", (moved,) if moved.rows else (), curves)


def _differences(first: Side, other: Side, rows: tuple[Pair, ...]) -> Iterator[Unlike]:
    """What differs besides the results: of the runs, and what was found, or is certain, on one side only."""
    yield from unlike(first, other, rows)
    if first.findings != other.findings:
        yield Unlike(code="findings", first=_findings_of(first), other=_findings_of(other))


def _findings_of(side: Side) -> str:
    known = (f"{words(code)}{'' if certain else ' (suspected)'}" for code, certain in side.findings.items())
    return ", ".join(known) or "none"


def _what_figures_count(differences: tuple[Unlike, ...], sides: tuple[Side, Side]) -> Iterator[str]:
    """What the figures of other tools count, where not all are of the same one."""
    if any(each.code == "measured_by" for each in differences):
        sources = [run.source for side in sides for run in side.runs if run.source is not None]
        yield from dict.fromkeys(f"{source.tool}: {note}" for source in sources for note in source.notes)


def _trust(side: Side, rows: tuple[Pair, ...]) -> str:
    """Which rows of a side are an indication only; "" where there are none."""
    weak, known = only_indicative(side, rows), sum(not pair.why_not for pair in rows)
    if not weak:
        return ""
    which = "every row" if len(weak) >= known else ", ".join(weak)
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
    margin = rows[0].margin
    if figures := max(pair.any_time for pair in rows):
        together = f" and for all {figures} figures at once" if figures > 1 else ""
        return (
            f"Equivalent: the 90% interval of the ratio lies within {1 - margin:.2f} and {1 / (1 - margin):.2f}."
            " Different: the 95% interval lies outside. Small difference: it leaves out 1.00, but not all of that"
            " range. There were as many rounds as it took, so the intervals are wider: they hold whenever one stops"
            f"{together}."
        )
    pairs_too = " Where runs of one round resemble each other, their ratios are compared (paired t)." if matched else ""
    bounds = f"{1 - margin:.2f} and {1 / (1 - margin):.2f}"
    return (
        f"Equivalent: the 90% interval of the ratio lies within {bounds}. Different: the 95% interval lies outside."
        " Small difference: it leaves out 1.00, but not all of that range."
        f" Each run counts as one observation (Welch's t on logarithms).{pairs_too}"
    )


def _verdict(pair: ComparedPair) -> str:
    """Counts the verdicts, names the row that moved most."""
    figures = [row for row in pair.rows if is_judged(row)]
    if not figures:
        why = next((row.why_not for row in pair.rows if row.why_not), "no row in common")
        return f"{pair.other} cannot be compared with {pair.first}: {why}."
    overall = pair.overall
    said = f"{overall.better} better, {overall.worse} worse, {overall.same} same"
    said += f", {overall.undecided} undecided" if overall.undecided else ""
    whole = ""
    if overall.ratio is not None:
        whole = f" Overall throughput ratio {text.ratio(overall.ratio, overall.ratio_low, overall.ratio_high)}."
    most = max(figures, key=lambda row: abs(math.log(row.ratio or 1.0)))
    way_text = {"same": "equivalent", "undecided": "inconclusive"}.get(moved := way(most), moved)
    largest = ""
    if most.statistic and most.ratio and most.ratio != 1:
        largest = f" Largest change: {words(most.statistic)} of {most.phase}, {_moved(most.ratio)} ({way_text})."
    counted = f"{text.counted(len(figures), 'figure')} of throughput and p99"
    return f"{pair.other} against {pair.first}: of {counted}, {said}.{whole}{largest}"


def _gate_verdict(pair: ComparedPair, gate: Gate) -> str:
    """Whether the gate let the storage pass, and the figure that decides."""
    figures = [row for row in pair.rows if is_judged(row)]
    refused = sum(row.verdict == "not_compared" for row in pair.rows)
    limit, rounds = text.brief_percent(gate.limit_share), text.counted(gate.rounds, "round")
    whole = f"of {text.counted(len(figures), 'figure')} of throughput and p99"
    if gate.outcome == "regression":
        worse = [row for row in figures if outcome(row) == "worse"]
        most = min(worse, key=lambda row: row.relative or 0.0)
        return f"Regression after {rounds}: {whole}, {len(worse)} worse; {_figure(most)}."
    if gate.outcome == "passed":
        return f"Passed after {rounds}: {whole}, none is worse by {limit} or more."
    said = [f"Not decided after {rounds}: {whole}, {sum(outcome(row) == 'fine' for row in figures)} kept"]
    open_rows = [row for row in figures if outcome(row) == "undecided"]
    if open_rows:
        said[0] += f", {len(open_rows)} open"
        said.append(_figure(min(open_rows, key=_worst_kept)))
    if refused:
        said.append(f"{text.counted(refused, 'row')} could not be compared")
    return f"{'; '.join(said)}."


def _figure(row: Compared) -> str:
    """A figure with its ratio: "p99 of randread 8k is 12% higher, ratio 1.12 (1.04..1.20)"."""
    if row.ratio is None or row.statistic is None:
        return f"{row.phase} is unknown"
    ratio = text.ratio(row.ratio, row.ratio_low, row.ratio_high)
    return f"{words(row.statistic)} of {row.phase} is {_moved(row.ratio)}, ratio {ratio}"


def _worst_kept(row: Compared) -> float:
    """The least of the first side's performance that the interval of an open figure allows."""
    if row.ratio_low is None or row.ratio_high is None:
        return 0.0
    return row.ratio_low if row.statistic == "throughput" else 1 / row.ratio_high


def _moved(ratio: float) -> str:
    """How far a ratio is from 1, in percent up to a factor of two, then as a factor."""
    if 0.5 < ratio < 2:
        return f"{text.percent(abs(ratio - 1))} {'higher' if ratio > 1 else 'lower'}"
    return f"{text.three_figures(ratio)} times as high" if ratio > 1 else f"down to 1/{text.three_figures(1 / ratio)}"


def _relative(sides: Sequence[Side], result: Comparison) -> Iterator[Section]:
    """Any number of configurations against the first, a line for each statistic of each row that all can show."""
    first, others = sides[0].label, tuple(side.label for side in sides[1:])
    headings = {"first": first, "relative": others}
    notes = (RELATIVE_NOTE.format(first=first),)
    table = result_table(
        Relative, result.relative, key="relative", headings=headings, words={"repeats": _complete}, notes=notes
    )
    if table.rows:
        yield Section("relative", f"Relative to {first}", tables=(table,))


def _complete(kept: Relative) -> str:
    return str(kept.repeats) if kept.repeats >= REPEATS else f"incomplete: {kept.repeats} of {REPEATS}"


def _prices(result: Comparison) -> Iterator[Section]:
    """What each side costs; nothing where no price was given."""
    if result.prices:
        yield section("prices", tables=(result_table(SidePrice, result.prices, key="prices"),))


def _repeats(result: Comparison) -> Iterator[Section]:
    """How well each side repeats itself; nothing for single runs."""
    if result.repeats:
        yield section("repeats", tables=(_repeats_table(result.repeats),))


def _repeats_table(rows: tuple[Repeats, ...], *, leave: tuple[str, ...] = ()) -> Table:
    return result_table(Repeats, rows, key="repeats", words={"verdict": _agreement}, leave=leave)


def _agreement(row: Repeats) -> str:
    lacks = f": {row.runs} of {REPEATS} repeats" if row.verdict == "incomplete" else ""
    return f"{words(row.verdict)}{lacks}"


def _next_steps(sides: Sequence[Side], result: Comparison) -> Iterator[str]:
    if min(len(side.runs) for side in sides) < REPEATS:
        yield (
            "Repeat each side at least three times, five for a p99, in alternating order:"
            " iocast ab JOB TARGET_A TARGET_B --rounds 5"
        )
    elif any(pair.overall.undecided for pair in result.pairs):
        yield "To measure until every row is decided: iocast ab JOB TARGET_A TARGET_B --until-sure 30"
    refused = sum(row.verdict == "not_compared" for pair in result.pairs for row in pair.rows)
    if refused:
        yield f"{text.counted(refused, 'row')} could not be compared: see the reason of each."


def _end(side: Side, rows: tuple[Repeats, ...]) -> str:
    """What is said of runs that reached their limit before every figure was known."""
    if not side.until_sure or is_known(rows):
        return ""
    return f"After {len(side.runs)} runs, the limit, some figures are still not known to {MARGIN:.0%}."


LEAST_SAID = 0.001  # a better accuracy is shown as this one


def repeats(side: Side, *, charts: bool = False) -> Report:
    """The report of several runs of one job on one target: do they agree?"""
    rows = tuple(repeats_of(side))
    sentences = _repeats_verdict(rows, len(side.runs)), _accuracy_sentence(rows), _end(side, rows)
    table = _repeats_table(rows, leave=("side",))  # the title says whose they are
    drawn = charts_at("repeats", side) if charts else ()
    return Report(
        title=f"Repeats · {side.label}",
        verdict=" ".join(filter(None, sentences)),
        sections=(section("repeats", tables=(table,), charts=drawn),),
        kind="repeats",
        subjects=_subjects((side,)),
        result=Repeated(repeats=rows),
    )


def _repeats_verdict(rows: tuple[Repeats, ...], runs: int) -> str:
    bad = [row.phase for row in rows if row.verdict == "inconclusive"]
    if bad:
        names = ", ".join(labels_among([row.phase for row in rows], bad))
        return f"The repeats of {names} differ by more than {SCATTER:.0%}: find the cause before comparing."
    if runs < 2:
        return "Repeatability needs at least two runs."
    agreeing = {1: "The row repeats", 2: "Both rows repeat"}.get(len(rows), f"All {len(rows)} rows repeat")
    scatter = max((max(row.scatter_share or 0.0, row.scatter_p99_share or 0.0) for row in rows), default=0.0)
    furthest = max((abs(row.apart_share or 0.0) for row in rows), default=0.0)
    return (
        f"{agreeing} over {runs} runs: the coefficient of variation is at most"
        f" {text.brief_percent(scatter)}, and no run is more than {text.brief_percent(furthest)} from the first."
    )


def _accuracy_sentence(rows: tuple[Repeats, ...]) -> str:
    """How well the worst row is known; silent about a figure that is not known at all in one."""
    parts: list[str] = []
    for figure, shares in accuracies(rows).items():
        known = [(share, phase) for share, phase in shares if share is not None]
        if known and len(known) == len(shares):
            share, phase = max(known)
            accuracy = text.brief_percent(max(share, LEAST_SAID)) + (f" ({phase})" if len(known) > 1 else "")
            parts.append(f"{figure}{'' if parts else ' is accurate'} to ±{accuracy}")
    if not parts:
        return ""
    return f"{'At worst ' if len(rows) > 1 else 'Its '}{' and '.join(parts)}."


def _subjects(sides: Sequence[Side]) -> tuple[Subject, ...]:
    return tuple(subject(run, side=side.label) for side in sides for run in side.runs)


def called(sides: Sequence[Side]) -> tuple[Side, ...]:
    """The sides as their tags name them; else by target, or by job, where these tell them apart."""
    if all(side.tagged for side in sides):
        return tuple(sides)
    targets, jobs = [_target(side) for side in sides], [_job(side) for side in sides]
    both = [f"{target}, {job}" for target, job in zip(targets, jobs, strict=True)]
    names = next((each for each in (targets, jobs, both) if len({*each}) == len(each)), None)
    if names is None:
        return tuple(sides)
    return tuple(replace(side, label=name) for side, name in zip(sides, names, strict=True))


def title(sides: Sequence[Side], what: str = "Comparison") -> str:
    """What they have in common, then what they are called: "Comparison · card quick · /mnt/a and /mnt/b"."""
    targets, jobs = {_target(side) for side in sides}, {_job(side) for side in sides}
    job, target = (each.pop() if len(each) == 1 else "" for each in (jobs, targets))
    shared = f"{job} on {target}" if job and target else job or target
    names = [side.label for side in sides]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return " · ".join(filter(None, (what, shared, listed)))


def _target(side: Side) -> str:
    return ", ".join(dict.fromkeys(run.plan.target.path for run in side.runs))


def _job(side: Side) -> str:
    return ", ".join(dict.fromkeys(run.plan.name for run in side.runs))
