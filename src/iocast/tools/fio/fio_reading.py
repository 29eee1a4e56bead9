"""Reads a fio job file: the useful part of its ini to the loads it asks for, or all that is wrong with it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from iocast.model.job import MOST_WORK_FILES
from iocast.model.plan import EngineName, Polling
from iocast.text import capacity
from iocast.tools.fio.fio_keys import KNOWN, NOTED, READ, REFUSED, SILENT
from iocast.tools.fio.fio_phases import Cell, gather, group_cells
from iocast.tools.fio.fio_sections import SectionRequest, understand
from iocast.tools.fio.fio_settings import FioProblems
from iocast.tools.fio.job_file import ONLY_JOB, Section, Setting, is_headless, read_sections
from iocast.tools.fio.job_options import ALIASES, COMMAND_LINE
from iocast.tools.foreign_numbers import whole_of
from iocast.tools.line_problems import meant

_SAME_AS_ONE = {"randrepeat": "1", "allrandrepeat": "1"}  # what says nothing here is 0, but for these


class WorkFileNames(NamedTuple):
    """The files of a job as fio names them, and the size of the largest; `sizes`: of each, where they differ."""

    names: tuple[str, ...]
    most_bytes: int | None
    sizes: tuple[int, ...]


class FioJob(NamedTuple):
    """What a fio job file asks for: its cells in order, and what holds for all of them."""

    requests: list[SectionRequest]
    cells: list[Cell]
    engine: EngineName
    polling: Polling
    description: str
    files: WorkFileNames
    directory: str
    stripe_bytes: int


def read_fio(
    text: str, environment: Mapping[str, str] | None, problems: FioProblems, size_bytes: int | None = None
) -> FioJob:
    """The loads of a fio job file's text; `environment` has what ${NAME} stands for, by default that of the process.
    `size_bytes`: of each file, instead of the sizes that it states.

    What is wrong is added to `problems`. Raises SpecError where the sections themselves cannot be understood.
    """
    sections = read_sections(text, os.environ if environment is None else environment, problems.add)
    if not sections and not problems.count:
        problems.add(1, "no job in it: it has no section other than [global]", "add one, for example [job]")
    if is_headless(text):
        problems.note(f"it has no section: read as one job, [{ONLY_JOB}]; fio itself refuses such a file")
    _check_keys(sections, problems)
    if size_bytes is not None:
        _resize(sections, size_bytes, problems)
    requests = [understand(section, problems) for section in sections]
    _check_files(requests, problems)
    problems.refuse()
    _note_target(requests, sections, problems)
    gathered = gather(requests, problems)
    cells = [cell for number, group in enumerate(gathered, 1) for cell in group_cells(group, number, problems)]
    files, cells = _layout(cells)
    return FioJob(
        requests=requests,
        cells=cells,
        engine=_engine(requests),
        polling=_polling(requests, problems),
        description=_description(sections),
        files=files,
        directory=_directory(sections, problems),
        stripe_bytes=_stripe(cells, problems),
    )


def _check_keys(sections: Iterable[Section], problems: FioProblems) -> None:
    """Every key is read, does nothing here (a note), or is refused."""
    settings: set[Setting] = set()
    idle: dict[str, dict[str, int]] = {}
    for section in sections:
        for key, setting in section.settings.items():
            if setting in settings or key in READ or key in SILENT:
                continue
            settings.add(setting)
            if key in NOTED:
                if setting.text != _SAME_AS_ONE.get(key, "0"):
                    idle.setdefault(NOTED[key], {}).setdefault(setting.key, setting.line)
            elif key in REFUSED:
                refused = REFUSED[key]
                if setting.text not in refused.inert:
                    said = f"{setting.key}={setting.text}: {refused.why}"
                    problems.add(setting.line, said, refused.way_out)
            elif key != "bsrange":
                _unknown(setting, problems)
    for why, keys in idle.items():
        line = min(keys.values())
        problems.note(f"line {line}: {', '.join(keys)} {'has' if len(keys) == 1 else 'have'} no effect: {why}")


def _unknown(setting: Setting, problems: FioProblems) -> None:
    if setting.key in COMMAND_LINE:
        says = f'"{setting.key}" is an option of fio\'s command line, not of its job files'
        problems.add(setting.line, says, "leave it out; see iocast run --help")
        return
    known = f"supported keys: {', '.join(READ)}"
    problems.add(setting.line, f'unknown key "{setting.key}"{meant(setting.key, sorted(KNOWN), ALIASES)}', "", known)


def _note_target(requests: list[SectionRequest], sections: list[Section], problems: FioProblems) -> None:
    """The target is the path that iocast is given; a job file whose sections go to different devices is refused."""
    devices: dict[str, int] = {}
    named: dict[str, None] = {}
    for section, read in zip(sections, requests, strict=True):
        for name in read.place.files:
            named[f"filename={name}"] = None
            if name.startswith("/dev/"):
                devices.setdefault(name, section.settings["filename"].line)
    together = len({read.place.files for read in requests}) == 1  # filename=/dev/sdb:/dev/sdc: one load over both
    if len(devices) > 1 and together:
        problems.note(
            f"its {len(devices)} devices become {len(devices)} work files in PATH, or one range of PATH where PATH is"
            " a device"
        )
    elif len(devices) > 1:
        *_, (name, line) = devices.items()
        says = f"filename={name}: iocast runs on one target; this file names {len(devices)} devices"
        problems.add(line, says, "keep one, or write a job file for each")
    elif named:
        problems.note(f"{', '.join(named)} {'is' if len(named) == 1 else 'are'} ignored: iocast runs on PATH")


def _layout(cells: list[Cell]) -> tuple[WorkFileNames, list[Cell]]:
    """The files of all phases, as fio names them; the cells, each with the numbers of its own."""
    sizes: dict[str, int | None] = {}
    for cell in cells:
        for name in cell.request.file_names:
            sizes[name] = max(filter(None, (sizes.get(name), cell.area.file_bytes)), default=None)
    most = max(filter(None, sizes.values()), default=None)
    numbers = {name: number for number, name in enumerate(sizes)}
    placed = []
    for cell in cells:
        own = tuple(numbers[name] for name in cell.request.file_names)
        whole = own == tuple(numbers.values())
        placed.append(cell._replace(area=replace(cell.area, on_files=() if whole else own)))
    each = () if most is None else tuple(size or most for size in sizes.values())
    return WorkFileNames(tuple(sizes), most, each if len({*each}) > 1 else ()), placed


def _check_files(requests: Iterable[SectionRequest], problems: FioProblems) -> None:
    """Before they are named: a few characters ask for billions."""
    for request in requests:
        count = request.place.file_count * (1 if request.place.files else request.users)
        if count > MOST_WORK_FILES:
            says = f"[{request.name}] {count} work files are too many"
            way_out = f"{MOST_WORK_FILES:,} at most; give fewer and larger ones"
            problems.add(request.line_of("nrfiles", "numjobs"), says, way_out)


def _resize(sections: Iterable[Section], size_bytes: int, problems: FioProblems) -> None:
    """Each file has this size, and what went over all of a file still does. What states an offset keeps its size."""
    replaced: dict[str, None] = {}
    for section in sections:
        settings = section.settings
        key = "filesize" if "filesize" in settings else "size"
        given = settings.get(key)
        if given is None or given.text.endswith("%") or {"offset", "offset_increment"} & {*settings}:
            continue
        # Where only size is given it is that of all files of a user together.
        several = {"filename", "nrfiles"} & {*settings} and key == "size"
        settings[key] = given._replace(text=str(size_bytes * (_file_count(settings) if several else 1)))
        replaced[f"{key}={given.text}"] = None
    if replaced:
        problems.note(f"{', '.join(replaced)}: each file has {capacity(size_bytes)} instead, as --size says")


def _file_count(settings: Mapping[str, Setting]) -> int:
    """The files of one user of a section."""
    if "filename" in settings:
        return len(list(filter(None, settings["filename"].text.split(":")))) or 1
    return whole_of(settings["nrfiles"].text) or 1


def _directory(sections: Iterable[Section], problems: FioProblems) -> str:
    """The one directory in which all sections have their files, "" where there is none."""
    stated = [section.settings["directory"].text if "directory" in section.settings else "" for section in sections]
    if len({*stated}) == 1 and ":" not in stated[0]:
        return stated[0]
    names = ", ".join(f"directory={each}" for each in dict.fromkeys(filter(None, stated)))
    problems.note(f"{names}: ignored, because iocast runs in one directory, PATH")
    return ""


def _stripe(cells: list[Cell], problems: FioProblems) -> int:
    """The stripe that has sequential users alternate between files as fio does; 0: one file after the other."""
    ordered = [cell for cell in cells if cell.area.file_count > 1 and cell.request.load["pattern"] == "sequential"]
    for cell in ordered[1:]:
        if cell.area.stripe_bytes != ordered[0].area.stripe_bytes:
            says = f"[{cell.request.name}] alternates between files at other distances than [{ordered[0].request.name}]"
            line = cell.request.line_of("file_service_type", "bs", "filename")
            problems.add(line, says, "the same bs and file_service_type in all, or a job file for each")
    return ordered[0].area.stripe_bytes if ordered else 0


def _engine(requests: list[SectionRequest]) -> EngineName:
    """That of the job; sections with another one keep it."""
    return "sync" if all(section.engine == "sync" for section in requests) else "uring"


def _description(sections: list[Section]) -> str:
    """That of the first section, where [global] puts it too."""
    setting = sections[0].settings.get("description")
    return setting.text if setting else ""


def _polling(requests: list[SectionRequest], problems: FioProblems) -> Polling:
    modes = {section.polling for section in requests}
    if len(modes) > 1:
        problems.note("only some of its sections poll; iocast polls in none")
        return "none"
    return modes.pop()
