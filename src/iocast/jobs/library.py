"""Finds job files: the presets that come with iocast, and those that people write."""

from __future__ import annotations

import os
import tomllib
from importlib import resources

from msgspec.structs import replace

from iocast.archive.regular_file import PARQUET, written_text
from iocast.errors import SpecError
from iocast.jobs.fio_job import parse_fio_job
from iocast.jobs.toml.job_reading import parse_job
from iocast.model.job import MOST_WORK_FILES, Job
from iocast.tools.fio.job_file import looks_like_fio
from iocast.tools.line_problems import meant
from iocast.tools.vdbench.parameter_file import looks_like_vdbench
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

# As a newcomer meets them.
_ORDER = ("card-quick", "card-standard", "card-full", "hailey", "database", "metadata", "survey", "virtualisation")
# They measure what the target allows: without O_DIRECT where it is refused, without writes where it is only read.
_FITS_TARGET = frozenset({"card-quick", "card-standard", "card-full", "survey"})
_FIO, _VDBENCH = (".fio", ".ini"), (".vdb", ".parm")
_SUFFIXES = (".toml", *_FIO, *_VDBENCH)


def presets() -> dict[str, str]:
    """The name of every preset with its description in one line."""
    return {name: str(tomllib.loads(_preset_text(name))["description"]) for name in _preset_names()}


def load_job(path: str, size_bytes: int | None = None) -> Job:
    """The Job of a preset name or of the path of a job file (see `_read_job`). Raises SpecError."""
    job = _read_job(path, size_bytes)
    if job.file_count > MOST_WORK_FILES:
        raise SpecError(
            f"{path}: {job.file_count} work files are too many",
            f"{MOST_WORK_FILES:,} at most; give fewer and larger ones",
        )
    return job


def is_job(path: str) -> bool:
    """True for the name of a preset, and for a file that is called as job files are."""
    return path in _preset_names() or (path.lower().endswith(_SUFFIXES) and os.path.isfile(path))


def _read_job(path: str, size_bytes: int | None) -> Job:
    """The Job of a preset name or of the path of a job file, ours, fio's or vdbench's. Raises SpecError.

    `size_bytes`: of the files of a fio job, instead of the sizes that it states.
    A name without a slash that is a preset is the preset: write ./hailey for a file of that name.
    """
    if path in _preset_names():
        job = parse_job(_preset_text(path), f"preset {path}")
        if path not in _FITS_TARGET:
            return job
        return replace(job, fits_target=True, file_size=job.file_size and replace(job.file_size, at_most=True))
    if os.path.isdir(path):
        raise SpecError(f"{path} is a directory, not a job file", "name the .toml file in it")
    try:
        text = written_text(path)
    except FileNotFoundError:
        names = _preset_names()
        said = f"no job file or preset called {path}{meant(path, names)}"
        raise SpecError(said, f"presets: {', '.join(names)}") from None
    except UnicodeDecodeError as error:
        if error.object.startswith(PARQUET):
            raise SpecError(f"{path} is a Parquet table, not a job file", f"a trace: iocast replay {path}") from None
        said = f"{path} is not a job file: byte {error.start} is not UTF-8"
        raise SpecError(said, "job files are TOML text") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        hint = "give a preset, or a job file that is a regular file"
        raise SpecError(f"{path} cannot be read: {reason}", hint) from None
    if text.lstrip().startswith("{"):
        raise SpecError(f"{path} is JSON, not a job file", f"a result of another tool: iocast import {path}")
    if path.lower().endswith(_FIO) or looks_like_fio(text):
        return parse_fio_job(text, path, size_bytes=size_bytes)
    if path.lower().endswith(_VDBENCH) or looks_like_vdbench(text):
        return parse_vdbench_job(text, path)
    return parse_job(text, path)


def _preset_names() -> list[str]:
    names = {
        entry.name.removesuffix(".toml")
        for entry in (resources.files("iocast.jobs") / "presets").iterdir()
        if entry.name.endswith(".toml")
    }
    return [name for name in _ORDER if name in names] + sorted(names.difference(_ORDER))


def _preset_text(name: str) -> str:
    return (resources.files("iocast.jobs") / "presets" / f"{name}.toml").read_text(encoding="utf-8")
