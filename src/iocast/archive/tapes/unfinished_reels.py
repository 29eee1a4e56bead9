"""Reels of a tape that are no tables yet: of one that is being recorded, and of one whose process died."""

from __future__ import annotations

import re
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.file_names import SAMPLES
from iocast.archive.json_files import decoded, not_understood, parsed
from iocast.archive.regular_file import may_begin, regular_lines
from iocast.model.plan import Length
from iocast.model.run import Blind, PhaseRecord, Run

LONGEST_LINE = 32 << 20  # bytes
_NAME = re.compile(r"([0-9]{3,9})\.jsonl")
_MOMENT = b'{"at":'
_BEGINNINGS = (_MOMENT, b'{"phase":', b'{"texts":', b'{"blind":')  # of all lines


class ReelNote(Struct, frozen=True, omit_defaults=True):
    """A line that is no moment: the phase that a reel is, and what the tape says beside its samples as it comes."""

    phase: PhaseRecord | None = None
    texts: dict[str, str] = {}
    blind: tuple[Blind, ...] = ()


class _Moment(Struct, frozen=True):
    at: int


def number_of(name: str) -> int | None:
    """The number of the reel whose file has this name; None for other files."""
    match = _NAME.fullmatch(name)
    return int(match[1]) if match else None


def unfinished_reels(folder: Path) -> dict[int, Path]:
    """Their files by number, in order."""
    numbers = ((number_of(file.name), file) for file in (folder / SAMPLES).glob("*.jsonl"))
    return dict(sorted((number, file) for number, file in numbers if number is not None))


def is_reel(file: Path) -> bool:
    """Whether a file is one: a note of its phase, and moments. Raises OSError, and what BROKEN lists."""
    lines = regular_lines(file, LONGEST_LINE, cut=True)
    if parsed(next(lines, b"{}"), ReelNote).phase is None:
        return False
    for line in lines:
        if line.endswith(b"\n"):
            parsed(line, _Moment if line.startswith(_MOMENT) else ReelNote)
        elif not may_begin(line, _BEGINNINGS):
            return False
    return True


def lasting(phase: PhaseRecord, elapsed_ns: int) -> PhaseRecord:
    """The phase of a reel that is so long."""
    length = Length(seconds=elapsed_ns / 1e9)
    return replace(
        phase,
        phase=replace(phase.phase, length=length),
        plan=replace(phase.plan, length=length),
        measurement=replace(phase.measurement, elapsed_ns=elapsed_ns, issuing_ns=elapsed_ns),
    )


def with_unfinished_reels(run: Run, folder: Path) -> Run:
    """A tape that is under way, with the reels that no line of rows.jsonl tells of yet. Raises ArchiveError."""
    if run.status != "running" or run.tape is None:
        return run
    for number, file in unfinished_reels(folder).items():
        if number == len(run.phases):
            run = _with_reel(run, file)
    return run


def _with_reel(run: Run, file: Path) -> Run:
    phase, texts, blind = None, dict[str, str](), list[Blind]()
    first, last = b"", b""
    try:
        for line in regular_lines(file, LONGEST_LINE):
            if line.startswith(_MOMENT):
                first, last = first or line, line
                continue
            note = decoded(file, line, ReelNote)
            phase = note.phase or phase
            texts |= note.texts
            blind += note.blind
    except FileNotFoundError:  # it became a table meanwhile
        return run
    except OSError as error:
        raise not_understood(file, error.strerror or error) from error
    if phase is None or not first:
        return run
    began_ns, ended_ns = (decoded(file, line, _Moment).at for line in (first, last))
    assert run.tape is not None
    phases = (*run.phases, lasting(phase, ended_ns - began_ns))
    return replace(
        run,
        phases=phases,
        plan=replace(run.plan, phases=tuple(each.phase for each in phases)),
        blind=tuple(dict.fromkeys((*run.blind, *blind))),
        tape=replace(run.tape, texts={**run.tape.texts, **texts}),
    )
