"""The trees of a run: made before they are needed, emptied for what makes them anew, marked when they change."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from iocast.errors import TargetError
from iocast.load import Layout, Loader, WorkFile
from iocast.load.tree_files import TreeContents, empty_tree, look_at, make_place, mark_tree, tree_file, tree_path
from iocast.model.measurement import Measurement
from iocast.model.plan import Length, Phase, PhasePlan, Plan
from iocast.model.tree import Present, Tree, totals, tree_plan
from iocast.model.workload import MixItem, Workload
from iocast.runner.refilling import Fill
from iocast.text import counted

MOST_MAKERS = 8


class TreeFiles:
    """The trees of a run: each phase begins in its own, as it is to be then."""

    def __init__(self, plan: Plan, layout: Layout, loader: Loader, fill: Fill, stopped: Callable[[], bool]) -> None:
        self.waiting: list[tuple[Phase, ...]] = []  # makes that are still to come
        self._plan = plan
        first = {tree.name: tree for tree in reversed(plan.trees)}
        self._trees = {
            name: _OneTree(plan, tree, tree_file(plan, tree, layout.files), loader, _Run(fill, stopped, self.waiting))
            for name, tree in reversed(first.items())
        }

    def fill(self) -> None:
        """Their directories and the directories in them; files are made when a phase needs them."""
        for each in self._trees.values():
            each.fill()

    def prepare(self, phases: tuple[Phase, ...]) -> None:
        """The state in which a group begins."""
        for tree, own in self._by_tree(phases).items():
            self._trees[tree.name].become(tree)
            self._trees[tree.name].prepare(own)

    def note_changes_of(self, phases: tuple[Phase, ...]) -> None:
        """A phase that gives a tree other names leaves one that must be looked at."""
        for tree, own in self._by_tree(phases).items():
            self._trees[tree.name].note_changes_of(own)

    def rest(self) -> None:
        """Nothing: what somebody writes into the files of a tree is not told from the test's own writes."""

    def adapted(self, phase: Phase, plan: PhasePlan) -> PhasePlan:
        """What the core is told of a phase, with what is there when it begins."""
        tree = self._plan.tree_of(phase)
        assert tree is not None
        assert plan.tree is not None
        return replace(plan, tree=replace(plan.tree, present=self._trees[tree.name].present))

    def _by_tree(self, phases: tuple[Phase, ...]) -> dict[Tree, tuple[Phase, ...]]:
        by_tree: dict[Tree, tuple[Phase, ...]] = {}
        for phase in phases:
            tree = self._plan.tree_of(phase)
            assert tree is not None
            by_tree[tree] = (*by_tree.get(tree, ()), phase)
        return by_tree


class _Run(NamedTuple):
    """What the trees have of the run that they are in."""

    fill: Fill
    stopped: Callable[[], bool]
    waiting: list[tuple[Phase, ...]]


