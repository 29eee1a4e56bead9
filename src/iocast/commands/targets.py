"""A path as a person gives it becomes a Target, and what iocast may do to it."""

from __future__ import annotations

import os

import msgspec

from iocast.errors import TargetError
from iocast.model.target import Target


def find_target(path: str) -> Target:
    """The Target of an existing path, of a file that can be made in an existing directory, or of `sim:…`.

    Raises TargetError, SpecError.
    """
    if path.startswith("sim:"):
        from iocast.spec import parse_target

        return parse_target(path)
    from iocast.observe.stack import describe

    if os.path.lexists(path):
        return describe(path)
    parent = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(parent):
        raise TargetError(f"{path} does not exist, nor does {parent}", "check the path")
    return msgspec.structs.replace(describe(parent), kind="file", path=os.path.abspath(path))


def made_by_iocast(target: Target) -> bool:
    """True when the target is a work file, or a file that is still to be made."""
    from iocast.load.files import read_mark

    return target.kind == "file" and (read_mark(target.path) is not None or not os.path.lexists(target.path))


def only_read(target: Target) -> bool:
    """True for what is not ours to write to: devices, and files that someone else made."""
    return target.kind == "block" or (target.kind == "file" and not made_by_iocast(target))
