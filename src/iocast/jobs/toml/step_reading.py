"""The steps of a phase: what contradicts itself in them, and the Steps that they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iocast.jobs.simulated.law_text import parse_law
from iocast.jobs.toml.field_checks import read_io_size
from iocast.model.service_laws import ConstantLaw, ServiceLaw
from iocast.model.workload import PLACED, Append, Hotspot, Locality, Sequential, SizeWeight, Step, Uniform, Zipf
from iocast.units import parse_duration, parse_size

MIXED = ("read", "write", "trim", "fsync", "fdatasync", "mix", "size")
REFUSED = (
    *MIXED,
    *("pattern", "start", "backwards", "repeats", "theta", "space_percent", "access_percent", "stride"),
    *("depth", "rate", "arrival", "burst", "every", "think", "fsync_every", "fdatasync_every", "verify", "region"),
    "until",
)
OF_APPEND = ("again", "again_percent")
OF_PATTERN = {
    "theta": "zipf",
    "space_percent": "hotspot",
    "access_percent": "hotspot",
    **dict.fromkeys(OF_APPEND, "append"),
}


def step_conflicts(given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Field, reason and way out of each contradiction of a phase with steps."""
    for name in REFUSED:
        if name in given and not (name == "depth" and given[name] == 1) and given[name] is not False:
            yield name, f"{name} with steps: each step has its own operation, size, place and pause", "keep one"
    names = [step["step"] for step in given["steps"]]
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield "steps", f'two steps are called "{name}"', "give each a name of its own"
    for step in given["steps"]:
        for says, hint in _of_step(step, names):
            yield "steps", f'step "{step["step"]}": {says}', hint


def _of_step(step: Mapping[str, Any], names: Sequence[str]) -> Iterator[tuple[str, str]]:
    placed = step["op"] in PLACED
    if placed and "size" not in step:
        yield "size is missing", 'for example size = "8k"'
    if not placed and any(name in step for name in ("size", "pattern", "joins")):
        yield f"{step['op']} has no size, pattern or joins: it flushes the file of its region", "remove them"
    weights = step.get("size")
    if isinstance(weights, dict) and not any(weights.values()):
        yield "every size has a weight of 0", "give one size a weight above 0"
    pattern = step.get("pattern", "random")
    for name, needs in OF_PATTERN.items():
        if name in step and pattern != needs:
            yield f'{name} with pattern = "{pattern}": it belongs to pattern = "{needs}"', f'pattern = "{needs}"'
    if "again_percent" in step and "again" not in step:
        yield "again_percent without again: again is the size of the block", 'for example again = "8k"'
    following = step.get("next", {})
    weighed = following if isinstance(following, dict) else {following: 1}
    for name in (*weighed, *([step["joins"]] if "joins" in step else [])):
        if name not in names:
            yield f'there is no step "{name}"', f"the steps are {', '.join(names)}"
    if weighed and not any(weighed.values()):
        yield "next has only weights of 0", "give one step a weight above 0"
    region = step.get("region", {})
    if placed and "size" in region and parse_size(region["size"]) < max(size for size, _ in _sizes(step)):
        yield f"region.size {region['size']} is smaller than one I/O", "make the region larger"


def _sizes(step: Mapping[str, Any]) -> list[tuple[int, float]]:
    size = step.get("size", {})
    weights = size if isinstance(size, dict) else {size: 1.0}
    return [(read_io_size(text), float(weight)) for text, weight in weights.items()] or [(0, 0.0)]


def read_pause(text: str) -> ServiceLaw:
    """The law of "5us" or "exponential:2ms". Raises SpecError or ValueError."""
    law = parse_law(text) if ":" in text else ConstantLaw(parse_duration(text))
    if law.__struct_config__.tag == "disk":
        raise ValueError("a pause has no disk arm")
    return law


def read_steps(given: Mapping[str, Any]) -> tuple[Step, ...]:
    """The steps of a phase without conflicts; () where it has none."""
    tables: list[Mapping[str, Any]] = given.get("steps", [])
    names = [table["step"] for table in tables]
    return tuple(_step(table, at, tables, names) for at, table in enumerate(tables))


def _step(table: Mapping[str, Any], at: int, tables: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Step:
    joins = names.index(table["joins"]) if "joins" in table else at
    region = table.get("region") or tables[joins].get("region", {})
    following = table.get("next", names[(at + 1) % len(names)])
    weights = following if isinstance(following, dict) else {following: 1.0}
    sized = [SizeWeight(size, weight) for size, weight in _sizes(table) if weight]
    return Step(
        op=table["op"],
        sizes=tuple(sized),
        start_bytes=parse_size(region.get("start", 0)),
        size_bytes=parse_size(region["size"]) if "size" in region else 0,
        locality=_locality(table),
        joins=joins,
        pause=read_pause(table.get("pause", "0s")),
        next=tuple(float(weights.get(name, 0)) for name in names),
    )


def _locality(table: Mapping[str, Any]) -> Locality:
    match table.get("pattern", "random"):
        case "append":
            again = parse_size(table.get("again", 0))
            return Append(again, float(table.get("again_percent", 100)) if again else 0.0)
        case "zipf":
            return Zipf(float(table.get("theta", 0.99)))
        case "hotspot":
            return Hotspot(float(table.get("space_percent", 20)), float(table.get("access_percent", 80)))
        case "sequential":
            return Sequential()
        case _:
            return Uniform()
