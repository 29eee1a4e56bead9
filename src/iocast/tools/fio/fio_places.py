"""Which part of which files the users of a fio section go over: offset, size, filesize, offset_increment, numjobs."""

from __future__ import annotations

from msgspec import Struct

from iocast.tools.fio.fio_sections import Place, SectionRequest
from iocast.tools.fio.fio_settings import FioProblems

_SECTORS = 8192  # to what fio.sh rounds its starts


class Area(Struct, frozen=True, kw_only=True):
    """Where a phase goes: so many files, and the part of each that it touches."""

    file_count: int = 1
    on_files: tuple[int, ...] = ()  # which of the job's files they are; (): all
    own: bool = False  # a file for each user
    file_bytes: int | None = None  # what each file must have; None: not known
    start_bytes: int = 0
    size_bytes: int | None = None  # None: to the end
    pass_bytes: int | None = None  # what all users move in going over it once; None: not known
    stripe_bytes: int = 0  # of each file until the next one has its turn; 0: one file after the other
    pattern: dict[str, str] = {}  # what it adds to the pattern of the phase


def find_area(request: SectionRequest, problems: FioProblems) -> Area:
    """The area of a section; a problem for what has no equal here."""
    place, users = request.place, request.users
    own = not place.files and users > 1
    start, size, region = _part(request, place, problems)
    if region is None and place.step_percent and place.size_percent and place.size_percent != 100:
        size = None  # a share of an unknown target: _steps knows
    counted = place.file_count * (users if own else 1)
    known = None if place.file_bytes is None and region is None else place.file_bytes or (start + (region or 0))
    once = None if region is None else min(place.size_bytes or region * place.file_count, region * place.file_count)
    area = Area(
        file_count=counted,
        own=own,
        file_bytes=known,
        start_bytes=start,
        size_bytes=size,
        pass_bytes=None if once is None else once * users,
        stripe_bytes=_turns(request, place, problems),
    )
    if users == 1:
        return area
    if own:
        return _own_files(request, area, problems)
    if place.step_bytes or place.step_percent:
        return _steps(request, area, region, problems)
    return _shared(request, area, problems)


