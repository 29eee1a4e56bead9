"""Tree: many files in directories, as vdbench describes them; TreePlan: what the core is told of one for a phase."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FilesIn = Literal["leaves", "all"]
Select = Literal["sequential", "random"]
Present = Literal["all", "none", "look"]


class TreeSize(Struct, frozen=True, forbid_unknown_fields=True):
    """A size of files and its weight."""

    size_bytes: int
    weight: float = 1.0


class Tree(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Directories of `depth` levels below a top, `width` in each; `files` in each of the lowest, or in all.

    With `own` each user has a tree of that shape, else all users share one. Trees of different names lie beside each
    other; of one name there is one at a time.
    """

    depth: int = 1  # 0: all files lie in the top
    width: int = 1
    files: int = 1000  # in each directory that has files
    files_in: FilesIn = "leaves"
    sizes: tuple[TreeSize, ...] = ()  # by weight; (): all files are empty
    own: bool = False
    name: str = ""

    @property
    def directories(self) -> int:
        """Directories of one tree, without its top: vdbench counts them like that."""
        return sum(self.width**level for level in range(1, self.depth + 1))

    @property
    def files_each(self) -> int:
        """Files of one tree."""
        if self.depth == 0:
            return self.files
        return (self.directories if self.files_in == "all" else self.width**self.depth) * self.files

    @property
    def mean_bytes(self) -> float:
        """The mean size of a file."""
        weights = sum(size.weight for size in self.sizes)
        return sum(size.size_bytes * size.weight for size in self.sizes) / weights if self.sizes else 0.0

    @property
    def largest_bytes(self) -> int:
        """The largest size of a file."""
        return max((size.size_bytes for size in self.sizes), default=0)


class TreePlan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tree as one phase works in it (crates/iocast-core/src/plan/tree_plan.rs)."""

    depth: int
    width: int
    files: int
    files_in: FilesIn = "leaves"
    sizes: tuple[TreeSize, ...] = ()
    trees: int = 1  # 1: shared by all users; more: each has its own
    select: Select = "sequential"
    stop_after: int | None = None  # reads and writes of a file before the next one's turn; None: to its end
    present: Present = "all"  # what is there when the phase begins; "look": its directories are read to know
    cold: bool = False  # the kernel forgets its names just before: nothing may read them

    @property
    def size_bytes(self) -> int:
        """Of all its files, as expected: sizes are drawn."""
        shape = Tree(depth=self.depth, width=self.width, files=self.files, files_in=self.files_in, sizes=self.sizes)
        return round(shape.files_each * shape.mean_bytes) * self.trees


def tree_plan(tree: Tree, users: int, select: Select = "sequential", present: Present = "all") -> TreePlan:
    """The plan of a tree that is made for so many users."""
    return TreePlan(
        depth=tree.depth,
        width=tree.width,
        files=tree.files,
        files_in=tree.files_in,
        sizes=tree.sizes,
        trees=max(1, users) if tree.own else 1,
        select=select,
        present=present,
    )


class TreeTotals(Struct, frozen=True, kw_only=True):
    """What a tree comes to, for all of its users."""

    directories: int  # the tops of own trees among them
    files: int
    size_bytes: int  # expected: sizes are drawn
    span_bytes: int  # of the places in it: see Shape in the core

    @property
    def inodes(self) -> int:
        """Files and directories, and the directory that holds them all."""
        return self.files + self.directories + 1


def totals(tree: Tree, users: int) -> TreeTotals:
    """The totals of a tree that is made for so many users."""
    trees = max(1, users) if tree.own else 1
    directories = tree.directories * trees + (trees if trees > 1 else 0)
    files = tree.files_each * trees
    shift = max(0, tree.largest_bytes - 1).bit_length() + 2
    return TreeTotals(
        directories=directories,
        files=files,
        size_bytes=round(files * tree.mean_bytes),
        span_bytes=max(files, directories + 1) << shift,
    )
