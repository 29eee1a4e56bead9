"""What people are told of a forecast: the verdict first, what would change it, the next test; charts and documents."""

from __future__ import annotations

import re

import pytest
from makers.card_pages import drawn
from makers.ladder_runs import ladder_run, pool
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.forecast.answer import Answer, Question, answer
from iocast.forecast.measured_ladder import RequestedLoad
from iocast.forecast.rate_profile import burst_profile
from iocast.forecast.what_if import parse_change, what_if
from iocast.model.report import Report
from iocast.model.workload import Closed
from iocast.report.charts import forecast_curve, forecast_utilisation
from iocast.report.charts.forecast_curve import ForecastCurve
from iocast.report.charts.forecast_utilisation import ForecastUtilisation
from iocast.report.forecast.forecast_report import forecast_report
from iocast.report.forecast.forecast_sentences import verdict_sentence
from iocast.report.plot.marks import Areas, Boxes, Levels, Lines, Uprights
from iocast.report.plot.theme import LIGHT
from iocast.report.renderers.documents import DOCUMENTS
from iocast.report.renderers.json_report import document
from iocast.report.subjects import subject

ASK = Question(rate_per_s=4000, load=RequestedLoad(size_bytes=8192), q=0.99, limit_s=0.008)
OPTIONS = "--iops 4000 --read 100% --size 8k --slo p99=8ms"


@pytest.fixture(scope="module")
def facts() -> Facts:
    return ladder_run(pool(8), rates=(2400, 4800))


def told(of: Answer, facts: Facts, **more: object) -> Report:
    trust = {row.name: "A" for row in facts.rows}
    about = (replace(subject(facts.run, "runs/one"), target="/mnt/db"),)
    return forecast_report(of, about, trust, options=OPTIONS, **more)  # type: ignore[arg-type]


def said(of: Answer) -> str:
    """The verdict without its figures."""
    words = (word for word in verdict_sentence(of).split() if not word[0].isdigit())
    return " ".join(words)


def test_the_verdict_comes_first_with_its_figures(facts: Facts) -> None:
    report = told(answer(ASK, facts, {}, {}), facts)
    assert report.title.startswith("Forecast · random 8k reads at 4,000 IOPS on /mnt/db")
    assert report.verdict.startswith("OK: at 4,000 IOPS the p99 will be 4.")
    assert "within the SLO of 8.00 ms; utilisation 50%. It stays OK up to 5," in report.verdict
    codes = [section.code for section in report.sections]
    assert codes == ["forecast", "headroom", "basis", "open_rows", "remarks"]
    assert report.next_steps == (), "the run has open-loop rows that verify it"


@pytest.mark.parametrize(
    ("change", "starts"),
    [
        ({"rate_per_s": 6000.0}, "MARGINAL: at IOPS the p99 will be ms to ms, within the SLO of ms, but utilisation"),
        ({"limit_s": 0.005}, "MARGINAL: at IOPS the p99 will be ms to ms, expected ms: the upper end is beyond"),
        ({"limit_s": 0.0045}, "AT RISK: at IOPS the p99 will be ms to ms, expected ms: beyond the SLO"),
        ({"limit_s": 0.001}, "NOT OK: at IOPS the p99 will be ms to ms: even the lower end is beyond"),
        ({"rate_per_s": 9000.0}, "NOT OK: IOPS is of the IOPS measured; above"),
        ({"profile": burst_profile(4000, 12000, 10, 600)}, "NOT OK: bursts of IOPS exceed the IOPS measured"),
        (
            {"load": RequestedLoad(size_bytes=4096)},
            "UNKNOWN: the run has no closed rows of random reads (it has random",
        ),
    ],
)
def test_each_verdict_in_words(facts: Facts, change: dict[str, object], starts: str) -> None:
    assert said(answer(replace(ASK, **change), facts, {}, {})).startswith(starts)


def test_unknown_says_what_was_measured_at_that_very_load(facts: Facts) -> None:
    """It was told to be unknown, with the p99 of a row at 500 IOPS below it."""
    refused = {row.name: "too short" for row in facts.rows if isinstance(row.workload.arrival, Closed)}
    for rate, says in ((2400, "One open-loop row at 2,400 IOPS measured a p99 of"), (3000, "")):
        sentence = verdict_sentence(answer(replace(ASK, rate_per_s=rate), facts, refused, {}, {}))
        assert sentence.startswith("UNKNOWN: ")
        assert says in sentence
        assert ("One open-loop row" in sentence) == bool(says)
        assert ("within the SLO of 8.00 ms." in sentence) == bool(says)


