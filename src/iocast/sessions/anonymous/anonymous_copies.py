"""Copies of run folders, tapes, groups, studies, copies and profiles without names, for as long as they are needed.

A report is made of the copy: what is not there cannot be in it, in whatever form it is asked for.
"""

from __future__ import annotations

import itertools
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from iocast import archive
from iocast.archive import copy_folder, profile_folder, study_folder
from iocast.archive.catalogue import run_folders
from iocast.archive.file_names import CALLS_FILE, EVENTS_FILE, INTERVALS, folder_of
from iocast.archive.sample_tables import load_samples
from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import ArchiveError
from iocast.jobs.studies.study_file import LONGEST_NAME, parse_study, toml_lines
from iocast.model.anonymity.anonymised import anonymised, fields_with_text
from iocast.model.anonymity.name_kinds import pseudonym
from iocast.model.run import Run, Sample
from iocast.model.summary import summary_of

if TYPE_CHECKING:
    from iocast._core import Tables
    from iocast.model.anonymity.pseudonyms import Pseudonyms

T = TypeVar("T")
_REEL_SAMPLES = 200_000
_SIDES = ("A", "B")  # of `ab`: names that iocast gave


class Copied(Struct, frozen=True):
    """Folders to be read instead of those that were named; `rooms` are the paths of where they lie, none for the
    folders themselves.
    """

    folders: tuple[str, ...]
    rooms: tuple[str, ...] = ()

    def without_rooms(self, value: T) -> T:
        """A report without the paths of the room, which ends with it."""
        for room in self.rooms:
            value = _without(value, f"{room}/")
        return value


@contextmanager
def copies_of(folders: tuple[str, ...], names: Pseudonyms | None) -> Iterator[Copied]:
    """The folders themselves, or with `names` their copies while entered. Raises ArchiveError."""
    if names is None:
        yield Copied(folders)
        return
    with temporary_room("iocast-anonymous-") as room:
        place = str(room.place)
        yield Copied(tuple(_copy(folder, place, names) for folder in folders), (place, str(room.path)))


def _copy(folder: str, base: str, names: Pseudonyms) -> str:
    """A folder of any kind, copied below `base`; the path of the copy."""
    if profile_folder.is_profile(folder):
        return profile_without_names(folder, base, names)
    if copy_folder.is_copy(folder):
        place = copy_folder.create(base, "file")
        copy_folder.save(place, anonymised(copy_folder.load(folder), names))
        return str(place.path)
    if study_folder.is_study(folder):
        return _study(folder, base, names)
    if os.path.isdir(folder) and not os.path.exists(os.path.join(folder, archive.RUN_FILE)):
        return _group(folder, base, names)
    return _run(folder, base, names)


def _run(folder: str, base: str, names: Pseudonyms) -> str:
    run = archive.load(folder)
    if archive.is_dead(run, folder):
        run = replace(run, status="interrupted")  # the copy would seem to be made by this process
    hidden = _hidden(replace(run, phases=tuple(replace(each, samples=()) for each in run.phases)), names)
    copy = archive.RunFolder.create(base, hidden)
    place = str(folder_of(folder))
    for number, name, intervals, samples in _reels(place) if run.tape else _phases(place, hidden):
        copy.save_phase(number, name, intervals, anonymised(samples, names))
    known = archive.read_summary(place)
    archive.keep_summary(str(copy.path), replace(summary_of(hidden), grade=known.grade, trust=known.trust))
    archive.save_notes(str(copy.path), anonymised(archive.load_notes(place), names))
    if (diagnosis := archive.load_diagnosis(place)) is not None:
        archive.save_diagnosis(copy.path, anonymised(diagnosis, names))
    inside = os.path.join(place, archive.EXPERIMENTS)
    for each in run_folders(inside, 1) if os.path.isdir(inside) else ():
        _run(each, str(copy.path / archive.EXPERIMENTS), names)
    return str(copy.path)


_Tables = Iterator[
    tuple[int, str, "Tables | None", tuple[Sample, ...]]
]  # number and name of a phase, what is kept of it


def _phases(place: str, run: Run) -> _Tables:
    samples = load_samples(Path(place))
    for number, record in enumerate(run.phases):
        yield number, record.phase.name, _table(Path(place, INTERVALS, f"{number:03}.parquet")), samples.get(number, ())


