"""rows.jsonl: the phases of a run that is under way, a line each; run.json takes them over when the run ends.

A run of a thousand rows, or a tape of days, would else write its whole document a thousand times.
"""

from __future__ import annotations

import contextlib
import errno
import os
import weakref
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.file_names import ROWS_FILE
from iocast.archive.json_files import decoded, not_understood, parsed, unwritable
from iocast.archive.regular_file import may_begin, regular_bytes
from iocast.archive.writing.held_folder import ForeignFile, HeldFolder
from iocast.archive.writing.whole_files import write_all
from iocast.model.run import Blind, PhaseRecord, Run, Series, Tape

_BEGINS = b'{"phase":'


class _Line(Struct, frozen=True, forbid_unknown_fields=True):
    """A phase, and what the run says beside it when the phase has ended."""

    phase: PhaseRecord
    warnings: tuple[str, ...] = ()
    blind: tuple[Blind, ...] = ()
    sources: tuple[str, ...] = ()  # of a tape
    texts: dict[str, str] = {}  # of a tape, those that are new


class SavedRows:
    """The file of a run that is under way, by its descriptor from the first row on."""

    def __init__(self, folder: HeldFolder) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def append(self, run: Run, first: int, texts: Mapping[str, str]) -> None:
        """Adds the phases from number `first` on, and the texts of a tape that are new. Raises ArchiveError."""
        try:
            self._append(_lines(run, first, texts))
        except OSError as error:
            raise unwritable(self._folder.path, error) from error

    def _append(self, text: bytes) -> None:
        file = self._file()
        before = os.fstat(file).st_size
        try:
            write_all(file, text)
        except OSError:
            with contextlib.suppress(OSError):  # half a line must not stand before the next one
                os.ftruncate(file, before)
            raise

    def _file(self) -> int:
        """The file that this run began. Raises OSError; ForeignFile where something else has its name by now."""
        if self._descriptor is None:
            self._descriptor = self._folder.open_to_append(ROWS_FILE)
            weakref.finalize(self, os.close, self._descriptor)
        elif not self._folder.has(ROWS_FILE, self._descriptor):
            if os.fstat(self._descriptor).st_nlink > 1:
                linked = "has a second name (a hard link, as backups by cp -al make), which rows would change as well"
                raise ForeignFile(errno.EPERM, f"{ROWS_FILE} {linked}: leave runs that are under way out of them")
            raise ForeignFile(errno.EPERM, f"{ROWS_FILE} was put there by another program: move it away")
        return self._descriptor

    def remove(self) -> None:
        """The document has them now, or the run begins."""
        with contextlib.suppress(OSError):
            if self._descriptor is None or self._folder.has(ROWS_FILE, self._descriptor):
                self._folder.remove(ROWS_FILE)


def _lines(run: Run, first: int, texts: Mapping[str, str]) -> bytes:
    sources = () if run.tape is None else run.tape.sources
    lines = (
        _Line(replace(record, samples=(), series=Series()), run.warnings, run.blind, sources, dict(texts))
        for record in run.phases[first:]
    )
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def are_rows(text: bytes) -> bool:
    """Whether all lines of a file are such rows, and a last one without an end begins as they do. Raises what BROKEN
    lists.
    """
    *lines, cut = text.split(b"\n")
    return bool(lines) and all(parsed(line, _Line) for line in lines) and may_begin(cut, (_BEGINS,))


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
