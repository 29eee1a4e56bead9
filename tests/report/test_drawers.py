"""Drawing in processes of their own: the same pictures, whatever becomes of the processes, and none is left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import card_runs
import pytest
from test_page import page_of, report_of

from iocast.report.vega import begin, drawers, spec_to_svg, specification, to_svgs
from iocast.report.vega.theme import PAGE

SPECS = [specification(chart, PAGE) for chart in report_of(card_runs.quick_card()).charts][:6]


def drawn(specs: list[Any]) -> list[str]:
    """All specifications as SVG."""
    return drawers.finish([drawers.Drawing(spec) for spec in specs])


def same(drawn: list[str], specs: list[Any]) -> bool:
    """True when these are the drawings of this process, but for the last digits of places and counted names."""
    loose = re.compile(r"(?<=\.\d{6})\d+|(?<=clip)\d+")
    return [loose.sub("", svg) for svg in drawn] == [loose.sub("", spec_to_svg(spec)) for spec in specs]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Every drawer that is started; two at a time, however many processors there are."""
    found: list[subprocess.Popen[bytes]] = []
    real = subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> subprocess.Popen[bytes]:
        found.append(real(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", popen)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2})
    yield found
    assert not drawers._waiting
    assert all(each.returncode is not None for each in found), "nobody is left behind"


def test_two_processes_draw_what_one_would(started: list[subprocess.Popen[bytes]]) -> None:
    assert same(drawn(SPECS), SPECS)
    assert [each.returncode for each in started] == [0, 0]


def test_those_that_wait_are_used_and_not_started_twice(started: list[subprocess.Popen[bytes]]) -> None:
    drawers.get_ready()
    drawers.get_ready()
    assert same(drawn(SPECS[:1]), SPECS[:1])
    assert len(started) == 2


def test_what_was_begun_is_drawn_once_and_what_was_not_as_well(started: list[subprocess.Popen[bytes]]) -> None:
    assert drawers.begin(SPECS[0]) is None, "nobody waits"
    drawers.get_ready()
    begun = [drawers.begin(spec) for spec in SPECS[:3]]
    drawings = [each if each is not None else drawers.Drawing(spec) for each, spec in zip(begun, SPECS, strict=False)]
    drawings += [drawers.Drawing(spec) for spec in SPECS[3:]]
    assert same(drawers.finish(drawings), SPECS)
    assert len(started) == 2


def test_a_page_of_charts_that_were_begun_is_the_same_page(started: list[subprocess.Popen[bytes]]) -> None:
    run = card_runs.quick_card()
    charts = report_of(run).charts
    alone = to_svgs(charts, PAGE)
    drawers.get_ready()
    for chart in charts:
        begin(chart, PAGE)
    loose = re.compile(r"(?<=\.\d{6})\d+|(?<=clip)\d+")
    assert [loose.sub("", svg) for svg in to_svgs(charts, PAGE)] == [loose.sub("", svg) for svg in alone]


def test_a_drawer_that_ends_leaves_its_work_to_this_process(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    drawers.get_ready()
    for each in started:
        each.kill()
        each.wait()
    assert same(drawn(SPECS), SPECS)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert same(drawn(SPECS), SPECS)


def test_half_an_answer_is_none(started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    half = "import sys; sys.stdin.readline(); sys.stdout.write('100\\n<svg'); sys.stdout.flush()"
    monkeypatch.setattr(drawers, "_command", lambda: [sys.executable, "-c", half])
    assert same(drawn(SPECS), SPECS)
    assert len(started) == 2


def test_one_processor_has_enough_to_do_without_them(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0})
    drawers.get_ready()
    assert "<svg" in page_of(card_runs.quick_card())
    assert not started


def test_few_charts_start_nobody(started: list[subprocess.Popen[bytes]]) -> None:
    assert same(drawn(SPECS[:2]), SPECS[:2])
    assert drawn([]) == []
    assert not started
