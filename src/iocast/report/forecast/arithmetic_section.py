"""The arithmetic of a forecast, so that a DBA can check it with a pocket calculator."""

from __future__ import annotations

from collections.abc import Callable

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.arithmetic import Arithmetic, arithmetic
from iocast.forecast.flow_equivalent import HIGHEST_LOAD, LOWER
from iocast.forecast.load_forecast import Forecaster
from iocast.model.report import Section, Table
from iocast.model.results.forecast import ArithmeticLevel, ArithmeticState, ForecastResult
from iocast.report.result_tables import result_table
from iocast.report.wording import section

MS = 1e3
MS_NS = 1e6


def steps_of(of: Answer) -> Arithmetic | None:
    """The steps for the figure of the SLO at the peak."""
    by = of.forecaster
    if by is None or of.forecast is None:
        return None
    return arithmetic(by, of.question.peak_per_s, of.question.q)


def section_of(of: Answer, steps: Arithmetic, result: ForecastResult) -> Section:
    """The same in sentences, with the ladder and what arrivals find."""
    by = of.forecaster
    assert by is not None
    says = (*_ladder_says(by, steps), *_state_says(by, steps), *_bracket_says(by, steps), _verdict_says(of))
    return section("arithmetic", paragraphs=says, tables=(_ladder(result), _states(steps, result)))


def _f(value: float, figures: int = 4) -> str:
    return f"{value:.{figures}g}" if abs(value) < 10**figures else f"{value:.0f}"


def _ladder_says(by: Forecaster, steps: Arithmetic) -> tuple[str, ...]:
    ladder, rate = by.ladder, steps.rate_per_s
    (n1, n2), (r1, r2) = ladder.users[-2:], ladder.response_s[-2:]
    tends = (n2 - n1) / (r2 - r1) if r2 > r1 else ladder.last_per_s
    return (
        *_between_says(by),
        "1. Each row of the ladder is one pair: n outstanding I/Os and X IOPS; R = n / X (Little's law), made never to"
        " fall. Between rows R is straight.",
        f"2. Measured throughput: X of the last row = {_f(ladder.last_per_s, 5)} IOPS. The asked {_f(rate, 5)} are"
        f" {_f(rate / by.demonstrated_per_s)} of it (refused above {_refused(by)}). Beyond the last row R grows by"
        f" 1 / {_f(ladder.limit_per_s, 5)} s for each I/O: ({_f(n2)} - {_f(n1)}) / ({_f(r2 * MS, 5)} -"
        f" {_f(r1 * MS, 5)} ms) = {_f(tends, 5)} IOPS, at most 1.15 times the measured.",
    )


def _refused(by: Forecaster) -> str:
    return f"{HIGHEST_LOAD:g} of that of the larger size" if by.ends else f"{HIGHEST_LOAD:g}"


def _between_says(by: Forecaster) -> tuple[str, ...]:
    """How the ladder of a size between two measured ones is made."""
    if not by.measured.between:
        return ()
    small, large = by.measured.between
    sizes = [each.load.size_bytes for each in (small, by.measured, large)]
    part = (sizes[1] - sizes[0]) / (sizes[2] - sizes[0])
    last = by.measured.levels[-1]
    ends = [next(each.rate_per_s for each in of.levels if each.users == last.users) for of in (small, large)]
    return (
        f"0. The size lies between two measured ones, {sizes[0]} and {sizes[2]} bytes, {_f(part)} of the way: 1 / X ="
        f" {_f(1 - part)} / X of the smaller + {_f(part)} / X of the larger, for n = {_f(last.users)}:"
        f" {_f(last.rate_per_s, 5)} IOPS from {_f(ends[0], 5)} and {_f(ends[1], 5)}.",
    )


def _state_says(by: Forecaster, steps: Arithmetic) -> tuple[str, ...]:
    q, base = steps.figure.q, steps.figure.model_s[1]
    hits = f" ({1 - by.hits:.0%} of the I/Os reach the storage)" if by.hits else ""
    lines = [
        f"3. The storage serves X(n) = n / R(n) when n are in it, and {_f(steps.rate_per_s, 5)} arrive a second{hits}."
        " So the weight of n is that of n - 1 times rate x R(n) / n; the chance is the weight over the sum of all"
        f" weights, {_f(steps.weights, 5)}.{_pace_says(by)}",
        f"4. Who finds n takes as long as one of n + 1: the mean is the sum of chance x R(n + 1) ="
        f" {_f(steps.mean_s * MS)} ms ({_f(steps.rest_mean_s * MS)} ms of it from n that are not listed).",
    ]
    if q is not None:
        within = sum(line.chance * (line.within or 0.0) for line in steps.lines) + steps.rest_within
        lines.append(
            f"5. The {text.statistic(q)} is the time within which {q:.1%} of them end: for {_f(base * MS)} ms the sum"
            f" of chance x share within (as measured at n + 1) is {_f(within)}."
        )
    return tuple(lines)