def _reels(place: str) -> _Tables:
    """A tape of days is never in memory as a whole: its samples are cut anew, and played as one."""
    samples = archive.reel_samples(Path(place))
    for number in itertools.count():
        held = tuple(itertools.islice(samples, _REEL_SAMPLES))
        if not held:
            return
        yield number, f"reel {number + 1}", None, held


def _hidden(run: Run, names: Pseudonyms) -> Run:
    """A tape is called after its sources, which are no path."""
    hidden = anonymised(run, names)
    if hidden.tape is None:
        return hidden
    called = ", ".join(hidden.tape.sources) or hidden.host.name
    return replace(hidden, plan=replace(hidden.plan, target=replace(hidden.plan.target, path=called)))


def _table(file: Path) -> Tables | None:
    from iocast._core import CoreError, Tables

    if not file.is_file():
        return None
    try:
        return Tables([str(file)])
    except CoreError as error:
        raise ArchiveError(f"{file} cannot be read: {error.args[0]}", "remove the file") from error


def _group(folder: str, base: str, names: Pseudonyms) -> str:
    """The runs of `repeat` or `ab`, or others that lie together."""
    top = os.path.join(base, names.named("runs", os.path.abspath(folder)))
    is_group = False
    for each in sorted(run_folders(folder)):
        above = Path(os.path.relpath(each, folder)).parts[:-1]
        _run(each, os.path.join(top, *(part if part in _SIDES else names.named("runs", part) for part in above)), names)
        is_group = True
    return top if is_group else folder  # whoever opens it says what is wrong


def profile_without_names(folder: str, base: str, names: Pseudonyms) -> str:
    """A profile without names, with its tables, as a fresh folder below `base`; its path. Raises ArchiveError."""
    hidden = anonymised(profile_folder.load(folder), names)
    events = Path(profile_folder.events_of(folder))
    with profile_folder.growing_profile(base, hidden.name) as copy:
        profile_folder.put_without_names(copy, EVENTS_FILE, str(events), names)
        if (calls := events.with_name(CALLS_FILE)).is_file():
            profile_folder.put_without_names(copy, CALLS_FILE, str(calls), names)
        profile_folder.save(copy, hidden)
    return str(copy.path)


def _study(folder: str, base: str, names: Pseudonyms) -> str:
    plan = parse_study(study_folder.study_text(folder), folder)
    place = os.path.join(base, names.named("study", os.path.abspath(folder)))
    study_folder.begin(place, "\n".join(toml_lines(_study_table(tomllib.loads(plan.text), names))))
    for label in study_folder.labels(folder):
        for cell in plan.cells:
            hidden = "-".join(_called(names, value) for value in cell.values.values())
            for each in study_folder.runs_of(folder, label, cell.folder):
                _run(each, study_folder.cell_folder(place, _called(names, label), hidden), names)
    return place


def _study_table(raw: dict[str, Any], names: Pseudonyms) -> dict[str, Any]:
    """A study file with other names; its fields are figures and codes."""

    def called(table: Mapping[str, Any]) -> dict[str, Any]:
        return {_called(names, name): each for name, each in table.items()}

    fresh = raw | {"name": _called(names, raw["name"])}
    if "description" in raw:
        fresh["description"] = names.named("description", str(raw["description"]))
    fresh["labels"] = [_called(names, label) for label in raw.get("labels", ())]
    fresh["axis"] = called({axis: called(values) for axis, values in raw["axis"].items()})
    views = {
        name: {axis: _called(names, value) for axis, value in view.items()}
        for name, view in raw.get("view", {}).items()
    }
    return fresh | {"view": called({name: called(view) for name, view in views.items()})}


def _called(names: Pseudonyms, text: str) -> str:
    """A name that may be that of a folder."""
    hidden = pseudonym(names, "words", text)
    return hidden if len(hidden) <= LONGEST_NAME else names.named("name", text)


def _without(value: Any, path: str) -> Any:
    match value:
        case str():
            return value.replace(path, "")
        case Struct():
            fields = {name: _without(getattr(value, name), path) for name in fields_with_text(type(value))}
            return replace(value, **fields) if fields else value
        case tuple():
            return tuple(_without(each, path) for each in value)
        case dict():
            return {key: _without(each, path) for key, each in value.items()}
        case _:
            return value
