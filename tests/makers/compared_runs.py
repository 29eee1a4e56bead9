"""Sides of a comparison made by hand, and their charts."""

from __future__ import annotations

from typing import Any

from makers import card_runs

from iocast.diagnose.comparable import Side
from iocast.model.run import Run
from iocast.report.comparison_report import compare


def side_of(label: str, *runs: Run) -> Side:
    """Runs as one side, every row to be trusted."""
    return Side(label, runs, {name: "A" for run in runs for name in (each.phase.name for each in run.measured)})


def twice(label: str, *values: int) -> Side:
    """A side of one run for each median in us."""
    spread = [card_runs.lognormal(20_000, value * 1000, 0.3) for value in values]
    return side_of(label, *(card_runs.run(card_runs.reads("randread 8k", times=times)) for times in spread))


def comparison_charts(*sides: Side) -> dict[str, Any]:
    """The charts of a comparison by their kinds; of several of a kind the last."""
    return {chart.kind: chart for chart in compare(sides, charts=True).charts}
