"""Permission: may iocast write to a target? The one place that decides it; whoever writes asks here."""

from __future__ import annotations

import re
from typing import Literal

from msgspec import Struct

from iocast.model.target import Target

PermissionCode = Literal[
    "simulated", "own_files", "own_schema", "given_up", "block_device", "foreign_file", "read_only", "unknown_place"
]

_REASONS: dict[PermissionCode, str] = {
    "simulated": "a simulated device",
    "own_files": "iocast work files",
    "own_schema": "the schema iocast_load of a database",
    "given_up": "a block device named with --destroy",
    "block_device": "a block device",
    "foreign_file": "a file that iocast did not create",
    "read_only": "on a read-only file system",
    "unknown_place": "the target of an imported run",
}


# Of a loop device as it was named once: by device and inode of its file alone, or by the number of the device below.
_UNBORN = re.compile(r"loop:\d+:\d+(:\d+)?(\+\d+)?(\.\.\d+)?(-part\d+)?")
# Of a partition as it was named once: by its number alone. A link in /dev/disk/by-id may end like that on its own.
_UNPLACED = re.compile(r"(?!id:).*-part\d+")


class Permission(Struct, frozen=True):
    """Whether a target may be written to; `code` says why, or why not."""

    may_write: bool
    code: PermissionCode

    @property
    def reason(self) -> str:
        """The code as people read it: "a block device"."""
        return _REASONS[self.code]


def why_outdated(name: str) -> str:
    """Why a name given to `--destroy` names nothing any more, as the end of a sentence; "" for all others."""
    if _UNBORN.fullmatch(name):
        return "; it lacks the generation and birth time of the file, so it may name a later file with the same inode"
    if _UNPLACED.fullmatch(name):
        return "; it lacks the start and size of the partition, so it may name a later one with the same number"
    return ""


def permission(target: Target, *, own_file: bool, read_only: bool = False) -> Permission:
    """What may be done to a target. `own_file`: a file there was made by iocast, or is still to be made. `read_only`:
    its file system is mounted so."""
    if target.members:
        each = [permission(member, own_file=False) for member in target.members]
        return next((each_permission for each_permission in each if not each_permission.may_write), each[0])
    if read_only and (target.kind == "directory" or own_file):
        return Permission(False, "read_only")
    match target.kind:
        case "sim":
            return Permission(True, "simulated")
        case "directory":
            return Permission(True, "own_files")
        case "file":
            return Permission(True, "own_files") if own_file else Permission(False, "foreign_file")
        case "block":
            name = target.identity.name if target.identity is not None else ""
            given_up = target.destroy == name != "" and not why_outdated(name)
            return Permission(True, "given_up") if given_up else Permission(False, "block_device")
        case "database":
            return Permission(True, "own_schema")
        case "unknown":
            return Permission(False, "unknown_place")
