"""Reads the [tree] table of a job file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from iocast.jobs.problems import Problems
from iocast.jobs.tree_phases import MOST_FILES
from iocast.model.tree import Tree, TreeSize
from iocast.units import parse_size


def read_tree(table: Mapping[str, Any], problems: Problems) -> Tree | None:
    """The tree of a table whose fields are good by themselves; None, and a problem, where they are not together."""
    if "files" not in table:
        problems.add(("tree",), "[tree]: files is missing: how many each directory has", way_out="files = 1000")
        return None
    tree = Tree(
        depth=table.get("depth", 1),
        width=table.get("width", 1),
        files=table["files"],
        files_in=table.get("files_in", "leaves"),
        sizes=_sizes(table.get("size", 0)),
        own=table.get("own", False),
    )
    if tree.depth * max(1, tree.width.bit_length() - 1) > 64 or tree.files_each > MOST_FILES:
        problems.add(("tree",), f"[tree]: more than {MOST_FILES:,} files", way_out="a smaller depth, width or files")
        return None
    return tree


def _sizes(size: Any) -> tuple[TreeSize, ...]:
    weights = size if isinstance(size, dict) else {size: 1.0}
    sizes = [TreeSize(parse_size(text), float(weight)) for text, weight in weights.items() if weight > 0]
    return tuple(sizes) if any(each.size_bytes for each in sizes) else ()
