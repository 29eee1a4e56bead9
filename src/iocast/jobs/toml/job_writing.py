"""Writes a Job as a job file in TOML that reads back to the same phases."""

from __future__ import annotations

import json
from typing import Any

from iocast.errors import SpecError
from iocast.jobs.toml.contradictions import OPS
from iocast.jobs.toml.step_writing import step_fields
from iocast.model.job import Job
from iocast.model.phase_names import percent_text
from iocast.model.plan import Phase
from iocast.model.tree import Tree
from iocast.model.workload import (
    Append,
    Bursts,
    Closed,
    Compressible,
    Dedupable,
    Hotspot,
    Poisson,
    RecordedPlaces,
    RecordedTimes,
    Repeated,
    Sequential,
    Stride,
    Uniform,
    Unstated,
    Workload,
    Zeros,
    Zipf,
    starts_empty,
)
from iocast.units import duration_text, rate_text, size_text

_SHARED = ("direct",)  # what [defaults] says once when every phase has the same


def toml_text(job: Job) -> str:
    """The job as TOML, every phase written out."""
    phases = [_phase(phase) for phase in job.phases]
    shared = {key: phases[0][key] for key in _SHARED if all(phase.get(key) == phases[0][key] for phase in phases)}
    text = [f"name = {_value(job.name)}"]
    text += [f"description = {_value(job.description)}"] if job.description else []
    if job.file_size or job.file_count > 1:
        text += ["", "[files]"] + ([f"count = {job.file_count}"] if job.file_count > 1 else [])
    if job.file_size:
        size = job.file_size
        amount = size_text(size.size_bytes) if size.size_bytes else f"{size.memory_multiple:g}xRAM"
        text.append(f"size = {_value(amount)}")
    text += ['layout = "striped"', f"stripe = {_value(size_text(job.stripe_bytes))}"] if job.stripe_bytes else []
    text += tree_lines(job.tree) if job.tree else []
    engine = [f'engine = "{job.engine}"'] if job.engine != "auto" else []
    engine += [f'polling = "{job.polling}"'] if job.polling != "none" else []
    text += ["", "[defaults]", *engine, *_lines(shared)]
    for phase in phases:
        own = {key: value for key, value in phase.items() if key not in shared}
        text += ["", "[[phase]]", *_lines(own)]
    return "\n".join(text) + "\n"


def toml_notes(job: Job) -> list[str]:
    """What a user should know about the file that toml_text makes."""
    if not job.file_size and not job.tree:
        return ["the job sets no file size: a directory needs [files] with size, or --size"]
    return []


def _lines(fields: dict[str, Any]) -> list[str]:
    return [f"{key} = {_value(value)}" for key, value in fields.items()]


