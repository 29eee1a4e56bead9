"""Will production be fine? A question about a load, and the answer with everything that it stands on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from iocast.analyse.facts import Facts
from iocast.forecast.flow_equivalent import HIGHEST_LOAD, TooClose
from iocast.forecast.hockey_stick import Fitted
from iocast.forecast.ladder_search import find_ladder, same_load
from iocast.forecast.load_forecast import Figure, Forecaster, LoadForecast
from iocast.forecast.measured_ladder import QUANTILES, Absent, MeasuredLadder, RequestedLoad
from iocast.forecast.open_rows import OpenRow, fitted, open_rows
from iocast.forecast.outlook import FAIR_UTILISATION, GOOD_UTILISATION, Outlook, Verdict, verdict
from iocast.forecast.rate_profile import Overload, Profile, overload, settled
from iocast.forecast.replayed import Replayed, replayed
from iocast.forecast.uneven_pace import SlowTimes
from iocast.model.row_stops import RowStops


class StalledTime(Struct, frozen=True):
    """Rows that stalled, and the seconds of all rows among which they were found."""

    rows: tuple[RowStops, ...]
    measured_s: float

    @property
    def longest_s(self) -> float:
        """Of all stalls."""
        return max(each for row in self.rows for each in row.seconds)

    def late_s(self, limit_s: float) -> float:
        """The time in which an arrival waits for longer than a limit."""
        return math.fsum(row.share * max(0.0, each - limit_s) for row in self.rows for each in row.seconds)

    def late(self, limit_s: float) -> float:
        """The share of random arrivals that waits for longer than a limit."""
        return min(1.0, self.late_s(limit_s) / self.measured_s)

    @property
    def added_s(self) -> float:
        """What stalls add to the mean: who arrives in one waits for half of it on average."""
        return math.fsum(row.share * each**2 / 2 for row in self.rows for each in row.seconds) / self.measured_s


def stalled_time(facts: Facts, requested_load: RequestedLoad, stops: Sequence[RowStops]) -> StalledTime | None:
    """The stalls of the rows of the asked load; where these had none, those of all rows. None without any."""
    of_load = {row.name for row in facts.rows if same_load(row.record, requested_load)}
    mine = tuple(each for each in stops if each.name in of_load)
    names = of_load if mine else {row.name for row in facts.rows}
    considered = mine or tuple(stops)
    measured_s = math.fsum(row.measurement.elapsed_ns for row in facts.rows if row.name in names) / 1e9
    return StalledTime(considered, measured_s) if considered and measured_s else None


UNDECIDED: tuple[Verdict, ...] = ("ok", "marginal", "at_risk")
UNSATURATED_LOAD = 0.7  # of the highest measured throughput: more is not asked of a ladder that was still rising

# Why the answer is what it is.
Reason = Literal[
    "within",  # even the upper end keeps the SLO
    "hint_only",  # it would be OK, but for rows of trust C
    "composed",  # it would be OK, but the mix was put together
    "busy",  # the utilisation is too high
    "upper_beyond",  # the upper end breaks the SLO
    "base_beyond",  # the expected value breaks the SLO
    "lower_beyond",  # even the lower end breaks the SLO
    "overloaded",  # more than was demonstrated
    "backlog",  # bursts that the storage cannot do
    "unsaturated",  # the ladder was still rising
    "too_much_composed",  # too near to the limit of a mix that was put together
    "between_sizes",  # more than the next larger size was seen to do
    "few_ios",  # too few for the percentile
    "no_ladder",  # none to stand on
    "contradicted",  # open-loop rows lie outside of the intervals, and none decides about the peak
    "measured_within",  # the same, and at the peak they kept the SLO
    "measured_unsure",  # the same, and at the peak the SLO lies within their error
    "measured_beyond",  # the same, and at the peak, or below, they broke the SLO
    "stalled",  # it is kept between stalls, and they are too long for it
    "uneven_pace",  # it may be kept, but the storage is slow at times, and no open-loop row shows what comes of it
]


class Question(Struct, frozen=True, kw_only=True):
    """A load and what it may take. `q` None: the SLO is one of the mean. `rate_per_s`: at the peak, without bursts."""

    rate_per_s: float
    load: RequestedLoad
    q: float | None
    limit_s: float
    arrival_cv2: float = 1.0
    profile: Profile | None = None

    @property
    def peak_per_s(self) -> float:
        """The highest rate that is asked for."""
        return self.rate_per_s if self.profile is None else self.profile.peak_per_s

    @property
    def quantiles(self) -> tuple[float, ...]:
        """The percentiles that are told: the usual ones, and that of the SLO."""
        return QUANTILES if self.q is None else tuple(sorted({*QUANTILES, self.q}))


class Headroom(Struct, frozen=True, kw_only=True):
    """Up to which rate the SLO is kept: surely (upper end), as expected, at best; and up to which the answer is OK."""

    surely_per_s: float
    expected_per_s: float
    at_best_per_s: float
    ok_per_s: float
    marginal_per_s: float
    ends_there: bool  # nothing is foretold beyond `surely_per_s`: it may be higher


class Answer(Struct, frozen=True, kw_only=True):
    """The verdict and all that it stands on."""

    verdict: Verdict
    reason: Reason
    question: Question
    ladder: MeasuredLadder | Absent
    forecast: LoadForecast | None = None  # at the peak
    base_forecast: LoadForecast | None = None  # at the base rate of a profile
    over_time: Figure | None = None  # the figure of the SLO over all stretches of a profile
    overload: Overload | None = None
    headroom: Headroom | None = None
    rows: tuple[OpenRow, ...] = ()
    replayed: Replayed | None = None  # what these rows say of the SLO, where they contradict the forecast, or decide
    fit: Fitted | None = None
    firm: bool = False  # False: it stands on what is only an indication
    stalled: StalledTime | None = None  # of rows that are not used
    slow: SlowTimes | None = None  # in which the storage is slower than the peak, whatever the load

    @property
    def forecaster(self) -> Forecaster | None:
        """What can be asked for other rates; None without a ladder."""
        if isinstance(self.ladder, Absent):
            return None
        return Forecaster(self.ladder, self.question.arrival_cv2)

    @property
    def slo_figure(self) -> Figure | None:
        """The figure of the SLO at the peak."""
        return None if self.forecast is None else self.forecast.figure(self.question.q)


def answer(
    question: Question,
    facts: Facts,
    refused: Mapping[str, str],
    unsure: Mapping[str, str],
    not_open: Mapping[str, str] | None = None,
    *,
    probe: Facts | None = None,
    not_probed: Mapping[str, str] | None = None,
    stops: Sequence[RowStops] = (),
) -> Answer:
    """The answer from a run; `refused` and `unsure` say what is thought of its rows, `stops` on which of them the
    storage stood still. Of its open-loop rows those in `not_open` are left out (None: those in `refused`). `probe`: a
    run of such rows that was made to verify it, without those in `not_probed`."""
    ladder = find_ladder(facts, question.load, refused, unsure)
    by = None if isinstance(ladder, Absent) else Forecaster(ladder, question.arrival_cv2)
    rows = open_rows(facts, question.load, refused if not_open is None else not_open, question.quantiles, by)
    if probe is not None:
        own = open_rows(probe, question.load, not_probed or {}, question.quantiles, by)
        rows = tuple(sorted((*rows, *own), key=lambda row: row.rate_per_s))
    fit = fitted(rows, question.q) if rows else None
    if by is None:
        return Answer(verdict="unknown", reason="no_ladder", question=question, ladder=ladder, rows=rows, fit=fit)
    return answer_from(question, by, rows, fit, stalled_time(facts, question.load, stops))


def answer_from(
    question: Question,
    by: Forecaster,
    rows: tuple[OpenRow, ...] = (),
    fit: Fitted | None = None,
    stalled: StalledTime | None = None,
) -> Answer:
    """The answer from a ladder."""
    peak, q, profile = question.peak_per_s, question.q, question.profile
    forecast = _at(by, peak, question)
    figure = forecast.figure(q) if forecast is not None else None
    excess = None if profile is None else overload(profile, by.demonstrated_per_s)
    held = replayed(rows, q, question.limit_s)
    given, reason = judged(question, by, forecast, excess)
    if forecast is not None and stalled is not None:
        given, reason = _with_stalls(given, reason, question, by, forecast, stalled)
    slow = None if figure is None else by.slow_times(peak)
    as_measured = held.contradicts or (slow is not None and held.at(peak) is not None)
    if as_measured:
        given, reason = _as_measured(held, peak, given)
    elif slow is not None and figure is not None and given in UNDECIDED and figure.high_s > question.limit_s:
        given, reason = "at_risk", "uneven_pace"
    known = (figure is None or figure.known) and not as_measured and reason != "stalled"
    return Answer(
        verdict=given,
        reason=reason,
        question=question,
        ladder=by.measured,
        forecast=forecast,
        base_forecast=None if profile is None else _at(by, question.rate_per_s, question),
        over_time=None if profile is None else settled(profile, by, q),
        overload=excess,
        headroom=headroom(question, by) if known else None,
        rows=rows,
        replayed=held if as_measured else None,
        fit=fit,
        firm=by.firm,
        stalled=stalled,
        slow=slow,
    )


def _at(by: Forecaster, rate_per_s: float, question: Question) -> LoadForecast | None:
    try:
        return by.at(rate_per_s, question.quantiles)
    except TooClose:
        return None


def _as_measured(held: Replayed, peak_per_s: float, foretold: Verdict) -> tuple[Verdict, Reason]:
    """The verdict by what was measured, where that contradicts what was forecast. It is OK only where both say so: how
    much is left above what was measured is unknown."""
    decides = held.at(peak_per_s)
    if decides is None:
        return "unknown", "contradicted"
    match decides[1]:
        case "broken":
            return "not_ok", "measured_beyond"
        case "kept":
            return ("ok" if foretold == "ok" else "marginal"), "measured_within"
        case _:
            return "at_risk", "measured_unsure"


def judged(
    question: Question, by: Forecaster, forecast: LoadForecast | None, excess: Overload | None
) -> tuple[Verdict, Reason]:
    """The verdict by the table of models A7, and the line of it that decided."""
    peak, of = question.peak_per_s, by.measured
    if not of.saturated and peak > UNSATURATED_LOAD * by.ladder.last_per_s:
        return "unknown", "unsaturated"
    if forecast is None:
        return _above_limit(question, by, excess)
    figure = forecast.figure(question.q)
    if not figure.known:
        return "unknown", "few_ios"
    busy = forecast.utilisation.high
    # A percentile between two modes has no value in the middle: only its interval counts.
    base_s = figure.high_s if figure.stepped else figure.base_s
    outlook = Outlook(
        low_s=figure.low_s,
        base_s=base_s,
        high_s=figure.high_s,
        limit_s=question.limit_s,
        utilisation_high=busy,
        sure=by.firm,
    )
    given = verdict(outlook)
    return given, _reason(given, outlook, composed=of.composed)


def _above_limit(question: Question, by: Forecaster, excess: Overload | None) -> tuple[Verdict, Reason]:
    of = by.measured
    if of.composed and question.peak_per_s <= by.ladder.last_per_s:
        return "unknown", "too_much_composed"
    if of.between and question.peak_per_s <= HIGHEST_LOAD * of.between[0].ladder.last_per_s:
        return "unknown", "between_sizes"
    if excess is None or excess.lasting:
        return "not_ok", "overloaded"
    rare = question.q is not None and excess.affected <= 1 - question.q
    return ("at_risk" if rare or excess.delay_s <= question.limit_s else "not_ok"), "backlog"


def _with_stalls(
    given: Verdict, reason: Reason, question: Question, by: Forecaster, forecast: LoadForecast, stalled: StalledTime
) -> tuple[Verdict, Reason]:
    """What is kept between stalls may not be kept with them: at risk where they break what is expected, marginal where
    they break the upper end only."""
    if given not in ("ok", "marginal"):
        return given, reason
    figure, limit_s = forecast.figure(question.q), question.limit_s
    if question.q is None:
        base_breaks = figure.base_s + stalled.added_s > limit_s
        upper_breaks = figure.high_s + stalled.added_s > limit_s
    elif not stalled.late_s(limit_s):
        return given, reason
    else:
        three, late = by.three(forecast.rate_per_s), stalled.late(limit_s)
        sooner_s = limit_s / (by.margins[1] * math.exp(figure.sampling))
        base = three.base.share_up_to(limit_s)
        upper = min(each.share_up_to(sooner_s) for each in (three.base, three.high))
        base_breaks, upper_breaks = ((1 - late) * within < question.q for within in (base, upper))
    if base_breaks:
        return "at_risk", "stalled"
    return ("marginal", "stalled") if given == "ok" and upper_breaks else (given, reason)


def _reason(given: Verdict, of: Outlook, *, composed: bool) -> Reason:
    if given == "ok":
        return "within"
    if given == "not_ok":
        return "lower_beyond"
    if of.base_s > of.limit_s:
        return "base_beyond"
    if of.high_s > of.limit_s:
        return "upper_beyond"
    if of.utilisation_high > GOOD_UTILISATION:
        return "busy"
    return "composed" if composed else "hint_only"


def headroom(question: Question, by: Forecaster) -> Headroom:
    """Up to which rates the SLO is kept."""
    q, limit_s, peak = question.q, question.limit_s, question.peak_per_s
    surely, expected, best = (by.highest_rate(q, limit_s, end, peak) for end in ("high", "base", "low"))
    error = by.utilisation(by.demonstrated_per_s).high
    return Headroom(
        surely_per_s=surely,
        expected_per_s=expected,
        at_best_per_s=best,
        ok_per_s=min(surely, GOOD_UTILISATION * by.demonstrated_per_s / error),
        marginal_per_s=min(expected, FAIR_UTILISATION * by.demonstrated_per_s / error),
        ends_there=surely >= by.limit_per_s,
    )
