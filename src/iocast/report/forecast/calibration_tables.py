"""The tables of a calibration: what was asked, the maxima with their response times, the curve, its knees, its fit."""

from __future__ import annotations

from collections.abc import Iterator

from iocast import text
from iocast.analyse.facts import RowFacts
from iocast.analyse.statistics import bucket_shares, published
from iocast.forecast.calibration import Calibration, CurvePoint, Peak
from iocast.forecast.limit_search import Crossing
from iocast.model.codes import MaximumCode
from iocast.model.finding import Examination
from iocast.model.forecasting.calibration_asked import CLOSED, CalibrationAsked
from iocast.model.report import LATENCY_EDGES_NS, Cell, Column, Row, Table
from iocast.report.card.results_table import STRIP_NOTE

ASKED = (
    Column("limit", "limit", "duration"),
    Column("statistic", "statistic"),
    Column("block", "reads", "bytes"),
    Column("disks", "disks", "count"),
    Column("each", "IOPS\na disk", "rate", "the most IOPS over the disks"),
    Column("one_by_one", "one at\na time", "rate", "IOPS of so many disks, each as fast as the idle target"),
)
TIMES = (
    Column("response_mean", "mean", "duration"),
    Column("response_p50", "p50", "duration", spare=2),
    Column("response_p95", "p95", "duration", spare=4),
    Column("response_p99", "p99", "duration"),
    Column("response_p99_9", "p99.9", "duration", spare=5),
)
MAXIMA = (
    Column("code", "maximum", "code"),
    Column("load", "load", "load", "users x queue depth", spare=1),
    Column("rate", "IOPS", "rate"),
    Column("throughput", "MB/s", "bytes_per_s", "decimal megabytes"),
    Column("interval", "95% interval", explain="of the figure that is the maximum, within this run"),
    Column("limit_met", "limit"),
)
MAXIMA_TIMES = (
    Column("code", "at the maximum", "code"),
    *TIMES,
    Column("latency", "histogram", "strip", spare=3),
)
CURVE = (
    Column("name", "row"),
    Column("load", "load", "load", "users x queue depth; of a rate: as many as may be outstanding", spare=3),
    Column("rate", "IOPS", "rate"),
    Column("share", "of most", "share", "of the most IOPS", spare=2),
    *TIMES,
    Column("interval", "95% interval", explain="of the figure that is limited", spare=1),
    Column("verdict", "limit", "code"),
    Column("trust", "trust", "grade"),
)
KNEES = (
    Column("code", "knee", "code"),
    Column("load", "outstanding\nI/Os", "decimal"),
    Column("rate", "IOPS", "rate"),
    Column("says", "what it is"),
)
FIT = (
    Column("idle", "idle", "duration"),
    Column("limit_rate", "IOPS limit", "rate"),
    Column("interval", "95% interval"),
    Column("growth", "growth", "decimal", "near 1: single queues; above 2: servers that share a queue"),
    Column("misfit", "misfit", "decimal", "chi squared per degree of freedom"),
)
PERCENTILES = (("response_p50", 0.5), ("response_p95", 0.95), ("response_p99", 0.99), ("response_p99_9", 0.999))

KNEE_WORDS = {
    "limit": "the highest rate within the limit: the one to act on",
    "least_load": "N*: keeps the storage busy if nothing ever queued; the least load that can reach the most IOPS",
    "max_power": "the best ratio of IOPS to response time",
    "planning_cap": "70% of the most IOPS: the rest is for failures, growth and bursts",
    "latency_multiple": "the mean is 2.5 times that of an idle storage: 60% utilisation, were it one queue",
    "saturation": "from here on twice the load gains less than 10%",
    "chord": "farthest from a straight line through the curve: moves with the loads that were measured",
}


def statistic_name(asked: CalibrationAsked) -> str:
    """What the limit is for: "p99", "mean"."""
    return "mean" if asked.quantile is None else f"p{asked.quantile * 100:g}"


