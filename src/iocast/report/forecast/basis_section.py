"""What a forecast stands on: the rows of its ladder, those left out and why, and the open-loop rows that it is held
against."""

from __future__ import annotations

from collections.abc import Mapping

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.hockey_stick import Refusal
from iocast.forecast.measured_ladder import MeasuredLadder
from iocast.forecast.open_rows import OpenRow, inside, touches
from iocast.model.report import Section
from iocast.model.results.forecast import LadderRow, OpenLoopRow
from iocast.report.forecast.forecast_sentences import between_sizes, iops, time
from iocast.report.result_tables import result_table
from iocast.report.wording import section

NO_FIT: dict[Refusal, str] = {
    "few_rates": "fewer than six rates",
    "no_bend": "the response hardly rises",
    "limit_unknown": "the limit is not known well enough",
    "light_load": "the largest rate is too light",
    "misfit": "the points do not lie on a hockey stick",
}


def basis(of: Answer, rows: tuple[LadderRow, ...]) -> Section | None:
    """The rows of the ladder, and those that were left out."""
    ladder = of.ladder
    if not isinstance(ladder, MeasuredLadder):
        left = tuple(f"{name}: {why}" for name, why in ladder.rows.items() if why)
        return section("basis", paragraphs=left) if left else None
    gain = ladder.last_gain - 1
    grew = f"the last doubling of the load brought {text.percent(gain)} more IOPS" if gain > 0 else "IOPS grew no more"
    says = list(filter(None, [between_sizes(ladder)]))
    says += [f"Saturated: {grew}." if ladder.saturated else f"Not saturated: {grew}."]
    says += [f"Left out: {name}: {why}" for name, why in ladder.excluded.items()]
    says += [f"Trust C: {', '.join(names)}: {why}" for why, names in _by_reason(ladder.unsure).items()]
    return section("basis", paragraphs=tuple(says), tables=(result_table(LadderRow, rows, key="levels"),))


def _by_reason(unsure: Mapping[str, str]) -> dict[str, list[str]]:
    by_reason: dict[str, list[str]] = {}
    for name, why in unsure.items():
        by_reason.setdefault(why, []).append(name)
    return by_reason


def open_rows(of: Answer, rows: tuple[OpenLoopRow, ...]) -> Section | None:
    """Open-loop rows beside the forecast, and the hockey stick through them."""
    if not of.rows:
        return None
    pairs = [pair for row in of.rows if row.kept_up for pair in row.pairs()]
    held, near = sum(inside(*pair) for pair in pairs), sum(touches(*pair) for pair in pairs)
    says = []
    if pairs:
        more = f", {near - held} more within the error of their measurement" if near > held else ""
        says.append(
            f"{held} of {text.counted(len(pairs), 'measured figure')} lie in the interval of the forecast{more}."
        )
    says.append(_fit(of))
    tables = (result_table(OpenLoopRow, rows, key="open"),)
    return section("open_rows", paragraphs=tuple(filter(None, says)), tables=tables)


def remark(row: OpenRow) -> str:
    """What keeps an open-loop row from being compared."""
    return row.why_not if row.kept_up else f"only {iops(row.done_per_s)} of {iops(row.rate_per_s)} were done"


def _fit(of: Answer) -> str:
    fit, name = of.fit, text.statistic(of.question.q)
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
