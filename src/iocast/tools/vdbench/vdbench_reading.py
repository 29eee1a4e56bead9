"""Reads a vdbench parameter file to a Job, or one refusal of all that is wrong: storage (sd=, wd=, rd=), or trees of
files (fsd=, fwd=, rd=).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from msgspec.structs import replace

from iocast.model.job import FileSize, Job
from iocast.model.tree import Tree
from iocast.model.workload import Sequential
from iocast.text import capacity, counted
from iocast.tools.line_problems import LineProblems
from iocast.tools.vdbench.parameter_file import GENERAL, KINDS, Definition, Parameter, read_definitions
from iocast.tools.vdbench.vdbench_file_runs import FileRunReader
from iocast.tools.vdbench.vdbench_keys import check_keys, spelled_out
from iocast.tools.vdbench.vdbench_runs import Expanded, RunReader
from iocast.tools.vdbench.vdbench_trees import trees_of_job
from iocast.tools.vdbench.vdbench_workloads import MIB, Place, Storage, storage_of


def parse_vdbench_job(text: str, source: str) -> Job:
    """The Job of a vdbench parameter file's text. Raises SpecError that names `source` and the line of each problem."""
    problems = LineProblems(source)
    definitions = read_definitions(text, problems.add)
    _refuse_hosts(definitions, problems)
    problems.refuse()
    definitions = spelled_out(definitions, problems)
    check_keys(definitions, problems)
    of_kind = {kind: [each for each in definitions if each.kind == kind] for kind in (*KINDS, GENERAL)}
    for kind in KINDS:
        _refuse_twice(of_kind[kind], problems)
    files = bool(of_kind["fsd"] or of_kind["fwd"])
    for kind in ("fsd", "fwd", "rd") if files else ("sd", "rd"):
        if not of_kind[kind]:
            problems.add(1, f"it has no {kind}=", f"add one, for example {_EXAMPLES[kind]}")
    if files and of_kind["sd"]:
        said = f"sd={of_kind['sd'][0].name} beside fsd={of_kind['fsd'][0].name if of_kind['fsd'] else ''}"
        problems.add(of_kind["sd"][0].line, f"{said}: vdbench has one of them in a file", "write a file for each")
    problems.refuse()
    job = _of_files(of_kind, problems) if files else _of_storage(of_kind, problems)
    return replace(job, name=Path(source).stem or source, source=source, text=text, notes=problems.notes)


def _of_storage(of_kind: dict[str, list[Definition]], problems: LineProblems) -> Job:
    """Storage, workload and run definitions."""
    storage = {each.name: storage_of(each, problems) for each in of_kind["sd"]}
    size_bytes = _size(list(storage.values()), problems)
    workloads = {each.name: each for each in of_kind["wd"]}
    place = Place(storage, problems, _general(of_kind))
    runs = [RunReader(each, workloads, place).expanded() for each in of_kind["rd"]]
    problems.refuse()
    _note(list(storage.values()), runs, problems)
    return replace(
        _job(runs),
        file_count=len(storage),
        file_size=None if size_bytes is None else FileSize(size_bytes=size_bytes // MIB * MIB or size_bytes),
    )


def _of_files(of_kind: dict[str, list[Definition]], problems: LineProblems) -> Job:
    """File system, file system workload and run definitions."""
    trees = trees_of_job(of_kind["fsd"], problems)
    first = next(iter(trees.values()))
    workloads = {each.name: each for each in of_kind["fwd"]}
    place = Place({}, problems, _general(of_kind))
    runs = [FileRunReader(each, workloads, of_kind["fsd"], first, place).expanded() for each in of_kind["rd"]]
    problems.refuse()
    job = _job(runs)
    _note_trees(of_kind["fsd"], trees, job, problems)
    return replace(job, tree=first)


def _note_trees(definitions: Sequence[Definition], trees: Mapping[str, Tree], job: Job, problems: LineProblems) -> None:
    """Where the trees are, and what they are."""
    anchors = dict.fromkeys(each.parameters["anchor"].text for each in definitions if "anchor" in each.parameters)
    several = len(set(trees.values())) > 1
    if anchors:
        where = "the trees are made beside each other in PATH" if several else "the tree is made in PATH"
        problems.note(f"anchor={', '.join(anchors)} is not used: {where}")
    if len(trees) > len(set(trees.values())):
        problems.note("file system definitions with one anchor are one tree")
    shapes = {phase.tree for phase in job.phases if phase.tree is not None}
    if shapes - set(trees.values()):
        problems.note("loops over trees: each other shape is made in place of the one before, and not measured")
        return
    names: dict[Tree, str] = {}
    for name, tree in trees.items():
        names.setdefault(tree, name)
    for tree, name in names.items():
        which = f"the tree of fsd={name}" if several else "the tree"
        size = f" of {capacity(round(tree.files_each * tree.mean_bytes))} in all" if tree.sizes else ""
        problems.note(f"{which} has {_directories(tree.directories)} with {counted(tree.files_each, 'file')}{size}")


def _general(of_kind: dict[str, list[Definition]]) -> dict[str, Parameter]:
    """What is said above all definitions."""
    return {key: value for each in of_kind[GENERAL] for key, value in each.parameters.items()}


def _job(runs: Sequence[Expanded]) -> Job:
    return Job(
        name="",
        phases=tuple(phase for run in runs for phase in run.phases),
        interval_ns=min(run.interval_ns for run in runs),
        language="vdbench",
        shares={name: share for run in runs for name, share in run.shares.items()},
    )


def _directories(count: int) -> str:
    return f"{count:,} {'directory' if count == 1 else 'directories'}"


_EXAMPLES = {
    "fsd": "fsd=fsd1,anchor=/mnt/db,depth=2,width=4,files=100,size=64k",
    "fwd": "fwd=fwd1,fsd=fsd1,operation=getattr,threads=4",
    "sd": "sd=sd1,lun=/mnt/db,size=1g",
    "rd": "rd=run1,wd=wd1,iorate=max,elapsed=30",
}


def _refuse_hosts(definitions: Iterable[Definition], problems: LineProblems) -> None:
    for each in definitions:
        if each.kind in ("hd", "rg") and each.name != "localhost":
            problems.add(each.line, f"{each.kind}={each.name}: not supported", "iocast makes the load of one host")


def _refuse_twice(definitions: Sequence[Definition], problems: LineProblems) -> None:
    counts: dict[str, int] = {}
    for each in definitions:
        if each.name in counts:
            problems.add(each.line, f"{each.kind}={each.name} is defined in line {counts[each.name]} too", "rename one")
        counts[each.name] = each.line


def _size(storage: Sequence[Storage], problems: LineProblems) -> int | None:
    """The size of each work file: one size for all."""
    sizes = {each.size_bytes for each in storage}
    if len(sizes) > 1:
        said = f"sd={storage[-1].name}: storage definitions of different sizes"
        problems.add(storage[-1].line, said, "give all the same size=")
    return storage[0].size_bytes


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