def _pace_says(by: Forecaster) -> str:
    """How chances are made smaller behind a cap; "" where none shows."""
    if by.within.base >= 1:
        return ""
    return (
        " The saturated rows pass at equal distances, as behind a cap: each factor a below 1 becomes V a / (1 - a +"
        f" V a) with V = {_f(by.within.base)} where n is above {_f(by.ladder.saturation_users)}."
    )


def _bracket_says(by: Forecaster, steps: Arithmetic) -> tuple[str, ...]:
    figure, of = steps.figure, by.measured
    smaller, larger = by.ends or (by, by)
    within = by.within
    low, base, high = (each * MS for each in figure.model_s)
    below, above = by.margins
    wide = 2.718281828459045**figure.sampling
    name = text.statistic(figure.q)
    held = f"({_f(low)} - {_f(by.held_s * MS)} that one user may wait for the cap)" if by.held_s else _f(low)
    return (
        f"6. The model takes service times for random. At one I/O they have cs2 = (deviation / mean)^2 ="
        f" {_f(of.service_cv2)}; of what queues {_f(within.bottleneck_cv2)}, when saturated {_f(of.saturated_cv2)}. So"
        " each factor a of step 3 that is below 1 becomes V a / (1 - a + V a): at least with V ="
        f" {_f(smaller.within.low)} (from {_f(smaller.ladder.saturation_users)} I/Os on, and R bent as far as it can),"
        f" as expected {_f(within.base)}, at most {_f(larger.within.high)} (from {_f(larger.within.from_users)}"
        f" I/Os on). The {name} is {_f(low)}, {_f(base)} and {_f(high)} ms.{FROM_OTHERS if by.ends else ''}",
        f"7. Chance: how well each row is known, times how much the {'mean' if figure.stepped else name} depends on it"
        f"{_on_a_step(steps)}: {figure.sampling:.1%} either"
        f" way, a factor of {_f(wide)}.",
        f"8. The interval: from {LOWER:g} x {held} / {_f(wide)} = {_f(figure.low_s * MS)} ms to"
        f" {_f(above)} x {_f(high)} x {_f(wide)} = {_f(figure.high_s * MS)} ms."
        + (" (0.9 and the factor above are what the model was off by on systems with known answers.)" if below else ""),
    )


FROM_OTHERS = " The first of them is that of the ladder of the smaller size, the last that of the larger one."


def _on_a_step(steps: Arithmetic) -> str:
    """Why the mean's error stands for that of a percentile."""
    if steps.figure.step is None:
        return ""
    return f" (the {text.statistic(steps.figure.q)} lies on a step: both groups are known as well as the mean is)"


def _verdict_says(of: Answer) -> str:
    assert of.forecast is not None
    busy, limit = of.forecast.utilisation, of.question.limit_s * MS
    return (
        f"9. Verdict: OK when the upper end is at most {_f(limit)} ms and the utilisation at most 70% (here"
        f" {busy.high:.1%} at its upper end); MARGINAL when the expected value is, at 85%, or when rows have trust C;"
        " NOT OK when even the lower end is above; else AT RISK."
    )


def _ladder(result: ForecastResult) -> Table:
    words: dict[str, Callable[[ArithmeticLevel], str]] = {
        "outstanding": lambda each: f"{each.outstanding:g}",
        "rate_per_s": lambda each: _f(each.rate_per_s, 5),
        "response_ns": lambda each: _f(each.response_ns / MS_NS, 5),
    }
    rows = result.arithmetic_ladder
    return result_table(ArithmeticLevel, rows, key="arithmetic_ladder", title="Ladder", words=words)


def _states(steps: Arithmetic, result: ForecastResult) -> Table:
    words: dict[str, Callable[[ArithmeticState], str]] = {
        "in_system": lambda each: str(each.in_system),
        "factor": lambda each: "" if each.factor is None else _f(each.factor, 5),
        "weight": lambda each: _f(each.weight, 5),
        "chance_share": lambda each: f"{each.chance_share:.5f}",
        "response_ns": lambda each: _f(each.response_ns / MS_NS, 5),
        "within_share": lambda each: "" if each.within_share is None else f"{each.within_share:.5f}",
    }
    notes = (f"All further n together have a chance of {steps.rest_chance:.5f}.",) if steps.rest_chance > 5e-6 else ()
    rows, title = result.arithmetic_states, "What an arrival finds"
    return result_table(ArithmeticState, rows, key="arithmetic_states", title=title, words=words, notes=notes)
