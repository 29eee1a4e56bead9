"""Reads a vdbench parameter file: storage, workload and run definitions to a Job, or one refusal of all that is wrong.

File system definitions (fsd=, fwd=) are refused with what they would make: iocast has no load of file operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from iocast.formats.vdbench.files_of_anchor import tree_of
from iocast.formats.vdbench.parameter_file import Definition, read_definitions
from iocast.jobs.job import FileSize, Job
from iocast.jobs.problems import LineProblems
from iocast.jobs.vdbench.vdbench_keys import check_keys
from iocast.jobs.vdbench.vdbench_runs import Expanded, RunReader
from iocast.jobs.vdbench.vdbench_values import Reader, named, size_of, whole_of
from iocast.jobs.vdbench.vdbench_workloads import MIB, Place, Storage, storage_of
from iocast.model.workload import Sequential
from iocast.text import capacity, counted

_DATA_ONLY = "measure data I/O with sd=, wd= and rd="


def parse_vdbench_job(text: str, source: str) -> Job:
    """The Job of a vdbench parameter file's text. Raises SpecError that names `source` and the line of each problem."""
    problems = LineProblems(source)
    definitions = read_definitions(text, problems.add)
    _refuse_files(definitions, problems)
    problems.refuse()
    check_keys(definitions, problems)
    of_kind = {kind: [each for each in definitions if each.kind == kind] for kind in ("sd", "wd", "rd")}
    for kind, found in of_kind.items():
        if not found and kind != "wd":
            problems.add(1, f"it has no {kind}=", f"add one, for example {_EXAMPLES[kind]}")
        _refuse_twice(found, problems)
    problems.refuse()
    storage = {each.name: storage_of(each, problems) for each in of_kind["sd"]}
    size_bytes = _size(list(storage.values()), problems)
    workloads = {each.name: each for each in of_kind["wd"]}
    place = Place(storage, problems)
    runs = [RunReader(each, workloads, place).expanded() for each in of_kind["rd"]]
    _check_all_storage(of_kind, storage, problems)
    problems.refuse()
    _note(list(storage.values()), runs, problems)
    phases = tuple(phase for run in runs for phase in run.phases)
    return Job(
        name=Path(source).stem or source,
        phases=phases,
        file_count=len(storage),
        file_size=None if size_bytes is None else FileSize(size_bytes=size_bytes // MIB * MIB or size_bytes),
        interval_ns=min(run.interval_ns for run in runs),
        language="vdbench",
        source=source,
        text=text,
        shares={name: share for run in runs for name, share in run.shares.items()},
        notes=problems.notes,
    )


_EXAMPLES = {"sd": "sd=sd1,lun=/mnt/db,size=1g", "rd": "rd=run1,wd=wd1,iorate=max,elapsed=30"}


def _refuse_files(definitions: Iterable[Definition], problems: LineProblems) -> None:
    """File systems and their operations, with what they would make."""
    for each in definitions:
        if each.kind == "fsd":
            problems.add(
                each.line, f"fsd={each.name}: {_tree(each)}: operations on files are not supported", _DATA_ONLY
            )
        elif each.kind == "fwd":
            problems.add(each.line, f"fwd={each.name}: operations on files are not supported", _DATA_ONLY)
        elif each.kind in ("hd", "rg") and each.name != "localhost":
            problems.add(each.line, f"{each.kind}={each.name}: not supported", "iocast makes the load of one host")


def _tree(definition: Definition) -> str:
    """How many directories and files it has, as far as it says."""
    unread = LineProblems("")
    reader = Reader(definition.parameters, unread)
    depth, width, files = (reader.one(key, whole_of, 1) for key in ("depth", "width", "files"))
    size_bytes = reader.one("size", size_of, 0) or reader.one("sizes", size_of, 0)
    everywhere = reader.one("distribution", str, "bottom") == "all"
    tree = tree_of(depth, width, files, size_bytes, everywhere=everywhere)
    directories = "directory" if tree.directories == 1 else "directories"
    size = f" of {capacity(tree.bytes)} in all" if tree.bytes else ""
    return f"{tree.directories:,} {directories} with {counted(tree.files, 'file')}{size}"


def _refuse_twice(definitions: Sequence[Definition], problems: LineProblems) -> None:
    seen: dict[str, int] = {}
    for each in definitions:
        if each.name in seen:
            problems.add(each.line, f"{each.kind}={each.name} is defined in line {seen[each.name]} too", "rename one")
        seen[each.name] = each.line


def _size(storage: Sequence[Storage], problems: LineProblems) -> int | None:
    """The size of each work file: one size for all."""
    sizes = {each.size_bytes for each in storage}
    if len(sizes) > 1:
        said = f"sd={storage[-1].name}: storage definitions of different sizes"
        problems.add(storage[-1].line, said, "give all the same size=")
    return storage[0].size_bytes


def _check_all_storage(
    of_kind: dict[str, list[Definition]], storage: dict[str, Storage], problems: LineProblems
) -> None:
    """A run works on all storage definitions: they are one address range here."""
    for each in (*of_kind["wd"], *of_kind["rd"]):
        given = each.parameters.get("sd")
        if given is None or problems.count:
            continue
        used = named(given, storage, "sd", problems)
        if len(used) < len(storage):
            said = f"{each.kind}={each.name}: sd={given.text} is only a part of the storage definitions"
            way_out = "iocast works on all as one: leave out the others, and run this one by itself"
            problems.add(given.line, said, way_out)


def _note(storage: Sequence[Storage], runs: Iterable[Expanded], problems: LineProblems) -> None:
    """What a person who knows vdbench should know."""
    luns = ", ".join(dict.fromkeys(each.lun for each in storage if each.lun))
    if luns:
        problems.note(f"lun={luns} is not used: the target is PATH")
    if len(storage) > 1:
        problems.note(f"{len(storage)} storage definitions are {len(storage)} work files in a directory, as one range")
    phases = [phase for run in runs for phase in run.phases]
    if any(isinstance(phase.workload.locality, Sequential) and phase.workload.users > 1 for phase in phases):
        problems.note("sequential: each thread goes through the storage by itself, from an offset of its own")
    if any(not phase.workload.direct for phase in phases):
        problems.note("without openflags=o_direct I/O is buffered: the page cache answers, as with vdbench")
