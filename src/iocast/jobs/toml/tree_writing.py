"""Writes a tree, and what phases do in it, as a job file in TOML that reads back to the same."""

from __future__ import annotations

from typing import Any

from iocast.model.plan import Phase
from iocast.model.tree import Tree
from iocast.model.workload import Sequential, starts_empty
from iocast.units import size_text


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
