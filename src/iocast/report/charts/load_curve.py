"""Response against the rate that was achieved, in the order of the loads, with the knee."""

from __future__ import annotations

from iocast import text
from iocast.analyse.ladder import one_for_each
from iocast.analyse.statistics import published
from iocast.model.report import Axis, Chart, Column, Row, Table
from iocast.model.workload import Closed
from iocast.report.charts.families import Family, Member, curve_of

COLUMNS = (
    Column("load", "users", "load"),
    Column("rate", "IOPS", "rate"),
    Column("p50", "p50", "duration"),
    Column("mean", "mean", "duration"),
    Column("p99", "p99", "duration"),
)
KNEES = (Column("load", "users", "load"), Column("rate", "IOPS", "rate"), Column("p50", "p50", "duration"))
NOTE = (
    "Knee: the load with the most I/Os per second for its response time. A grade goes by how many I/Os the device"
    " answers side by side, which may be another load."
)


def load_curve(family: Family) -> Chart | None:
    """The chart of a ladder of at least three loads: two points are no curve."""
    ladder = _ladder(family)
    if len(ladder) < 3:
        return None
    knee = _knee(ladder)
    marks = (Row({"load": knee.load, "rate": knee.rate_per_s, "p50": knee.times.quantile_ns(0.5)}),) if knee else ()
    return Chart(
        kind="load_curve",
        key=f"{family.key}-load-curve",
        title=f"{family.title}: latency against rate",
        summary=_summary(ladder, knee),
        x=Axis("I/Os per second", "rate"),
        y=Axis("response time", "duration", log=True),
        tables=(
            Table("", COLUMNS, tuple(_row(member) for member in ladder), key="loads"),
            Table("", KNEES, marks, key="knees"),
        ),
        notes=(NOTE,) if knee else (),
    )


def _ladder(family: Family) -> tuple[Member, ...]:
    """Loads of a closed loop ascend by what was kept in flight, those of an open loop by what was asked for."""
    if all(isinstance(member.record.phase.workload.arrival, Closed) for member in family.members):
        return family.ladder
    return one_for_each(family.members, lambda member: member.record.measurement.asked_rate_per_s or 0.0)


def _row(member: Member) -> Row:
    return Row(
        {
            "load": member.load,
            "rate": member.rate_per_s,
            "p50": member.times.quantile_ns(0.5),
            "mean": member.times.mean_ns,
            "p99": published(member.times, 0.99),
        }
    )


def _knee(ladder: tuple[Member, ...]) -> Member | None:
    if not all(isinstance(member.record.phase.workload.arrival, Closed) for member in ladder):
        return None
    found = curve_of(ladder).knee
    if found is None or not found.saturated:
        return None
    return next(member for member in ladder if member.at_once == found.max_power_load)


def _summary(ladder: tuple[Member, ...], knee: Member | None) -> str:
    most = max(ladder, key=lambda member: member.rate_per_s)
    words = f"The rate reaches {text.rate(most.rate_per_s)} a second with {most.load_text} at once"
    if knee is None:
        return f"{words}; the ladder ends before it bends."
    if knee is ladder[0]:
        return f"{words}; from the first load on, more I/Os at once mostly wait for each other."
    half = text.duration_in_words(knee.times.quantile_ns(0.5))
    if knee is most:
        return f"{words}, where it bends: half of them take up to {half} there."
    rate = text.rate(knee.rate_per_s)
    return f"{words}; it bends at {knee.load_text}, with {rate} a second, half of them within {half}."