def test_unknown_names_the_test_to_run(facts: Facts) -> None:
    asked = replace(ASK, load=RequestedLoad(size_bytes=4096))
    steps = told(answer(asked, facts, {}, {}), facts).next_steps
    assert steps == (f"To measure this mix on the storage: iocast forecast --measure /mnt/db {OPTIONS}",)


def test_what_was_just_measured_is_not_the_next_step(facts: Facts) -> None:
    refused = {row.name: "trust D" for row in facts.rows}
    assert told(answer(ASK, facts, refused, {}), facts).next_steps == (
        "To find out what is wrong with its rows: iocast diagnose --for runs/one",
        "To measure it for longer on a quiet machine:"
        f" iocast forecast --measure /mnt/db {OPTIONS} --time 60s --wait-quiet 5min",
    )


def test_what_has_no_open_rows_is_to_be_verified() -> None:
    facts = ladder_run(pool(8))
    steps = told(answer(ASK, facts, {}, {}), facts).next_steps
    assert steps == (f"To verify it on the storage: iocast forecast --on runs/one {OPTIONS} --verify /mnt/db",)


@pytest.mark.parametrize(
    ("law", "starts", "headroom"),
    [
        (
            "exponential:4ms",
            "NOT OK: replayed at 4,000 IOPS, the p99 was N (N to N), beyond the SLO of N; N to N were forecast: the",
            ["Open-loop rows contradict the forecast: only what they measured counts.", "The SLO is broken at 4,000"],
        ),
        (
            "constant:100us",
            "OK: replayed at 4,800 IOPS, the p99 was N (N to N), within the SLO of N; N to N were forecast: the model",
            ["Open-loop rows contradict the forecast: only what they measured counts."],
        ),
    ],
)
def test_what_contradicts_a_forecast_takes_its_place(law: str, starts: str, headroom: list[str]) -> None:
    facts = ladder_run(pool(8))
    given = answer(ASK, facts, {}, {}, probe=ladder_run(pool(32, law), loads=(), rates=(4000, 4800)))
    report = told(given, facts, what_ifs=[what_if("load/2", parse_change("load/2"), given)])
    assert re.sub(r"[\d.]+ [mµ]s", "N", report.verdict).startswith(starts)
    assert "It stays OK up to" not in report.verdict
    room = next(section for section in report.sections if section.code == "headroom")
    assert len(room.paragraphs) == len(headroom)
    assert all(has.startswith(wanted) for has, wanted in zip(room.paragraphs, headroom, strict=True))
    assert report.next_steps == ("To find out why: iocast diagnose /mnt/db",)
    found = document(report)
    assert isinstance(found, DOCUMENTS["forecast"])
    kept = [("measured", 4800.0)] if law.startswith("constant") else []
    assert [(each.code, each.rate_per_s) for each in found.headroom] == kept
    assert [(each.verdict, each.says) for each in found.what_if] == [("unknown", "the model does not fit this storage")]


def test_it_is_a_document_of_figures(facts: Facts) -> None:
    given = answer(ASK, facts, {}, {})
    changes = [what_if(text, parse_change(text), given) for text in ("load*2", "volume=gp3")]
    found = document(told(given, facts, what_ifs=changes))
    assert isinstance(found, DOCUMENTS["forecast"])
    assert (found.forecast.verdict, found.forecast.reason, found.forecast.slo_ns) == ("ok", "within", 8_000_000)
    assert [each.statistic for each in found.figures] == ["mean", "p50", "p95", "p99"]
    assert given.forecast is not None
    figure = given.forecast.figure(0.99)
    assert found.figures[-1].low_ns == pytest.approx(figure.low_s * 1e9)
    assert [each.code for each in found.headroom] == ["surely", "expected", "at_best", "ok"]
    assert [(each.change, each.verdict) for each in found.what_if] == [("load*2", "not_ok"), ("volume=gp3", "unknown")]
    assert [each.outstanding for each in found.ladder] == [1, 2, 4, 8, 16, 32, 64]
    assert {each.held for each in found.open_rows} <= {"yes", "within error"}
    unknown = document(told(answer(replace(ASK, load=RequestedLoad(size_bytes=512)), facts, {}, {}), facts))
    assert isinstance(unknown, DOCUMENTS["forecast"])
    assert (unknown.forecast.verdict, unknown.figures) == ("unknown", ())


