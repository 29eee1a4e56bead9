"""Runs on simulated devices, made once and kept: the same code, plan and seed measure the same.

They lie below `target/test-runs`, in one folder for each state of the core and of the rooms that make a run; `make
clean` removes them all.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from pathlib import Path

import msgspec

import iocast
from iocast import _core, archive, load, runner
from iocast.model.plan import Plan
from iocast.model.run import Run
from iocast.sessions.listener import QuietProgress

KEPT = Path(__file__).resolve().parents[2] / "target/test-runs"
STATES = 3  # of the code that are kept: two branches do not push each other out
# Rooms that a run is made without, and read by: what changes there makes no other run.
READERS = ("analyse", "commands", "databases", "diagnose", "forecast", "report", "sessions", "top", "web")


def run_of(plan: Plan, out: Path) -> Run:
    """The run of a plan on a simulated device, with its folder in `out`."""
    assert plan.target.kind == "sim", plan.target.kind
    kept = _state() / hashlib.sha256(msgspec.json.encode(plan)).hexdigest()[:32]
    if not kept.exists():
        made = kept.with_name(f".{kept.name}.{os.getpid()}")
        done = runner.run(runner.Work(plan, load.lay_out(plan), str(made)), QuietProgress(), lambda: False)
        assert done.error is None
        try:
            made.rename(kept)
        except OSError:  # another process was faster
            shutil.rmtree(made)
    (folder,) = kept.iterdir()
    copy = out / f"{folder.name}-{kept.name[:8]}"
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    return archive.load(str(copy))


@functools.cache
def _state() -> Path:
    """The folder for the code as it is; those of older states go, but for a few."""
    source = Path(iocast.__file__).parent
    files = (path for path in source.rglob("*.py") if path.relative_to(source).parts[0] not in READERS)
    code = hashlib.sha256()
    for path in (Path(_core.__file__), *sorted(files)):
        code.update(path.name.encode() + path.read_bytes())
    folder = KEPT / code.hexdigest()[:32]
    folder.mkdir(parents=True, exist_ok=True)
    os.utime(folder)
    for older in sorted(KEPT.iterdir(), key=lambda each: each.stat().st_mtime)[:-STATES]:
        shutil.rmtree(older, ignore_errors=True)
    return folder
