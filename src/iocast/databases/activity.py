"""Looks at the sessions of a database many times a second, on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable

from iocast.databases.query import LostError, RefusedError, Session
from iocast.errors import IocastError, LoadError
from iocast.starting import starting
from iocast.tools.database_rows import Active, ActivityCounts


class ActivityPoller:
    """The thread that looks. One that cannot go on says why and ends; the counts stay."""

    def __init__(
        self,
        counts: ActivityCounts,
        dial: Callable[[], Session],
        look: Callable[[Session], list[Active]],
        polls_per_s: float,
    ) -> None:
        self._counts, self._dial, self._look = counts, dial, look
        self._pause_s = 1.0 / polls_per_s
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="iocast-activity", daemon=True)
        self.why = ""  # it does not look at present

    def start(self) -> None:
        """Begins to look."""
        try:
            with starting():
                self._thread.start()
        except LoadError as error:
            self.why = f"sessions: {error.message}"

    def stop(self) -> None:
        """Ends; harmless when called twice."""
        self._end.set()
        if self._thread.is_alive():
            self._thread.join(timeout=30)

    def _watch(self) -> None:
        session: Session | None = None
        while not self._end.is_set():
            try:
                session = session or self._dial()
                self._counts.add(self._look(session))
                self.why = ""
            except RefusedError as error:
                self.why = f"sessions: {error.message}"
                if error.lasting:
                    break
            except LostError as error:
                self.why = f"sessions: {error.message}"
                self._close(session)
                session = None
            except IocastError as error:
                self.why = f"sessions: {error.message}"
            except Exception as error:  # the watch goes on without it, and says so
                self.why = f"sessions: {type(error).__name__}: {error}"
                break
            self._end.wait(self._pause_s if not self.why else 1.0)
        self._close(session)

    def _close(self, session: Session | None) -> None:
        if session is not None:
            session.close()
