"""A comparison is called by targets and jobs, begins with what moved most, counts, and has one overall ratio."""

from __future__ import annotations

import io
import math
from typing import Any

import msgspec
import pytest
from makers import card_runs
from makers.compared_runs import side_of
from msgspec.structs import replace

from iocast.diagnose.comparable import Side
from iocast.model.report import Report
from iocast.report.comparison_report import compare
from iocast.report.renderers import json_report, markdown

MS = 1_000_000


def _side(label: str, scale: dict[str, float], target: str = "/mnt/db", job: str = "", runs: int = 3) -> Side:
    """Runs of a row for each name, whose times are so many times 1 ms."""
    rows = [card_runs.reads(name, times=card_runs.histogram((MS * times, 2000))) for name, times in scale.items()]
    run = card_runs.run(*rows)
    plan = replace(run.plan, target=replace(run.plan.target, path=target), name=job or run.plan.name)
    return side_of(label, *[replace(run, plan=plan)] * runs)


def _moved() -> Report:
    slow, fast = {"steady": 1, "worse": 1, "better": 8}, {"steady": 1, "worse": 2, "better": 1}
    return compare([_side("2026-05-01-card", slow, "/mnt/a"), _side("2026-05-02-card", fast, "/mnt/b")])


@pytest.mark.parametrize(
    ("targets", "jobs", "title"),
    [
        (("/a", "/b"), ("card", "card"), "Comparison · card · /a and /b"),
        (("/a", "/a"), ("before", "after"), "Comparison · /a · before and after"),
        (("/a", "/a"), ("card", "card"), "Comparison · card on /a · one and other"),
    ],
)
def test_the_title_says_targets_and_jobs(targets: tuple[str, str], jobs: tuple[str, str], title: str) -> None:
    one, other = (
        _side(label, {"r": 1}, target, job) for label, target, job in zip(("one", "other"), targets, jobs, strict=True)
    )
    assert compare([one, other]).title == title


def test_what_moved_most_comes_first() -> None:
    rows = next(table for section in _moved().sections for table in section.tables if table.key == "rows").rows
    assert list(dict.fromkeys(row.cells["phase"] for row in rows if not row.part)) == ["better", "worse", "steady"]


def test_figures_are_counted_and_summed_up_in_one_ratio() -> None:
    report, out = _moved(), io.StringIO()
    assert "of 6 figures of throughput and p99, 2 better, 2 worse, 2 same." in report.verdict
    json_report.render(report, out)
    found: dict[str, Any] = msgspec.json.decode(out.getvalue())["pairs"][0]["overall"]
    assert found["ratio"] == pytest.approx(math.cbrt(8 / 2), rel=0.02)
    assert found["ratio_low"] <= found["ratio"] <= found["ratio_high"]
    assert [found[each] for each in ("better", "worse", "same", "undecided")] == [2, 2, 2, 0]


def test_markdown_shows_results_and_folds_the_rest() -> None:
    out = io.StringIO()
    markdown.render(_moved(), out)
    said = out.getvalue()
    assert said.index("## Results") < said.index("<details>")
    assert said.count("<details>") == said.count("</details>") > 0
    assert "<summary>Response times</summary>" in said
