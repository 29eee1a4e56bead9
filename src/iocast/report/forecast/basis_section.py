"""What a forecast stands on: the rows of its ladder, those left out and why, and the open-loop rows that it is held
against."""

from __future__ import annotations

from collections.abc import Mapping

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.hockey_stick import Refusal
from iocast.forecast.measured_ladder import Level, MeasuredLadder
from iocast.forecast.open_rows import OpenRow, inside, touches
from iocast.forecast.response_law import GRID
from iocast.model.report import Cell, Column, Row, Section, Table
from iocast.report.forecast.forecast_sentences import NS, between_sizes, iops, lower_end_ns, statistic, time
from iocast.report.wording import section

LEVELS = (
    Column("row", "row"),
    Column("users", "outstanding\nI/Os", "count"),
    Column("rate", "IOPS", "rate"),
    Column("mean", "mean", "duration"),
    Column("p50", "p50", "duration", spare=2),
    Column("p95", "p95", "duration", spare=1),
    Column("p99", "p99", "duration"),
    Column("error", "known to", "share", "half the 95% interval of the mean", spare=3),
    Column("trust", "trust", "grade"),
)
OPEN = (
    Column("row", "row"),
    Column("rate", "IOPS", "rate"),
    Column("statistic", "response"),
    Column("measured", "measured", "duration"),
    Column("low", "forecast\nfrom", "duration"),
    Column("high", "to", "duration"),
    Column("held", "inside"),
)
NO_FIT: dict[Refusal, str] = {
    "few_rates": "fewer than six rates",
    "no_bend": "the response hardly rises",
    "limit_unknown": "the limit is not known well enough",
    "light_load": "the largest rate is too light",
    "misfit": "the points do not lie on a hockey stick",
}


def basis(of: Answer, trust: Mapping[str, str]) -> Section | None:
    """The rows of the ladder, and those that were left out."""
    ladder = of.ladder
    if not isinstance(ladder, MeasuredLadder):
        left = tuple(f"{name}: {why}" for name, why in ladder.rows.items() if why)
        return section("basis", paragraphs=left) if left else None
    rows = tuple(_level(each, trust) for each in ladder.levels)
    gain = ladder.last_gain - 1
    grew = f"the last doubling of the load brought {text.percent(gain)} more IOPS" if gain > 0 else "IOPS grew no more"
    says = list(filter(None, [between_sizes(ladder)]))
    says += [f"Saturated: {grew}." if ladder.saturated else f"Not saturated: {grew}."]
    says += [f"Left out: {name}: {why}" for name, why in ladder.left_out.items()]
    says += [f"Trust C: {', '.join(names)}: {why}" for why, names in _by_reason(ladder.unsure).items()]
    return section("basis", paragraphs=tuple(says), tables=(Table("", LEVELS, rows, key="levels"),))


def _by_reason(unsure: Mapping[str, str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, why in unsure.items():
        found.setdefault(why, []).append(name)
    return found


def _level(level: Level, trust: Mapping[str, str]) -> Row:
    letters = [trust[name] for name in level.names if name in trust]
    cells: dict[str, Cell] = {
        "row": " + ".join(level.names),
        "users": round(level.users),
        "rate": level.rate_per_s,
        "mean": level.response_s * NS,
        **{statistic(q): level.times_s[GRID.index(q)] * NS for q in (0.5, 0.95, 0.99)},
        "error": level.mean_error,
        "trust": max(letters, default=""),
    }
    return Row(cells)


def open_rows(of: Answer) -> Section | None:
    """Open-loop rows beside the forecast, and the hockey stick through them."""
    if not of.rows:
        return None
    rows = tuple(found for row in of.rows for found in _compared(row))
    pairs = [pair for row in of.rows if row.kept_up for pair in row.pairs()]
    held, near = sum(inside(*pair) for pair in pairs), sum(touches(*pair) for pair in pairs)
    says = []
    if pairs:
        more = f", {near - held} more within the error of their measurement" if near > held else ""
        says.append(
            f"{held} of {text.counted(len(pairs), 'measured figure')} lie in the interval of the forecast{more}."
        )
    says.append(_fit(of))
    return section("open_rows", paragraphs=tuple(filter(None, says)), tables=(Table("", OPEN, rows, key="open"),))


def _compared(row: OpenRow) -> list[Row]:
    found = []
    said = {figure.q: figure for figure in row.figures if figure.known}
    for has in row.measured:
        if not has.enough:
            continue
        figure = said.get(has.q)
        cells: dict[str, Cell] = {
            "row": row.name,
            "rate": row.rate_per_s,
            "statistic": statistic(has.q),
            "measured": has.value_s * NS,
        }
        if figure is not None:
            held = "yes" if inside(has, figure) else "within error" if touches(has, figure) else "no"
            cells |= {"low": lower_end_ns(figure), "high": figure.high_s * NS, "held": held if row.kept_up else ""}
        found.append(Row(cells))
    if found and not row.kept_up:
        found[-1] = Row(found[-1].cells, note=f"only {iops(row.done_per_s)} of {iops(row.rate_per_s)} were done")
    elif found and row.why_not:
        found[-1] = Row(found[-1].cells, note=row.why_not)
    return found


def _fit(of: Answer) -> str:
    fit, name = of.fit, statistic(of.question.q)
    if fit is None:
        return ""
    if fit.curve is None:
        assert fit.refusal is not None
        return f"No hockey stick through the {name}: {NO_FIT[fit.refusal]}."
    curve, peak = fit.curve, of.question.peak_per_s
    limit = f"{iops(curve.limit_per_s)} ({text.number(curve.limit_low_per_s)} to {text.number(curve.limit_high_per_s)})"
    says = f"Hockey stick through the {name}: {time(curve.idle_s)} when idle, the wall at {limit}."
    if peak <= curve.largest_per_s:
        says += f" At {iops(peak)} it says {time(curve.response_s(peak))}."
    return says
