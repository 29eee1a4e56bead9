"""The time within which each share of the I/Os was answered, the last ones drawn out (as HdrHistogram does)."""

from __future__ import annotations

from iocast import text
from iocast.analyse.statistics import enough_beyond, published
from iocast.model.histogram import Histogram
from iocast.model.report import Axis, Cell, Chart, Column, Row, Table
from iocast.report.charts.families import Family, Member

SHOWN = (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999))
COLUMNS = (
    Column("row", "row"),
    *(Column(key, key.replace("_", "."), "duration") for key, _ in SHOWN),
    Column("max", "max", "duration"),
)
CURVE = (
    Column("row", "row"),
    Column("beyond", "share that took longer", "share"),
    Column("time", "time", "duration"),
    Column("sure", "ten I/Os or more lie beyond", "count"),
)
STEPS_A_DECADE = 10


def percentiles(family: Family) -> Chart | None:
    """The chart of all rows of a family."""
    members = [member for member in family.members if member.times.total > 1 and member.times.coarse is None]
    if not members:
        return None
    return Chart(
        kind="percentiles",
        key=f"{family.key}-percentiles",
        title=f"{family.title}: percentiles",
        summary=_summary(family, members),
        x=Axis("of the I/Os", "share", log=True),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(family, member) for member in members), key="percentiles"),
            Table(
                "", CURVE, tuple(row for each in members for row in curve(family.name(each), each.times)), key="curves"
            ),
        ),
        notes=("Dotted: fewer than ten I/Os lie beyond, so the percentile is not known.",),
    )


def _row(family: Family, member: Member) -> Row:
    shown = {key: published(member.times, q) for key, q in SHOWN}
    return Row({"row": family.name(member), **shown, "max": member.times.max_ns})


def curve(name: str, times: Histogram) -> list[Row]:
    """From the fastest to the slowest; each decade of nines takes the same room."""
    rows = list[Row]()
    step = 0
    while True:
        beyond = 10 ** (-step / STEPS_A_DECADE)
        last = beyond * times.total <= 1
        cells: dict[str, Cell] = {
            "row": name,
            "beyond": max(beyond, 1 / times.total),
            "time": float(times.max_ns) if last else times.quantile_ns(max(1 - beyond, 1 / times.total)),
            "sure": int(enough_beyond(times.total, 1 - beyond)),
        }
        rows.append(Row(cells))
        if last:
            return rows
        step += 1


def _summary(family: Family, members: list[Member]) -> str:
    said = []
    for member in (members[0], members[-1])[: len(members)]:
        tail = published(member.times, 0.99)
        half = text.duration_in_words(member.times.quantile_ns(0.5))
        most = f"99 in 100 within {text.duration_in_words(tail)}, " if tail else ""
        slowest = text.duration_in_words(member.times.max_ns)
        said.append(f"{family.spoken(member)} half of the I/Os end within {half}, {most}all within {slowest}.")
    return " ".join(dict.fromkeys(said))
