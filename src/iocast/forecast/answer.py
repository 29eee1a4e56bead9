"""Will production be fine? A question about a load, and the answer with everything that it stands on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from iocast.analyse.facts import Facts
from iocast.forecast.flow_equivalent import TooClose
from iocast.forecast.hockey_stick import Fitted
from iocast.forecast.load_forecast import Figure, Forecaster, LoadForecast
from iocast.forecast.measured_ladder import QUANTILES, Absent, AskedLoad, MeasuredLadder, find_ladder
from iocast.forecast.open_rows import OpenRow, fitted, open_rows
from iocast.forecast.outlook import FAIR_UTILISATION, GOOD_UTILISATION, Outlook, Verdict, verdict
from iocast.forecast.rate_profile import Overload, Profile, overload, settled

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
    "few_ios",  # too few for the percentile
    "no_ladder",  # none to stand on
    "contradicted",  # open-loop rows lie outside of the intervals
]


class Question(Struct, frozen=True, kw_only=True):
    """A load and what it may take. `q` None: the SLO is one of the mean. `rate_per_s`: at the peak, without bursts."""

    rate_per_s: float
    load: AskedLoad
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
    fit: Fitted | None = None
    firm: bool = False  # False: it stands on what is only an indication

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
    question: Question, facts: Facts, refused: Mapping[str, str], unsure: Mapping[str, str], probe: Facts | None = None
) -> Answer:
    """The answer from a run; `refused` and `unsure` say what is thought of its rows. `probe`: a run of open-loop rows
    that was made to verify it."""
    ladder = find_ladder(facts, question.load, refused, unsure)
    by = None if isinstance(ladder, Absent) else Forecaster(ladder, question.arrival_cv2)
    rows = open_rows(facts, question.load, refused, question.quantiles, by)
    if probe is not None:
        rows = (*rows, *open_rows(probe, question.load, {}, question.quantiles, by))
    fit = fitted(rows, question.q) if rows else None
    if by is None:
        return Answer(verdict="unknown", reason="no_ladder", question=question, ladder=ladder, rows=rows, fit=fit)
    return answer_from(question, by, rows, fit)


def answer_from(
    question: Question, by: Forecaster, rows: tuple[OpenRow, ...] = (), fit: Fitted | None = None
) -> Answer:
    """The answer from a ladder."""
    peak, q, profile = question.peak_per_s, question.q, question.profile
    forecast = _at(by, peak, question)
    found = forecast.figure(q) if forecast is not None else None
    excess = None if profile is None else overload(profile, by.demonstrated_per_s)
    given, reason = judged(question, by, forecast, excess, rows)
    return Answer(
        verdict=given,
        reason=reason,
        question=question,
        ladder=by.measured,
        forecast=forecast,
        base_forecast=None if profile is None else _at(by, question.rate_per_s, question),
        over_time=None if profile is None else settled(profile, by, q),
        overload=excess,
        headroom=headroom(question, by) if found is None or found.known else None,
        rows=rows,
        fit=fit,
        firm=by.firm,
    )


def _at(by: Forecaster, rate_per_s: float, question: Question) -> LoadForecast | None:
    try:
        return by.at(rate_per_s, question.quantiles)
    except TooClose:
        return None


def judged(
    question: Question,
    by: Forecaster,
    forecast: LoadForecast | None,
    excess: Overload | None,
    rows: tuple[OpenRow, ...] = (),
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
    if any(row.kept_up and any(has.q == question.q for has, _ in row.outside()) for row in rows):
        return "unknown", "contradicted"
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
    if excess is None or excess.lasting:
        return "not_ok", "overloaded"
    rare = question.q is not None and excess.affected <= 1 - question.q
    return ("at_risk" if rare or excess.delay_s <= question.limit_s else "not_ok"), "backlog"


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
    surely, expected, best = (by.highest_rate(question.q, question.limit_s, end) for end in ("high", "base", "low"))
    error = by.utilisation(by.demonstrated_per_s).high
    return Headroom(
        surely_per_s=surely,
        expected_per_s=expected,
        at_best_per_s=best,
        ok_per_s=min(surely, GOOD_UTILISATION * by.demonstrated_per_s / error),
        marginal_per_s=min(expected, FAIR_UTILISATION * by.demonstrated_per_s / error),
        ends_there=surely >= by.limit_per_s,
    )
