"""Turns one checked phase of a job file into model Phases: one for each value of each list."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from iocast.jobs.toml.contradictions import until_times, weights_of
from iocast.jobs.toml.field_checks import read_io_size, read_operation
from iocast.jobs.toml.step_reading import read_steps
from iocast.jobs.toml.tree_table import operations_of
from iocast.model.phase_names import plain_name
from iocast.model.plan import Length, Phase, Until
from iocast.model.profiling.step_chain import mean_pause_ns, step_mix
from iocast.model.tree import Tree
from iocast.model.workload import (
    PLACED,
    Arrival,
    Bursts,
    Closed,
    Compressible,
    Constant,
    Dedupable,
    Hotspot,
    Locality,
    MixItem,
    Op,
    Payload,
    Poisson,
    Repeated,
    Sequential,
    Step,
    Stepped,
    Stride,
    Uniform,
    Unique,
    Workload,
    Zeros,
    Zipf,
    pass_ios,
    starts_empty,
)
from iocast.units import parse_duration, parse_percent, parse_rate, parse_size

LISTS = ("users", "depth", "size", "rate", "operations")  # a list here makes one phase for each value
_PREFIX = {"sequential": "", "random": "rand", "zipf": "zipf", "hotspot": "hot", "stride": "stride"}


def count_cells(given: Mapping[str, Any]) -> int:
    """How many phases `given` makes."""
    cells = 1
    for name in LISTS:
        value = given.get(name)
        cells *= len(value) if isinstance(value, list) else 1
    return cells


def expand(given: Mapping[str, Any], tree: Tree | None = None) -> Iterator[Phase]:
    """The phases of `given`, which has no conflicts; the list written first varies slowest. `tree`: where they work."""
    lists = [name for name in given if name in LISTS and isinstance(given[name], list)]
    for values in itertools.product(*(given[name] for name in lists)):
        yield _phase({**given, **dict(zip(lists, values, strict=True))}, tree)


def _default_test(given: Mapping[str, Any]) -> str:
    """The test of a phase that was given none: "randread", "write", "backread", "zipfrw"."""
    if "operations" in given:
        return "+".join(weights_of(given))
    ops = [op for op in PLACED if op in weights_of(given)]
    prefix = "back" if given.get("backwards") else _PREFIX[given.get("pattern", "random")]
    return prefix + ("rw" if ops == ["read", "write"] else "".join(ops))


def _phase(given: Mapping[str, Any], tree: Tree | None) -> Phase:
    steps = read_steps(given)
    mix = step_mix(steps) if steps else _mix(given)
    writes = any(item.op in ("write", "create") for item in mix)
    region = given.get("region", {})
    begins = given.get("begins") or ("empty" if "operations" in given and starts_empty(i.op for i in mix) else "whole")
    phase = Phase(
        name="",
        test=given.get("test") or _default_test(given),
        workload=Workload(
            mix=mix,
            locality=_locality(given),
            arrival=_step_arrival(given, steps) if steps else _arrival(given),
            users=given.get("users", 1),
            depth=given.get("depth", 1),
            direct=given.get("direct", "operations" not in given),
            sync=given.get("sync", "none") if writes else "none",
            fsync_every=(given.get("fsync_every") or given.get("fdatasync_every") or 0) if writes else 0,
            fsync_op="fdatasync" if writes and given.get("fdatasync_every") else "fsync",
            payload=_payload(given) if writes else Unique(),
            steps=steps,
            select=given.get("select", "sequential"),
            stop_after=given.get("stop_after"),
        ),
        length=Length(
            seconds=_seconds(given),
            ios=_ios(given, mix, tree),
            bytes=parse_size(given["bytes"]) if "bytes" in given else None,
            follows=given.get("follows", False),
        ),
        until=Until(given.get("rule", "b3"), until_times(given)[0] / 1e9) if "until" in given else None,
        role=given.get("role", "measure"),
        verify=_verifies(given, mix),
        verify_block_bytes=_verify_block(given, mix),
        together=given.get("together", ""),
        engine=given.get("engine"),
        cold=given.get("cold", False),
        from_nothing=begins == "empty",
        as_it_is=begins == "as_left",
        region_start_bytes=parse_size(region.get("start", 0)),
        region_size_bytes=parse_size(region["size"]) if "size" in region else None,
    )
    return replace(phase, name=plain_name(phase))


def _ios(given: Mapping[str, Any], mix: tuple[MixItem, ...], tree: Tree | None) -> int | None:
    if "passes" in given and tree is not None:
        return int(given["passes"]) * pass_ios(tree, (item.op for item in mix), given.get("users", 1))
    ios: int | None = given.get("ios")
    return ios


def _seconds(given: Mapping[str, Any]) -> float | None:
    if "until" in given:
        return until_times(given)[1] / 1e9
    return parse_duration(given["time"]) / 1e9 if "time" in given else None


def _verifies(given: Mapping[str, Any], mix: tuple[MixItem, ...]) -> bool:
    """Only writes can be verified: reading phases may inherit the word."""
    return bool(given.get("verify")) and any(item.op == "write" for item in mix)


def _verify_block(given: Mapping[str, Any], mix: tuple[MixItem, ...]) -> int | None:
    return read_io_size(given["verify_block"]) if "verify_block" in given and _verifies(given, mix) else None


def _mix(given: Mapping[str, Any]) -> tuple[MixItem, ...]:
    mixed: dict[tuple[Op, int], float] = {}
    for op, size_bytes, weight in _mix_rows(given):
        mixed[op, size_bytes] = mixed.get((op, size_bytes), 0.0) + weight
    return tuple(MixItem(op, size, weight) for (op, size), weight in mixed.items() if weight > 0)


def _mix_rows(given: Mapping[str, Any]) -> Iterator[tuple[Op, int, float]]:
    """Operation, bytes and weight, as the fields say them."""
    if "mix" in given:
        for item in given["mix"]:
            yield item["op"], parse_size(item.get("size", 0)), float(item.get("weight", 1))
        return
    if "operations" in given:
        for op, weight in operations_of(given["operations"]).items():
            yield read_operation(op), read_io_size(given["size"]) if op in ("read", "write") else 0, weight
        return
    sizes = given["size"] if isinstance(given["size"], dict) else {given["size"]: 1}
    total = sum(sizes.values())
    ops: tuple[Op, ...] = ("read", "write", "trim", "fsync", "fdatasync")
    for op, weight in ((op, weights_of(given).get(op, 0.0)) for op in ops):
        if op in PLACED:
            yield from ((op, read_io_size(text), weight * share / total) for text, share in sizes.items())
        else:
            yield op, 0, float(weight)


def _locality(given: Mapping[str, Any]) -> Locality:
    match given.get("pattern", "random"):
        case "sequential":
            return Sequential(start=given.get("start", "own_region"), backwards=given.get("backwards", False))
        case "stride":
            return Stride(stride_bytes=parse_size(given["stride"]))
        case "zipf":
            return Zipf(theta=float(given.get("theta", 0.99)))
        case "hotspot":
            return Hotspot(
                space_percent=float(given.get("space_percent", 20)),
                access_percent=float(given.get("access_percent", 80)),
            )
        case _:
            return Uniform(repeats=given.get("repeats", True))


def _arrival(given: Mapping[str, Any]) -> Arrival:
    if "burst" in given:
        return Bursts(ios=given["burst"], every_ns=parse_duration(given["every"]))
    if "rate" not in given:
        return Closed(think_ns=parse_duration(given["think"]) if "think" in given else 0)
    rate_per_s = parse_rate(given["rate"])
    return Constant(rate_per_s) if given.get("arrival") == "constant" else Poisson(rate_per_s)


def _step_arrival(given: Mapping[str, Any], steps: tuple[Step, ...]) -> Arrival:
    """Of a session: a closed loop with the mean of its pauses, or one that keeps the rate that they come to."""
    pause_ns = mean_pause_ns(steps)
    if given.get("pauses") == "between" and pause_ns:
        return Stepped(round(given.get("users", 1) * 1e9 / pause_ns, 4))
    return Closed(round(pause_ns))


def _payload(given: Mapping[str, Any]) -> Payload:
    if "compressible" in given:
        return Compressible(percent=parse_percent(given["compressible"]))
    if "dedupable" in given:
        return Dedupable(percent=parse_percent(given["dedupable"]))
    payloads: dict[str, Payload] = {"unique": Unique(), "zeros": Zeros(), "repeated": Repeated()}
    return payloads[given.get("payload", "unique")]
