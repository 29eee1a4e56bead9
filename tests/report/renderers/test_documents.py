"""Report JSON keeps to its published schema: every kind of report, decoded as strictly as the schema is."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest
from makers import card_runs, planted, trial_runs
from makers.left_out import long_after

from iocast.archive.catalogue import CatalogueEntry
from iocast.diagnose.comparable import side
from iocast.diagnose.examination import examine
from iocast.diagnose.experiments.named import cache, dio_matrix, working_set
from iocast.diagnose.grades import grade
from iocast.model import codes
from iocast.model.report import Report
from iocast.model.results.card import SlowRow
from iocast.model.run import Run
from iocast.model.summary import summary_of
from iocast.model.verification import BadBlock, Verification
from iocast.report import wording
from iocast.report.card import verification_section
from iocast.report.card.card_report import card
from iocast.report.card.judged import judge
from iocast.report.comparison_report import compare, repeats
from iocast.report.experiment_report import trial_report
from iocast.report.listing import listing
from iocast.report.renderers import documents, json_report

SURVEY = (resources.files("iocast.jobs") / "presets" / "survey.toml").read_text(encoding="utf-8")
BAD = Verification(
    files=("/mnt/db/iocast.0",), block_bytes=8192, started_unix_ns=0, elapsed_ns=1, blocks=10, intact=9, undecided=0,
    outstanding=0, ahead=0, bad=(1, 0, 0, 0, 0), places=(BadBlock("torn", 0, 8192, 2, 2, 1, 2, None, ""),),
    direct=True, complete=True, durable_only=False,
)  # fmt: skip


def told(report: Report) -> dict[str, Any]:
    """The report as JSON, read as strictly as its schema reads it."""
    out = io.StringIO()
    json_report.render(report, out)
    msgspec.json.decode(out.getvalue(), type=documents.Document)
    found: dict[str, Any] = msgspec.json.decode(out.getvalue())
    assert found["schema_version"] == 2
    assert set(_keys(found)) <= {*_schema_keys()}
    return found


def _keys(value: object) -> Iterator[str]:
    """The keys of a document; maps by codes, and tables of an experiment or a chart, have keys of their own."""
    free = {"text", "letters", "evidence", "charts", "experiment"}
    if isinstance(value, dict):
        for key, below in value.items():
            yield key
            yield from () if key in free else _keys(below)
    elif isinstance(value, list):
        for each in value:
            yield from _keys(each)


def _schema_keys() -> Iterator[str]:
    for shape in documents.report_schema()["definitions"].values():
        yield from shape["properties"]


def _card(run: Run, **more: Any) -> dict[str, Any]:
    examination = examine(run)
    return told(card(run, examination, "runs/one", grades=grade(run, examination), **more))


@pytest.mark.parametrize("run", long_after(1, [card_runs.quick_card, card_runs.troubled_card]))
def test_a_card(run: Any) -> None:
    found = _card(run(), courses={})
    assert (found["kind"], found["host"], found["job"], found["target"]) == ("card", "db01", "card quick", "/mnt/db")
    assert (found["seed"], found["folder"]) == (1, "runs/one")
    assert found["started_unix_ns"] == run().started_unix_ns
    assert found["started"] == "2026-09-21T14:13:20.000Z"
    assert {type(row["users"]) for row in found["rows"] if row["users"] is not None} == {int}
    assert all({"code", "statistic", "letter"} <= set(each) for each in found["grades"])
    assert set(found["charts"]["overview"]) == {"kind", "title", "summary", "tables"}


def test_findings_carry_their_code_state_and_evidence() -> None:
    findings = _card(card_runs.troubled_card())["findings"]
    void = findings[0]
    assert (void["code"], void["severity"], void["state"]) == ("cached_although_direct_was_claimed", "void", "counted")
    assert void["phases"] == ["randread 8k"]
    assert void["evidence"]["device_share"] == pytest.approx(0.12, abs=0.01)
    stalls = next(each for each in findings if each["code"] == "stalls")
    assert stalls["spans"][0]["start_ns"] == stalls["evidence"]["first_at_ns"]


@pytest.mark.long
def test_a_diagnosis(tmp_path: Path) -> None:
    run = planted.measured("sim:nvme,holes=10us", SURVEY, tmp_path)
    _, diagnosis = planted.inquired(run, tmp_path)
    found = told(card(run, examine(run, diagnosis), diagnosis=diagnosis))
    tested = {each["finding"]: each for each in found["tested"]}
    assert tested["elided_reads"]["verdict"] == "confirmed"
    assert tested["elided_reads"]["ratio"] < 1
    state = next(each for each in found["findings"] if each["code"] == "elided_reads")["state"]
    assert state == "confirmed"


@pytest.mark.long
def test_a_comparison_has_each_pair_by_itself() -> None:
    one, two = card_runs.quick_card(), card_runs.troubled_card()
    found = told(compare([side("one", (one, one, one)), side("two", (two,)), side("three", (one, one))], charts=True))
    assert [(pair["first"], pair["other"]) for pair in found["pairs"]] == [("one", "two"), ("one", "three")]
    assert [each["side"] for each in found["subjects"]] == ["one", "one", "one", "two", "three", "three"]
    rows = found["pairs"][1]["rows"]
    rate = next(row for row in rows if row["statistic"] == "throughput")
    assert (rate["verdict"], rate["ratio"], rate["within_tenth"]) == ("equivalent", 1.0, True)
    assert rate["first_per_s"] == rate["other_per_s"] > 1000
    assert (rate["first_repeats"], rate["other_repeats"], rate["first_ns"]) == (3, 2, None)
    refused = next(row for row in found["pairs"][0]["rows"] if row["verdict"] == "not_compared")
    assert refused["why_not"]
    assert all(len(row["relative"]) == 2 for row in found["relative"])
    assert {row["verdict"] for row in found["repeats"]} == {"repeats", "incomplete"}


def test_repeats() -> None:
    run = card_runs.quick_card()
    found = told(repeats(side("one", (run,) * 3), charts=True))
    assert (found["kind"], found["repeats"][0]["scatter_share"], found["repeats"][0]["runs"]) == ("repeats", 0.0, 3)


@pytest.mark.parametrize(
    ("trial", "kind"),
    long_after(1, [(cache, "at_device"), (dio_matrix, "direct_writes"), (working_set, "working_set")]),
)
def test_an_experiment(trial: Any, kind: str, tmp_path: Path) -> None:
    run = trial_runs.run_of(trial, "sim:nvme", tmp_path, seconds=0.2)
    found = told(trial_report(run, ""))
    assert found["answer"] in get_args(codes.VerdictCode)
    assert found["target"] == "sim:nvme"
    assert {row["kind"] for row in found["experiment"]} == {kind}
    headed = told(judge(run, "").report())
    assert (headed["kind"], headed["answer"]) == ("card", found["answer"])
    assert headed["experiment"] == found["experiment"]


def test_a_listing() -> None:
    run = card_runs.quick_card()
    runs = (CatalogueEntry("runs/a", "a", summary_of(run)), CatalogueEntry("runs/b", "b", None, "run.json is damaged"))
    good, bad = told(listing(runs, 2, "runs"))["runs"]
    assert (good["rows"], good["started_unix_ns"]) == (len(run.measured), run.started_unix_ns)
    assert (bad["status"], bad["why"], bad["rows"]) == ("unreadable", "run.json is damaged", None)


def test_a_verification() -> None:
    found = told(verification_section.report(card_runs.quick_card(), BAD, "runs/one"))
    assert {row["kind"]: row["count"] for row in found["blocks"]}["torn"] == 1
    assert found["places"][0]["offset_bytes"] == 8192


def test_every_code_has_words() -> None:
    assert {*wording.FINDINGS} == {*get_args(codes.FindingCode)}
    assert {*wording.SECTIONS} == {*get_args(codes.SectionCode)}
    assert {*wording.TRUST} == {*get_args(codes.TrustCode)}
    assert {*wording.ASPECTS} == {*get_args(codes.AspectCode)}
    assert {*wording.DIFFERENCES} == {*get_args(codes.DifferenceCode)}
    assert {*wording.COMPARISONS} == {*get_args(codes.ComparisonCode)}


OLD_NAMES = {
    "short_ios": "short I/Os",
    "generator_bound": "generator-bound",
    "read_ahead": "read-ahead",
    "first_write_penalty": "first-write penalty",
    "round_trip_floor": "round-trip floor",
    "serialised_direct_io": "serialised direct I/O",
}  # those of version 1 that are more than their code with spaces


def test_old_names_become_codes_by_rule() -> None:
    for code in wording.FINDINGS:
        assert codes.code_of_old_name(OLD_NAMES.get(code, code.replace("_", " "))) == code
    every = [code for words in vars(codes).values() for code in get_args(words)]
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", code) for code in every)


def test_a_slow_operation_on_a_name_has_no_offset() -> None:
    row = {"phase": "create", "op": "create", "response_ns": 5, "at_ns": 1, "file": "d0/f1"}
    assert msgspec.convert(row, SlowRow).offset_bytes is None
