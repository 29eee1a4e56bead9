"""What stands large at the head of a card: the letter of trust, and the figures a database is felt by."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from iocast import text
from iocast.analyse.facts import Facts
from iocast.analyse.ladder import kind
from iocast.analyse.load_kind import is_open_loop
from iocast.analyse.statistics import published
from iocast.diagnose.excluded_rows import rate_believed
from iocast.diagnose.thresholds import worst
from iocast.model.finding import Examination, Grade
from iocast.model.grading import Grades
from iocast.model.histogram import Histogram
from iocast.model.report import Badge, Figure
from iocast.model.run import PhaseRecord, Run
from iocast.report.card.summary_sentences import (
    FLUSHES,
    State,
    busiest,
    is_commit,
    is_random,
    is_scan,
    least_load_at_peak,
    lone_read,
    most_of_all,
    only,
    read_words,
    rows_that_held,
    size_of,
    state_words,
    who,
)
from iocast.report.card.verdict import USABLE
from iocast.results.measured_rows import times_of


def badges(run: Run, examination: Examination, grades: Grades | None = None) -> tuple[Badge, ...]:
    """The letters of the whole run: how good it is, and how far that can be believed (its worst row's trust)."""
    badge = trust_badge(_letters(run, examination))
    if grades is None or badge is None:
        return () if badge is None else (badge,)
    name = {"modern": "Grade", "hailey2012": "Grade (2012 scale)", "slo": "Service level"}[grades.scale]
    return (
        Badge(
            "grade",
            name,
            grades.overall or "",
            grades.says,
        ),
        badge,
    )


def trust_badge(letters: Sequence[Grade]) -> Badge | None:
    """The worst of the letters that rows have, and how many have which; None without rows."""
    if not letters:
        return None
    trust = worst(*letters)
    count = letters.count(trust)
    others = sorted((Counter(letters) - Counter({trust: count})).items())
    rest = ", ".join(f"{letter} on {rows}" for letter, rows in others)
    where = f"on {count} of {len(letters)} rows; {rest}" if others else "on every row"
    return Badge("trust", "Trust", trust, where)


def worst_trust(run: Run, examination: Examination) -> Grade | None:
    """The trust of the row that has least of it; None without rows."""
    letters = _letters(run, examination)
    return worst(*letters) if letters else None


def _letters(run: Run, examination: Examination) -> list[Grade]:
    return [examination.trust[record.phase.name].grade for record in run.measured]


def figures(facts: Facts, examination: Examination) -> tuple[Figure, ...]:
    """Random reads, scans and commits, of rows that can be used."""
    every = [
        record
        for record in facts.run.measured
        if record.measurement.ios and not is_open_loop(record) and {"users", "depth"}.isdisjoint(record.unstated)
    ]
    state = state_words(every, examination)
    every = rows_that_held(every, examination)
    trust = {record.phase.name: examination.trust[record.phase.name] for record in every}
    usable = [record for record in every if trust[record.phase.name].grade in USABLE]
    of_rates = [record for record in every if rate_believed(trust[record.phase.name])]
    valid = [record for record in every if not trust[record.phase.name].void]
    return (
        *_random_reads(facts, usable, valid, state),
        *_scans(of_rates, valid, state),
        *_commits(facts, usable, state),
    )


def _headed(words: str) -> str:
    """With a capital; "1M" keeps its own."""
    return words[:1].upper() + words[1:]


def _random_reads(facts: Facts, records: list[PhaseRecord], every: list[PhaseRecord], state: State) -> Iterator[Figure]:
    rows = [each for each in records if only(each, "read") and is_random(each) and size_of(each)]
    if not rows:
        return
    alone = lone_read(rows)
    times = times_of(facts.row(alone), "read")
    what, _ = read_words(alone)
    yield from _median(_headed(what), times, alone, state)
    depth = alone.measurement.asked_depth
    same_load = [each for each in rows if kind(each) == kind(alone) and each.measurement.asked_depth == depth]
    most = max([busiest(rows, alone), *same_load], key=lambda each: each.measurement.rate_per_s)
    least = least_load_at_peak(facts, rows, alone) if most not in same_load else most
    top = max(each.measurement.rate_per_s for each in every if kind(each) == kind(most))
    peak = "peak" if most.measurement.rate_per_s >= top else "highest of the rows that can be trusted"
    where = f"{peak}, at {who(most)}{state(most)}"
    where += "" if least is most else f"; the same from {who(least)} on"
    if most.phase.database is not None:
        what = f"Statements a second on random {text.size(size_of(most))}"
        yield Figure(what, round(most.measurement.rate_per_s), "count", where)
        return
    yield Figure(f"{_headed(read_words(most)[0])}s", most.measurement.rate_per_s, "rate", where)


def _scans(records: list[PhaseRecord], every: list[PhaseRecord], state: State) -> Iterator[Figure]:
    rows = [each for each in records if is_scan(each)]
    if rows:
        best = max(rows, key=lambda each: each.measurement.bytes_per_s)
        top = "" if most_of_all(best, every) else "highest of the rows that can be trusted, "
        where = f"{top}at {who(best)}{state(best)}"
        yield Figure(f"{text.size(size_of(best))} scan", best.measurement.bytes_per_s, "bytes_per_s", where)


def _commits(facts: Facts, records: list[PhaseRecord], state: State) -> Iterator[Figure]:
    rows = [each for each in records if is_commit(each) and size_of(each)]
    if rows:
        alone = min(rows, key=lambda each: (each.phase.together != "", each.measurement.asked_depth, size_of(each)))
        flush = facts.row(alone).response(*FLUSHES)
        times = flush if flush.total else times_of(facts.row(alone), "write")
        size = text.size(size_of(alone))
        name = f"{size} byte commit" if size.isdigit() else f"{size} commit"
        yield from _median(name, times, alone, state)


def _median(name: str, times: Histogram, record: PhaseRecord, state: State) -> Iterator[Figure]:
    """Nothing where another tool measured and states no median."""
    half_ns = times.quantile_ns(0.5)
    if not math.isnan(half_ns):
        yield Figure(name, half_ns, "duration", _tail(published(times, 0.99), f"{who(record)}{state(record)}"))


def _tail(p99_ns: float | None, whose: str) -> str:
    return f"p50 at {whose}" + ("" if p99_ns is None else f"; p99 {text.brief_time(p99_ns)}")
