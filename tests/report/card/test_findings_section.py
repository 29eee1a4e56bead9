"""Findings show their state, confidence and evidence; a rejected one leaves the list, and a line says so."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.diagnose.examination import examine
from iocast.model.codes import StateCode
from iocast.model.finding import Finding
from iocast.model.measurement import Generator
from iocast.model.report import Report
from iocast.report.card.card_report import card
from iocast.report.renderers import json_report, terminal

FINDING = Finding(
    code="cache_in_the_storage",
    severity="severe",
    phase="",
    says="Half of the reads were answered in 40 µs.",
    evidence={"share": 0.5},
    remedy="Test a larger region.",
    confidence=0.6,
    state="suggested",
    detector="storage_cache",
)


def _card(*findings: Finding) -> Report:
    run = card_runs.quick_card()
    return card(run, replace(examine(run), findings=findings), "runs/x")


def _shown(report: Report) -> str:
    out = io.StringIO()
    terminal.render(report, out, colour=False, width=120)
    return out.getvalue()


def _json(report: Report) -> list[dict[str, Any]]:
    out = io.StringIO()
    json_report.render(report, out)
    found: list[dict[str, Any]] = msgspec.json.decode(out.getvalue())["findings"]
    return found


@pytest.mark.parametrize(
    ("state", "detector", "shown"),
    [
        ("suggested", "throttle", "suspected, 60%"),
        ("suggested", "several_peaks", "not testable, 60%"),
        ("counted", "", "confirmed"),
        ("confirmed", "", "confirmed"),
    ],
)
def test_a_finding_shows_its_state_and_how_likely_it_is(state: StateCode, detector: str, shown: str) -> None:
    finding = replace(FINDING, state=state, detector=detector, phase=card_runs.quick_card().measured[0].phase.name)
    report = _card(finding)
    table = next(each for section in report.sections for each in section.tables if each.key == "findings")
    assert table.rows[0].cells["state"] == shown
    assert shown in _shown(report)
    (told,) = _json(report)
    assert (told["state"], told["confidence"], told["evidence"]) == (state, 0.6, {"share": 0.5})


def test_a_rejected_finding_leaves_the_list_and_a_line_says_so() -> None:
    gone = replace(FINDING, state="rejected", learned="The same blocks were no faster the second time.")
    report = _card(gone)
    shown = _shown(report)
    assert "Rejected by experiment: storage cache: The same blocks were no faster the second time." in shown
    assert FINDING.says not in shown
    assert FINDING.remedy not in shown
    assert "Worst finding    none found" in shown
    assert [each["state"] for each in _json(report)] == ["rejected"]


def test_a_suspicion_about_the_whole_run_is_called_one_in_the_verdict() -> None:
    suspected = replace(FINDING, detector="several_peaks")
    assert _card(suspected).verdict.startswith("Suspected storage cache: Half of the reads")
    assert _card(replace(suspected, state="confirmed")).verdict.startswith("Half of the reads")


def test_rows_without_free_cpu_raise_no_suspicion_and_the_card_says_so() -> None:
    record = card_runs.reads("randread 8k 8x1", users=8)
    did = record.measurement
    starved = replace(record, measurement=replace(did, generator=Generator(threads=8, queued_ns=2 * did.elapsed_ns)))
    run = card_runs.run(starved, card_runs.commits())
    examination = examine(run)
    assert examination.unsuspected == ("randread 8k 8x1",)
    shown = " ".join(_shown(card(run, replace(examination, findings=()), "runs/x")).split())
    assert (
        "No cause is suspected on randread 8k 8x1, because less than 15% of the CPU time was free or the test's threads"
        " waited for a CPU. Free the CPUs and run again."
    ) in shown
    assert "none found; 1 row not judged for lack of free CPU" in shown
    idle = card_runs.run(record)
    assert "No cause is suspected" not in _shown(card(idle, examine(idle), "runs/x"))


def test_what_no_experiment_can_decide_is_explained() -> None:
    """The list said "not testable, 70%" above a note that knew two states, and that `iocast diagnose` tests it."""
    notes = "Not testable: suspected, and no experiment on this machine can decide it."
    phase = card_runs.quick_card().measured[0].phase.name
    assert notes in _shown(_card(replace(FINDING, detector="several_peaks", phase=phase)))
    assert notes not in _shown(_card(replace(FINDING, detector="throttle", phase=phase)))


def test_one_advice_for_several_rows_is_one_line_with_the_worst_of_them() -> None:
    """Each row had a line of its own, since each had another figure: 25 lines of "shared drives" on a busy host."""
    run = card_runs.quick_card()
    names = [record.phase.name for record in run.measured][:3]
    shared = [
        replace(
            FINDING,
            code="shared_drives",
            phase=name,
            says=f"{share}% of the bytes were other I/O.",
            evidence={"variation": share / 100},
            state="counted",
        )
        for name, share in zip(names, (12, 31, 16), strict=True)
    ]
    report = _card(*shared)
    table = next(each for section in report.sections for each in section.tables if each.key == "findings")
    assert [row.cells["phases"] for row in table.rows] == [tuple(names)]
    assert table.rows[0].cells["says"] == f"Worst on {names[1]}: 31% of the bytes were other I/O."
    assert _shown(report).count(FINDING.remedy) == 2  # below its line, and as the next step
    assert f"31% of the bytes were other I/O. On {names[1]}, the worst of 3 rows." in " ".join(_shown(report).split())
    assert len(_json(report)) == 3  # programs are told every figure
