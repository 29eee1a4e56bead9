"""Reads a job file: TOML to Job, or one refusal that lists everything that is wrong, each with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from iocast.errors import SpecError
from iocast.jobs.problems import Problems, table_text
from iocast.jobs.toml.contradictions import find_conflicts, inherit
from iocast.jobs.toml.database.load_reading import read_ramps
from iocast.jobs.toml.expansion import count_cells, expand
from iocast.jobs.toml.field_checks import check_table, fields_of, read_file_size
from iocast.jobs.toml.job_tables import JobFile
from iocast.jobs.toml.line_numbers import Path
from iocast.jobs.toml.verify_rules import (
    order_conflict,
    reading_conflicts,
    reading_phase,
    reads_back,
    writing_conflicts,
)
from iocast.jobs.tree_phases import MOST_FILES
from iocast.model.job import Job
from iocast.model.phase_names import unique_names
from iocast.model.plan import Phase
from iocast.model.tree import Tree, TreeSize
from iocast.units import parse_duration, parse_size

MOST_PHASES = 1000


def parse_job(text: str, source: str) -> Job:
    """The Job of a job file's text. Raises SpecError that names `source` and the line of each problem."""
    raw = _toml(text, source)
    problems = Problems(source, text)
    check_table(raw, JobFile, (), problems)
    if "database" in raw:
        return _of_a_database(raw, problems, text, source)
    if "phase" not in raw:
        problems.add((), f"phase is missing: expected {fields_of(JobFile)['phase'].expects}")
    phases: list[Phase] = []
    tree = None if "tree" not in raw or problems.inside(("tree",)) else read_tree(raw["tree"], problems)
    tables = raw.get("phase")
    for index, own in enumerate(tables if isinstance(tables, list) else []):
        if not problems.inside(("phase", index)) and not problems.inside(("defaults",)):
            phases += _phases(own, raw.get("defaults", {}), index, problems, tree)
    _check_groups(tables if isinstance(tables, list) else [], problems)
    impossible = order_conflict(phases)
    if impossible:
        problems.add(("phase",), f"verify: {impossible}")
    files = raw.get("files", {})
    _check_layout(files, problems)
    problems.refuse()
    return Job(
        name=raw["name"],
        phases=unique_names(phases),
        description=raw.get("description", ""),
        runs=raw.get("runs", 1),
        file_count=files.get("count", 1),
        file_size=read_file_size(files["size"]) if "size" in files else None,
        tree=tree,
        stripe_bytes=parse_size(files["stripe"]) if files.get("layout") == "striped" else 0,
        engine=raw.get("defaults", {}).get("engine", "auto"),
        polling=raw.get("defaults", {}).get("polling", "none"),
        interval_ns=parse_duration(raw.get("interval", "1s")),
        source=source,
        text=text,
    )


def _of_a_database(raw: Mapping[str, Any], problems: Problems, text: str, source: str) -> Job:
    """A job of [[database]] tables: its phases follow from the data set that it is run on."""
    ramps = read_ramps(raw, problems) if isinstance(raw["database"], list) else ()
    problems.refuse()
    return Job(
        name=raw["name"],
        phases=(),
        description=raw.get("description", ""),
        runs=raw.get("runs", 1),
        interval_ns=parse_duration(raw.get("interval", "1s")),
        source=source,
        text=text,
        database=ramps,
    )


def _check_layout(files: object, problems: Problems) -> None:
    """A stripe belongs to a striped layout, and the other way round."""
    if not isinstance(files, dict) or problems.inside(("files",)):
        return
    if (files.get("layout") == "striped") != ("stripe" in files):
        says = 'layout = "striped" and stripe belong together'
        problems.add(("files",), f"[files]: {says}", way_out='for example layout = "striped" and stripe = "1MiB"')


