"""vdbench's file system definitions (fsd=) as trees of files, and what file system workloads (fwd=) do in them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.model.tree import Select, Tree, TreeSize
from iocast.model.workload import Locality, MixItem, Op, Payload, Sequential, Sync, Uniform
from iocast.text import capacity
from iocast.tools.line_problems import LineProblems
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_values import Reader, named, percent_of, size_of, whole_of
from iocast.tools.vdbench.vdbench_workloads import flags_of, payload_of, sizes_of

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
    """What one file system workload does in one tree. `skew` is its share of the operations in percent; None: not
    given."""

    name: str
    line: int
    fsd: str
    tree: Tree
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


def trees_of_job(
    definitions: Sequence[Definition], problems: LineProblems, looped: Mapping[str, Parameter] | None = None
) -> dict[str, Tree]:
    """The tree of each fsd=, with what a loop sets in all of them: those of one anchor are one tree, others lie beside
    each other."""
    anchors: dict[str, tuple[str, Tree]] = {}
    trees: dict[str, Tree] = {}
    for each in definitions:
        tree = _tree(each._replace(parameters={**each.parameters, **(looped or {})}), problems)
        anchor = each.parameters["anchor"].text if "anchor" in each.parameters else ""
        number = f"{len(anchors) + 1}" if anchors else ""
        name, known = anchors.setdefault(anchor, (each.name, replace(tree, name=number)))
        if replace(known, name="") != tree:
            said = f"fsd={each.name} has the anchor of fsd={name} and is another tree"
            problems.add(each.line, said, "give each tree an anchor= of its own")
        trees[each.name] = known
    return trees


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


def loads_of(
    definition: Definition,
    layers: Sequence[Mapping[str, Parameter]],
    fsds: Mapping[str, tuple[Definition, Tree]],
    problems: LineProblems,
) -> list[FileLoad]:
    """What a file system workload does, in each tree of its definitions and for each of several operations: its threads
    and its share are split evenly, as vdbench does. A later one of `layers` replaces what is before it."""
    merged = {key: value for layer in (definition.parameters, *layers) for key, value in layer.items()}
    reader = Reader(merged, problems)
    names = list(fsds)
    if "fsd" in merged:
        names = named(merged["fsd"], fsds, "fsd", problems)
    operations: list[Op] = reader.several("operation", operation_of)
    if not operations and "operation" not in merged:
        if "rdpct" not in merged:
            problems.add(definition.line, f"fwd={definition.name}: operation is missing", "operation=read, for example")
        operations = ["read"]
    parts = len(names) * len(operations)
    return [
        _load_of(definition, name, fsds[name], operation, parts, merged, problems)
        for name in names
        for operation in operations
    ]


def _load_of(
    definition: Definition,
    fsd: str,
    place: tuple[Definition, Tree],
    operation: Op,
    parts: int,
    merged: Mapping[str, Parameter],
    problems: LineProblems,
) -> FileLoad:
    """One of so many parts of a workload: an operation in a tree."""
    flags = place[0].parameters.get("openflags")
    reader = Reader({**({"openflags": flags} if flags else {}), **merged}, problems)
    direct, sync = flags_of(reader)
    mix = _mix(operation, reader)
    skew = reader.one("skew", percent_of, None)
    return FileLoad(
        name=definition.name,
        line=definition.line,
        fsd=fsd,
        tree=place[1],
        mix=mix,
        locality=_choice(reader, "fileio", _LOCALITIES, "sequential"),
        select=_choice(reader, "fileselect", _ORDERS, "sequential"),
        stop_after=_stop_after(reader, place[1], mix),
        direct=direct,
        sync=sync,
        threads=max(1, reader.one("threads", whole_of, USUAL_THREADS) // parts),
        skew=None if skew is None else skew / parts,
        payload=payload_of(reader),
    )


def operation_of(text: str) -> Op:
    """The operation of the core that one of vdbench is. Raises SpecError."""
    op = OPERATIONS.get(text.lower())
    if op is None:
        raise SpecError(f'"{text}" is not an operation that is run', f"one of {', '.join(OPERATIONS)}")
    return op


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