def asked_table(found: Calibration) -> Table:
    """The limit and what was read, and the check against a number of disks where somebody gave one."""
    asked, disks = found.asked, found.disks
    cells: dict[str, Cell] = {
        "limit": asked.max_latency_ns,
        "statistic": statistic_name(asked),
        "quantile": asked.quantile,
        "block": asked.block_bytes,
        "disks": asked.disks,
        "each": disks.each_per_s if disks else None,
        "one_by_one": disks.one_by_one_per_s if disks else None,
    }
    shown = ASKED if disks else ASKED[:3]
    return Table("", shown, (Row(cells),), key="asked")


def maxima_tables(found: Calibration) -> tuple[Table, ...]:
    """Every maximum, and the response times of the row that it was measured in."""
    rows = tuple(_maxima(found))
    if not rows:
        return ()
    timed = tuple(row for row in rows if "latency" in row.cells)
    return (
        Table("", MAXIMA, rows, key="maxima", notes=tuple(_notes(found))),
        Table("", MAXIMA_TIMES, timed, key="maxima_times", notes=(*_notes_on_times(found), STRIP_NOTE)),
    )


def _maxima(found: Calibration) -> Iterator[Row]:
    name = statistic_name(found.asked)
    if found.within is not None and found.within.rate_per_s is not None:
        yield _within("within_limit", found.within, found.within_row, found.asked, name)
    if found.asked.quantile is not None and found.within_mean is not None and found.within_mean.rate_per_s is not None:
        yield _within("within_limit_mean", found.within_mean, None, found.asked, "mean")
    if found.closed_within is not None:
        yield _peak("closed_within_limit", found.closed_within)
    if found.most is not None:
        yield _peak("most_iops", found.most)
    if found.throughput is not None:
        yield _peak("most_throughput", found.throughput, by_bytes=True)
    if found.single is not None:
        yield _peak("single_process", found.single, by_bytes=True)


def _within(code: MaximumCode, at: Crossing, row: RowFacts | None, asked: CalibrationAsked, name: str) -> Row:
    rate = at.rate_per_s or 0.0
    moved = rate * asked.block_bytes
    cells: dict[str, Cell] = {
        "code": code,
        "rate": rate,
        "throughput": moved,
        "phase": row.name if row else None,
        "rate_low_per_s": at.low_per_s,
        "rate_high_per_s": at.high_per_s,
        "interval": between(at.low_per_s, at.high_per_s, text.rate),
        "reached": at.reached,
        "met": True,
        "limit_met": f"{name} kept",
    }
    return Row(cells | (times(row) if row else {}))


def _peak(code: MaximumCode, peak: Peak, *, by_bytes: bool = False) -> Row:
    row = peak.row
    shown = text.megabytes_per_s if by_bytes else text.rate
    unit = "throughput_{}_bytes_per_s" if by_bytes else "rate_{}_per_s"
    cells: dict[str, Cell] = {
        "code": code,
        "load": (row.record.plan.users, row.record.plan.depth),
        "rate": row.measurement.rate_per_s,
        "throughput": row.measurement.bytes_per_s,
        "phase": row.name,
        unit.format("low"): peak.low,
        unit.format("high"): peak.high,
        "interval": between(peak.low, peak.high, shown),
        "met": peak.meets,
        "limit_met": "kept" if peak.meets else "limit not met",
    }
    return Row(cells | times(row))


def between(low: float | None, high: float | None, shown: object) -> str:
    """An interval whose ends may be unknown."""
    told = shown if callable(shown) else text.rate
    if low is None and high is None:
        return "unknown"
    if low is None or high is None:
        return f"at least {told(low)}" if low is not None else f"at most {told(high)}"
    return f"{told(low)} to {told(high)}"


def times(row: RowFacts) -> dict[str, Cell]:
    """The response times of a row; a percentile is blank where too few I/Os lie beyond it."""
    found = row.response("read")
    cells: dict[str, Cell] = {key: published(found, q) for key, q in PERCENTILES}
    return cells | {"response_mean": found.mean_ns, "latency": bucket_shares(found, LATENCY_EDGES_NS)}