def test_the_arithmetic_is_shown_when_asked_for(facts: Facts) -> None:
    report = told(answer(ASK, facts, {}, {}), facts, explain=True)
    shown = next(section for section in report.sections if section.code == "arithmetic")
    assert [paragraph[:2] for paragraph in shown.paragraphs] == [f"{at}." for at in range(1, 10)]
    states = shown.tables[1].rows
    weights = [float(str(row.cells["weight"])) for row in states]
    factors = [float(str(row.cells["factor"])) for row in states[1:]]
    for before, factor, after in zip(weights, factors, weights[1:], strict=False):
        assert before * factor == pytest.approx(after, rel=1e-3)
    found = document(report)
    assert isinstance(found, DOCUMENTS["forecast"])
    assert [each.outstanding for each in found.arithmetic_ladder] == [1, 2, 4, 8, 16, 32, 64]
    assert (found.arithmetic_states[0].in_system, found.arithmetic_states[0].factor) == (0, None)
    assert sum(each.chance_share for each in found.arithmetic_states) == pytest.approx(1, abs=0.01)


def test_the_chart_has_points_band_slo_and_load(facts: Facts) -> None:
    curve, used = told(answer(ASK, facts, {}, {}), facts, charts=True).charts
    assert isinstance(curve, ForecastCurve)
    assert isinstance(used, ForecastUtilisation)
    kinds = [each.kind for each in curve.measured]
    assert (kinds.count("ladder"), kinds.count("open loop")) == (7, 2)
    plot = forecast_curve.draw(curve, LIGHT, 984)
    (band,), (_, line) = drawn(plot, Areas)[0].areas, drawn(plot, Lines)
    assert all((each.y or 0) < (each.y2 or 0) for each in band)
    assert [mark.at for mark in drawn(plot, Levels)] == [[8e6]]
    assert [mark.at for mark in drawn(plot, Uprights)] == [[4000]]
    assert [point.x for point in line.lines[0]] == [each.x for each in band]
    (bars,) = drawn(forecast_utilisation.draw(used, LIGHT, 984), Boxes)
    assert [tip.split(":")[0] for tip in bars.tips] == ["OK", "MARGINAL", "AT RISK", "NOT OK"]
    assert bars.boxes[0].x == 0


def test_a_figure_that_only_touches_the_interval_is_not_called_inside(facts: Facts) -> None:
    given = answer(ASK, facts, {}, {})
    row = given.rows[0]
    said = {each.q: each for each in row.figures}
    beside = [
        replace(each, value_s=1.1 * said[each.q].high_s, low_s=0.9 * said[each.q].high_s) if each.q == 0.99 else each
        for each in row.measured
    ]
    report = told(replace(given, rows=(replace(row, measured=tuple(beside)), *given.rows[1:])), facts)
    (section,) = (each for each in report.sections if each.code == "open_rows")
    assert section.paragraphs[0] == (
        "7 of 8 measured figures lie in the interval of the forecast, 1 more within the error of their measurement."
    )


def test_a_percentile_on_a_step_is_told_as_one_of_two_figures() -> None:
    facts = ladder_run(pool(8, "bimodal:90%:400us:6400us", ",hit=50%:50us"))
    report = told(answer(replace(ASK, q=0.95, limit_s=0.004), facts, {}, {}), facts, explain=True)
    assert ": about 400 µs or about 6.40 ms, as 95% of the I/Os are expected to be in the faster of" in report.verdict
    found = document(report)
    assert isinstance(found, DOCUMENTS["forecast"])
    figures = {each.statistic: each for each in found.figures}
    assert figures["p95"].expected_ns is None
    assert figures["p95"].faster_ns == pytest.approx(400_000, rel=0.02)
    assert figures["p95"].slower_ns == pytest.approx(6_400_000, rel=0.02)
    assert figures["p99"].faster_ns is None
    (steps,) = (each for each in report.sections if each.code == "arithmetic")
    assert "(the p95 lies on a step: both groups are known as well as the mean is)" in " ".join(steps.paragraphs)


def test_a_lone_server_of_constant_times_has_no_lower_end_of_the_p50() -> None:
    """It looks like a cap that one user meets: the p50 was "51.4 µs to 1.97 ms", a factor of 38, of 1 ms."""
    facts = ladder_run(pool(1, "constant:1ms"))
    given = answer(replace(ASK, rate_per_s=500, q=0.5, limit_s=0.003), facts, {}, {})
    report = told(given, facts)
    assert ": at 500 IOPS the p50 will be at most " in report.verdict
    found = document(report)
    assert isinstance(found, DOCUMENTS["forecast"])
    lows = {each.statistic: each.low_ns for each in found.figures}
    assert lows["p50"] is None
    assert all(lows[name] is not None for name in ("p95", "p99"))
    notes = next(table.notes for table in report.sections[0].tables if table.key == "figures")
    assert any(each.startswith("Blank from: one outstanding I/O may have waited for a cap") for each in notes)
    forecast = given.forecast
    assert forecast is not None
    assert forecast.figure(0.5).low_s <= 0.001 <= forecast.figure(0.5).high_s
