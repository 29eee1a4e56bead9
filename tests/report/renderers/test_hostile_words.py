"""What stands in a file moves no cursor, turns no text round, opens no tag and computes nothing, in whatever form."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from makers import card_runs
from makers.damaged_folders import whole_folder
from makers.hostile_folders import HOSTILE, SEEN, with_free_words
from makers.left_out import long_after
from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.archive.catalogue import runs_below
from iocast.diagnose.comparable import side
from iocast.diagnose.examination import examine
from iocast.model.live.moment import Moment
from iocast.model.report import Figure, Report
from iocast.model.run import Sample
from iocast.report.card.card_report import card
from iocast.report.card.judged import judge
from iocast.report.comparison_report import compare
from iocast.report.listing import listing
from iocast.report.live.line_table import Table, csv_lines, json_lines
from iocast.report.live.open_metrics import scraped
from iocast.report.live.styled_lines import ansi, line, plain
from iocast.report.renderers import RENDERERS
from iocast.report.renderers.classic import render_run
from iocast.report.renderers.latency_map_records import render_records
from iocast.report.renderers.r_matrix import render_matrix
from iocast.report.renderers.safe_words import safe
from iocast.report.renderers.vdbench.vdbench_console import render_console
from iocast.text import harmless, harmless_json, harmless_line, no_formula

_FREE = (
    *("title", "verdict", "says", "note", "notes", "paragraphs", "next_steps", "explain", "summary", "job", "target"),
    *("host", "folder", "side", "why", "text"),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose job, target, host, findings, notes and tags are hostile."""
    path = whole_folder(tmp_path_factory.mktemp("hostile"))
    with_free_words(path)
    return path


def _hostile(value: Any, free: bool = False) -> Any:
    """A report with HOSTILE in every field of words."""
    if isinstance(value, str):
        return f"{HOSTILE}{value}" if free else value
    if isinstance(value, tuple):
        return tuple(_hostile(each, free) for each in value)
    if isinstance(value, dict):
        return {key: f"{HOSTILE}{each}" if key in ("phase", "says", "why") else each for key, each in value.items()}
    if isinstance(value, Struct) and not isinstance(value, Figure):
        return replace(
            value, **{name: _hostile(getattr(value, name), name in _FREE) for name in value.__struct_fields__}
        )
    return value


def _reports(folder: Path) -> dict[str, Report]:
    run = archive.load(str(folder))
    other = archive.load(str(folder))
    troubled = card_runs.troubled_card()
    return {
        "card": judge(run, str(folder)).report(charts=True),
        "listing": listing(tuple(runs_below(str(folder.parent))), 1, HOSTILE),
        "comparison": compare([side(HOSTILE, (run,)), side(f"{HOSTILE}2", (other,))], charts=True),
        "every field": _hostile(card(troubled, examine(troubled), "runs/one", {})),
    }


def _rendered(report: Report, form: str) -> str:
    out = io.StringIO()
    RENDERERS[form].render(report, out, colour=True, width=100)
    return out.getvalue()


def _none_seen(text: str) -> None:
    own = re.sub(r"\x1b\[[0-9;]*m", "", text)
    for sign in SEEN:
        assert sign not in own, f"{sign!r} in {own[max(0, own.index(sign) - 50) : own.index(sign) + 50]!r}"


@pytest.mark.parametrize("form", long_after(2, RENDERERS))
def test_every_renderer_makes_words_harmless(folder: Path, form: str) -> None:
    for name, report in _reports(folder).items():
        text = _rendered(report, form)
        _none_seen(text)
        if form == "html":
            assert "<script>|" not in text, name
        elif form == "markdown":
            assert "![x]" not in text, name
            assert "<script" not in text, name
            assert not re.search(r"^\s*=1", text, re.MULTILINE), name
        elif form == "csv":
            for row in csv.reader(io.StringIO(text)):
                for cell in row:
                    assert not cell.startswith(("=", "@", "+")), cell
                    assert not cell.startswith("-") or re.fullmatch(r"-[\d.e+-]+", cell), cell
        elif form == "json" and name == "card":
            assert json.dumps(HOSTILE) in json.dumps(json.loads(text)), "for programs it is the same text"


def test_forms_of_other_tools_make_words_harmless(folder: Path) -> None:
    run = archive.load(str(folder))
    courses = archive.load_courses(str(folder))
    assert HOSTILE in run.phases[-1].phase.name
    for render in (render_run, render_matrix):
        out = io.StringIO()
        render(run, out)
        _none_seen(out.getvalue())
    for with_courses in (render_console, render_records):
        out = io.StringIO()
        with_courses(run, courses, out)
        _none_seen(out.getvalue())


def test_live_lines_make_words_harmless() -> None:
    _none_seen(plain([line(HOSTILE, "warn")]))
    _none_seen(ansi([line(HOSTILE, "warn"), line(HOSTILE)]))
    table = Table(("process", "reads"), ((HOSTILE, 1.5),))
    (_, row) = csv_lines(table, 1, head=True)
    _none_seen(row)
    assert next(csv.reader([row]))[1].startswith("'=1+1")
    (document,) = json_lines(table, 1)
    _none_seen(document)
    assert json.loads(document)["process"] == HOSTILE
    _none_seen(scraped(Moment(1, (Sample(1, "diskstats", HOSTILE, "reads", 2.0),))))


def test_harmless_words_are_left_as_they_are() -> None:
    for words in ("µ × · — – ± ↳ … ▁█", "שלום", "日本語", "a\u00a0b", "é 👩‍💻", "tab\tand\nline"):
        assert harmless(words) == words
    assert harmless_line("a\r\nb\u2028c\td") == "a\N{REPLACEMENT CHARACTER} b\N{REPLACEMENT CHARACTER}c d"
    assert harmless("\udcff\x9b") == "\N{REPLACEMENT CHARACTER}" * 2
    assert json.loads(harmless_json('"\u202e\x7f\x9bé"')) == "\u202e\x7f\x9bé"
    assert [no_formula(each) for each in ("-5%", "-1.5", "- 5", "=A1", "@x", "x=1")] == [
        *("-5%", "-1.5", "'- 5", "'=A1", "'@x", "x=1")
    ]
    report = card(card_runs.quick_card(), examine(card_runs.quick_card()))
    assert safe(report) is report
