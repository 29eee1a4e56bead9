"""Finds run folders below a directory and reads their summaries, quickly enough for thousands."""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

import msgspec

from iocast.archive.file_names import NOTES_FILE, RUN_FILE, SUMMARY_FILE
from iocast.archive.notes_file import notes_in_list
from iocast.archive.opening import load
from iocast.archive.summary_file import read_summary
from iocast.errors import ArchiveError
from iocast.model.run import Run
from iocast.model.summary import Notes, Summary
from iocast.text import shown

DEEPEST = 4  # folders of groups of runs: out/ab-…/A/run
LAST = "last"
UNTIL_SURE = "-until-sure"  # the end of the name of a group of `ab` or `repeat` with --until-sure
_GROUP = re.compile(r"\d{4}-\d\d-\d\dT\d{6}-(repeat|ab|gate)-")  # how a folder of `repeat`, `ab` or `gate` is called

# Whether a side of a comparison has as many runs as it took to be sure: "" no, "each" of each figure by itself, "all"
# of all figures at once.
UntilSure = Literal["", "each", "all"]


def group_kind(folder: str) -> str:
    """Which command made a folder of runs, by its name: "repeat", "ab" or "gate"; "" for others."""
    match = _GROUP.match(os.path.basename(folder))
    return match[1] if match else ""


def until_sure(folder: str) -> UntilSure:
    """Whether a side has as many runs as it took to be sure, by the name of its group, which it may be itself."""
    place = os.path.abspath(folder)
    if "gate" in (group_kind(place), group_kind(os.path.dirname(place))):
        return "all"
    group = place if group_kind(place) == "repeat" else os.path.dirname(place)
    return "each" if os.path.basename(group).endswith(UNTIL_SURE) else ""


class CatalogueEntry(msgspec.Struct, frozen=True):
    """A run folder: where it is, its path below the directory searched, and its line ("" and why, if unreadable)."""

    folder: str
    name: str
    summary: Summary | None
    why: str = ""
    notes: Notes = Notes()

    @property
    def group(self) -> str:
        """The folder of `repeat` or `ab` that it was made in, as its name says; "" where there is none."""
        parts = self.name.split(os.sep)[:-1]
        at = next((at for at, part in enumerate(parts, 1) if group_kind(part)), 0)
        return os.sep.join(parts[:at])


def run_folders(directory: str, deepest: int = DEEPEST, known: Container[str] = ()) -> Iterator[str]:
    """All run folders at and below `directory`; a run folder is not searched further. Raises ArchiveError.

    Those that are `known` to be one are not looked into.
    """
    if directory in known or os.path.lexists(os.path.join(directory, RUN_FILE)):
        yield directory
        return
    try:
        entries = list(os.scandir(directory))
    except OSError as error:
        raise _unlisted(directory, error) from error
    if deepest:
        for entry in entries:
            if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                with contextlib.suppress(ArchiveError):  # a folder that is not ours to read is no run
                    yield from run_folders(entry.path, deepest - 1, known)


def _unlisted(directory: str, error: OSError) -> ArchiveError:
    return ArchiveError(f"{directory} cannot be listed: {error.strerror}", "give the directory of run folders")


def runs_below(directory: str) -> list[CatalogueEntry]:
    """The runs at and below a directory, the newest first; those that cannot be read come last with the reason."""
    entries = (
        _entry(folder, directory, noted=os.path.lexists(os.path.join(folder, NOTES_FILE)))
        for folder in run_folders(directory)
    )
    return sorted(entries, key=_newest_first)


