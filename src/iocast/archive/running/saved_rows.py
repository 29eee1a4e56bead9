"""rows.jsonl: the phases of a run that is under way, a line each; run.json takes them over when the run ends.

A run of a thousand rows, or a tape of days, would else write its whole document a thousand times.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.file_names import ROWS_FILE
from iocast.archive.guarded.regular_file import regular_bytes
from iocast.archive.json_files import decoded, not_understood, unwritable
from iocast.archive.writing.whole_files import write_all
from iocast.model.run import Blind, PhaseRecord, Run, Series, Tape


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A phase, and what the run says beside it when the phase has ended."""

    phase: PhaseRecord
    warnings: tuple[str, ...] = ()
    blind: tuple[Blind, ...] = ()
    sources: tuple[str, ...] = ()  # of a tape
    texts: dict[str, str] = {}  # of a tape, those that are new


def append_rows(folder: Path, run: Run, first: int, texts: Mapping[str, str]) -> None:
    """Adds the phases of a run from number `first` on, and the texts of a tape that are new. Raises ArchiveError."""
    sources = () if run.tape is None else run.tape.sources
    lines = (
        _Line(replace(record, samples=(), series=Series()), run.warnings, run.blind, sources, dict(texts))
        for record in run.phases[first:]
    )
    text = b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
    path = folder / ROWS_FILE
    try:
        with path.open("ab", buffering=0) as file:
            before = file.tell()
            try:
                write_all(file.fileno(), text)
            except OSError:
                with contextlib.suppress(OSError):  # half a line must not stand before the next one
                    os.ftruncate(file.fileno(), before)
                raise
    except OSError as error:
        raise unwritable(folder, error.strerror or str(error)) from error


def with_saved_rows(run: Run, folder: Path) -> Run:
    """The run with the phases that were added since its document was written. Raises ArchiveError.

    A line without an end was being written when the process died.
    """
    if run.status != "running":  # its document has them all
        return run
    path = folder / ROWS_FILE
    try:
        *lines, _cut = regular_bytes(path).split(b"\n")
    except FileNotFoundError:
        return run
    except OSError as error:
        raise not_understood(path, error.strerror or error) from error
    if not lines:
        return run
    added = [decoded(path, line, _Line) for line in lines]
    run = replace(
        run,
        phases=(*run.phases, *(line.phase for line in added)),
        warnings=tuple(dict.fromkeys((*run.warnings, *added[-1].warnings))),
        blind=tuple(dict.fromkeys((*run.blind, *added[-1].blind))),
    )
    return run if run.tape is None else _with_reels(run, run.tape, added)


def _with_reels(run: Run, tape: Tape, added: list[_Line]) -> Run:
    """A tape plans no phase beforehand: each reel is one."""
    texts = {subject: text for line in added for subject, text in line.texts.items()}
    return replace(
        run,
        plan=replace(run.plan, phases=tuple(record.phase for record in run.phases)),
        tape=replace(tape, sources=added[-1].sources or tape.sources, texts={**tape.texts, **texts}),
    )


def remove_rows(folder: Path) -> None:
    """The document has them now."""
    with contextlib.suppress(OSError):
        (folder / ROWS_FILE).unlink(missing_ok=True)
