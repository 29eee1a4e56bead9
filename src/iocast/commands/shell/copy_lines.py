"""Copies of a file in words: what will be done, and each copy when it is made."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.model.copy_trials import CopyPlan, CopyTrial
from iocast.report.wording import words
from iocast.sessions import events
from iocast.text import brief_throughput, brief_time, capacity, counted


def copy_lines(event: events.CopyPlanned | events.CopyReady) -> Iterator[str]:
    """An event in words."""
    match event:
        case events.CopyPlanned(plan, keep):
            yield from plan_lines(plan)
            yield f"one copy stays: {keep}" if keep else "all copies are removed; SOURCE is only read"
        case events.CopyReady(trial, number, of):
            yield f"[{number:{len(str(of))}}/{of}] {words(trial.cell.method)}, {trial.cell.cache}: {_outcome(trial)}"


def plan_lines(plan: CopyPlan) -> Iterator[str]:
    """What would be copied where, in which ways, and how much is written."""
    yield f"experiment copy: {plan.source.path} ({capacity(plan.size_bytes)}, {plan.source.filesystem})"
    yield f"to {plan.destination.path} ({plan.destination.filesystem}), one copy at a time"
    ways = ", ".join(words(method) for method in plan.methods)
    yield f"{counted(len(plan.methods), 'way')}: {ways}"
    yield (
        f"{len(plan.cells)} copies: each way with the source out of and in the page cache,"
        f" {counted(plan.rounds, 'round')}; writes up to {capacity(plan.written_bytes)}"
    )


def _outcome(trial: CopyTrial) -> str:
    figures = trial.figures
    if figures.refused is not None:
        return f"refused: {figures.refused.call}, {figures.refused.name}"
    if trial.same is False:
        return "the copy differs from the source"
    took = figures.elapsed_ns + figures.sync_ns
    rate = brief_throughput(figures.bytes / took * 1e9) if took else ""
    shared = ", reflink" if trial.shared_bytes else ""
    return f"{brief_time(took)} with fsync, {rate}{shared}"
