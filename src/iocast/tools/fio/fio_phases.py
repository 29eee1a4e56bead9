"""Sections of a fio job file to phases: which run together, on which files, for how long."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from msgspec.structs import replace

from iocast.model.workload import MOST_USERS
from iocast.tools.fio.fio_places import Area, find_area
from iocast.tools.fio.fio_sections import Ends, Place, SectionRequest
from iocast.tools.fio.fio_settings import FioProblems
from iocast.units import duration_text, rate_text

_ABSENT = object()
# What sections that run together have in common, besides their loads, and what it is called.
_APART = {
    "rate_per_s": "rate",
    "ends": "length",
    "engine": "ioengine",
    "ramp_ns": "ramp_time",
    "role": "stats",
    "back": "verify",
}
# The fields of loads that fio calls otherwise.
_IN_FIO = {
    "mix": "mix of reads, writes and sizes",
    "repeats": "norandommap",
    "backwards": "direction",
    "compressible": "buffer_compress_percentage",
    "dedupable": "dedupe_percentage",
}
READS_BACK = {"role": "verify"}


class Cell(NamedTuple):
    """Sections that run as one phase: the fields of a [[phase]] but for its region, and where it goes."""

    request: SectionRequest
    fields: dict[str, Any]
    area: Area


def gather(sections: list[SectionRequest], problems: FioProblems) -> list[list[SectionRequest]]:
    """Sections that fio runs at the same time, in one list; those that do the same become one with more users."""
    groups: list[list[SectionRequest]] = []
    for number, section in enumerate(sections):
        if not groups or section.waits or _waits_for_all(section, groups[-1], sections[:number], problems):
            groups.append([])
        groups[-1].append(section)
    return [_merged(group, problems) for group in groups]


def _waits_for_all(
    section: SectionRequest, group: list[SectionRequest], before: list[SectionRequest], problems: FioProblems
) -> bool:
    """True when wait_for names what runs just before it; refuses what it cannot mean."""
    if not section.waits_for:
        return False
    names = [other.name for other in before]
    line = section.line_of("wait_for")
    if section.waits_for not in names:
        problems.add(
            line, f"wait_for={section.waits_for}: no section above it has that name", "name one, or write stonewall"
        )
    elif section.waits_for != group[-1].name or len(group) > 1:
        problems.add(
            line,
            f"wait_for={section.waits_for}: [{section.name}] would run concurrently with other sections",
            "write stonewall instead",
        )
    return True


def _merged(group: list[SectionRequest], problems: FioProblems) -> list[SectionRequest]:
    """The sections of a group, those that are the same but for their places as one."""
    alike: list[list[SectionRequest]] = []
    for section in group:
        same = next((others for others in alike if not _difference(others[0], section)), None)
        if same is None:
            alike.append([section])
        else:
            same.append(section)
    merged = [one for sections in alike for one in _as_one(sections, problems)]
    for other in merged[1:]:
        if other.ramp_ns != merged[0].ramp_ns:
            says = f"[{other.name}] runs concurrently with [{merged[0].name}], but its ramp_time differs"
            problems.add(other.line_of("ramp_time"), says, "make both the same, or add stonewall to it")
    return merged


def _as_one(sections: list[SectionRequest], problems: FioProblems) -> list[SectionRequest]:
    """Sections that do the same as one with the users of all, where their places allow it."""
    first, *others = sections
    place = _merged_places(sections) if others else first.place
    if place is None:
        return sections
    users = sum(section.users for section in sections)
    if users > MOST_USERS:
        problems.add(others[-1].line, f"{users} users; at most {MOST_USERS}", "fewer sections, or a smaller numjobs")
    if not place.files:
        names = tuple(name for section in sections for name in section.file_names)
        place = replace(place, own_files=names)
    return [replace(first, users=min(users, MOST_USERS), place=place)]


def _difference(first: SectionRequest, other: SectionRequest) -> str:
    """What two sections that run together do not have in common, "" when they are the same but for their places."""
    for key in {**first.load, **other.load}:
        if first.load.get(key, _ABSENT) != other.load.get(key, _ABSENT):
            return f"its {_IN_FIO.get(key, key)} differs"
    for name, called in _APART.items():
        if getattr(first, name) != getattr(other, name):
            return f"its {called} differs"
    return ""


def _merged_places(group: list[SectionRequest]) -> Place | None:
    """One place for all: the same one, one file each, or starts at equal distances; None where there is none."""
    first = group[0].place
    places = [section.place for section in group]
    alone = all(section.users == 1 for section in group)
    if all(place == first for place in places):
        return first
    names = {place.files for place in places}
    one_each = alone and len(names) == len(places) and all(len(place.files) == 1 for place in places)
    if one_each and all(replace(place, files=first.files) == first for place in places):
        return replace(first, files=())  # a file each, as without filename
    starts = [place.offset_bytes for place in places]
    steps = {after - before for before, after in itertools.pairwise(starts)}
    same = all(replace(place, offset_bytes=first.offset_bytes) == first for place in places)
    if alone and same and len(steps) == 1 and min(steps) > 0 and not (first.step_bytes or first.step_percent):
        return replace(first, step_bytes=steps.pop())
    return None


def group_cells(group: list[SectionRequest], number: int, problems: FioProblems) -> list[Cell]:
    """The phases of sections that run concurrently: first those that warm, then their own."""
    cell_lists = [cells(request, problems) for request in group]
    if len(group) == 1:
        return cell_lists[0]
    for request in (request for request in group if "verify" in request.load or request.back):
        says = (
            f"[{request.name}] verifies beside other sections: with many writers the last write to a block is unknown"
        )
        problems.add(request.line_of("verify"), says, "put stonewall in each of them, or leave verify out")
        return []
    parts = list(itertools.zip_longest(*cell_lists))
    if not parts:  # every section was refused
        return []
    named = zip(parts, (f"group {number} warm", f"group {number}")[-len(parts) :], strict=True)
    return [cell._replace(fields={**cell.fields, "together": name}) for part, name in named for cell in part if cell]


def cells(request: SectionRequest, problems: FioProblems) -> list[Cell]:
    """The phases of a section: a warm one for ramp_time, then its own, then the one that reads back."""
    before = problems.count
    area = find_area(request, problems)
    if request.back and "verify" not in request.load:
        return [Cell(request, dict(READS_BACK), area)]
    length = _length(request, area, problems)
    if problems.count > before:
        return []
    fields = {**request.load, "users": request.users, "role": request.role}
    if request.rate_per_s is not None:
        fields["rate"] = rate_text(request.rate_per_s * request.users)
    warm = {**fields, "role": "warm", "time": duration_text(request.ramp_ns)}
    warms = [Cell(request, warm, area)] if request.ramp_ns else []
    backs = [Cell(request, dict(READS_BACK), area)] if request.back else []
    return [*warms, Cell(request, {**fields, **length}, area), *backs]


def _length(request: SectionRequest, area: Area, problems: FioProblems) -> dict[str, Any]:
    """time, ios and bytes of all users together; whichever comes first ends the phase."""
    ends = request.ends
    time = _time(ends)
    if ends.time_based:
        return time
    length: dict[str, Any] = dict(time)
    if ends.ios:
        length["ios"] = ends.ios * ends.loops * request.users
    moved = _bytes_of_all(request, ends, area, problems)
    if moved and not _needless(request, length.get("ios"), moved):
        length["bytes"] = moved
    if not length:
        says = f"[{request.name}] has no length: fio would go over the target once, whose size is unknown here"
        problems.add(request.line, says, "give size, or runtime with time_based")
    elif moved is None and "ios" not in length:
        problems.note(f"[{request.name}] runs for its full runtime; fio would stop once it had gone over the target")
    return length


def _time(ends: Ends) -> dict[str, str]:
    if not ends.runtime_ns:
        return {}
    if ends.steady_ns is None:
        return {"time": duration_text(ends.runtime_ns)}
    times = {"at_least": duration_text(ends.steady_ns), "at_most": duration_text(ends.runtime_ns)}
    return {"until": "steady", **times}


def _bytes_of_all(request: SectionRequest, ends: Ends, area: Area, problems: FioProblems) -> int | None:
    """Bytes that all users move until fio would end, None when that is not known."""
    if ends.io_percent is not None:
        if area.pass_bytes is None:
            line = request.line_of("io_size")
            problems.add(
                line, f"io_size={ends.io_percent}% of a size that is unknown here", "give it in bytes, or size"
            )
            return None
        return area.pass_bytes * ends.io_percent // 100 * ends.loops
    if ends.io_bytes is not None:
        return ends.io_bytes * ends.loops * request.users
    return None if area.pass_bytes is None else area.pass_bytes * ends.loops


def _needless(request: SectionRequest, ios: int | None, moved: int) -> bool:
    """True when so many I/Os cannot move more."""
    return ios is not None and ios * max(item["size"] for item in request.load["mix"]) <= moved
