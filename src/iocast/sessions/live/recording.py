"""A live watch becomes a tape: an ordinary run folder that gets a reel, a phase without load, every few minutes."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from pathlib import Path

from msgspec.structs import replace

from iocast._core import unix_ns
from iocast.archive.tapes.tape_folder import TapeFolder
from iocast.model.anonymity.anonymised import anonymised
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.live.moment import Moment
from iocast.model.plan import Plan, WorkFiles
from iocast.model.run import Blind, Run, Tape
from iocast.model.target import Target
from iocast.model.workload import Closed
from iocast.observe.host import clock_notes, describe_host
from iocast.sessions.live.watching import SampleSource, Stopping
from iocast.tools.stated_rows import Row, record


class Recorder:
    """Writes moments down as they come."""

    def __init__(self, base: str, source: SampleSource, name: str = "watch", names: Pseudonyms | None = None) -> None:
        from iocast import __version__

        host = describe_host() if names is None else anonymised(describe_host(), names)
        self._base, self._source = base, source
        self._one_at_a_time = threading.Lock()  # a screen asks for texts in another thread than it reads moments in
        self._last: Moment | None = None
        self._run = Run(
            plan=Plan(
                name=name,
                target=Target(path=", ".join(source.sources) or host.name, kind="unknown"),
                phases=(),
                files=WorkFiles(0, 0),
                engine="sync",
            ),
            host=host,
            started_unix_ns=0,
            status="running",
            tape=Tape(interval_ns=source.interval_ns, sources=source.sources),
            iocast_version=__version__,
        )
        self._folder = self._begun()

    def _begun(self) -> TapeFolder:
        row = Row(name="reel", test="watch", ops=(), elapsed_ns=0, arrival=Closed(), role="probe")
        return TapeFolder(self._base, replace(self._run, started_unix_ns=unix_ns()), record(row))

    @property
    def path(self) -> Path:
        """The folder of the tape, the last one if it has become several."""
        return self._folder.path

    def add(self, moment: Moment) -> None:
        """Keeps it, before anybody is shown it. Raises ArchiveError.

        After weeks the tape goes on in another folder, with the last moment of the one before: no interval is lost.
        """
        with self._one_at_a_time:
            begins = False
            if self._folder.is_full and self._last is not None:
                self._folder.close(clock_notes())
                self._folder = self._begun()
                begins = self._folder.add(self._last)
            begins |= self._folder.add(moment)
            self._last = moment
        self.keep_texts(self._source.texts if begins else {})  # a database has to be asked for them

    def keep_texts(self, texts: Mapping[str, str]) -> None:
        """Keeps what is new of them, before anybody is shown them. Raises ArchiveError."""
        with self._one_at_a_time:
            self._folder.note(self._source.sources, texts, self._source.blind)

    def close(self) -> None:
        """Saves what is not yet a table; the tape is whole. Closing again adds nothing. Raises ArchiveError."""
        self.keep_texts(self._source.texts)
        with self._one_at_a_time:
            self._folder.close(clock_notes())


class Recorded:
    """A source that is written down while it is watched."""

    def __init__(self, source: SampleSource, recorder: Recorder) -> None:
        self._source, self._recorder = source, recorder
        self.interval_ns = source.interval_ns

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        """The same moments, kept on the way."""
        for moment in self._source.moments(stopping):
            self._recorder.add(moment)
            yield moment

    @property
    def texts(self) -> Mapping[str, str]:
        """As the source says, kept on the way."""
        texts = self._source.texts
        self._recorder.keep_texts(texts)
        return texts

    @property
    def sources(self) -> tuple[str, ...]:
        """As the source says."""
        return self._source.sources

    @property
    def blind(self) -> tuple[Blind, ...]:
        """As the source says."""
        return self._source.blind