def _part(request: SectionRequest, place: Place, problems: FioProblems) -> tuple[int, int | None, int | None]:
    """Start, size of the region (None: to the end) and, where it is known, its bytes, in each file."""
    blocks = [item["size"] for item in request.load["mix"]]
    block = min(blocks)
    total = place.file_bytes
    start = place.offset_bytes
    if place.offset_percent:
        if total is None:
            _unknown(request, "offset", place.offset_percent, problems)
        start = -(-(total or 0) * place.offset_percent // 100 // block) * block
    whole = place.size_percent == 100
    region: int | None = None
    if total is not None:
        if start >= total:
            problems.add(request.line_of("offset"), f"[{request.name}] offset lies beyond the end of the file")
            return 0, None, None
        share = total if place.size_percent is None else total * place.size_percent // 100
        region = min(share, total - start) // block * block if not whole else total - start
    elif place.size_bytes is not None:
        region = place.size_bytes // place.file_count
    elif place.size_percent and not whole and not place.step_percent:
        _unknown(request, "size", place.size_percent, problems)
    if region is not None and region < max(blocks):
        key = "size" if place.size_bytes or place.size_percent else "filesize"
        says = f"[{request.name}] {region} bytes in each file is less than one I/O of {max(blocks)}"
        problems.add(request.line_of(key), says, "a larger size, or a smaller bs")
    return start, None if whole else region, region


def _unknown(request: SectionRequest, key: str, percent: int, problems: FioProblems) -> None:
    says = f"{key}={percent}% of a target whose size is unknown here"
    problems.add(request.line_of(key), says, "give it in bytes, or filesize too")


def _turns(request: SectionRequest, place: Place, problems: FioProblems) -> int:
    """Bytes of one file until the next one has its turn, for a load that goes in order over several."""
    pattern, turn_ios = request.load["pattern"], place.turn_ios
    if place.file_count == 1 or turn_ios == 0 or pattern not in ("sequential", "stride"):
        return 0
    items: set[tuple[str, int]] = {(item["op"], item["size"]) for item in request.load["mix"]}
    if turn_ios and pattern == "sequential" and len(items) == 1 and request.users == 1:
        return turn_ios * max(size for _, size in items)
    says = f"[{request.name}] has fio alternate between {place.file_count} files"
    what = "in random order" if turn_ios is None else "with several users, strides, or kinds of I/O"
    line = request.line_of("file_service_type", "nrfiles", "filename")
    problems.add(line, f"{says} {what}", "nearest: file_service_type=sequential, one file after the other")
    return 0


def _own_files(request: SectionRequest, area: Area, problems: FioProblems) -> Area:
    """A file for each user: what each does alone is what all do together, where all blocks are alike."""
    pattern = request.load["pattern"]
    if request.place.step_bytes or request.place.step_percent:
        says = (
            f"[{request.name}] offset_increment without filename: each user starts at a different offset"
            " of its own file"
        )
        problems.add(request.line_of("offset_increment"), says, "leave it out, or set filename")
    if pattern in ("zipf", "stride"):
        what = "their own hot blocks" if pattern == "zipf" else "their own steps"
        says = f"[{request.name}] {request.users} users with {what}, in separate files"
        problems.add(request.line_of("numjobs"), says, "numjobs=1 with a larger iodepth, or filename")
    return area


def _shared(request: SectionRequest, area: Area, problems: FioProblems) -> Area:
    """All users in the same files; those that go in order would all do the same blocks."""
    if request.load["pattern"] in ("sequential", "stride"):
        says = (
            f"[{request.name}] {request.users} users read the same blocks from the start: the page cache or the "
            "storage cache answers all but one"
        )
        way_out = (
            "give offset_increment and size (a part for each), leave out filename (a file for each), or set numjobs=1"
        )
        problems.add(request.line_of("numjobs", "filename"), says, way_out)
    return area


def _steps(request: SectionRequest, area: Area, region: int | None, problems: FioProblems) -> Area:
    """Users at equal distances: each in its part, or each from its start on through all."""
    place, pattern = request.place, request.load["pattern"]
    line = request.line_of("offset_increment", "offset")
    if area.file_count > 1:
        problems.add(line, f"[{request.name}] offset_increment over several files is not supported", "take one file")
    elif pattern not in ("sequential", "random"):
        problems.add(line, f"[{request.name}] a {pattern} part for each user is not supported", "leave it out")
    elif place.size_percent not in (None, 100) or (place.size_bytes and place.file_bytes is None):
        return _parts(request, area, region, line, problems)
    elif pattern == "random":
        says = f"[{request.name}] random users with different start offsets are not supported"
        problems.add(line, says, "set size = offset_increment (a part for each), or leave it out (the whole file)")
    else:
        return _starts(request, area, region, line, problems)
    return area


def _parts(request: SectionRequest, area: Area, region: int | None, line: int, problems: FioProblems) -> Area:
    """size = offset_increment: the parts lie side by side."""
    place, users = request.place, request.users
    if region is None and place.step_percent == place.size_percent and (place.step_percent or 0) * users == 100:
        return area
    step = place.step_bytes
    if step is None and place.file_bytes is not None and place.step_percent is not None:
        step = place.file_bytes * place.step_percent // 100 // 512 * 512
    if region is None or step is None or abs(step - region) >= max(item["size"] for item in request.load["mix"]):
        says = f"[{request.name}] the parts of its users overlap or leave gaps: size and offset_increment differ"
        problems.add(line, says, "make both the same")
        return area
    end = area.start_bytes + region * users
    return Area(
        file_bytes=max(area.file_bytes or 0, end),
        start_bytes=area.start_bytes,
        size_bytes=region * users,
        pass_bytes=region * users,
    )


def _starts(request: SectionRequest, area: Area, region: int | None, line: int, problems: FioProblems) -> Area:
    """Each user starts its share of the file after the one before, and goes on to the end of the file."""
    place, users = request.place, request.users
    step = place.step_bytes
    block = max(_SECTORS, max(item["size"] for item in request.load["mix"]))
    if region is None:
        fits = place.step_percent is not None and 100 // users == place.step_percent
    else:
        step = step or (place.file_bytes or 0) * (place.step_percent or 0) // 100
        fits = abs(region // users - step) <= block
    if not fits:
        says = f"[{request.name}] users start at equal shares of the file, not at arbitrary distances"
        share = (
            f"offset_increment={region // users // _SECTORS * _SECTORS}"
            if region
            else f"offset_increment={100 // users}%"
        )
        problems.add(line, says, share)
        return area
    problems.note(f"[{request.name}] a user that reaches the end of the file continues at its beginning")
    passed = None if region is None else sum(region - step * user for user in range(users) if step is not None)
    return Area(
        file_count=area.file_count,
        file_bytes=area.file_bytes,
        start_bytes=area.start_bytes,
        size_bytes=area.size_bytes,
        pass_bytes=passed,
        pattern={"start": "own_offset"},
    )