def _notes(found: Calibration) -> Iterator[str]:
    if found.within is not None:
        name, limit = statistic_name(found.asked), text.brief_time(found.asked.max_latency_ns)
        yield f"Within the limit: reads that arrive at random at that rate have a {name} of {limit}."
    yield (
        "The interval of a rate within the limit ends at rates that rows asked for: the highest that surely kept it"
        " before any row was beyond it, and the lowest that surely did not after the last row that kept it."
    )
    yield "Intervals hold within this run; whether it repeats is not judged."


def _notes_on_times(found: Calibration) -> Iterator[str]:
    row = found.within_row
    if row is None:
        return
    which = "the highest rate measured that kept it"
    if any(_kept_above(each, row, found.asked) for each in found.at_rates):
        which = "the highest rate below the first row beyond the limit"
    rate = text.rate(row.measurement.rate_per_s)
    yield f"Those within the limit were measured at {rate} IOPS ({row.name}), {which}."


def _kept_above(each: CurvePoint, row: RowFacts, asked: CalibrationAsked) -> bool:
    """Whether a usable row at a higher rate has a figure within the limit, too."""
    higher = each.at.rate_per_s > (row.measurement.asked_rate_per_s or 0.0)
    return higher and not each.why_not and each.at.enough and each.at.within(asked.max_latency_ns)


def curve_table(found: Calibration, examination: Examination) -> Table:
    """All random reads: closed loads, then rates."""
    points = (*found.closed, *found.at_rates)
    most = max((each.row.measurement.rate_per_s for each in found.closed), default=None)
    rows = tuple(_point(each, most, examination) for each in points)
    note = "Closed loads keep so many I/Os outstanding; rates are of random arrivals, and waiting counts."
    return Table("", CURVE, rows, key="curve", notes=(note,))


def _point(each: CurvePoint, most: float | None, examination: Examination) -> Row:
    row, at = each.row, each.at
    cells: dict[str, Cell] = {
        "name": row.name,
        "phase": row.name,
        "load": (row.record.plan.users, row.record.plan.depth),
        "rate": row.measurement.rate_per_s,
        "asked_rate_per_s": row.measurement.asked_rate_per_s,
        "share": row.measurement.rate_per_s / most if most else None,
        "interval": between(at.low_ns, at.high_ns, text.brief_time),
        "statistic_ns": at.value_ns,
        "statistic_low_ns": at.low_ns,
        "statistic_high_ns": at.high_ns,
        "closed": row.record.phase.test == CLOSED,
        "verdict": "refused" if each.why_not else each.held,
        "trust": examination.trust[row.name].grade,
    }
    return Row(cells | times(row), void=False)


def knees_table(found: Calibration) -> Table:
    """Where more load stops paying, by every definition."""
    rows = tuple(
        Row({"code": knee.code, "load": knee.load, "rate": knee.rate_per_s, "says": KNEE_WORDS[knee.code]})
        for knee in found.knees
    )
    return Table("", KNEES, rows, key="knees")


def fit_table(found: Calibration) -> Table | None:
    """The fitted curve of the mean response over the rate; None where none can be given."""
    curve = found.fit.curve
    if curve is None:
        return None
    cells: dict[str, Cell] = {
        "idle": curve.idle_s * 1e9,
        "limit_rate": curve.limit_per_s,
        "limit_rate_low_per_s": curve.limit_low_per_s,
        "limit_rate_high_per_s": curve.limit_high_per_s,
        "interval": between(curve.limit_low_per_s, curve.limit_high_per_s, text.rate),
        "growth": curve.growth,
        "rise_ns": curve.rise_s * 1e9,
        "misfit": curve.misfit,
    }
    note = "Mean response over the rate: idle + rise x u^growth / (1 - u), where u is the rate over the IOPS limit."
    return Table("Fitted curve", FIT, (Row(cells),), key="fit", notes=(note,))
