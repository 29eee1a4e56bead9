"""A forecast in sentences: the verdict in a line that can be defended, what would change it, which test to run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from iocast import text
from iocast.forecast.answer import Answer
from iocast.forecast.flow_equivalent import HIGHEST_LOAD
from iocast.forecast.load_forecast import Figure
from iocast.forecast.measured_ladder import Absent, MeasuredLadder, RequestedLoad
from iocast.forecast.open_rows import MeasuredFigure
from iocast.forecast.outlook import FAIR_UTILISATION, GOOD_UTILISATION, Verdict
from iocast.forecast.replayed import Replayed, figure_of
from iocast.model.results.forecast import ForecastFigure
from iocast.results.forecast import forecast_figure
from iocast.units import size_text

VERDICTS: dict[Verdict, str] = {
    "ok": "OK",
    "marginal": "MARGINAL",
    "at_risk": "AT RISK",
    "not_ok": "NOT OK",
    "unknown": "UNKNOWN",
}
NS = 1e9
SAME_RATE = 0.01  # of a row and the peak
WIDE_BY_CHANCE = 0.15  # half an interval of a logarithm: above, longer rows would narrow it


def time(value_s: float) -> str:
    """A time in a sentence, with three figures."""
    return text.duration(value_s * NS)


def iops(rate_per_s: float) -> str:
    """A rate in a sentence: "4,000 IOPS"."""
    return f"{text.number(rate_per_s)} IOPS"


def asked_text(load: RequestedLoad) -> str:
    """What I/O is asked for: "random 8k reads", "random 8k I/O, 70% reads"."""
    size = size_text(load.size_bytes)
    if load.read_share in (0.0, 1.0):
        return f"random {size} {'reads' if load.read_share else 'writes'}"
    return f"random {size} I/O, {load.read_share:.0%} reads"


def between(figure: Figure) -> str:
    """The interval in words: "2.31 ms to 3.40 ms", or "at most 3.40 ms"."""
    low_s = figure.told_low_s
    return f"at most {time(figure.high_s)}" if low_s is None else f"{time(low_s)} to {time(figure.high_s)}"


def on_a_step(figure: ForecastFigure) -> str:
    """What a percentile between two groups of response times is: one of two figures, not one in the middle."""
    faster, slower = text.duration(figure.faster_ns), text.duration(figure.slower_ns)
    return (
        f"about {faster} or about {slower}, as {text.percent(figure.faster_share)} of the I/Os are expected to be in"
        " the faster of two groups"
    )


def verdict_sentence(of: Answer) -> str:
    """The verdict first, its figures second."""
    return f"{VERDICTS[of.verdict]}: {_why(of)}"


def _why(of: Answer) -> str:
    if of.verdict == "unknown":
        return _unknown(of) + _measured_there(of)
    if of.replayed is not None:
        return _as_measured(of, of.replayed)
    if of.reason == "overloaded":
        return _overloaded(of)
    if of.reason == "backlog":
        return _backlog(of)
    figure, question = of.slo_figure, of.question
    assert figure is not None
    assert of.forecast is not None
    name, limit = text.statistic(question.q), time(question.limit_s)
    start = f"at {iops(question.peak_per_s)} the {name} will be {between(figure)}"
    busy = f"utilisation {text.percent(of.forecast.utilisation.base)}"
    match of.reason:
        case "within":
            return f"{start}, within the SLO of {limit}; {busy}.{_up_to(of)}"
        case "hint_only":
            weak = text.counted(len(of.ladder.unsure), "row") if isinstance(of.ladder, MeasuredLadder) else ""
            return f"{start}, within the SLO of {limit}; {busy}; but it stands on {weak} with trust C."
        case "composed":
            return f"{start}, within the SLO of {limit}; but the mix itself was not measured: reads and writes were."
        case "busy":
            cap = GOOD_UTILISATION if of.verdict == "marginal" else FAIR_UTILISATION
            over = f"utilisation may be {text.percent(of.forecast.utilisation.high)}"
            return f"{start}, within the SLO of {limit}, but {over}: above {cap:.0%} little is left for failures."
        case "upper_beyond":
            return f"{start}, expected {time(figure.base_s)}: the upper end is beyond the SLO of {limit}; {busy}."
        case "base_beyond":
            if figure.stepped:
                return f"{start}: {on_a_step(forecast_figure(of, figure))}; the SLO is {limit}; {busy}."
            return f"{start}, expected {time(figure.base_s)}: beyond the SLO of {limit}; {busy}."
        case "stalled":
            kept = "within" if figure.high_s <= question.limit_s else f"expected {time(figure.base_s)}, within"
            return f"{start}, {kept} the SLO of {limit}, but between stalls only: {_stalls(of)}."
        case "uneven_pace":
            return f"{start}, expected {time(figure.base_s)}; the SLO is {limit}; {busy}; {slow_at_times(of)}."
        case _:
            return f"{start}: even the lower end is beyond the SLO of {limit}; {busy}."


def _stalls(of: Answer) -> str:
    """What stalls come to, so that it can be checked: the time in them, over the time of the rows."""
    stalled, q, limit_s = of.stalled, of.question.q, of.question.limit_s
    assert stalled is not None
    rows = text.counted(len(stalled.rows), "row")
    stood = f"{rows} that the forecast leaves out had stalls of up to {time(stalled.longest_s)}"
    if q is None:
        return f"{stood}; arrivals at random would find {time(stalled.added_s)} more on average"
    late, leaves = text.percent(stalled.late(limit_s)), text.percent(1 - q)
    return (
        f"{stood}; {late} of random arrivals would wait longer than the SLO ({time(stalled.late_s(limit_s))} of"
        f" {time(stalled.measured_s)}), and the {text.statistic(q)} leaves {leaves} to all causes"
    )


def slow_at_times(of: Answer) -> str:
    """How slow the storage is at times, and what that does to a load that does not wait for it."""
    slow = of.slow
    assert slow is not None
    return (
        f"the storage itself is slow {text.percent(slow.share)} of the time, {iops(slow.slow_per_s)} instead of"
        f" {iops(slow.quick_per_s)}, for about {time(slow.lasts_s)} each time (at most {time(slow.most_s)}), and more"
        " arrives meanwhile"
    )


def _as_measured(of: Answer, replayed: Replayed) -> str:
    """What open-loop rows measured at the peak, against the forecast that it contradicts."""
    question, decides = of.question, replayed.at(of.question.peak_per_s)
    assert decides is not None
    row, name, limit = decides[0], text.statistic(question.q), time(question.limit_s)
    unfit = "the model does not fit this storage" if replayed.contradicts else slow_at_times(of)
    if row.fell_behind:
        return f"replayed at {iops(row.rate_per_s)}, the storage did {iops(row.done_per_s)} and fell behind; {unfit}."
    has, said = figure_of(row, question.q), next((each for each in row.figures if each.q == question.q), None)
    assert has is not None
    start = f"replayed at {iops(row.rate_per_s)}, the {name} was {_with_error(has)}"
    against = f"; {between(said)} were forecast: {unfit}" if said is not None and said.known else f"; {unfit}"
    match of.reason:
        case "measured_beyond":
            return f"{start}, beyond the SLO of {limit}{against}."
        case "measured_within":
            return f"{start}, within the SLO of {limit}{against}. No forecast above {iops(row.rate_per_s)}."
        case _:
            return f"{start}, too uncertain for the SLO of {limit}{against}."


def _with_error(has: MeasuredFigure) -> str:
    if has.low_s is None or has.high_s is None:
        return time(has.value_s)
    return f"{time(has.value_s)} ({time(has.low_s)} to {time(has.high_s)})"


def measured_room(of: Answer) -> Iterator[str]:
    """Where the SLO was kept and broken by open-loop rows that contradict the forecast."""
    replayed = of.replayed
    if replayed is None:
        return
    if replayed.contradicts:
        yield "Open-loop rows contradict the forecast: only what they measured counts."
    else:
        yield text.sentence(f"{slow_at_times(of)}: what open-loop rows measured counts")
    if replayed.broken is not None:
        row = replayed.broken
        has = None if row.fell_behind else figure_of(row, of.question.q)
        why = f"the {text.statistic(of.question.q)} was {_with_error(has)}" if has else "the storage fell behind"
        yield f"The SLO is broken at {iops(row.rate_per_s)}: {why}."


def _up_to(of: Answer) -> str:
    room = of.headroom
    if room is None:
        return ""
    more = text.percent(room.ok_per_s / of.question.peak_per_s - 1)
    return f" It stays OK up to {iops(room.ok_per_s)} ({more} more)."


def _demonstrated(of: Answer) -> float:
    by = of.forecaster
    assert by is not None
    return by.demonstrated_per_s


def _overloaded(of: Answer) -> str:
    peak, most = of.question.peak_per_s, _demonstrated(of)
    end = iops(HIGHEST_LOAD * most)
    return (
        f"{iops(peak)} is {text.share_of(peak / most)} the {iops(most)} {demonstrated(of)}; above {HIGHEST_LOAD:.0%}"
        f" ({end}) no response time can be promised."
    )


def demonstrated(of: Answer) -> str:
    """How the highest throughput is known: "measured", or "interpolated" between two sizes."""
    return "interpolated" if isinstance(of.ladder, MeasuredLadder) and of.ladder.between else "measured"


def _backlog(of: Answer) -> str:
    overload, question = of.overload, of.question
    assert overload is not None
    behind = f"{text.counted(overload.backlog_ios, 'I/O')} and {time(overload.delay_s)}"
    return (
        f"bursts of {iops(question.peak_per_s)} exceed the {iops(overload.capacity_per_s)}"
        f" {demonstrated(of)}: a backlog"
        f" of {behind} builds up and delays {text.percent(overload.affected)} of the I/Os."
    )


def _unknown(of: Answer) -> str:
    question = of.question
    if isinstance(of.ladder, Absent):
        return _absent(of.ladder, question.load)
    last = of.ladder.levels[-1]
    match of.reason:
        case "unsaturated":
            return (
                f"IOPS were still rising at the last load of {last.users:g} outstanding I/Os ({iops(last.rate_per_s)});"
                f" {iops(question.peak_per_s)} is too near to it."
            )
        case "few_ios":
            return f"too few independent I/Os for the {text.statistic(question.q)} of {asked_text(question.load)}."
        case "between_sizes":
            larger = of.ladder.between[1]
            most, size = iops(HIGHEST_LOAD * larger.ladder.last_per_s), size_text(larger.load.size_bytes)
            return (
                f"{asked_text(question.load)} were not measured, and {iops(question.peak_per_s)} is more than the"
                f" {most} that can be promised of {size}, the next larger size."
            )
        case "too_much_composed":
            most = iops(_demonstrated(of))
            return f"the mix was not measured; put together from reads and writes it is relied on up to {most} only."
        case _:
            return _contradicted(of)


def _measured_there(of: Answer) -> str:
    """What an open-loop row measured at the requested load, for an answer without a forecast; "" without such a row."""
    question = of.question
    for row in of.rows:
        has = figure_of(row, question.q) if row.kept_up and not row.fell_behind else None
        if has is not None and abs(row.rate_per_s / question.peak_per_s - 1) <= SAME_RATE:
            kept = "within" if (has.high_s or has.value_s) <= question.limit_s else "not surely within"
            return (
                f" One open-loop row at {iops(row.rate_per_s)} measured a {text.statistic(question.q)} of"
                f" {_with_error(has)}, {kept} the SLO of {time(question.limit_s)}."
            )
    return ""


def _contradicted(of: Answer) -> str:
    q = of.question.q
    for row in of.rows:
        for has, said in row.outside():
            if has.q == q:
                return (
                    f"the model does not fit this storage: {row.name} measured a {text.statistic(q)} of"
                    f" {time(has.value_s)} where {between(said)} were forecast."
                )
    return "the model does not fit this storage."


def _absent(absent: Absent, requested_load: RequestedLoad) -> str:
    wanted = asked_text(requested_load)
    match absent.code:
        case "imported":
            return "results of other tools lack the histograms that a forecast needs."
        case "no_such_rows":
            known = "; ".join(asked_text(each) for each in absent.known)
            return f"the run has no closed rows of {wanted}" + (
                f" (it has {known}){_beyond(absent, requested_load)}." if known else "."
            )
        case "refused_rows":
            return f"{text.counted(len(absent.rows), 'row')} of {wanted} cannot be used, and too few are left."
        case "few_loads":
            return f"the run has fewer than three loads of {wanted}: no ladder."
        case "no_single":
            return f"the rows of {wanted} do not begin with one outstanding I/O."
        case _:
            return f"the rows of {wanted} are too short."


def _beyond(absent: Absent, requested_load: RequestedLoad) -> str:
    """Why sizes beside it do not help."""
    sizes = [each.size_bytes for each in absent.known if each.read_share == requested_load.read_share]
    if not sizes or min(sizes) <= requested_load.size_bytes <= max(sizes):
        return ""
    return "; a size is read between measured ones only, never beyond them"


def between_sizes(ladder: MeasuredLadder) -> str:
    """What the rows of two sizes are made of, and how far that is relied on; "" for a size that was measured."""
    if not ladder.between:
        return ""
    smaller, larger = (size_text(each.load.size_bytes) for each in ladder.between)
    asked_size = size_text(ladder.load.size_bytes)
    return (
        f"{asked_size} was not measured: each load is read between its rows of {smaller} and {larger}."
        " The time of one I/O"
        " is straight in its bytes, the logarithm of a percentile in that of the size. Every interval is widened: it"
        f" begins at the lower end of {smaller} and ends at the upper end of {larger}. That takes for granted only that"
        " larger I/Os are not faster."
    )


def changes(of: Answer) -> Iterator[str]:
    """What would change the verdict."""
    room, question = of.headroom, of.question
    if of.verdict == "unknown" or room is None:
        return
    name = text.statistic(question.q)
    if of.verdict == "ok":
        if room.marginal_per_s > room.ok_per_s:
            yield f"From {iops(room.ok_per_s)} on it is MARGINAL, from {iops(room.marginal_per_s)} on AT RISK."
    elif room.ok_per_s > 0 and of.firm:
        yield f"It becomes OK at {iops(room.ok_per_s)} or less."
    figure = of.slo_figure
    slow = figure is not None and figure.high_s > question.limit_s
    idle_enough = of.forecast is not None and of.forecast.utilisation.high <= GOOD_UTILISATION
    if figure is not None and slow and idle_enough and of.firm:
        yield f"It becomes OK with an SLO of {time(figure.high_s)} or more for the {name}."
    if figure is not None and figure.sampling > WIDE_BY_CHANCE:
        share = text.percent(figure.sampling)
        yield f"Longer rows narrow the interval: {share} of it either way is chance in the measured rows."
    if isinstance(of.ladder, MeasuredLadder) and of.ladder.composed:
        yield "Measuring the mix itself halves the upper end."
    if isinstance(of.ladder, MeasuredLadder) and of.ladder.between:
        yield f"Measuring {size_text(question.load.size_bytes)} itself narrows the interval."


def reservations(of: Answer) -> Iterator[str]:
    """What the forecast takes for granted, and what it does not see."""
    ladder = of.ladder
    if not isinstance(ladder, MeasuredLadder):
        return
    cv2 = of.question.arrival_cv2
    if cv2 == 1:
        yield "I/Os are taken to arrive at random (Poisson); bursts need --burst, --rates or --cv2."
    else:
        yield f"I/Os are taken to arrive with a squared coefficient of variation of {text.number(cv2)}."
    if ladder.read_share != of.question.load.read_share:
        yield f"The rows have {ladder.read_share:.0%} reads; the forecast takes this for the mix that is asked for."
    by = of.forecaster
    if by is not None and by.held_s:
        yield (
            f"{ladder.levels[0].users:g} outstanding I/O may already wait for the cap of {iops(by.ladder.last_per_s)},"
            f" by up to {time(by.held_s)}: what an I/O takes below it was not measured, so the lower ends leave this"
            " wait out. A lone server of constant times looks the same; open-loop rows tell (--verify)."
        )
    if not ladder.deep:
        yield "The ladder is too short to tell one pool from striped storage: the upper end allows for both."
    yield "What happens more rarely than a few times in a row (a failed disk, a rebuild) is not in it."


def tests(of: Answer, path: str, folder: str, options: str) -> Iterator[str]:
    """Which test to run next, as commands."""
    path, folder = shlex.quote(path), shlex.quote(folder)
    if of.replayed is not None:
        yield f"To find out why: iocast diagnose {path}"
    elif of.reason == "stalled":
        yield f"To find out what stalls: iocast diagnose --for {folder}"
    elif of.reason == "uneven_pace":
        yield f"To measure what comes of it: iocast forecast --on {folder} {options} --verify {path}"
    elif of.reason == "hint_only":
        yield f"To measure it for longer: iocast forecast --measure {path} {options} --time 5m"
    elif isinstance(of.ladder, Absent) and of.ladder.code == "refused_rows":  # it was measured: not the same again
        yield f"To find out what is wrong with its rows: iocast diagnose --for {folder}"
        longer = "--time 60s --wait-quiet 5min"
        yield f"To measure it for longer on a quiet machine: iocast forecast --measure {path} {options} {longer}"
    elif of.verdict == "unknown" or (isinstance(of.ladder, MeasuredLadder) and of.ladder.composed):
        longer = " --time 5m" if of.reason == "few_ios" else ""
        yield f"To measure this mix on the storage: iocast forecast --measure {path} {options}{longer}"
    elif of.forecast is not None and not any(row.pairs() for row in of.rows):
        yield f"To verify it on the storage: iocast forecast --on {folder} {options} --verify {path}"
