"""Places of I/Os in a tree, as names: the numbers that the core works with, read backwards."""

from __future__ import annotations

from iocast.model.tree import TreePlan

_KINDS = "frls"  # of a file's names: itself, renamed, second name, symbolic link


def tree_place(tree: TreePlan, offset_bytes: int, *, of_directory: bool = False) -> tuple[str, int]:
    """The name, from the top of the tree, that a place of an I/O is of, and the byte in it (Shape in the core)."""
    shift = max(0, max((size.size_bytes for size in tree.sizes), default=0) - 1).bit_length()
    position = offset_bytes & ((1 << shift) - 1)
    number, kind = divmod(offset_bytes >> shift, len(_KINDS))
    levels = [0]
    for level in range(tree.depth + 1):
        levels.append(levels[-1] + tree.width**level)
    each = levels[-1]
    first = 0 if tree.depth == 0 else 1 if tree.files_in == "all" else levels[tree.depth]
    if of_directory:
        return _directory(number, levels, tree) or ".", position
    at, holders = number // tree.files, each - first
    directory = at // holders * each + first + at % holders
    return f"{_directory(directory, levels, tree)}{_KINDS[kind]}{number}", position


def _directory(number: int, levels: list[int], tree: TreePlan) -> str:
    top, local = divmod(number, levels[-1])
    names = []
    while local:
        level = next(at for at in range(len(levels)) if levels[at + 1] > local)
        index = local - levels[level]
        names.append(f"d{index % tree.width}/")
        local = levels[level - 1] + index // tree.width
    if tree.trees > 1:
        names.append(f"u{top}/")
    return "".join(reversed(names))
