"""Several files or devices as one target: one line of bytes over all of them."""

from __future__ import annotations

import os

from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.model.permission import why_outdated
from iocast.model.target import Target
from iocast.sessions.target_finding import find_target, identity_name

_ONE_KIND = "give block devices only, or existing files only"


def find_targets(paths: tuple[str, ...], destroy: tuple[str, ...] = ()) -> Target:
    """The target of one path, or of several files or devices together, each of which `destroy` must name before
    anything is written. Raises TargetError, SpecError."""
    if len(destroy) > len(paths):
        raise SpecError(f"--destroy names {len(destroy)} devices, but there are {len(paths)} paths")
    if len(paths) == 1:
        return find_target(paths[0], destroy[0] if destroy else "")
    _refuse_twice(paths)
    members = tuple(_given_up(_member(path), destroy) for path in paths)
    kinds = {member.kind for member in members}
    if len(kinds) > 1:
        raise TargetError("some of the paths are files, others are devices", _ONE_KIND)
    named = {member.destroy for member in members}
    for name in destroy:
        if name not in named:
            raise TargetError(
                f"--destroy {name} is the identity of none of the paths{why_outdated(name)}", "nothing was written"
            )
    return _together(members)


def _refuse_twice(paths: tuple[str, ...]) -> None:
    names: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in names:
            raise SpecError(f"{path} is given twice", "give each file or device once")
        names.add(real)


def _member(path: str) -> Target:
    if not path.startswith("sim:") and not os.path.lexists(path):
        raise TargetError(f"{path} does not exist", "check the path; only existing files and devices go together")
    target = find_target(path)
    if target.kind == "file" and target.size_bytes is None:
        target = replace(target, size_bytes=os.path.getsize(path))
    if target.kind not in ("file", "block"):
        what = "a directory" if target.kind == "directory" else "a simulated device"
        raise TargetError(
            f"{path} is {what}: only files and devices go together",
            "give one directory with --luns, which lays out its own files, or one simulated device",
        )
    if not target.size_bytes:
        raise TargetError(f"{path} is empty: nothing to read", "leave it out")
    return target


def _given_up(member: Target, destroy: tuple[str, ...]) -> Target:
    name = identity_name(member)
    return replace(member, destroy=name) if name and name in destroy else member


def _together(members: tuple[Target, ...]) -> Target:
    """What they have in common stands in the first; devices below that differ cannot be told apart by one row."""
    first = members[0]
    same = all(member.layers == first.layers for member in members)
    why = "the files or devices stand on different devices, whose counters are not compared with the rows"
    return replace(
        first,
        path=",".join(member.path for member in members),
        size_bytes=sum(member.size_bytes or 0 for member in members),
        direct=_all_direct(members),
        direct_why_not=next((member.direct_why_not for member in members if member.direct_why_not), ""),
        layers=first.layers if same else (),
        identity=None,
        destroy=",".join(member.destroy for member in members if member.destroy),
        notes=first.notes if same else (*first.notes, why),
        members=members,
    )


def _all_direct(members: tuple[Target, ...]) -> bool | None:
    answers = {member.direct for member in members}
    if False in answers:
        return False
    return None if None in answers else True
