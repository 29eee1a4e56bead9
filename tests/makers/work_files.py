"""Plans on real files, and the laying out of their work files, for the tests that need them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from iocast import load
from iocast.load.filling import claimed, create, fill_phase, finish, in_blocks
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.target import Target
from iocast.model.workload import MixItem, Workload

MIB = 1 << 20


def phase(op: str = "read", seconds: float | None = 0.05, **changes: Any) -> Phase:
    """A short phase of random 8 KiB I/Os."""
    item = MixItem(op, 8192)  # type: ignore[arg-type]
    workload = Workload(mix=(item,), direct=False, **changes)
    return Phase(name=f"rand{op}", test=f"rand{op}", workload=workload, length=Length(seconds=seconds))


def plan(path: Path, size_bytes: int = 2 * MIB, count: int = 1, *phases: Phase, **target: Any) -> Plan:
    """A plan of one phase on the work files of a directory, or on one file."""
    kind = "directory" if path.is_dir() else "file"
    fields: dict[str, Any] = {"path": str(path), "kind": kind, "direct": False} | target
    files = WorkFiles(count, size_bytes)
    return Plan(name="tests", target=Target(**fields), phases=phases or (phase(),), files=files, engine="sync")


def lay(made: Plan) -> load.Layout:
    """Lays out all files of a plan, as the runner does; returns what was found before."""
    layout = load.lay_out(made)
    with claimed(layout):
        for number, file in enumerate(layout.files):
            if file.fill:
                create(file)
                fill = load.phase_plan(made, fill_phase(file, direct=False), (in_blocks(file),), 1000 + number)
                assert load.measure(fill, lambda *_: True)[0].stopped == "finished"
                finish(file)
    return layout


def listing(directory: Path) -> list[str]:
    """The names in a directory."""
    return sorted(os.listdir(directory))
