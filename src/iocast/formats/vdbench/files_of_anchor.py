"""How many directories and files a vdbench file system definition (FSD) makes."""

from __future__ import annotations

from typing import NamedTuple


class Tree(NamedTuple):
    """The directories and files below an anchor, and the bytes in the files."""

    directories: int
    files: int
    bytes: int


def tree_of(depth: int, width: int, files: int, size_bytes: int, *, everywhere: bool = False) -> Tree:
    """`files` of `size_bytes` in each directory of the last level, or `everywhere` in all of them."""
    directories = sum(width**level for level in range(1, depth + 1))
    count = files * (directories if everywhere else width**depth)
    return Tree(directories, count, count * size_bytes)
