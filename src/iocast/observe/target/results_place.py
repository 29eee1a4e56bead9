"""Whether the run folder lies on the storage under test: what is written there is part of its load."""

from __future__ import annotations

import os
from pathlib import Path

from iocast.model.target import Target
from iocast.observe.target.device_users import related


def results_on_target(target: Target, out: str) -> str | None:
    """What the run folder in `out` shares with the target: the name of a disk or of a file system; None where that is
    nothing, or unknown.
    """
    if target.kind == "sim":
        return None
    try:
        device = os.stat(_existing(Path(os.path.abspath(out)))).st_dev
        same = target.kind != "block" and os.stat(target.path).st_dev == device
    except OSError:
        return None
    numbers = {os.makedev(layer.major, layer.minor): layer.name for layer in target.layers}
    shared = [numbers[number] for number in related(os.major(device), os.minor(device)) if number in numbers]
    if shared:
        return shared[-1]
    return target.mount_point or target.path if same else None


def _existing(folder: Path) -> Path:
    """The folder, or the first above it that is there."""
    return next((each for each in (folder, *folder.parents) if each.exists()), Path("/"))
