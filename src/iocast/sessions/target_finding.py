"""A path as a person gives it becomes a Target."""

from __future__ import annotations

import os

from msgspec.structs import replace

from iocast.archive.file_names import ROWS_FILE, RUN_FILE, SUMMARY_FILE
from iocast.errors import SpecError, TargetError
from iocast.load.database.servers import is_database
from iocast.load.work_files import own_file
from iocast.model.permission import why_outdated
from iocast.model.target import Target
from iocast.text import is_text, shown


def find_target(path: str, destroy: str = "") -> Target:
    """The Target of an existing path, of a file that can be made in an existing directory, or of `sim:…`.

    A file that iocast made has no size of its own: the job says how large it is to be. `destroy` names the
    block device whose contents may be overwritten. Raises TargetError, SpecError.
    """
    target = _find(path)
    if destroy:
        _require_named(target, destroy)
    return replace(target, destroy=destroy)


def identity_name(target: Target) -> str:
    """What `--destroy` would have to say of a block device; "" for all that cannot be named."""
    return target.identity.name if target.identity else ""


def _require_named(target: Target, destroy: str) -> None:
    if target.kind != "block":
        raise SpecError(
            f"--destroy {destroy}: {target.path} is not a block device",
            "omit --destroy: it is only needed to overwrite block devices",
        )
    name = identity_name(target)
    if destroy != name:
        why_none = target.identity.why_nameless if target.identity is not None else "it has no identity"
        is_ = f"is {name}" if name else f"has none: {why_none}"
        raise TargetError(
            f"--destroy {destroy} is not the identity of {target.path}, which {is_}{why_outdated(destroy)}",
            "nothing was written; find the intended device with `lsblk`",
        )


def _find(path: str) -> Target:
    if "://" in path and is_database(path):
        from iocast.sessions.database.database_finding import find_database

        return find_database(path)
    if path.startswith("sim:"):
        from iocast.jobs import parse_target

        return parse_target(path)
    from iocast.observe.target.device_stack import describe

    if not path:
        raise TargetError(
            "PATH is empty", "give a directory, a file or a device; an unset shell variable may be the cause"
        )
    if not is_text(path):
        raise TargetError(
            f"the name {shown(path)} is not UTF-8 text", "give another path to it, such as a symbolic link"
        )
    if os.path.lexists(path):
        target = describe(path)
        _refuse_devices_home(target)
        _refuse_run_folder(target)
        return replace(target, size_bytes=None) if target.kind == "file" and own_file(target.path) else target
    absolute = os.path.abspath(path)
    parent = os.path.dirname(absolute)
    if path.endswith("/") or not os.path.isdir(parent):
        return describe(path)  # which says best what is missing
    target = describe(parent)
    if target.filesystem == "devtmpfs":
        return describe(path)  # a device's name, misspelt
    if not os.path.splitext(absolute)[1]:
        # More likely a directory misspelt, or a mount that is missing, than a file to be made.
        raise TargetError(
            f"{path} does not exist",
            f"check the path; a new work file needs a suffix, such as {path}.dat",
        )
    return replace(target, kind="file", path=absolute)


def _refuse_devices_home(target: Target) -> None:
    if target.kind != "block" and target.filesystem == "devtmpfs":
        raise TargetError(
            f"{target.path} is on devtmpfs: files there are in memory",
            "give a block device (`lsblk` lists them), or a directory on a disk file system",
        )


def _refuse_run_folder(target: Target) -> None:
    names = {name for name in (RUN_FILE, SUMMARY_FILE, ROWS_FILE) if os.path.lexists(os.path.join(target.path, name))}
    if RUN_FILE in names and len(names) > 1:
        raise TargetError(
            f"{target.path} is a run folder: no work files are laid out in it",
            f"to see that run, `iocast report {target.path}`; to test its findings, `iocast diagnose --for "
            f"{target.path}`; to measure, give the directory of the storage",
        )


def with_direct_tried(target: Target) -> Target:
    """The target with an answer to whether O_DIRECT works, found with a work file where nothing else can tell.

    Raises TargetError when none can be made.
    """
    if target.kind != "directory" or target.direct is not None or not os.access(target.path, os.W_OK | os.X_OK):
        return target
    from iocast.load.filling import trial_file
    from iocast.load.work_files import work_paths
    from iocast.observe.target.direct import probe_direct

    (first,) = work_paths(target, 1)
    if os.path.lexists(first):
        direct, why_not = probe_direct(first, "file")
    else:
        with trial_file(target.path) as path:
            direct, why_not = probe_direct(path, "file")
    return replace(target, direct=direct, direct_why_not=why_not)
