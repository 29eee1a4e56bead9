"""Opens a run folder of any schema so far: run.json and the tables become a Run. Nothing in the folder is changed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from iocast.archive.file_names import RUN_FILE, folder_of
from iocast.archive.interval_tables import load_series
from iocast.archive.json_files import not_understood
from iocast.archive.regular_file import UnfitFile, regular_bytes
from iocast.archive.run_document import run_of
from iocast.archive.sample_tables import load_samples
from iocast.archive.saved_rows import with_saved_rows
from iocast.archive.tapes.unfinished_reels import with_unfinished_reels
from iocast.archive.warm_up import samples_from, warm_up_of
from iocast.errors import ArchiveError
from iocast.model.run import PhaseRecord, Run, Series, at_once
from iocast.model.soundness import fault_of
from iocast.text import is_text, shown


def load(folder: str) -> Run:
    """Reads a run folder (or its run.json). Raises ArchiveError when it is none, or of a newer iocast."""
    path = folder_of(folder)
    run = with_saved_rows(run_of(path / RUN_FILE, _text(folder, path)), path)
    run = with_unfinished_reels(run, path)
    if fault := fault_of(run):
        raise not_understood(path / RUN_FILE, fault)
    return msgspec.structs.replace(run, phases=tuple(_with_series(run, path)))


def _text(folder: str, path: Path) -> bytes:
    if not is_text(folder):  # the database reads no such file, and no page can show it
        raise ArchiveError(
            f"the name {shown(folder)} is not UTF-8 text", "rename the folder, or open it by a symbolic link"
        )
    try:
        return regular_bytes(path / RUN_FILE)
    except UnfitFile as error:
        raise not_understood(path / RUN_FILE, error.strerror, "remove it, or give another folder") from error
    except OSError as error:
        absent = isinstance(error, FileNotFoundError) and os.path.exists(path)
        why = f"{RUN_FILE} is missing" if absent else error.strerror
        raise ArchiveError(
            f"{folder} is not a run folder: {why}",
            "give a folder that `iocast card` or `iocast run` printed at its end",
        ) from error


def _with_series(run: Run, folder: Path) -> Iterator[PhaseRecord]:
    """The phases with series and samples; of concurrent ones the first has the samples of all in the folder.

    A tape is read reel by reel where it is played: it may hold days.
    """
    if run.tape is not None:
        yield from run.phases
        return
    samples, courses = load_samples(folder), load_series(folder, run.phases)
    before: PhaseRecord | None = None
    for number, record in enumerate(run.phases):
        shared = before.samples if before is not None and at_once(before, record) else ()
        phase_samples = samples.get(number, shared)
        if warm_up_of(record):
            phase_samples = samples_from(phase_samples, record.measurement.started_unix_ns)
        before = msgspec.structs.replace(record, samples=phase_samples, series=courses.get(number, Series()))
        yield before
