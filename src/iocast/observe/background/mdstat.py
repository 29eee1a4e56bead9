"""Arrays of md at work, from /proc/mdstat: what they do, and how much of it is done."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from iocast import metrics
from iocast.model.run import Maintenance
from iocast.model.target import Target

ARRAY = re.compile(r"(md\w+) : ")
# "[=>......]  resync =  8.6% (336374784/3906885120) finish=345.0min"; one that waits says "resync=DELAYED".
WORK = re.compile(r"\s+\[[=>.]*\]\s+([a-z]+)\s*=\s*(\d{1,3}(?:\.\d+)?)%")
ACTIONS = {"recovery": "recover"}  # as sync_action of sysfs says it


def array_work(target: Target, root: str) -> Iterator[Maintenance]:
    """Every array that is resynced, recovered, reshaped or checked at this moment."""
    path = os.path.join(root, "proc/mdstat")
    if not os.path.exists(path):
        return
    with open(path, encoding="ascii", errors="replace") as file:
        text = file.read()
    layers = {layer.name for layer in target.layers}
    name = ""
    for line in text.splitlines():
        if array := ARRAY.match(line):
            name = array[1]
        elif name and (work := WORK.match(line)):
            yield Maintenance(
                task=f"{metrics.MD}_{ACTIONS.get(work[1], work[1])}",
                subject=name,
                done=float(work[2]) / 100,
                below_target=name in layers,
            )
