"""Report cards as people and machines see them: golden files, which IOCAST_UPDATE_GOLDEN=1 writes anew."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from makers import card_runs, classic_runs
from makers.left_out import long_after

from iocast.diagnose.examination import examine
from iocast.model.run import Run
from iocast.report.card.card_report import card
from iocast.report.renderers import RENDERERS, terminal
from iocast.report.renderers.classic import render_run
from iocast.report.renderers.r_matrix import render_matrix
from iocast.tools import importers

GOLDEN = Path(__file__).parents[2] / "golden" / "card"
FOLDER = "runs/2026-09-21T14-13-card"
RUNS = {"quick": card_runs.quick_card, "troubled": card_runs.troubled_card}


def _compare(name: str, text: str) -> None:
    file = GOLDEN / name
    if os.environ.get("IOCAST_UPDATE_GOLDEN"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8"), "if it is meant so: IOCAST_UPDATE_GOLDEN=1"


def _rendered(run: Run, encoding: str, *, colour: bool, width: int) -> str:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding)
    terminal.render(card(run, examine(run), FOLDER), out, colour=colour, width=width)
    out.flush()
    return raw.getvalue().decode(encoding)


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("run", RUNS)
def test_terminal(run: str, width: int) -> None:
    text = _rendered(RUNS[run](), "utf-8", colour=False, width=width)
    assert max(len(line) for line in text.splitlines()) <= width
    assert not any(line != line.rstrip() for line in text.splitlines())
    _compare(f"{run}_{width}.txt", text)


@pytest.mark.parametrize("run", RUNS)
def test_plain_ascii(run: str) -> None:
    text = _rendered(RUNS[run](), "ascii", colour=False, width=100)
    assert "?" not in text
    _compare(f"{run}_ascii.txt", text)


@pytest.mark.parametrize("width", long_after(1, [40, 60, 80, 120]))
def test_colour_changes_no_sign(width: int) -> None:
    run = card_runs.quick_card()
    coloured = _rendered(run, "utf-8", colour=True, width=width)
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == _rendered(run, "utf-8", colour=False, width=width)


def test_void_rows_are_struck_with_the_reason_in_place() -> None:
    lines = _rendered(card_runs.troubled_card(), "utf-8", colour=False, width=120).splitlines()
    at = next(index for index, line in enumerate(lines) if line.startswith("randread   1x1"))
    assert "µs" not in lines[at]
    assert "------" in lines[at]
    assert lines[at + 1].startswith("  ↳ void: The device delivered only 12%")
    coloured = _rendered(card_runs.troubled_card(), "utf-8", colour=True, width=120)
    assert "\x1b[2;9m" in coloured


@pytest.mark.parametrize("run", RUNS)
def test_json(run: str) -> None:
    out = io.StringIO()
    found = RUNS[run]()
    RENDERERS["json"].render(card(found, examine(found), FOLDER), out, colour=False, width=0)
    _compare(f"{run}.json", out.getvalue())


@pytest.mark.parametrize(
    ("golden", "run", "percentiles"),
    [("classic_v1.txt", classic_runs.fio_1_50, False), ("classic.txt", classic_runs.two_tests, True)],
)
def test_classic_is_what_fioparse_printed(golden: str, run: object, percentiles: bool) -> None:
    assert callable(run)
    out = io.StringIO()
    render_run(run(), out, percentiles=percentiles)
    # These two files came from fioparse.sh itself, so they are never written anew.
    assert out.getvalue() == (GOLDEN / golden).read_text(encoding="utf-8")


def test_classic_without_buckets_is_the_short_form() -> None:
    out = io.StringIO()
    render_run(classic_runs.two_tests(), out, buckets=False, percentiles=False)
    head, first, _ = out.getvalue().splitlines()
    assert head == "test  users size         MB       ms      min      max      std    IOPS "
    assert first == "randread 16   8K r   78.125    1.479    0.040 3000.000   35.165   10000"


def test_the_matrix_is_what_fioparse_hands_to_r() -> None:
    """V1: the row that fioparse.sh -R makes of the slide, but that fio 1.50 had no percentiles (it prints 0.000)."""
    out = io.StringIO()
    render_matrix(classic_runs.fio_1_50(), out)
    row = next(line for line in out.getvalue().splitlines() if '"read"' in line)
    cells = [cell.strip() for cell in row.split(",")]
    assert cells[:9] == ['"read"', "1", '"8K"', "12.106", "0.641", "0.2", "10", "0.2", "1549"]
    assert cells[9:25] == ["0", "0", "2", "20", "70", "7", *["0"] * 10]
    assert len(cells) == 31
    assert "),nrow=31)" in out.getvalue()


def test_the_matrix_is_read_back(tmp_path: Path) -> None:
    out = io.StringIO()
    render_matrix(classic_runs.two_tests(), out)
    (tmp_path / "m.r").write_text(out.getvalue(), encoding="utf-8")
    (again,) = importers.read((str(tmp_path / "m.r"),))
    back = io.StringIO()
    render_matrix(again, back)
    ours, theirs = (text.getvalue().split("tm <-")[0].splitlines()[2:4] for text in (out, back))
    assert [line.split(",")[:3] for line in ours] == [line.split(",")[:3] for line in theirs]
    assert [line.split(",")[9:] for line in ours] == [line.split(",")[9:] for line in theirs]


def test_what_is_unknown_is_na_in_the_matrix(tmp_path: Path) -> None:
    """The slides' older table states neither spread nor percentiles nor shares."""
    (tmp_path / "t.txt").write_text(
        "test  users size         MB       ms    IOPS\n  read  1   8K r   28.299    0.271    3622\n"
    )
    (run,) = importers.read((str(tmp_path / "t.txt"),))
    out = io.StringIO()
    render_matrix(run, out)
    row = next(line for line in out.getvalue().splitlines() if '"read"' in line)
    assert [cell.strip() for cell in row.split(",")] == (
        ['"read"', "1", '"8K"', "28.299", "0.271", "NA", "NA", "NA", "3622"] + ["NA"] * 22
    )


def test_classic_has_a_line_for_each_side_of_a_mix() -> None:
    out = io.StringIO()
    render_run(card_runs.run(card_runs.mixed()), out)
    assert [line[16:19].strip() for line in out.getvalue().splitlines()[1:]] == ["r", "w"]


def test_every_renderer_takes_the_same_call() -> None:
    run = card_runs.quick_card()
    assert list(RENDERERS) == ["terminal", "screen", "screen_with_rows", "html", "markdown", "json", "csv", "junit"]
    for renderer in RENDERERS.values():
        out = io.StringIO()
        renderer.render(card(run, examine(run)), out, colour=False, width=100)
        assert out.getvalue()
