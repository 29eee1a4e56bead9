"""Phases in a tree of files: what they may be."""

from __future__ import annotations

from collections.abc import Iterable

from iocast.errors import SpecError, TargetError
from iocast.model.job import Job
from iocast.model.plan import Phase
from iocast.model.target import Target
from iocast.model.tree import Tree
from iocast.model.workload import Sequential, Uniform

MOST_FILES = (1 << 32) - 1


def check_trees(job: Job, phases: Iterable[Phase], target: Target) -> None:
    """Refuses names without a tree, and phases that a tree does not have. Raises SpecError, TargetError."""
    for phase in phases:
        tree = phase.tree or job.tree
        if tree is None:
            if phase.workload.tree_only:
                op = next(item.op for item in phase.workload.mix if item.size_bytes == 0)
                raise SpecError(
                    f'phase "{phase.name}": {op} needs a tree of files',
                    "add a [tree] table: depth, width, files",
                )
            continue
        _check_phase(phase, tree)
    trees = {each for phase in phases if (each := phase.tree or job.tree) is not None}
    if not trees:
        return
    if target.kind not in ("directory", "sim"):
        raise TargetError(f"{target.path}: a tree of files needs a directory", "give a directory on that storage")
    users = max((phase.workload.users for phase in phases), default=1)
    files = max(tree.files_each * (users if tree.own else 1) for tree in trees)
    if files > MOST_FILES:
        raise SpecError(
            f"the tree has {files:,} files; at most {MOST_FILES:,}", "fewer files, or a smaller depth or width"
        )


def _check_phase(phase: Phase, tree: Tree) -> None:
    load = phase.workload

    def refuse(why: str, way_out: str) -> None:
        raise SpecError(f'phase "{phase.name}": {why}', way_out)

    if any(item.op == "trim" for item in load.mix):
        refuse("files of a tree are not trimmed", "leave trim out, or the [tree] table")
    if any(item.op in ("read", "write") for item in load.mix) and not tree.largest_bytes:
        refuse("it reads or writes, and the files of the tree are empty", 'give the [tree] a size, such as size = "8k"')
    if load.fsync_every or load.steps or phase.verify or phase.replay:
        refuse("a tree has no fsync_every, steps, verify or replay", "use a mix with fsync instead")
    if not isinstance(load.locality, Sequential | Uniform):
        refuse("I/O within the files of a tree is sequential or random", 'pattern = "sequential" or "random"')
    if phase.region_start_bytes or phase.region_size_bytes:
        refuse("a tree has no region", "leave region out")