def _value(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(f"{key} = {_value(part)}" for key, part in value.items()) + "}"
        case list():
            return "[\n" + "".join(f"    {_value(part)},\n" for part in value) + "]"
        case float():
            return str(int(value)) if value == int(value) else repr(value)
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return str(value)


def _phase(phase: Phase) -> dict[str, Any]:
    """The fields of a [[phase]] table."""
    if phase.role == "verify":
        return {"test": phase.test, "role": "verify"}
    load = phase.workload
    fields: dict[str, Any] = {"test": phase.test}
    fields |= {"together": phase.together} if phase.together else {}
    fields |= {"engine": phase.engine} if phase.engine else {}
    if phase.role != "measure":
        fields["role"] = phase.role
    if load.tree_only:
        fields |= operation_fields(phase)
    else:
        fields |= step_fields(load) if load.steps else _mix(load) | _pattern(load)
    fields |= {key: value for key, value in (("users", load.users), ("depth", load.depth)) if value > 1}
    fields["direct"] = load.direct
    fields |= _writes(phase) if load.writes else {}
    fields |= {"verify": True} if phase.verify else {}
    fields |= {"verify_block": size_text(phase.verify_block_bytes)} if phase.verify_block_bytes else {}
    match load.arrival:
        case _ if load.steps:
            pass
        case Closed(think_ns=think_ns):
            fields |= {"think": duration_text(think_ns)} if think_ns else {}
        case Bursts(ios=ios, every_ns=every_ns):
            fields |= {"burst": ios, "every": duration_text(every_ns)}
        case RecordedTimes():
            raise _replayed()
        case arrival:
            fields["rate"] = rate_text(arrival.rate_per_s)
            fields["arrival"] = "poisson" if isinstance(arrival, Poisson) else "constant"
    length = phase.length
    fields |= {"follows": True} if length.follows else {}
    if phase.until:
        fields |= {"until": "steady", "rule": phase.until.rule}
        fields["at_least"] = duration_text(round(phase.until.first_s * 1e9))
        fields["at_most"] = duration_text(round((length.seconds or 0.0) * 1e9))
    elif length.seconds is not None:
        fields["time"] = duration_text(round(length.seconds * 1e9))
    fields |= {"ios": length.ios} if length.ios is not None else {}
    fields |= {"bytes": size_text(length.bytes)} if length.bytes is not None else {}
    start, size = phase.region_start_bytes, phase.region_size_bytes
    if start or size is not None:
        fields["region"] = {"start": size_text(start)} if start else {}
        fields["region"] |= {"size": size_text(size)} if size is not None else {}
    return fields


def _mix(load: Workload) -> dict[str, Any]:
    """Weights and one size where that says it all, mix where it does not."""
    sizes = {item.size_bytes for item in load.mix if item.size_bytes}
    ops = [item.op for item in load.mix]
    if len(sizes) == 1 and ops == [op for op in OPS if op in ops]:
        return {**{item.op: item.weight for item in load.mix}, "size": size_text(sizes.pop())}
    rows = [
        {"op": item.op, **({"size": size_text(item.size_bytes)} if item.size_bytes else {}), "weight": item.weight}
        for item in load.mix
    ]
    return {"mix": rows}


def _pattern(load: Workload) -> dict[str, Any]:
    match load.locality:
        case Sequential(start=start, backwards=backwards):
            fields: dict[str, Any] = {"start": start} if start != "own_region" else {}
            return {"pattern": "sequential", **fields, **({"backwards": True} if backwards else {})}
        case Stride(stride_bytes=stride):
            return {"pattern": "stride", "stride": size_text(stride)}
        case Zipf(theta=theta):
            return {"pattern": "zipf", "theta": theta}
        case Hotspot(space_percent=space, access_percent=access):
            return {"pattern": "hotspot", "space_percent": space, "access_percent": access}
        case Uniform(repeats=repeats):
            return {"pattern": "random", **({} if repeats else {"repeats": False})}
        case Unstated():
            raise SpecError("a job needs the access pattern of its I/O; this imported run does not state it", "")
        case Append():
            raise SpecError("only a step appends", "")
        case RecordedPlaces():
            raise _replayed()


def _replayed() -> SpecError:
    return SpecError(
        "a replay has no job file: its I/Os are the rows of a trace", "iocast replay TRACE PATH repeats it"
    )


def _writes(phase: Phase) -> dict[str, Any]:
    """How durable, and what."""
    load = phase.workload
    fields: dict[str, Any] = {"sync": load.sync} if load.sync != "none" else {}
    fields |= {f"{load.fsync_op}_every": load.fsync_every} if load.fsync_every else {}
    match load.payload:
        case Zeros() | Repeated() as payload:
            return {**fields, "payload": "zeros" if isinstance(payload, Zeros) else "repeated"}
        case Compressible(percent=percent):
            return {**fields, "compressible": percent_text(percent)}
        case Dedupable(percent=percent):
            return {**fields, "dedupable": percent_text(percent)}
        case _:
            return fields


def tree_lines(tree: Tree) -> list[str]:
    """The [tree] table."""
    lines = ["", "[tree]", f"depth = {tree.depth}", f"width = {tree.width}", f"files = {tree.files}"]
    lines += [f'files_in = "{tree.files_in}"'] if tree.files_in != "leaves" else []
    if len(tree.sizes) == 1:
        lines.append(f'size = "{size_text(tree.sizes[0].size_bytes)}"')
    elif tree.sizes:
        each = (f'"{size_text(size.size_bytes)}" = {size.weight!r}' for size in tree.sizes)
        lines.append(f"size = {{{', '.join(each)}}}")
    return [*lines, *(["own = true"] if tree.own else [])]


def operation_fields(phase: Phase) -> dict[str, Any]:
    """The fields of a phase that only phases in a tree have."""
    load = phase.workload
    fields: dict[str, Any] = {"operations": {item.op: item.weight for item in load.mix}}
    sizes = [item.size_bytes for item in load.mix if item.size_bytes]
    if sizes:
        fields |= {"size": size_text(sizes[0])}
        fields |= {"pattern": "sequential" if isinstance(load.locality, Sequential) else "random"}
    fields |= {"select": load.select} if load.select != "sequential" else {}
    fields |= {"stop_after": load.stop_after} if load.stop_after is not None else {}
    begins = "empty" if phase.from_nothing else "as_left" if phase.as_it_is else "whole"
    usual = "empty" if starts_empty(item.op for item in load.mix) else "whole"
    fields |= {"begins": begins} if begins != usual else {}
    return fields | ({"cold": True} if phase.cold else {})
