"""vdbench's file system definitions (fsd=) as one tree of files, and what file system workloads (fwd=) do in it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from iocast.errors import SpecError
from iocast.formats.vdbench.parameter_file import Definition, Parameter
from iocast.jobs.problems import LineProblems
from iocast.jobs.vdbench.vdbench_values import Reader, named, percent_of, size_of, whole_of
from iocast.jobs.vdbench.vdbench_workloads import flags_of, payload_of, sizes_of
from iocast.model.tree import Select, Tree, TreeSize
from iocast.model.workload import Locality, MixItem, Op, Payload, Sequential, Sync, Uniform
from iocast.text import capacity

Value = TypeVar("Value")
USUAL_BYTES = 4096  # of a read or write
USUAL_THREADS = 1  # of a file system workload
OPERATIONS: dict[str, Op] = {
    "mkdir": "mkdir",
    "rmdir": "rmdir",
    "create": "create",
    "delete": "unlink",
    "open": "open",
    "close": "close",
    "getattr": "stat",
    "setattr": "setattr",
    "access": "access",
    "read": "read",
    "write": "write",
}
_ORDERS: dict[str, Select] = {"random": "random", "sequential": "sequential", "seq": "sequential"}
_LOCALITIES: dict[str, Locality] = {"random": Uniform(), "sequential": Sequential(), "seq": Sequential()}


class FileLoad(Struct, frozen=True, kw_only=True):
    """What one file system workload does. `skew` is its share of the operations in percent; None: not given."""

    name: str
    line: int
    mix: tuple[MixItem, ...]
    locality: Locality
    select: Select
    stop_after: int | None
    direct: bool
    sync: Sync
    threads: int
    skew: float | None
    payload: Payload

    @property
    def shared(self) -> tuple[object, ...]:
        """What all workloads of one run have in common: they are one mix."""
        return (self.locality, self.select, self.stop_after, self.direct, self.sync)


def tree_of_job(definitions: Sequence[Definition], problems: LineProblems) -> Tree | None:
    """The tree of a file's fsd=: one, or several that are alike, which are one tree here."""
    trees = {each.name: _tree(each, problems) for each in definitions}
    first = next(iter(trees.values()), None)
    for each in definitions:
        if trees[each.name] != first:
            said = f"fsd={each.name} is another tree than fsd={definitions[0].name}"
            problems.add(each.line, said, "iocast works in one tree: run each fsd= by a file of its own")
    return first


def _tree(definition: Definition, problems: LineProblems) -> Tree:
    reader = Reader(definition.parameters, problems)
    distribution = reader.one("distribution", str, "bottom").lower()
    if distribution not in ("bottom", "all"):
        reader.refuse("distribution", "which directories have files", "distribution=bottom or all")
    for key in ("depth", "width", "files"):
        if key not in definition.parameters:
            problems.add(definition.line, f"fsd={definition.name}: {key} is missing", f"for example {key}=2")
    key = "sizes" if "sizes" in definition.parameters else "size"
    sizes = sizes_of(reader, key, 0) if key in definition.parameters else ()
    tree = Tree(
        depth=reader.one("depth", whole_of, 1),
        width=reader.one("width", whole_of, 1),
        files=reader.one("files", whole_of, 1),
        files_in="all" if distribution == "all" else "leaves",
        sizes=tuple(TreeSize(size_bytes, share) for size_bytes, share in sizes if share and size_bytes),
    )
    _check_total(tree, reader)
    return tree


def _check_total(tree: Tree, reader: Reader) -> None:
    """The end of a format by its bytes: the tree has them, or the files that have."""
    most, whole = reader.one("totalsize", size_of, None), tree.files_each * tree.mean_bytes
    if most is None or whole <= most:
        return
    holders = tree.files_each // tree.files
    files = int(most // (holders * tree.mean_bytes))
    way_out = (
        f"files={files} has {capacity(round(files * holders * tree.mean_bytes))}" if files else "a larger totalsize="
    )
    said = f"the tree has {capacity(round(whole))}: directories without files are not made"
    reader.refuse("totalsize", said, way_out)


def load_of(
    definition: Definition,
    layers: Sequence[Mapping[str, Parameter]],
    trees: tuple[Tree, Sequence[Definition]],
    problems: LineProblems,
) -> FileLoad:
    """What a file system workload does in the tree of its definitions; a later one of `layers` replaces what is
    before it."""
    merged = {key: value for layer in (definition.parameters, *layers) for key, value in layer.items()}
    reader = Reader(merged, problems)
    if "fsd" in merged:
        named(merged["fsd"], [each.name for each in trees[1]], "fsd", problems)
    usual: Op | None = "read" if "rdpct" in merged else None
    operation: Op | None = reader.one("operation", _operation, usual)
    if operation is None and "operation" not in merged:
        problems.add(definition.line, f"fwd={definition.name}: operation is missing", "operation=read, for example")
    direct, sync = flags_of(reader)
    mix = _mix(operation or "read", reader)
    return FileLoad(
        name=definition.name,
        line=definition.line,
        mix=mix,
        locality=_choice(reader, "fileio", _LOCALITIES, "sequential"),
        select=_choice(reader, "fileselect", _ORDERS, "sequential"),
        stop_after=_stop_after(reader, trees[0], mix),
        direct=direct,
        sync=sync,
        threads=reader.one("threads", whole_of, USUAL_THREADS),
        skew=reader.one("skew", percent_of, None),
        payload=payload_of(reader),
    )


def _operation(text: str) -> Op:
    found = OPERATIONS.get(text.lower())
    if found is None:
        raise SpecError(f'"{text}" is not an operation that is run', f"one of {', '.join(OPERATIONS)}")
    return found


def _mix(op: Op, reader: Reader) -> tuple[MixItem, ...]:
    """One operation; reads and writes of each size, with `rdpct` both."""
    if op not in ("read", "write"):
        return (MixItem(op, 0, 100.0),)
    reads = reader.one("rdpct", percent_of, 100.0 if op == "read" else 0.0)
    shares: tuple[tuple[Op, float], ...] = (("read", reads), ("write", 100 - reads))
    return tuple(
        MixItem(each, size_bytes, round(share * part / 100, 6))
        for each, share in shares
        for size_bytes, part in sizes_of(reader, "xfersize", USUAL_BYTES)
        if share and part
    )


def _stop_after(reader: Reader, tree: Tree, mix: Sequence[MixItem]) -> int | None:
    """Reads and writes of a file before the next one's turn: a number, or a percentage of a file of one size."""
    text = reader.one("stopafter", str, "")
    if not text.endswith("%"):
        return reader.one("stopafter", whole_of, None)
    sizes, ios = {size.size_bytes for size in tree.sizes}, {item.size_bytes for item in mix}
    percent = reader.one("stopafter", lambda each: percent_of(each.removesuffix("%")), 100.0)
    if len(sizes) != 1 or len(ios) != 1 or 0 in ios:
        reader.refuse("stopafter", "a percentage of files, reads or writes of several sizes", "give a number of I/Os")
        return None
    return max(1, math.ceil(sizes.pop() * percent / 100 / ios.pop()))


def _choice(reader: Reader, key: str, known: Mapping[str, Value], usual: str) -> Value:
    said = reader.parameters[key].text.lower() if key in reader.parameters else usual
    if said not in known:
        reader.refuse(key, "not supported", f"{key}=random or {key}=sequential")
    return known.get(said, known[usual])
