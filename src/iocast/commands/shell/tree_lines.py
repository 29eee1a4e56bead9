"""What a plan needs for its trees of files, in lines: files, inodes, memory; if simulated the time to make them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from iocast.model.plan import Plan
from iocast.model.tree import Tree, totals

if TYPE_CHECKING:
    from iocast.sessions.events import Layout

# Of a name that stays cached: its dentry, and the inode of ext4 (xfs, btrfs: about as much) [M: /proc/slabinfo, 6.18].
CACHED_NAME_BYTES = 192 + 1128
# Of a file: whether it has each of five names, for all users and for each user's share.
BITS_A_FILE = 10


def tree_lines(plan: Plan, layout: Layout, make_seconds: float | None) -> Iterator[str]:
    """The trees that a plan works in; `make_seconds`: how long a simulated device takes to make them."""
    from iocast.text import about

    places = dict(zip(dict.fromkeys(tree.name for tree in plan.trees), layout.files, strict=False))
    before: set[str] = set()
    for tree in plan.trees:
        file = places.get(tree.name, layout.files[0])
        fate = "made in place of the one before" if tree.name in before else "to be made" if file.fill else "made"
        yield from _of_tree(plan, tree, file.path, fate if plan.target.kind != "sim" else "simulated")
        before.add(tree.name)
    if make_seconds is not None:
        yield f"making  about {about(make_seconds)} on this device (simulated)"


def _of_tree(plan: Plan, tree: Tree, path: str, fate: str) -> Iterator[str]:
    """One tree at a path, and what becomes of it first."""
    from iocast.text import capacity

    sums = totals(tree, plan.most_users)
    shared = f"{plan.most_users} trees, one for each user" if tree.own else "shared by all users"
    mean = f"of {capacity(tree.mean_bytes)}"
    sizes = f"{mean} on average" if len(tree.sizes) > 1 else mean
    yield f"tree    {path}, {fate}, {shared}"
    yield (
        f"files   {sums.files:,} {sizes if tree.sizes else 'without data'} in {sums.directories:,} directories: "
        f"{capacity(sums.size_bytes)}, {sums.inodes:,} inodes{_free(plan)}"
    )
    own, cached = capacity(sums.files * BITS_A_FILE / 8), capacity(sums.inodes * CACHED_NAME_BYTES)
    yield f"memory  {own} of iocast; about {cached} of the kernel while all names stay cached"


def _free(plan: Plan) -> str:
    """The inodes that the file system has left, where it says so."""
    if plan.target.kind != "directory":
        return ""
    left = os.statvfs(plan.target.path)
    return f" ({left.f_favail:,} are free)" if left.f_files else ""
