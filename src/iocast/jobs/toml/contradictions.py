"""Finds the fields of a phase that contradict each other, each with the reason."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from iocast import units
from iocast.jobs.toml.engine_field import JOB_WIDE
from iocast.jobs.toml.field_checks import read_io_size
from iocast.jobs.toml.inner_tables import MOST_MIX_ITEMS
from iocast.jobs.toml.step_reading import REFUSED, step_conflicts
from iocast.jobs.toml.tree_table import operations_of
from iocast.model.workload import PLACED
from iocast.units import parse_size

OPS = ("read", "write", "trim", "fsync", "fdatasync")
LENGTHS = ("time", "until", "ios", "bytes", "follows", "passes")
OF_OPERATIONS = ("select", "stop_after", "passes", "begins", "cold")
OF_UNTIL = ("at_least", "at_most", "rule")
UNTIL_LEAST_NS = 60_000_000_000
UNTIL_AT_LEAST, UNTIL_TIMES = "300s", 4
SYNCS = ("fsync_every", "fdatasync_every")
PAYLOADS = ("payload", "compressible", "dedupable")
SECTOR_BYTES = 512
HEAVIEST = 1e9  # of all weights; they are shares

# A parameter of a pattern -> the pattern that has it.
PATTERN_OF = {
    "start": "sequential",
    "backwards": "sequential",
    "repeats": "random",
    "theta": "zipf",
    "space_percent": "hotspot",
    "access_percent": "hotspot",
    "stride": "stride",
}

# A name that says what is done, as fio has them -> the operations without which it would mislead.
MEANT_BY = {
    **dict.fromkeys(("read", "randread"), ("read",)),
    **dict.fromkeys(("write", "randwrite"), ("write",)),
    **dict.fromkeys(("rw", "readwrite", "randrw"), ("read", "write")),
    **dict.fromkeys(("trim", "randtrim"), ("trim",)),
}

# A field that a phase gives -> the fields it takes the place of, so that it does not inherit them.
TAKES_PLACE_OF: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(OPS, (*OPS, "mix", "operations")),
    "operations": (*OPS, "mix"),
    **dict.fromkeys(LENGTHS, (*LENGTHS, *OF_UNTIL)),
    "size": ("mix",),
    "mix": (*OPS, "size", "operations"),
    "pattern": tuple(PATTERN_OF),
    "steps": REFUSED,
    "rate": ("think", "burst", "every"),
    "think": ("rate", "arrival", "burst", "every"),
    "burst": ("rate", "arrival", "think"),
    **dict.fromkeys(SYNCS, SYNCS),
    **dict.fromkeys(PAYLOADS, PAYLOADS),
}


class Conflict(NamedTuple):
    """What is wrong, and at which field ("" for the whole phase)."""

    field: str
    says: str
    hint: str = ""


def inherit(own: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a phase with those it inherits, its own first, in the order written."""
    replaced = {other for name in own for other in TAKES_PLACE_OF.get(name, ())}
    taken = {name: defaults[name] for name in defaults if name not in replaced and name not in JOB_WIDE}
    return {**own, **{name: taken[name] for name in taken if name not in own}}


