"""Trees as numbers: vdbench's counts, and the names that places lead to."""

from __future__ import annotations

import pytest

from iocast.model.tree import Tree, TreePlan, TreeSize, totals
from iocast.model.tree.tree_places import tree_place


def test_trees_count_as_vdbench_counts_them() -> None:
    deep = Tree(depth=5, width=5, files=2)
    assert (deep.directories, deep.files_each) == (3905, 6250)
    flat = totals(Tree(depth=1, width=1, files=1000, sizes=(TreeSize(128 << 10),)), users=1)
    assert (flat.files, flat.size_bytes, flat.directories) == (1000, 125 << 20, 1)
    assert Tree(depth=2, width=3, files=7, files_in="all").files_each == 12 * 7
    assert Tree(depth=0, files=9).files_each == 9


def test_own_trees_are_one_for_each_user() -> None:
    sums = totals(Tree(depth=1, width=2, files=10, own=True), users=4)
    assert (sums.files, sums.directories, sums.inodes) == (80, 12, 93)


@pytest.mark.parametrize(
    ("place", "of_directory", "name"),
    [
        (0, False, "d0/d0/f0"),
        (35 << 2, False, "d2/d2/f35"),
        ((4 << 2) + 1, False, "d0/d1/r4"),
        (12 << 2, True, "d2/d2/"),
    ],
)
def test_a_place_leads_to_a_name(place: int, of_directory: bool, name: str) -> None:
    tree = TreePlan(depth=2, width=3, files=4)
    assert tree_place(tree, place, of_directory=of_directory) == (name, 0)


def test_a_place_in_a_file_has_its_byte() -> None:
    tree = TreePlan(depth=1, width=2, files=5, sizes=(TreeSize(5000),), trees=3)
    assert tree_place(tree, (25 << 2) << 13 | 4096) == ("u2/d1/f25", 4096)
