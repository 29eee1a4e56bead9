"""What a terminal shows when `iocast card` is done: no more than a screen, its outcome in the last lines."""

from __future__ import annotations

import io

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.diagnose.examination import examine
from iocast.diagnose.grades import grade
from iocast.model.report import Report
from iocast.model.run import Run
from iocast.report.card.card_report import card
from iocast.report.renderers import screen, screen_with_rows, terminal


def _card(run: Run, folder: str = "runs/x") -> Report:
    examination = examine(run)
    return card(run, examination, folder, grades=grade(run, examination))


def _lines(report: Report, width: int = 80) -> list[str]:
    out = io.StringIO()
    screen.render(report, out, colour=False, width=width)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("made", [card_runs.quick_card, card_runs.troubled_card])
def test_it_fits_on_a_screen_of_80_by_24(made: type[Run]) -> None:
    lines = _lines(_card(made()))
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 80


def test_its_last_lines_say_letters_four_figures_finding_and_bottleneck() -> None:
    last = _lines(_card(card_runs.quick_card()))[-10:]
    heads = [line.split("  ")[0] for line in last if not line.startswith(" ")]
    assert heads[:2] == ["Grade", "Trust"]
    assert heads[2:6] == ["Random 8k read", "Random 8k reads", "1M scan", "4k commit"]
    assert heads[6:] == ["Worst finding", "Bottleneck"]


def test_the_head_says_when_on_which_host_and_by_which_version() -> None:
    run = replace(card_runs.quick_card(), iocast_version="9.8.7")
    assert _lines(_card(run))[1] == "2026-09-21 14:13 UTC · db01 · iocast 9.8.7"


def test_the_whole_card_ends_as_the_screen_does() -> None:
    report, out = _card(card_runs.troubled_card()), io.StringIO()
    terminal.render(report, out, colour=False, width=80)
    assert out.getvalue().splitlines()[-8:] == _lines(report)[-8:]


def test_a_command_that_does_not_fit_stands_whole_on_its_own_line() -> None:
    folder = "runs/" + "a-long-name/" * 8 + "x"
    assert f"  iocast report {folder}" in _lines(_card(card_runs.quick_card(), folder))


@pytest.mark.parametrize("trusted", [True, False])
def test_a_few_rows_have_their_figures_on_the_screen(trusted: bool) -> None:
    """`iocast run` of four rows told no p99 of any, and of rows that could not be trusted no figure at all."""
    run = card_runs.run(card_runs.reads("randread 8k 1x1"), card_runs.commits())
    report, out = _card(run if trusted else card_runs.troubled_card()), io.StringIO()
    screen_with_rows.render(report, out, colour=False, width=80)
    heads = [line.split() for line in out.getvalue().splitlines()]
    assert ["row", "load", "size", "MB/s", "p50", "p99", "IOPS", "trust"] in heads
    assert max(map(len, out.getvalue().splitlines())) <= 80
    assert not any("p99" in line and "MB/s" in line for line in _lines(report))
