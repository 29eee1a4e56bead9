"""A fio job file to a Job: its loads become phases as those of our own job files do, with the same contradictions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from iocast.jobs.toml.contradictions import find_conflicts
from iocast.jobs.toml.expansion import expand
from iocast.jobs.toml.verify_rules import order_conflict, reading_phase, reads_back, writing_conflicts
from iocast.model.job import FileSize, Job
from iocast.model.phase_names import unique_names
from iocast.model.plan import EngineName, Phase
from iocast.tools.fio.fio_phases import Cell
from iocast.tools.fio.fio_reading import read_fio
from iocast.tools.fio.fio_sections import SectionRequest
from iocast.tools.fio.fio_settings import FioProblems

_TEST = re.compile(r"[^A-Za-z0-9_.+-]+")
_OURS = {"users": "numjobs", "depth": "iodepth", "think": "thinktime", "size": "bs", "verify_block": "verify_interval"}


def parse_fio_job(
    text: str, source: str, environment: Mapping[str, str] | None = None, size_bytes: int | None = None
) -> Job:
    """The Job of a fio job file's text; `environment` has what ${NAME} stands for, by default that of the process.
    `size_bytes`: of each file, instead of the sizes that it states.

    Raises SpecError that names `source` and the line of each problem.
    """
    problems = FioProblems(source)
    read = read_fio(text, environment, problems, size_bytes)
    phases = [phase for cell in read.cells for phase in _phases(cell, read.engine, problems)]
    _check_verified(phases, read.requests, problems)
    problems.refuse()
    return Job(
        name=_job_name(source),
        phases=unique_names(phases),
        description=read.description,
        file_count=len(read.files.names),
        file_size=FileSize(size_bytes=read.files.most_bytes) if read.files.most_bytes else None,
        file_sizes=read.files.sizes,
        file_names=read.files.names,
        directory=read.directory,
        stripe_bytes=read.stripe_bytes,
        engine=read.engine,
        polling=read.polling,
        language="fio",
        source=source,
        text=text,
        notes=problems.notes,
    )


def _phases(cell: Cell, engine: EngineName, problems: FioProblems) -> list[Phase]:
    """The phase of a cell; none, and a problem more, when it contradicts itself. `engine` is that of the job."""
    area, request = cell.area, cell.request
    if reads_back(cell.fields):
        return [reading_phase()]
    given: dict[str, Any] = {**cell.fields, **area.pattern}
    if request.engine != engine:
        given["engine"] = request.engine
    if area.start_bytes or area.size_bytes is not None:
        given["region"] = {"start": area.start_bytes}
        if area.size_bytes is not None:
            given["region"]["size"] = area.size_bytes
    for conflict in (*find_conflicts(given, given), *writing_conflicts(given)):
        line = request.line_of(_OURS.get(conflict.field, conflict.field))
        problems.add(
            line, f"[{request.name}] {conflict.says.replace('verify_block', 'verify_interval')}", conflict.hint
        )
        return []
    expanded = list(expand({**given, "test": "x"}))
    phases = expand({**given, "test": _test_name(request.name, expanded[0].name)})
    return [replace(phase, on_files=area.on_files) for phase in phases]


def _check_verified(phases: list[Phase], cells: list[SectionRequest], problems: FioProblems) -> None:
    """What is written with verify can be read back; not asked where phases are missing because of other problems."""
    impossible = "" if problems.count else order_conflict(unique_names(phases))
    if impossible:
        line = next(section.line_of("verify") for section in cells if section.back or "verify" in section.load)
        problems.add(line, f"verify: {impossible}", "", "iocast verify RUN reads back what an earlier run wrote")


def _test_name(section: str, phase: str) -> str:
    """The test of a section: its first word when the rest is what the phase is called anyway."""
    first, _, rest = section.partition(" ")
    if rest and rest == phase.removeprefix("x ") and not _TEST.search(first):
        return first
    name = _TEST.sub("-", section).strip("-_.+")[:32]
    return name or "job"


def _job_name(source: str) -> str:
    return re.sub(r"[\x00-\x1f]", " ", Path(source).stem)[:80] or "fio"
