"""Reads a study file: TOML whose axes have named values, each of them some fields of a job's [[phase]]."""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any, get_args

from msgspec.structs import replace

from iocast.archive.regular_file import written_text
from iocast.errors import SpecError
from iocast.jobs.toml.job_reading import parse_job
from iocast.model.job import Job
from iocast.model.study_plan import MetricCode, StudyCell, StudyPlan, View
from iocast.tools.line_problems import meant
from iocast.units import parse_size

MOST_CELLS, MOST_REPEATS = 5000, 100
KEYS = ("name", "description", "repeats", "labels", "files", "defaults", "axis", "view", "interval")
METRICS: tuple[MetricCode, ...] = get_args(MetricCode)
LONGEST_NAME = 40
_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9 ._-]{{0,{LONGEST_NAME - 1}}}")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HINT = "`iocast study vmware --plan` shows one that works; docs/guide/study.md describes all of it"

Table = dict[str, Any]


def load_study(name: str) -> StudyPlan:
    """The study of a preset's name or a file's path. Raises SpecError."""
    presets = study_presets()
    if name in presets:
        return parse_study(presets[name], f"study {name}")
    try:
        text = written_text(name)
    except FileNotFoundError:
        said = f"no study file or preset called {name}{meant(name, presets)}"
        raise SpecError(said, f"presets: {', '.join(presets)}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise SpecError(f"{name} cannot be read: {reason}", "give a study file") from None
    return parse_study(text, name)


def study_presets() -> dict[str, str]:
    """The text of every study that comes with iocast, by its name."""
    folder = resources.files("iocast.jobs.studies")
    names = sorted(each.name for each in folder.iterdir() if each.name.endswith(".toml"))
    return {name.removesuffix(".toml"): (folder / name).read_text(encoding="utf-8") for name in names}


def parse_study(text: str, source: str) -> StudyPlan:
    """The plan of a study file's text. Raises SpecError, which names the cell where its load is the fault."""
    try:
        raw = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(f"{source}: not valid TOML: {error}", _HINT) from None
    for key in raw:
        if key not in KEYS:
            raise SpecError(f"{source}: unknown key {key}{meant(key, KEYS)}", f"known are {', '.join(KEYS)}")
    name, axes = _text(raw, "name", source), _axes(raw, source)
    if not _NAME.fullmatch(name):
        raise SpecError(f'{source}: name = "{name}" cannot be a folder', "use letters, digits, blanks and . _ -")
    repeats = raw.get("repeats", 3)
    if not isinstance(repeats, int) or isinstance(repeats, bool) or not 1 <= repeats <= MOST_REPEATS:
        raise SpecError(f"{source}: repeats = {repeats}", f"a whole number from 1 to {MOST_REPEATS}")
    plan = StudyPlan(
        name=name,
        description=raw.get("description", ""),
        repeats=repeats,
        axes={axis: tuple(values) for axis, values in axes.items()},
        cells=tuple(_cells(raw, axes, source)),
        labels=_labels(raw, source),
        text=text,
    )
    return replace(plan, views=tuple(_views(raw, plan, source)))


def _text(raw: Table, key: str, source: str) -> str:
    value = raw.get(key)
    if not isinstance(value, str) or not value:
        raise SpecError(f"{source}: {key} is missing, or not text", f'for example {key} = "vmware"')
    return value


def _labels(raw: Table, source: str) -> tuple[str, ...]:
    labels = raw.get("labels", [])
    if not isinstance(labels, list) or not all(isinstance(each, str) for each in labels):
        raise SpecError(f"{source}: labels is not a list of names", 'for example labels = ["bare", "virtual"]')
    for each in labels:
        check_label(each)
    return tuple(dict.fromkeys(labels))


def check_label(label: str) -> None:
    """Refuses a name of a configuration that cannot be a folder. Raises SpecError."""
    if not _NAME.fullmatch(label):
        hint = f"use letters, digits, blanks and . _ -, at most {LONGEST_NAME}"
        raise SpecError(f'the label "{label}" cannot be a folder', hint)


def _axes(raw: Table, source: str) -> dict[str, dict[str, Table]]:
    """The values of each axis with their fields."""
    axes = raw.get("axis")
    if not isinstance(axes, dict) or not axes:
        raise SpecError(f"{source}: there are no axes", "for example [axis.users.1] and below it users = 1")
    for axis, values in axes.items():
        if not isinstance(values, dict) or not values or not all(isinstance(each, dict) for each in values.values()):
            raise SpecError(f"{source}: [axis.{axis}] has no values", f"give each a table: [axis.{axis}.NAME]")
        for value in values:
            if not _NAME.fullmatch(value) or " " in value:
                raise SpecError(f'{source}: [axis.{axis}."{value}"]', "name values by letters, digits and . _ -")
    return axes


def _cells(raw: Table, axes: Mapping[str, Mapping[str, Table]], source: str) -> Iterator[StudyCell]:
    """Every combination, the last axis varying fastest."""
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > MOST_CELLS:
        raise SpecError(f"{source}: its axes make {count:,} cells; at most {MOST_CELLS:,}", "shorten the axes")
    for chosen in itertools.product(*(values for values in axes.values())):
        names = dict(zip(axes, chosen, strict=True))
        fields: Table = dict(raw.get("defaults", {}))
        for axis, value in names.items():
            fields |= axes[axis][value]
        yield _cell(raw, names, fields, source)


def _cell(raw: Table, names: dict[str, str], fields: Table, source: str) -> StudyCell:
    metric, warm = fields.pop("report", "mean"), fields.pop("warm", 0)
    where = " ".join(names.values())
    if metric not in METRICS:
        raise SpecError(f'{source}: {where}: report = "{metric}"', f"one of {', '.join(METRICS)}")
    if not isinstance(warm, int) or isinstance(warm, bool) or not 0 <= warm <= 10:
        raise SpecError(f"{source}: {where}: warm = {warm}", "how often its data is read before: 0 to 10")
    polling = fields.pop("polling", None)  # is of a whole job
    phase = {"test": "-".join(names.values())[:60], **fields}
    cell = StudyCell(
        values=names,
        metric=metric,
        job_text=_job_text(raw, where, [phase], polling),
        warm_text=_job_text(raw, "warm", [_warming(fields, raw, warm, source)], None) if warm else "",
    )
    job = _checked(cell.job_text, f"{source}: {where}")
    if len(job.phases) != 1:
        raise SpecError(f"{source}: {where} makes {len(job.phases)} rows", "give lists as values of an axis")
    if warm:
        _checked(cell.warm_text, f"{source}: {where}, warm")
    return replace(cell, seconds=job.phases[0].length.seconds)


def _warming(fields: Table, raw: Table, times: int, source: str) -> Table:
    """Reads the region of a cell, or all of the files, so often."""
    region = fields.get("region", {})
    size = region.get("size") if isinstance(region, dict) else None
    size = size or raw.get("files", {}).get("size")
    if not isinstance(size, str):
        raise SpecError(f"{source}: warm needs a region or [files] with a size", 'for example size = "24GiB"')
    bytes_read = parse_size(size) * times
    whole: Table = {"test": "warm", "role": "warm", "size": "1M", "pattern": "sequential", "bytes": bytes_read}
    kept: Table = {key: fields[key] for key in ("region", "direct") if key in fields}
    return {**whole, **kept}


def _checked(text: str, where: str) -> Job:
    try:
        return parse_job(text, where)
    except SpecError as error:
        raise SpecError(error.message, error.hint or _HINT) from None


def _job_text(raw: Table, name: str, phases: list[Table], polling: str | None) -> str:
    """A job file; a study's own text is the easier one to read."""
    lines = [f"name = {_toml(' '.join((raw['name'], name))[:80])}"]
    if "interval" in raw:
        lines.append(f"interval = {_toml(raw['interval'])}")
    for head, table in (("[files]", raw.get("files", {})), ("[defaults]", {"polling": polling} if polling else {})):
        if table:
            lines += ["", head, *toml_lines(table)]
    for phase in phases:
        lines += ["", "[[phase]]", *toml_lines(phase)]
    return "\n".join(lines) + "\n"


def toml_lines(table: Table) -> list[str]:
    """The fields of a table as TOML, a line each; tables in it are inline."""
    return [f"{_key(key)} = {_toml(value)}" for key, value in table.items()]


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _toml(key)


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            escaped = "".join(f"\\u{ord(sign):04x}" if sign < " " or sign in '"\\\x7f' else sign for sign in value)
            return f'"{escaped}"'
        case list():
            return f"[{', '.join(map(_toml, value))}]"
        case dict():
            return "{ " + ", ".join(f"{_key(key)} = {_toml(each)}" for key, each in value.items()) + " }"
        case _:
            return str(value)


def _views(raw: Table, plan: StudyPlan, source: str) -> Iterator[View]:
    for name, fixed in raw.get("view", {}).items():
        for axis, value in fixed.items():
            known = plan.axes.get(axis)
            if known is None:
                raise SpecError(f"{source}: [view.{name}]: no axis {axis}{meant(axis, plan.axes)}", _HINT)
            if value not in known:
                raise SpecError(f'{source}: [view.{name}]: {axis} has no "{value}"', f"it has {', '.join(known)}")
        yield View(name, dict(fixed))
