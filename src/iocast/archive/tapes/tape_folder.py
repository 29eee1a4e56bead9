"""TapeFolder: the run folder of a tape while it is recorded; memory holds a moment, and a note of each reel."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from iocast.archive.folder import RunFolder
from iocast.archive.tapes.open_reel import OpenReel
from iocast.archive.tapes.unfinished_reels import ReelNote
from iocast.model.live.moment import Moment
from iocast.model.run import Blind, PhaseRecord, Run, Tape

MOST_TEXT: Final = 16_000_000  # characters of all texts of a tape
_OF_A_TEXT: Final = 100  # that it takes beside its own
MOST_BLIND: Final = 1_000
MOST_REELS: Final = 10_000  # five weeks; a run may have twice as many phases
CUT_TEXTS: Final = Blind("texts", f"texts beyond {MOST_TEXT // 1_000_000} MB of them were not kept")


class TapeFolder:
    """Moments go to the open reel; the one before may still be on its way to a table, in a thread of its own."""

    def __init__(self, base: str, run: Run, reel: PhaseRecord) -> None:
        self._reel = reel  # as all reels are
        self._folder = RunFolder.create(base, run)
        self._run = run
        self._texts: dict[str, str] = {}
        self._room = MOST_TEXT
        self._blind = dict.fromkeys(run.blind)
        self._sources: tuple[str, ...] = ()
        self._open: OpenReel | None = None
        self._full: tuple[OpenReel, Future[None]] | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="iocast-reels")

    @property
    def path(self) -> Path:
        """Where it is by now."""
        return self._folder.path

    @property
    def is_full(self) -> bool:
        """Whether it is time for another tape."""
        return len(self._run.phases) >= MOST_REELS

    def add(self, moment: Moment) -> bool:
        """Writes a moment down; True when a reel begins with it. Raises ArchiveError."""
        if self._full is not None and self._full[1].done():
            self._keep_table()
        begins = self._open is None or self._open.is_full(moment.time_ns)
        if begins:
            self._change_reels(moment.time_ns)
        assert self._open is not None
        self._open.add(moment)
        return begins

    def note(self, sources: tuple[str, ...], texts: Mapping[str, str], blind: Iterable[Blind]) -> None:
        """Writes down what is new of the texts, and of what could not be seen. Raises ArchiveError."""
        self._sources = sources
        new_texts = {}
        for subject, text in texts.items():
            if self._texts.get(subject) != text and self._room > 0:
                self._room -= len(text) + _OF_A_TEXT
                new_texts[subject] = text
        new_blind = [each for each in blind if each not in self._blind][: MOST_BLIND - len(self._blind)]
        if self._room <= 0 and CUT_TEXTS not in self._blind:
            new_blind.append(CUT_TEXTS)
        self._texts |= new_texts
        self._blind |= dict.fromkeys(new_blind)
        if self._open is not None and (new_texts or new_blind):
            self._open.note(ReelNote(texts=new_texts, blind=tuple(new_blind)))

    def close(self, warnings: tuple[str, ...] = ()) -> None:
        """All reels become tables; the tape is whole. Closing again adds nothing. Raises ArchiveError."""
        if self._full is not None:
            reel, written = self._full
            if written.exception() is not None:  # a disk that was full may have room again
                self._begin_table(reel)
            self._keep_table()
        if self._open is not None:
            reel, self._open = self._open, None
            self._begin_table(reel)
            self._keep_table()
        self._worker.shutdown()
        self._folder.save(replace(self._as_it_stands(), status="done", warnings=warnings))
        self._folder.end()

    def _change_reels(self, began_ns: int) -> None:
        if self._open is not None:
            if self._full is not None:  # reels wait on disk, at most one at a time
                self._keep_table()
            reel, self._open = self._open, None
            self._begin_table(reel)
        number = len(self._run.phases) + (self._full is not None)
        first = ReelNote(texts=self._texts, blind=tuple(self._blind)) if number == 0 else ReelNote()
        self._open = OpenReel(self._folder.held, number, self._phase(number, began_ns), first)

    def _phase(self, number: int, began_ns: int) -> PhaseRecord:
        """A reel as a phase that made no load; named by when it began."""
        name = f"reel {number + 1}, {time.strftime('%H:%M:%S', time.localtime(began_ns / 1e9))}"
        return replace(
            self._reel,
            phase=replace(self._reel.phase, name=name),
            plan=replace(self._reel.plan, name=name),
            measurement=replace(self._reel.measurement, started_unix_ns=began_ns),
        )

    def _begin_table(self, reel: OpenReel) -> None:
        reel.close()
        name = reel.phase.phase.name
        self._full = reel, self._worker.submit(self._folder.save_reel, reel.number, name)

    def _keep_table(self) -> None:
        """The reel is a table: it becomes a phase of the run. Waits until it is; raises ArchiveError."""
        assert self._full is not None
        reel, written = self._full
        written.result()
        phases = (*self._run.phases, reel.phase)
        plan = replace(self._run.plan, phases=tuple(each.phase for each in phases))
        self._run = replace(self._run, phases=phases, plan=plan)
        self._folder.save(self._as_it_stands())
        reel.remove()
        self._full = None

    def _as_it_stands(self) -> Run:
        assert self._run.tape is not None
        tape: Tape = replace(self._run.tape, sources=self._sources, texts=self._texts)
        return replace(self._run, tape=tape, blind=tuple(self._blind))