class Catalogue:
    """The runs at and below a directory, listed again and again: only a folder that has changed is read again."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._known: dict[str, _Known] = {}
        self._listed: list[CatalogueEntry] = []

    def runs(self) -> list[CatalogueEntry]:
        """As `runs_below`; the same list as before where nothing has changed. Raises ArchiveError."""
        before, self._known = self._known, {}
        changed = False
        for folder in run_folders(self._directory, known=before):
            known = before.get(folder)
            if known is None or known.may_change or known.stamps != _stamps(folder):
                last = None if known is None else known.entry
                known = _looked_at(folder, self._directory)
                if known is None:  # no run any more
                    continue
                changed |= known.entry != last
            self._known[folder] = known
        if changed or len(self._known) != len(before):
            self._listed = sorted((known.entry for known in self._known.values()), key=_newest_first)
        return self._listed


def _newest_first(run: CatalogueEntry) -> tuple[int, str]:
    return -(run.summary.started_unix_ns if run.summary else 0), run.name


_Stamps = tuple[tuple[int, int], ...]  # when the folder, the run, its summary and its notes were changed; their sizes
_UNSURE_NS = 2_000_000_000  # two changes within a tick of the file system's clock have one time


class _Known(NamedTuple):
    """A run as it was read, and what its files were then."""

    entry: CatalogueEntry
    stamps: _Stamps
    may_change: bool  # without another stamp: its process may die, or its last change was a moment ago


_NOTHING = (0, 0)
_STAMPED = ("", f"/{RUN_FILE}", f"/{SUMMARY_FILE}", f"/{NOTES_FILE}")


def _stamps(folder: str) -> _Stamps:
    return tuple([_stamp(folder + file) for file in _STAMPED])


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return _NOTHING
    return status.st_mtime_ns, status.st_size


def _looked_at(folder: str, directory: str) -> _Known | None:
    """The run in a folder, None where there is none."""
    stamps, now_ns = _stamps(folder), time.time_ns()
    if not os.path.lexists(os.path.join(folder, RUN_FILE)):
        return None
    entry = _entry(folder, directory, noted=stamps[-1] != _NOTHING)
    running = entry.summary is not None and entry.summary.status == "running"
    return _Known(entry, stamps, running or now_ns - max(stamps)[0] < _UNSURE_NS)


def _entry(folder: str, directory: str, *, noted: bool) -> CatalogueEntry:
    name = folder[len(directory) :].strip(os.sep) if folder.startswith(directory) else folder
    name = shown(name or os.path.basename(os.path.abspath(folder)))
    try:
        return CatalogueEntry(folder, name, read_summary(folder), notes=notes_in_list(folder) if noted else Notes())
    except ArchiveError as error:
        return CatalogueEntry(folder, name, None, shown(error.message))


def find_run(directory: str, name: str) -> str:
    """The run folder, or folder of repeats, that is meant: a path, "last", or a name below `directory` as `iocast runs`
    lists it, the tag of a run (the newest of several), or the beginning of a name.

    Raises ArchiveError when none or several are meant.
    """
    for path in (name, os.path.join(directory, name)):
        if name.endswith(RUN_FILE) or (name != LAST and _has_runs(path)):
            return path
    if not os.path.isdir(directory) and name != LAST:
        return name  # whoever opens it says what is wrong
    runs = runs_below(directory) if os.path.isdir(directory) else []
    readable = [run for run in runs if run.summary]
    if name == LAST:
        if not readable:
            raise ArchiveError(f"no runs in {directory}", "`iocast card PATH` creates one")
        return readable[0].folder
    tagged = _tagged(runs, name)
    meant = [run.folder for run in runs if run.name == name] or tagged[:1] or list(_beginning(runs, directory, name))
    if not meant and os.path.lexists(name):
        return name
    if not meant:
        raise ArchiveError(
            f"no run in {directory} has the tag {name} or a name that starts so",
            f"`iocast runs {directory}` lists them; --in DIR looks in another directory",
        )
    if len(meant) > 1:
        first = ", ".join(os.path.relpath(folder, directory) for folder in meant[:3])
        raise ArchiveError(f"{len(meant)} runs start with {name}: {first} …", "give more of the name")
    return meant[0]


def hidden_tag(directory: str, name: str, folder: str) -> str:
    """The newest run with this tag, where `name` is a path and so means another `folder`; "" where there is none."""
    if os.sep in name or not os.path.exists(name) or not os.path.isdir(directory):
        return ""
    newest = next(iter(_tagged(runs_below(directory), name)), "")
    return newest if newest and not os.path.samefile(newest, folder) else ""


def _tagged(runs: list[CatalogueEntry], name: str) -> list[str]:
    return [run.folder for run in runs if run.summary and name in run.notes.tags]


def _has_runs(path: str) -> bool:
    """True for a run folder, and for a folder with runs below it."""
    try:
        return os.path.isdir(path) and next(run_folders(path), None) is not None
    except ArchiveError:
        return False


def _beginning(runs: list[CatalogueEntry], directory: str, name: str) -> Iterator[str]:
    """Runs whose names begin so; of those in one group whose name begins so, only the group."""
    parents: set[str] = set()
    for run in runs:
        group, _, own = run.name.partition(os.sep)
        inner = os.path.basename(run.folder).startswith(name)
        folder = os.path.join(directory, group) if own and run.name.startswith(name) and not inner else run.folder
        if (run.name.startswith(name) or inner) and folder not in parents:
            parents.add(folder)
            yield folder


def runs_in(folder: str) -> tuple[Run, ...]:
    """The run in `folder`, or all runs in the folders right below it, by name; where it has none, those of the only
    group in it (what `repeat --out` leaves). Raises ArchiveError."""
    path = Path(folder)
    if os.path.exists(path / RUN_FILE) or not os.path.isdir(path):
        return (load(folder),)
    try:
        children = sorted(path.iterdir())
    except OSError as error:
        raise _unlisted(folder, error) from error
    below = [child for child in children if os.path.exists(child / RUN_FILE)]
    groups = [] if below else [child for child in children if group_kind(str(child)) and child.is_dir()]
    if len(groups) == 1:
        return runs_in(str(groups[0]))
    if groups:
        names = ", ".join(group.name for group in groups[:3])
        raise ArchiveError(f"{folder} contains {len(groups)} groups of runs", f"name one of them: {names}")
    if not below:
        raise ArchiveError(
            f"{folder} contains no run folder",
            "give a folder that `iocast card`, `run` or `repeat` printed at its end",
        )
    return tuple(load(str(child)) for child in below)


def labels(folders: tuple[str, ...]) -> tuple[str, ...]:
    """A short name for each folder: its last part, or as much of its path as tells them apart."""
    parts = [Path(os.path.abspath(folder)).parts[1:] for folder in folders]
    for length in range(1, max(map(len, parts)) + 1):
        names = tuple("/".join(each[-length:]) for each in parts)
        if len(set(names)) == len(names):
            return names
    return tuple(f"{name} ({at})" for at, name in enumerate(names, 1))
