"""The table of the virtualisation study: how much of the first side's performance each other side keeps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from iocast import text
from iocast.analyse.comparison import median_of, relative
from iocast.diagnose.comparable import REPEATS, Pair, Side
from iocast.model.codes import StatisticCode
from iocast.model.report import Cell, Column, Row, Section, Table
from iocast.model.run import PhaseRecord
from iocast.report.comparison.compared_values import STATISTICS, iops, response, throughput, values

NOTE = (
    "100% is as fast as {first}, less is slower: {first} over the other for response time, the other over {first} for"
    " throughput; the medians of the repeats. Green is within 10%."
)

_Statistic = tuple[StatisticCode, Callable[[PhaseRecord], float | None], Callable[[float], str], bool]
# The study gave means; they never stand alone.
SHOWN: tuple[_Statistic, ...] = (
    ("throughput", throughput, iops, True),
    ("mean", response(None), text.duration, False),
    *(each for each in STATISTICS if each[0] in ("p50", "p99")),
)


def relative_sections(first: Side, others: Sequence[Side], found: Mapping[str, Sequence[Pair]]) -> Iterator[Section]:
    """Any number of configurations against the first, a line for each statistic of each row that all can show."""
    columns = (
        Column("test", "row"),
        Column("what", "metric", "code"),
        Column("first", first.label, "text"),
        *(Column(f"side{at}", other.label, "relative") for at, other in enumerate(others, 1)),
        Column("runs", "repeats"),
    )
    pairs = [{pair.name: pair for pair in found[other.label] if not pair.why_not} for other in others]
    names = dict.fromkeys(name for of_side in pairs for name in of_side)
    rows = tuple(row for name in names for row in _rows(name, [of_side.get(name) for of_side in pairs]))
    table = Table("", columns, rows, key="relative", notes=(NOTE.format(first=first.label),))
    if rows:
        yield Section("relative", f"Relative to {first.label}", tables=(table,))


def _rows(name: str, pairs: Sequence[Pair | None]) -> list[Row]:
    baseline = next(pair.first for pair in pairs if pair is not None)
    fewest = min((min(len(pair.first), len(pair.other)) for pair in pairs if pair is not None), default=0)
    rows = list[Row]()
    for what, figure, show, more_is_better in SHOWN:
        start = values(baseline, figure)
        if not start:
            continue
        cells: dict[str, Cell] = {
            "test": "" if rows else name,
            "phase": name,
            "what": what,
            "first": show(median_of(start)),
            "first_value": median_of(start),
            "repeats": fewest,
            "runs": "" if rows else _complete(fewest),
        }
        for at, pair in enumerate(pairs, 1):
            own = values(pair.other, figure) if pair is not None else []
            kept = relative(median_of(start), median_of(own), more_is_better=more_is_better) if own else None
            cells[f"side{at}"] = kept
        rows.append(Row(cells, part=bool(rows)))
    return rows


def _complete(fewest: int) -> str:
    return str(fewest) if fewest >= REPEATS else f"incomplete: {fewest} of {REPEATS}"
