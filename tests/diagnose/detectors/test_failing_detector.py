"""A detector that fails costs its own finding, named as failed in the card and in JSON; never the card."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.measurement import coarse_clock
from iocast.diagnose.detectors.shortcuts import storage_cache
from iocast.diagnose.examination import examine
from iocast.diagnose.experiments.next_step import USUAL_BUDGET
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.report.card.card_report import card
from iocast.report.renderers import json_report, terminal
from iocast.sessions.inquire import inquire
from iocast.sessions.listener import Quiet


def _fails_late(facts: Facts) -> Iterator[Finding]:
    yield Finding(code="coarse_clock", severity="warn", phase="", says="Half of it.")
    raise ZeroDivisionError("float modulo")


def test_a_detector_that_fails_costs_its_own_findings_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coarse_clock, "detect", _fails_late)
    run = card_runs.troubled_card()
    whole = examine(run)
    assert [each.detector for each in whole.failed] == ["coarse_clock"]
    (failed,) = whole.failed
    assert failed.codes == ("coarse_clock",)
    assert failed.why == "ZeroDivisionError: float modulo"
    assert failed.where.startswith("test_failing_detector.py:")
    assert "coarse_clock" not in {each.code for each in whole.findings}
    assert {each.code for each in whole.findings} >= {"cached_although_direct_was_claimed", "errors"}
    report = card(run, whole)
    out = io.StringIO()
    json_report.render(report, out)
    (told,) = json.loads(out.getvalue())["failed_detectors"]
    assert (told["detector"], told["codes"]) == ("coarse_clock", ["coarse_clock"])
    shown = io.StringIO()
    terminal.render(report, shown, colour=False, width=200)
    assert "The detector coarse_clock failed: ZeroDivisionError: float modulo" in shown.getvalue()


def _two_suspicions() -> Run:
    """Reads that a cache answers now and then, of two rows: both are asked how they would be tested."""
    times = card_runs.histogram((60_000, 2_000), (6_000_000, 2_000))
    return card_runs.run(*(card_runs.reads(name, times=times) for name in ("randread 8k", "later 8k")))


def _fails(*_: object) -> None:
    raise KeyError("baseline_per_s")


def test_a_detector_that_cannot_plan_its_experiment_costs_that_experiment_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(storage_cache, "confirm", _fails)
    run = _two_suspicions()
    whole = examine(run)
    assert "cache_in_the_storage" in {each.code for each in whole.findings}
    assert whole.failed == ()
    report = card(run, whole)
    (failed,) = report.failed
    assert (failed.detector, failed.codes, failed.step) == ("storage_cache", ("cache_in_the_storage",), "confirm")
    assert "cache_in_the_storage" in report.untestable
    out, shown = io.StringIO(), io.StringIO()
    json_report.render(report, out)
    (told,) = json.loads(out.getvalue())["failed_detectors"]
    assert (told["why"], told["step"]) == ("KeyError: 'baseline_per_s'", "confirm")
    terminal.render(report, shown, colour=False, width=250)
    says = "The detector storage_cache failed to plan its experiment: KeyError: 'baseline_per_s' ("
    assert says in (lines := " ".join(shown.getvalue().split()))
    assert "storage cache is untested, please report" in lines
    done = inquire(run, USUAL_BUDGET, str(tmp_path), Quiet())
    assert "could not be planned: KeyError" in done.diagnosis.untested["cache_in_the_storage"]


def test_a_run_whose_detectors_all_worked_names_none() -> None:
    assert examine(card_runs.quick_card()).failed == ()


def test_times_of_0_ns_beside_many_others_are_no_step() -> None:
    """So many different times that no bucket holds a thousandth of them, and one of 0 ns among them."""
    times = card_runs.histogram((0, 1), *((100_000 * 1.002**at, 1) for at in range(2_500)))
    run = card_runs.run(card_runs.reads(times=times), target=card_runs.SIMULATED)
    assert list(coarse_clock.detect(Facts(run))) == []
