"""Markdown and CSV as golden files, and what each promises."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest
from makers import card_runs

from iocast.diagnose.examination import examine
from iocast.model.report import Column, Report, Row, Section, Table
from iocast.report.card.card_report import card
from iocast.report.renderers import csv_table, markdown

GOLDEN = Path(__file__).parents[2] / "golden" / "card"
RUNS = {"quick": card_runs.quick_card, "troubled": card_runs.troubled_card}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("renderer", "suffix"), [(markdown, "md"), (csv_table, "csv")])
def test_golden(run: str, renderer: object, suffix: str) -> None:
    found = RUNS[run]()
    out = io.StringIO()
    renderer.render(card(found, examine(found), "runs/one", {}), out)  # type: ignore[attr-defined]
    file = GOLDEN / f"{run}.{suffix}"
    if os.environ.get("IOCAST_UPDATE_GOLDEN"):
        file.write_text(out.getvalue(), encoding="utf-8")
    assert out.getvalue() == file.read_text(encoding="utf-8"), "if it is meant so: IOCAST_UPDATE_GOLDEN=1"


def test_every_line_of_the_csv_is_as_wide_as_its_head() -> None:
    out = io.StringIO()
    run = card_runs.troubled_card()
    csv_table.render(card(run, examine(run)), out)
    head, *lines = csv.reader(io.StringIO(out.getvalue()))
    assert len(set(head)) == len(head)
    assert all(len(line) == len(head) for line in lines)
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    assert [row["phase"] for row in rows if row["part"] == "0"] == [each.phase.name for each in run.measured]
    assert float(rows[1]["response_p50_ns"]) == pytest.approx(240_000, rel=0.01)
    assert "delivered only 12%" in rows[0]["void"]


def test_markdown_takes_no_sign_for_its_own() -> None:
    table = Table("", (Column("a", "a|b"), Column("b", "b")), (Row({"a": "x|y_z", "b": "`<b>`"}),))
    out = io.StringIO()
    markdown.render(Report("*t*", "1 < 2", (Section("results", "s", tables=(table,)),)), out)
    text = out.getvalue()
    assert "# \\*t\\*" in text
    assert "1 &lt; 2" in text
    assert "| a\\|b | b |" in text
    assert "| x\\|y\\_z | \\`&lt;b>\\` |" in text
