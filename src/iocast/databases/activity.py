"""Looks at the sessions of a database many times a second, on a connection of its own, and counts what they do.

The counts are cumulative, so that shares of any interval come from two samples; `polls` says how often was looked.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from iocast.databases.query import LostError, RefusedError, Session
from iocast.errors import IocastError
from iocast.metrics import ACTIVE_SQL, EPOCH, ON_CPU, POLLS, SAMPLES, SESSIONS, WAITS
from iocast.model.run import Sample

MOST_SUBJECTS: Final = 20_000  # of each kind that are kept apart; those that come later are counted together
OTHERS: Final = "others"


class Active(Struct, frozen=True):
    """A session that was found active: what it waits for, and what it runs; "" is unknown."""

    session: str
    event: str = ON_CPU
    sql: str = ""


class ActivityCounts:
    """The counts so far; one thread adds, another reads."""

    def __init__(self, database: str, began_ns: int) -> None:
        self._database, self._began_ns = database, began_ns
        self._lock = threading.Lock()
        self._polls = 0
        self._kinds: dict[str, Counter[str]] = {kind: Counter() for kind in (WAITS, ACTIVE_SQL, SESSIONS)}

    def add(self, found: Iterable[Active]) -> None:
        """One look."""
        with self._lock:
            self._polls += 1
            for each in found:
                for kind, subject in ((WAITS, each.event), (ACTIVE_SQL, each.sql), (SESSIONS, each.session)):
                    if subject:
                        self._count(self._kinds[kind], subject)

    def _count(self, counter: Counter[str], subject: str) -> None:
        counter[subject if subject in counter or len(counter) < MOST_SUBJECTS else OTHERS] += 1

    @property
    def polls(self) -> int:
        """How often was looked."""
        return self._polls

    def subjects(self, kind: str) -> set[str]:
        """All that were found, of a kind."""
        with self._lock:
            return set(self._kinds[kind])

    def samples(self, at_ns: int) -> list[Sample]:
        """The counts as they stand."""
        with self._lock:
            out = []
            for kind, counter in self._kinds.items():
                observer = f"{self._database}.{kind}"
                out.append(Sample(at_ns, observer, "", EPOCH, float(self._began_ns)))
                out.append(Sample(at_ns, observer, "", POLLS, float(self._polls)))
                out += [Sample(at_ns, observer, subject, SAMPLES, float(n)) for subject, n in counter.items()]
            return out


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
        self._thread.start()

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
                self.why, session = f"sessions: {error.message}", self._closed(session)
            except IocastError as error:
                self.why = f"sessions: {error.message}"
            except Exception as error:  # the watch goes on without it, and says so
                self.why = f"sessions: {type(error).__name__}: {error}"
                break
            self._end.wait(self._pause_s if not self.why else 1.0)
        self._closed(session)

    def _closed(self, session: Session | None) -> None:
        if session is not None:
            session.close()
