"""--map OLD=NEW: which file or device each target of a trace is replayed on."""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping

from msgspec import Struct

from iocast.errors import SpecError
from iocast.sessions.requests.replay import ReplayRequest

MIB = 1 << 20
HOW = "write the name of a target of the trace, =, and a file or device: --map sda=/dev/sdx"


class Mapping(Struct, frozen=True):
    """The new files or devices, and for each target of the trace the number of its own."""

    paths: tuple[str, ...] = ()
    files: dict[str, int] = {}


def mapping_of(request: ReplayRequest) -> Mapping:
    """What `mapped` of a request says. Raises SpecError."""
    if not request.mapped:
        return Mapping()
    if request.targets:
        raise SpecError("--map and --target together", "only targets that are mapped are replayed: omit --target")
    if request.path != ".":
        raise SpecError(f"--map and the path {request.path} together", "each --map says where: omit PATH")
    files: dict[str, str] = {}
    for each in request.mapped:
        old, _, new = each.partition("=")
        if not old or not new:
            raise SpecError(f"--map {each} is not OLD=NEW", HOW)
        if old in files:
            raise SpecError(f"--map has {old} twice", "a target of the trace goes to one file or device")
        files[old] = new
    paths = tuple(dict.fromkeys(files.values()))
    return Mapping(paths, {old: paths.index(new) for old, new in files.items()})


def needed_bytes(ends: AnyMapping[str, int], mapping: Mapping) -> list[int]:
    """How far the targets on each file reach, one after the other from whole MiB to whole MiB (replay/placing.rs)."""
    needed = [0] * len(mapping.paths)
    for old, number in mapping.files.items():
        needed[number] = -(-needed[number] // MIB) * MIB + ends.get(old, 0)
    return needed