class _OneTree:
    """What the tree of one name holds, as far as the run changes it; of a simulated one only what it would hold.

    Every phase begins with all files there, what is missing is made first; one that is `from_nothing` begins with none,
    and one that takes the tree `as_it_is` with what was left.
    """

    def __init__(self, plan: Plan, tree: Tree, file: WorkFile, loader: Loader, run: _Run) -> None:
        self._plan, self._tree, self._file = plan, tree, file
        self._users = plan.most_users
        self._wanted = tree_plan(tree, plan.most_users)
        self._loader, self._run = loader, run
        self._real = loader.real_time
        self._whole = not self._real or not self._file.fill
        self.present: Present = "all"

    def fill(self) -> None:
        """See TreeFiles."""
        if self._real and not self._whole:
            self._unless_stopped(lambda: make_place(self._file, self._wanted, self._go_on))

    def become(self, tree: Tree) -> None:
        """Another shape: what is there is removed, and the directories are made."""
        if tree == self._tree:
            return
        self._tree, self._wanted = tree, tree_plan(tree, self._users)
        self._file = tree_file(self._plan, tree, (self._file,))
        self._whole = not self._real
        self.fill()

    def prepare(self, phases: tuple[Phase, ...]) -> None:
        """See TreeFiles."""
        if any(phase.from_nothing for phase in phases):
            if self._real:
                self._unless_stopped(lambda: empty_tree(self._file, self._wanted, self._go_on))
            self.present, self._whole = "none", False
            return
        if not self._real:
            self.present = "all"
            return
        if not self._whole and not all(phase.as_it_is for phase in phases):
            self._make()
        elif any(phase.workload.writes for phase in phases):
            self._unless_stopped(self._refuse_names_elsewhere)
        self.present = "all" if self._whole else "look"

    def note_changes_of(self, phases: tuple[Phase, ...]) -> None:
        """See TreeFiles."""
        if any(phase.workload.names for phase in phases):
            self._whole = False
            if self._real:
                mark_tree(self._file, whole=False)

    def _go_on(self) -> bool:
        return not self._run.stopped()

    def _unless_stopped(self, do: Callable[[], None]) -> None:
        try:
            do()
        except InterruptedError:
            if not self._run.stopped():
                raise TargetError(f"{self._file.path}: a signal interrupted it", "start again") from None

    def _make(self) -> None:
        """Makes the files that are missing, and looks whether all are there as they should be."""
        if self._complete():
            return
        phase = make_phase(self._plan, self._tree)
        plan = self._loader.phase_plan(phase, (self._file,), seed=0)
        assert plan.tree is not None
        look_plan = replace(plan, tree=replace(plan.tree, trees=self._wanted.trees, present="look"))
        self._run.waiting.append((phase,))
        try:
            measurement = self._run.fill(phase, look_plan)
        finally:
            self._run.waiting.pop()
        if self._run.stopped():
            return
        self._check(measurement)
        if not self._complete():
            raise TargetError(f"{self._file.path}: files are missing after all were made", "start again")

    def _complete(self) -> bool:
        """True when every file is there. Raises TargetError for what else is there, and for files of a wrong size."""
        contents = look_at(self._file, self._wanted, sizes=bool(self._tree.sizes), go_on=self._go_on)
        if contents.foreign:
            names = ", ".join(contents.foreign_names[:3])
            raise TargetError(
                f"{self._file.path} holds {contents.foreign} names that iocast did not make: {names}",
                "move them away, and start again",
            )
        self._refuse_linked(contents)
        if contents.wrong_size:
            # A make or a write that was killed: they are made anew.
            empty_tree(self._file, self._wanted, self._go_on)
            return False
        if contents.files != totals(self._tree, self._users).files:
            return False
        # What operations left beside the files is told to the next phase by a look.
        self._whole = not contents.left_over
        mark_tree(self._file, whole=self._whole)
        return True

    def _refuse_names_elsewhere(self) -> None:
        """Raises TargetError where files of the tree are somebody's, too: before each row that writes to them."""
        self._refuse_linked(look_at(self._file, self._wanted, sizes=True, go_on=self._go_on))

    def _refuse_linked(self, contents: TreeContents) -> None:
        if contents.named_elsewhere:
            names = counted(contents.named_elsewhere, "name")
            raise TargetError(
                f"files in {self._file.path} have {names} elsewhere (hard links: a backup?), and would be written to",
                "remove the other names, or the tree: `iocast clean` leaves the other names what they are",
            )

    def _check(self, measurement: Measurement) -> None:
        """Raises TargetError when files could not be made."""
        if not measurement.error_count:
            return
        error = measurement.errors[0]
        left = os.statvfs(os.path.dirname(self._file.path))
        after = f"{self._file.path}: after {measurement.ios:,} files "
        if error.name in ("ENOSPC", "EDQUOT"):
            inodes = bool(left.f_files) and not left.f_favail
            what = "inodes" if inodes else "space" if error.name == "ENOSPC" else "the quota"
            raise TargetError(
                f"{after}the file system ran out of {what}",
                "use fewer or smaller files, or another path; `iocast clean` removes what was made",
            )
        raise TargetError(f"{after}{error.count:,} could not be made: {error.name}", _way_out(error.name))


def make_phase(plan: Plan, tree: Tree) -> Phase:
    """The phase that makes all files of a tree of a plan."""
    users = plan.most_users if tree.own else min(MOST_MAKERS, os.cpu_count() or 1)
    return Phase(
        name=f"lay out {os.path.basename(tree_path(plan, tree))}",
        test="layout",
        role="fill",
        workload=Workload(mix=(MixItem("create", 0),), users=users, direct=False),
        length=Length(ios=totals(tree, plan.most_users).files),
        tree=tree if tree != plan.tree else None,
    )


def _way_out(name: str) -> str:
    from iocast.load.os_refusals import way_out

    return way_out(getattr(errno, name, 0))
