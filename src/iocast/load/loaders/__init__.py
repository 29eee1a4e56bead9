"""Loaders: each makes the load of a plan in one world; the target decides which one it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from iocast.errors import LoadError
from iocast.load.loaders import (
    database_sessions,
    disk,
    simulator,
)
from iocast.load.loaders.loader import Loader
from iocast.load.work_files import Layout, WorkFile
from iocast.model.plan import Phase, PhasePlan, Plan
from iocast.model.target import Target


class LoaderModule(Protocol):
    """One loader, as a module: `Loader(plan)` makes it."""

    def takes(self, target: Target) -> bool:
        """True when this loader is the one for such a target."""

    @property
    def Loader(self) -> Callable[[Plan], Loader]:
        """Builds the loader of a plan."""


LOADERS: tuple[LoaderModule, ...] = (
    disk,
    simulator,
    database_sessions,
)


def loader_of(plan: Plan) -> Loader:
    """The loader of a plan, new for each run. Raises LoadError when there is none for its target."""
    for module in LOADERS:
        if module.takes(plan.target):
            return module.Loader(plan)
    raise LoadError(
        f"{plan.target.path}: no loader supports a target of kind {plan.target.kind}",
        "give a directory, a file, a block device, a simulated device (sim:), or the URL of a database",
    )


def lay_out(plan: Plan) -> Layout:
    """What a plan works on, and what must be written first. Writes nothing. Raises TargetError."""
    return loader_of(plan).lay_out()


def phase_plan(plan: Plan, phase: Phase, files: tuple[WorkFile, ...], seed: int) -> PhasePlan:
    """What the core is told of one phase of a plan."""
    return loader_of(plan).phase_plan(phase, files, seed)