def find_conflicts(given: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[Conflict]:
    """Every contradiction in `given` (own and inherited fields, each good by itself)."""
    if "steps" in given:
        yield from itertools.starmap(Conflict, step_conflicts(given))
    else:
        yield from _about_mix(given)
    if "pauses" in given and "steps" not in given:
        yield Conflict("pauses", "pauses without steps: they say how the pauses of steps count", "give it steps")
    yield from _about_name(given)
    yield from _about_writes(given, own)
    yield from _about_arrival(given)
    yield from _about_pattern(given)
    yield from _about_direct(given)
    yield from _about_length(given)
    yield from _about_groups(given)
    if not any(given.get(name) for name in LENGTHS):
        yield Conflict("", "no length: give time, ios or bytes", 'for example time = "10s"')


def _about_name(given: Mapping[str, Any]) -> Iterator[Conflict]:
    """The name of a test says nothing of what is done: reports would call a row of reads a row of writes."""
    name, weights = given.get("test", ""), weights_of(given)
    lacking = [op for op in MEANT_BY.get(name, ()) if op not in weights]
    if lacking and weights:
        done = " and ".join(weights)
        says = f'test "{name}" without {" and ".join(lacking)}: test is a name only, and this does {done}'
        share = 100 // len(MEANT_BY[name])
        yield Conflict("test", says, f"{' and '.join(f'{op} = {share}' for op in MEANT_BY[name])}, or another name")


def _about_groups(given: Mapping[str, Any]) -> Iterator[Conflict]:
    if "together" in given and "until" in given:
        says = "until with together: steadiness is not judged while phases run concurrently"
        yield Conflict("until", says, "give it time")
    if "together" in given and given.get("verify") and "write" in weights_of(given):
        says = "verify with together: with several writers the last write of a block is unknown"
        yield Conflict("verify", says, "set verify = false here, or move it to a separate phase")
    if given.get("follows") and "together" not in given:
        says = "follows without together: it has no other phase to end with"
        yield Conflict("follows", says, 'for example together = "database", here and in its neighbours')


def _about_length(given: Mapping[str, Any]) -> Iterator[Conflict]:
    for name in OF_UNTIL:
        if name in given and "until" not in given:
            yield Conflict(name, f'{name} without until: it belongs to until = "steady"')
    if "until" not in given:
        return
    if "time" in given:
        yield Conflict("time", "time and until contradict each other", "at_most is how long it may take")
    least_ns, most_ns = until_times(given)
    if least_ns < UNTIL_LEAST_NS:
        yield Conflict("at_least", "at_least is too short: less than 60 s cannot be judged", 'at_least = "60s"')
    elif most_ns < least_ns:
        yield Conflict("at_most", "at_most is shorter than at_least")
    elif most_ns < 2 * least_ns and given.get("rule") != "snia":
        says = "at_most is less than twice at_least: there is nothing to compare the first result with"
        yield Conflict("at_most", says, "leave at_most out: it is four times at_least")


def until_times(given: Mapping[str, Any]) -> tuple[int, int]:
    """at_least and at_most in ns, or what they are by default."""
    least_ns = units.parse_duration(given.get("at_least", UNTIL_AT_LEAST))
    return least_ns, units.parse_duration(given["at_most"]) if "at_most" in given else UNTIL_TIMES * least_ns


def weights_of(given: Mapping[str, Any]) -> dict[str, float]:
    """The weight of each operation that the phase does."""
    if "steps" in given:
        return {step["op"]: 1.0 for step in given["steps"]}
    weights: dict[str, float]
    if "operations" in given:
        weights = operations_of(given["operations"])
    elif "mix" in given:
        weights = {}
        for item in given["mix"]:
            weights[item.get("op", "")] = weights.get(item.get("op", ""), 0) + item.get("weight", 1)
    elif any(op in given for op in OPS):
        weights = {op: given[op] for op in OPS if op in given}
    else:
        weights = {"read": 100}
    return {op: weight for op, weight in weights.items() if weight > 0}


def sizes_of(given: Mapping[str, Any]) -> dict[Any, str]:
    """Every size of an I/O, as written, with the field that has it."""
    if "steps" in given:
        sizes = [step.get("size", {}) for step in given["steps"]]
        return {text: "steps" for size in sizes for text in (size if isinstance(size, dict) else [size])}
    if "mix" in given:
        return {item["size"]: "mix" for item in given["mix"] if "size" in item}
    sizes = given.get("size", [])
    listed = sizes if isinstance(sizes, list) else [sizes]
    return {text: "size" for item in listed for text in (item if isinstance(item, dict) else [item])}


def _most_sizes(given: Mapping[str, Any]) -> int:
    """The most sizes that one phase mixes."""
    sizes = given.get("size", [])
    return max(
        (len(item) for item in (sizes if isinstance(sizes, list) else [sizes]) if isinstance(item, dict)),
        default=1,
    )


def _about_operations(given: Mapping[str, Any]) -> Iterator[Conflict]:
    """Of a tree: instead of all other ways to say what is done."""
    for name in (*OPS, "mix"):
        if name in given:
            yield Conflict(
                name, f"{name} and operations: operations already set what is done", "write one or the other"
            )
    weights = weights_of(given)
    if not weights or max(weights.values()) > HEAVIEST:
        yield Conflict("operations", f"the weights are above 0, and at most {HEAVIEST:g}", "such as 70 and 30")
    moves = [op for op in ("read", "write") if op in weights]
    if moves and "size" not in given:
        yield Conflict("operations", f"{moves[0]} without size: set the I/O size", 'for example size = "8k"')


def _about_mix(given: Mapping[str, Any]) -> Iterator[Conflict]:
    if "operations" in given:
        yield from _about_operations(given)
        return
    for name in OF_OPERATIONS:
        if name in given:
            yield Conflict(name, f"{name} without operations: it is of phases in a [tree]", 'operations = "stat"')
    both = [name for name in (*OPS, "size") if name in given]
    if "mix" in given and both:
        says = f"mix and {' and '.join(both)}: mix already sets the operations and sizes"
        yield Conflict("mix", says, "write one or the other")
        return
    weights = weights_of(given)
    if not weights:
        field = next((name for name in (*OPS, "mix") if name in given), "")
        yield Conflict(field, "nothing to do: all weights are 0", "give one operation a weight above 0")
    elif max(weights.values()) > HEAVIEST:
        field = next(name for name in (*OPS, "mix") if name in given)
        yield Conflict(field, "a weight is too large", f"at most {HEAVIEST:g}, such as 70 and 30")
    for item in given.get("mix", []):
        if "op" not in item:
            yield Conflict("mix", "mix has an entry without op", 'for example {op = "read", size = "8k"}')
        elif item["op"] in PLACED and "size" not in item:
            yield Conflict("mix", f"mix has a {item['op']} without size", 'for example size = "8k"')
        elif item["op"] in ("fsync", "fdatasync") and "size" in item:
            yield Conflict("mix", f"mix has an {item['op']} with size: it flushes the whole file")
    items = len(given["mix"]) if "mix" in given else len(weights) * _most_sizes(given)
    if items > MOST_MIX_ITEMS:
        says = f"{items} operations and sizes in one mix; at most {MOST_MIX_ITEMS}"
        yield Conflict("mix" if "mix" in given else "size", says, "leave out the rarest ones")
    if "mix" not in given and "size" not in given and weights:
        yield Conflict("", "size is missing: set the I/O size", 'for example size = "8k"')
    sizes = given.get("size")
    for mixed in sizes if isinstance(sizes, list) else [sizes]:
        if isinstance(mixed, dict) and max(mixed.values(), default=0) > HEAVIEST:
            yield Conflict("size", "a weight of a size is too large", f"at most {HEAVIEST:g}, such as 70 and 30")
        if isinstance(mixed, dict) and not any(mixed.values()):
            yield Conflict("size", "every size has a weight of 0", "give one size a weight above 0")


def _about_writes(given: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[Conflict]:
    payloads = [name for name in PAYLOADS if name in given]
    if len(payloads) > 1:
        says = f"{', '.join(payloads[:-1])} and {payloads[-1]} {'both' if len(payloads) == 2 else 'all'}"
        yield Conflict(payloads[-1], f"{says} set what is written", "keep one")
    if all(given.get(name) for name in SYNCS):
        says = "fsync_every and fdatasync_every contradict each other"
        yield Conflict("fdatasync_every", says, "keep one")
    weights = weights_of(given)
    if "write" in weights or not weights or "operations" in given:
        return
    for op in ("fsync", "fdatasync"):
        if op in weights:
            field = "mix" if "mix" in given else op
            says = f"{op} without writes: there is nothing to flush, so its time is meaningless"
            yield Conflict(field, says, "give write a weight above 0")
    for name in ("sync", *SYNCS, *PAYLOADS):
        if name in own and own[name] not in ("none", 0):
            yield Conflict(name, f"{name} without writes: this phase only reads", "give write a weight, or remove it")


def _about_arrival(given: Mapping[str, Any]) -> Iterator[Conflict]:
    if "rate" in given and "think" in given:
        says = "rate and think: with a rate the clock decides when the next I/O is due, not the last completion"
        yield Conflict("think", says, "keep one: rate for an open loop, think for a closed one")
    if "burst" in given and ("rate" in given or "think" in given):
        says = f"burst and {'rate' if 'rate' in given else 'think'} both set when the next I/O is due"
        yield Conflict("burst", says, "keep one")
    if ("burst" in given) != ("every" in given):
        missing = "every" if "burst" in given else "burst"
        says = f"{'burst' if missing == 'every' else 'every'} without {missing}: a burst needs both"
        yield Conflict("burst" if missing == "every" else "every", says, 'for example burst = 500 and every = "2s"')
    if "arrival" in given and "rate" not in given:
        says = "arrival without rate: in a closed loop each completion triggers the next I/O"
        yield Conflict("arrival", says, 'for example rate = "500/s"')


def _about_pattern(given: Mapping[str, Any]) -> Iterator[Conflict]:
    pattern = given.get("pattern", "random")
    for name, needs in PATTERN_OF.items():
        if name in given and pattern != needs:
            says = f'{name} with pattern = "{pattern}": it belongs to pattern = "{needs}"'
            yield Conflict(name, says)
    if pattern == "stride" and "stride" not in given:
        yield Conflict("pattern", 'pattern = "stride" without stride: set the distance', 'for example stride = "1M"')
    sizes = [read_io_size(text) for text in sizes_of(given)]
    if pattern == "stride" and parse_size(given.get("stride", units.LARGEST)) < max(sizes, default=0):
        yield Conflict("stride", "stride is smaller than the I/O size, so I/Os would overlap")


def _about_direct(given: Mapping[str, Any]) -> Iterator[Conflict]:
    """O_DIRECT needs whole sectors; and the region must hold an I/O."""
    sizes = sizes_of(given)
    region = given.get("region", {})
    if given.get("direct", True):
        named = [(text, f"{field} {text}", field) for text, field in sizes.items()]
        named += [(region[key], f"region.{key} {region[key]}", "region") for key in region]
        if "stride" in given:
            named.append((given["stride"], f"stride {given['stride']}", "stride"))
        for text, name, field in named:
            if parse_size(text) % SECTOR_BYTES:
                says = f"{name} is not a multiple of {SECTOR_BYTES} bytes, as direct = true requires"
                yield Conflict(field, says, "use whole sectors, or direct = false")
    if "size" in region and sizes and parse_size(region["size"]) < max(map(read_io_size, sizes)):
        yield Conflict("region", f"region.size {region['size']} is smaller than one I/O")
