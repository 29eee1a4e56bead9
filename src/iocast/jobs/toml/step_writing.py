"""Writes the steps of a phase as they stand in a job file."""

from __future__ import annotations

from typing import Any

from iocast.jobs.simulated.law_text import law_text, time_text
from iocast.model.service_laws import ConstantLaw
from iocast.model.workload import Append, Hotspot, Sequential, Step, Stepped, Workload, Zipf
from iocast.units import size_text


def step_fields(load: Workload) -> dict[str, Any]:
    """The fields of a [[phase]] that say its steps."""
    names = step_names(load.steps)
    fields: dict[str, Any] = {"pauses": "between"} if isinstance(load.arrival, Stepped) else {}
    return {**fields, "steps": [_row(load.steps, at, names) for at in range(len(load.steps))]}


def step_names(steps: tuple[Step, ...]) -> list[str]:
    """A name for each: its operation, and a number where several have it."""
    ops = [step.op for step in steps]
    return [op if ops.count(op) == 1 else f"{op}-{ops[: at + 1].count(op)}" for at, op in enumerate(ops)]


def _row(steps: tuple[Step, ...], at: int, names: list[str]) -> dict[str, Any]:
    step = steps[at]
    row: dict[str, Any] = {"step": names[at], "op": step.op}
    if len(step.sizes) == 1:
        row["size"] = size_text(step.sizes[0].size_bytes)
    elif step.sizes:
        row["size"] = {size_text(each.size_bytes): each.weight for each in step.sizes}
    row["region"] = {"start": size_text(step.start_bytes)} if step.start_bytes else {}
    row["region"] |= {"size": size_text(step.size_bytes)} if step.size_bytes else {}
    row |= _pattern(step)
    row |= {"joins": names[step.joins]} if step.joins != at and step.sizes else {}
    if step.pause != ConstantLaw(0):
        constant = isinstance(step.pause, ConstantLaw)
        row["pause"] = time_text(step.pause.mean_ns) if constant else law_text(step.pause)  # type: ignore[union-attr]
    following = {names[to]: weight for to, weight in enumerate(step.next) if weight}
    row["next"] = next(iter(following)) if len(following) == 1 else following
    return {key: value for key, value in row.items() if value != {}}


def _pattern(step: Step) -> dict[str, Any]:
    match step.locality:
        case Append(again_bytes=again, again_percent=percent):
            more = {"again": size_text(again), "again_percent": percent} if percent else {}
            return {"pattern": "append", **more}
        case Zipf(theta=theta):
            return {"pattern": "zipf", "theta": theta}
        case Hotspot(space_percent=space, access_percent=access):
            return {"pattern": "hotspot", "space_percent": space, "access_percent": access}
        case Sequential():
            return {"pattern": "sequential"}
        case _:
            return {}
