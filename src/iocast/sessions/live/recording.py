"""A live watch becomes a tape: an ordinary run folder that gets a reel, a phase without load, every few minutes."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from iocast import archive
from iocast.imports.stated_rows import Row, record
from iocast.model.live.moment import Moment
from iocast.model.plan import Plan, WorkFiles
from iocast.model.run import Blind, PhaseRecord, Run, Tape
from iocast.model.target import Target
from iocast.model.workload import Closed
from iocast.sessions.live.watching import Reel, Stopping

REEL_NS = 300_000_000_000  # what is lost at most when the machine goes down


class Recorder:
    """Keeps moments until a reel is full, then saves it; memory holds one reel."""

    def __init__(self, base: str, reel: Reel, name: str = "watch") -> None:
        from iocast import __version__
        from iocast.observe.host import describe_host

        host = describe_host()
        self._reel = reel
        self._held: list[Moment] = []
        run = Run(
            plan=Plan(
                name=name,
                target=Target(path=", ".join(reel.sources) or host.name, kind="unknown"),
                phases=(),
                files=WorkFiles(0, 0),
                engine="sync",
            ),
            host=host,
            started_unix_ns=time.time_ns(),
            status="running",
            tape=Tape(interval_ns=reel.interval_ns, sources=reel.sources),
            iocast_version=__version__,
        )
        self._folder = archive.RunFolder.create(base, run)
        self._run = run

    @property
    def path(self) -> Path:
        """The folder of the tape."""
        return self._folder.path

    def add(self, moment: Moment) -> None:
        """Keeps it; a full reel is saved. Played, the reels are one again: no interval between two of them is lost."""
        self._held.append(moment)
        if moment.time_ns - self._held[0].time_ns >= REEL_NS:
            self._save("running")

    def close(self) -> None:
        """Saves what is held; the tape is whole."""
        self._save("done")
        self._folder.end()

    def _save(self, status: Literal["running", "done"]) -> None:
        run = self._run
        if self._held:
            kept = _as_phase(self._held, len(run.phases))
            self._folder.save_phase(len(run.phases), kept.phase.name, None, kept.samples)
            run = replace(run, phases=(*run.phases, replace(kept, samples=())))
            run = replace(run, plan=replace(run.plan, phases=tuple(each.phase for each in run.phases)))
            self._held = []
        assert run.tape is not None
        tape = replace(run.tape, sources=self._reel.sources, texts=dict(self._reel.texts))
        blind = tuple(dict.fromkeys((*run.blind, *self._reel.blind)))
        self._run = replace(run, status=status, tape=tape, blind=blind)
        self._folder.save(self._run)


def _as_phase(held: list[Moment], number: int) -> PhaseRecord:
    """The moments as a phase that made no load; named by when it began."""
    began_ns = held[0].time_ns
    clock = time.strftime("%H:%M:%S", time.localtime(began_ns / 1e9))
    return record(
        Row(
            name=f"reel {number + 1}, {clock}",
            test="watch",
            ops=(),
            elapsed_ns=held[-1].time_ns - began_ns,
            arrival=Closed(),
            started_unix_ns=began_ns,
            samples=tuple(sample for moment in held for sample in moment.samples),
            role="probe",
        )
    )


class Recorded:
    """A reel that is written down while it is watched."""

    def __init__(self, reel: Reel, recorder: Recorder) -> None:
        self._reel, self._recorder = reel, recorder
        self.interval_ns = reel.interval_ns

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        """The same moments, kept on the way."""
        for moment in self._reel.moments(stopping):
            self._recorder.add(moment)
            yield moment

    @property
    def texts(self) -> Mapping[str, str]:
        """As the reel says."""
        return self._reel.texts

    @property
    def sources(self) -> tuple[str, ...]:
        """As the reel says."""
        return self._reel.sources

    @property
    def blind(self) -> tuple[Blind, ...]:
        """As the reel says."""
        return self._reel.blind
