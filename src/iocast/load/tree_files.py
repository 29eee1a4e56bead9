"""Trees of files in a directory of iocast's own: planned, made or taken up again, looked at, removed.

The directory carries a mark beside it, as work files do, and holds a file that says what the tree is like. Nobody but
its owner may enter it; what in it is iocast's is told by the core (crates/iocast-core/src/tree/ours.rs).
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.writing.asides import making_room, put_back_left
from iocast.archive.writing.file_identity import belongs_to
from iocast.archive.writing.held_directories import directory_of, held_path
from iocast.errors import TargetError
from iocast.load.file_attributes import refuse_fixed
from iocast.load.marks import (
    is_named,
    mark_of,
    mark_path,
    read_mark,
    take_up,
    unlink_mark,
    unlink_work_file,
    write_mark,
)
from iocast.load.os_refusals import refusal
from iocast.load.work_files import RESERVE_MOST_BYTES, RESERVE_SHARE, Layout, WorkFile
from iocast.model.plan import Plan
from iocast.model.tree import Tree, TreePlan, totals, tree_plan

TREE_NAME = "iocast-tree"
_NAMES = re.compile(re.escape(TREE_NAME) + r"(\.\w+)?")  # of one of several
SHAPE_NAME = ".iocast-shape"
_MODE = 0o1700
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MIB = 1 << 20

GoOn = Callable[[], bool]


class TreeContents(Struct, frozen=True):
    """What a look at a tree found (crates/iocast-core/src/tree/look.rs)."""

    directories: int
    missing_directories: int
    files: int
    left_over: int  # renamed files, second names, links, directories beside files
    wrong_size: int
    bytes: int
    named_elsewhere: int
    foreign: int
    foreign_names: tuple[str, ...]


class TreeRemoved(Struct, frozen=True):
    """What the removal of a tree did (crates/iocast-core/src/tree/removal.rs)."""

    files: int
    directories: int
    freed_bytes: int
    left: int
    left_names: tuple[str, ...]


def _core() -> ModuleType:
    from iocast import _core as core

    return core


def always() -> bool:
    """Nobody stops it."""
    return True


def is_tree(path: str) -> bool:
    """True for a directory with the mark of a tree beside it, and for such a mark without its directory."""
    if _NAMES.fullmatch(os.path.basename(path)) is None or read_mark(path) is None:
        return False
    place = held_path(path)
    return (os.path.isdir(place) and not os.path.islink(place)) or not os.path.lexists(place)


def tree_path(plan: Plan, tree: Tree) -> str:
    """The directory of a tree of a plan."""
    return str(Path(plan.target.path) / (f"{TREE_NAME}.{tree.name}" if tree.name else TREE_NAME))


def tree_file(plan: Plan, tree: Tree, files: Sequence[WorkFile]) -> WorkFile:
    """Of the trees of a layout the one that a phase works in, as far as its places reach."""
    path = tree_path(plan, tree)
    match = next((file for file in files if file.path == path), files[0])
    simulated = plan.target.kind == "sim"
    return match if simulated else replace(match, size_bytes=totals(tree, plan.most_users).span_bytes)


def lay_out_tree(plan: Plan) -> Layout:
    """The trees of a plan, and whether they must be made first: of one name the first. Writes nothing.

    Raises TargetError.
    """
    target = plan.target
    if target.kind != "directory":
        raise TargetError(f"{target.path}: a tree of files needs a directory", "give a directory on that storage")
    named: dict[str, list[Tree]] = {}
    for tree in plan.trees:
        named.setdefault(tree.name, []).append(tree)
    layouts = [_lay_out_one(plan, trees) for trees in named.values()]
    _check_room(plan, list(named.values()))
    return Layout(
        tuple(file for file, _ in layouts),
        own=True,
        notes=tuple(note for _, notes in layouts for note in notes),
        tree=True,
    )


def _lay_out_one(plan: Plan, trees: Sequence[Tree]) -> tuple[WorkFile, tuple[str, ...]]:
    """The trees of one name: their directory, and what is to be said of what is there."""
    target, tree = plan.target, trees[0]
    path, wanted = tree_path(plan, tree), tree_plan(tree, plan.most_users)
    span_bytes = max(totals(each, plan.most_users).span_bytes for each in trees)
    notes: tuple[str, ...] = ()
    whole = False
    try:
        if os.path.lexists(path):
            with opened_tree(path) as place:
                mark, shape = read_mark(path), _shape(place)
                whole = mark is not None and mark.whole and shape == wanted
                if shape is not None and shape != wanted:
                    notes = (f"{path} holds a tree of another shape: it is removed first",)
        elif os.path.lexists(mark_path(path)) and read_mark(path) is None:
            raise _not_ours(mark_path(path))
    except OSError as error:
        raise refusal("cannot read", path, error) from error
    refuse_fixed(target.path, path)
    if not os.access(target.path, os.W_OK | os.X_OK, effective_ids=True):
        raise refusal("cannot make a tree in", target.path, PermissionError(errno.EACCES, os.strerror(errno.EACCES)))
    return WorkFile(path, span_bytes, fill=not whole), notes


def _not_ours(path: str) -> TargetError:
    return TargetError(
        f"{path} exists and was not created by iocast",
        "move it away, or choose another directory: iocast writes only to files that it created",
    )


def _bytes_of(plan: Plan, tree: Tree) -> int:
    sums = totals(tree, plan.most_users)
    return sums.size_bytes + sums.directories * 4096


def _check_room(plan: Plan, named: Sequence[Sequence[Tree]]) -> None:
    """Refuses trees for which the file system has too few inodes, or too little space. Of one name there is one at a
    time; where one is, it counts."""
    missing = [trees for trees in named if not os.path.lexists(tree_path(plan, trees[0]))]
    inodes = sum(max(totals(tree, plan.most_users).inodes for tree in trees) for trees in missing)
    need = sum(max(_bytes_of(plan, tree) for tree in trees) for trees in missing)
    what = "the tree needs" if len(plan.trees) == 1 else "the trees need"
    left = os.statvfs(plan.target.path)
    # Some file systems make inodes as they are needed, and say 0.
    if left.f_files and inodes > left.f_favail:
        raise TargetError(
            f"{plan.target.path}: {what} {inodes:,} inodes; {left.f_favail:,} are free (df -i)",
            "use fewer files or directories, or a file system made with more inodes (mkfs.ext4 -N)",
        )
    reserve = min(int(left.f_blocks * left.f_frsize * RESERVE_SHARE), RESERVE_MOST_BYTES)
    room = max(0, left.f_bavail * left.f_frsize - reserve)
    if left.f_blocks and need > room:
        raise TargetError(
            f"{plan.target.path}: {what} about {need / _MIB:,.0f} MiB; {room / _MIB:,.0f} MiB may be used",
            "use fewer or smaller files, or give another path",
        )


@contextmanager
def opened_tree(path: str) -> Iterator[int]:
    """A descriptor of the directory that the mark of `path` names. Raises TargetError, OSError."""
    try:
        descriptor = os.open(held_path(path), _OPEN)
    except OSError as error:
        if error.errno in (errno.ENOTDIR, errno.ELOOP):
            raise _not_ours(path) from None
        raise
    try:
        require_our_tree(path, descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def require_our_tree(path: str, descriptor: int) -> None:
    """Raises TargetError unless the open directory is the one that iocast made at `path`."""
    mark, status = read_mark(path), os.fstat(descriptor)
    ours = stat.S_ISDIR(status.st_mode) and belongs_to(status, f"/proc/self/fd/{descriptor}", (os.geteuid(),))
    if mark is None or not ours or not is_named(mark, path, descriptor):
        raise _not_ours(path)


def _shape(place: int) -> TreePlan | None:
    """What the tree in an open directory is like; None when nobody says."""
    try:
        descriptor = os.open(SHAPE_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
    except OSError:
        return None
    try:
        return msgspec.json.decode(os.read(descriptor, 1 << 16), type=TreePlan)
    except msgspec.MsgspecError:
        return None
    finally:
        os.close(descriptor)


def make_place(file: WorkFile, wanted: TreePlan, go_on: GoOn = always) -> None:
    """Makes the directory of a tree and the directories in it, or takes them up again; a tree of another shape is
    removed. Makes no files. Raises TargetError; InterruptedError when it was told to stop."""
    path = file.path
    try:
        if not os.path.lexists(held_path(path)):
            put_back_left(directory_of(path))
        if not os.path.lexists(held_path(path)):
            _make_directory(file)
        with opened_tree(path) as place:
            os.fchmod(place, _MODE)
            mark = mark_of(place, file.size_bytes)
            if mark != read_mark(path):
                write_mark(path, mark)
            if _shape(place) != wanted:
                _refuse_left(path, _removed(place, False, go_on))
                _write_shape(place, wanted)
            _core().make_tree_directories(_json(wanted), place, go_on)
    except InterruptedError:
        raise
    except OSError as error:
        raise refusal("cannot make a tree in", path, error) from error


def _make_directory(file: WorkFile) -> None:
    """Makes the directory where nobody else comes, marked before it gets its name. Raises TargetError, OSError."""
    name = os.path.basename(file.path)
    with making_room(directory_of(file.path)) as room:
        os.mkdir(name, 0o700, dir_fd=room.folder.descriptor)
        descriptor = os.open(name, _OPEN, dir_fd=room.folder.descriptor)
        try:
            os.fchmod(descriptor, _MODE)
            _refuse_without_modes(file.path, descriptor)
            write_mark(file.path, mark_of(descriptor, file.size_bytes))
        finally:
            os.close(descriptor)
        room.give_name(name)


def _refuse_without_modes(path: str, descriptor: int) -> None:
    if stat.S_IMODE(os.fstat(descriptor).st_mode) != _MODE:
        raise TargetError(
            f"{path}: this file system does not keep the modes of files, by which iocast tells its own",
            "choose a directory on another file system (ext4, xfs, btrfs, tmpfs …)",
        )


def _write_shape(place: int, wanted: TreePlan) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    descriptor = os.open(SHAPE_NAME, flags, 0o600, dir_fd=place)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_uid != os.geteuid():
            raise TargetError(
                f"{SHAPE_NAME} in the tree is no file of its own: it has a second name, or another owner",
                "move the tree away, and start again",
            )
        os.ftruncate(descriptor, 0)
        os.write(descriptor, _json(wanted).encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _json(tree: TreePlan) -> str:
    return msgspec.json.encode(tree).decode()


def look_at(file: WorkFile, wanted: TreePlan, *, sizes: bool, go_on: GoOn = always) -> TreeContents:
    """What of a tree is there. Raises TargetError; InterruptedError when it was told to stop."""
    try:
        with opened_tree(file.path) as place:
            return msgspec.json.decode(_core().look_at_tree(_json(wanted), place, sizes, go_on), type=TreeContents)
    except InterruptedError:
        raise
    except OSError as error:
        raise refusal("cannot look at", file.path, error) from error


def mark_tree(file: WorkFile, *, whole: bool) -> None:
    """Notes that a tree is whole, or that it is not any more. Raises TargetError."""
    mark = read_mark(file.path)
    if mark is not None and mark.whole != whole:
        write_mark(file.path, replace(mark, whole=whole))


def empty_tree(file: WorkFile, wanted: TreePlan, go_on: GoOn = always) -> None:
    """Removes all files of a tree and makes its directories again. Raises TargetError, InterruptedError."""
    mark_tree(file, whole=False)
    try:
        with opened_tree(file.path) as place:
            _refuse_left(file.path, _removed(place, False, go_on))
            _core().make_tree_directories(_json(wanted), place, go_on)
    except InterruptedError:
        raise
    except OSError as error:
        raise refusal("cannot empty", file.path, error) from error


def _removed(place: int, dry: bool, go_on: GoOn) -> TreeRemoved:
    threads = min(8, os.cpu_count() or 1)
    return msgspec.json.decode(_core().remove_tree(place, threads, dry, go_on), type=TreeRemoved)


def _refuse_left(path: str, removed: TreeRemoved) -> None:
    if removed.left:
        names = ", ".join(removed.left_names[:3])
        raise TargetError(
            f"{path} holds {removed.left} name{'s' if removed.left > 1 else ''} that iocast did not make: {names}",
            "move them away, and start again",
        )


def remove_tree(path: str, *, dry: bool = False, go_on: GoOn = always) -> int:
    """Removes a tree, its directory and its mark, or only counts; returns the bytes that were allocated.

    What iocast did not make stays, and all directories above it. Raises TargetError, OSError.
    """
    if not os.path.lexists(held_path(path)):
        if not dry:
            unlink_mark(path)
        return 0
    with opened_tree(path) as place:
        if not dry:
            os.fchmod(place, _MODE)
            take_up(path)
            mark_tree(WorkFile(path, 0, fill=True), whole=False)
        removed = _removed(place, dry, go_on) if stat.S_IMODE(os.fstat(place).st_mode) == _MODE else None
        if dry or removed is None:
            return removed.freed_bytes if removed else 0
        _refuse_left(path, removed)
        if SHAPE_NAME in os.listdir(place):
            os.unlink(SHAPE_NAME, dir_fd=place)
    unlink_work_file(path)
    return removed.freed_bytes