def _check_groups(tables: list[Any], problems: Problems) -> None:
    """Phases that run concurrently stand next to each other, and one of them says how long."""
    names = [table.get("together", "") if isinstance(table, dict) else "" for table in tables]
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if not isinstance(name, str) or not name:
            continue
        begin = first.setdefault(name, index)
        if index and begin != index and names[index - 1] != name:
            says = f'together = "{name}": phase {begin + 1} has it too, but other phases lie between them'
            path: Path = ("phase", index)
            problems.add((*path, "together"), f"{table_text(path)}: {says}", way_out="put them next to each other")
    for name, begin in first.items():
        group = [table for table, called in zip(tables, names, strict=True) if called == name]
        if all(table.get("follows") is True for table in group):
            says = f'every phase of "{name}" follows the others: none has a length'
            problems.add(("phase", begin), f"{table_text(('phase', begin))}: {says}", way_out="give one of them time")


def _toml(text: str, source: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        match = re.fullmatch(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)", str(error), re.DOTALL)
        line = (match[2] if match else "") or str(text.count("\n") + 1)
        too_long = isinstance(error, ValueError) and not isinstance(error, tomllib.TOMLDecodeError)
        said = match[1] if match else "a number has thousands of digits" if too_long else str(error)
        raise SpecError(
            f"{source}:{line}: not valid TOML: {said[:1].lower()}{said[1:]}",
            'put text in double quotes: size = "8k"; head tables with [[phase]]',
        ) from None


def _phases(
    own: Mapping[str, Any], defaults: Mapping[str, Any], index: int, problems: Problems, tree: Tree | None
) -> tuple[Phase, ...]:
    """The phases of one [[phase]] table; none, and a problem more, when it contradicts itself."""
    back = reads_back(own)
    given = inherit(own, defaults)
    conflicts = list(reading_conflicts(own) if back else (*find_conflicts(given, own), *writing_conflicts(given)))
    for field, says, hint in conflicts:
        path: Path = ("phase", index)
        if field:
            path = (*path, field) if field in own else ("defaults", field)
        place = table_text(path)
        problems.add(path, f"{place}{':' if place[0] != '[' else ''} {says}", way_out=hint)
    if conflicts:
        return ()
    if back:
        return (reading_phase(own.get("test", "verify")),)
    if "together" in given and count_cells(given) > 1:
        says = "a list makes phases that run one after the other, together makes them run concurrently"
        problems.add(("phase", index), f"{table_text(('phase', index))}: {says}", way_out="a [[phase]] for each value")
        return ()
    if count_cells(given) > MOST_PHASES:
        says = f"its lists make {count_cells(given)} phases; at most {MOST_PHASES}"
        problems.add(("phase", index), f"{table_text(('phase', index))}: {says}", way_out="shorten the lists")
        return ()
    return tuple(expand(given, tree))


def read_tree(table: Mapping[str, Any], problems: Problems) -> Tree | None:
    """The tree of a table whose fields are good by themselves; None, and a problem, where they are not together."""
    if "files" not in table:
        problems.add(("tree",), "[tree]: files is missing: how many each directory has", way_out="files = 1000")
        return None
    tree = Tree(
        depth=table.get("depth", 1),
        width=table.get("width", 1),
        files=table["files"],
        files_in=table.get("files_in", "leaves"),
        sizes=_sizes(table.get("size", 0)),
        own=table.get("own", False),
    )
    if tree.depth * max(1, tree.width.bit_length() - 1) > 64 or tree.files_each > MOST_FILES:
        problems.add(("tree",), f"[tree]: more than {MOST_FILES:,} files", way_out="a smaller depth, width or files")
        return None
    return tree


def _sizes(size: Any) -> tuple[TreeSize, ...]:
    weights = size if isinstance(size, dict) else {size: 1.0}
    sizes = [TreeSize(parse_size(text), float(weight)) for text, weight in weights.items() if weight > 0]
    return tuple(sizes) if any(each.size_bytes for each in sizes) else ()
