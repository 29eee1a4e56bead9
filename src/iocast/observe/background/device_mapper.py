"""LVM at work: pvmove, and volumes whose copies are synchronised, from sysfs and `dmsetup status`."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterator

from msgspec.structs import replace

from iocast import metrics
from iocast.model.run import Maintenance
from iocast.model.target import Target
from iocast.observe.background.command_output import Ask

COPY = "image_"  # of the parts of a volume that is kept more than once: vg0-data_rimage_0
PVMOVE = re.compile(r"-pvmove\d+$")
SHARE = re.compile(r"(\d{1,20})/(\d{1,20})")
IDLE = frozenset({"idle", "frozen"})


def mapped_work(target: Target, root: str, ask: Ask) -> Iterator[Maintenance]:
    """Volumes of the device mapper that are moved, merged or synchronised; nothing is asked where there are none."""
    kernel_names = dict(_volumes(root))
    layers = {layer.name for layer in target.layers}
    work: dict[str, Maintenance] = {}
    output: str | None = ""
    for name in kernel_names:
        if PVMOVE.search(name):
            work[name] = Maintenance(task=metrics.LVM_PVMOVE, subject=name)
    if kernel_names:
        output = ask("dmsetup", "status")
        work |= {each.subject: each for each in map(_work, (output or "").splitlines()) if each is not None}
    for name, each in work.items():
        yield replace(each, below_target=kernel_names.get(name) in layers)
    if output is None and any(COPY in name for name in kernel_names):
        raise ValueError("synchronisation of LVM volumes: dmsetup cannot be asked")


def _volumes(root: str) -> Iterator[tuple[str, str]]:
    """The volumes of LVM: their names, and those that the kernel gives them."""
    for folder in sorted(glob.glob(os.path.join(root, "sys/block/dm-*/dm"))):
        name, uuid = (_read(os.path.join(folder, file)) for file in ("name", "uuid"))
        if name and uuid.startswith("LVM-"):
            yield name, folder.split("/")[-2]


def _work(line: str) -> Maintenance | None:
    """A line such as "vg0-data: 0 2097152 raid raid1 2 aa 1048576/2097152 resync 0 0 -"; None where nothing is done."""
    name, _, rest = line.partition(": ")
    fields = rest.split()[2:]  # its start and length
    if not fields:
        return None
    share = next((match for each in fields if (match := SHARE.fullmatch(each))), None)
    done = int(share[1]) / int(share[2]) if share is not None and int(share[2]) else None
    task = _task(name, fields, done)
    return None if task is None else Maintenance(task=task, subject=name, done=done)


def _task(name: str, fields: list[str], done: float | None) -> str | None:
    """What a volume of that type does for itself."""
    match fields[0]:
        case "mirror" if PVMOVE.search(name):
            return metrics.LVM_PVMOVE
        case "raid" if len(fields) > 5 and fields[5].isalpha():
            return None if fields[5] in IDLE else f"{metrics.LVM}_{fields[5]}"
        case "raid" | "mirror" if done is not None and done < 1:
            return metrics.LVM_RESYNC
        case "snapshot-merge":
            return metrics.LVM_MERGE
        case _:
            return None


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
