"""Sessions that were found active, counted: by what they wait for, by what they run, and by who they are.

The counts are cumulative, so that shares of any interval come from two samples; `polls` says how often was looked.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from iocast.metrics import ACTIVE_SQL, EPOCH, ON_CPU, PART, POLLS, SAMPLES, SESSION_WAITS, SESSIONS, WAITS
from iocast.model.run import Sample

MOST_SUBJECTS: Final = 20_000  # of each kind that are kept apart; those that come later are counted together
OTHERS: Final = "others"


_KINDS: Final = (WAITS, ACTIVE_SQL, SESSIONS, SESSION_WAITS)


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
        self._kinds: dict[str, Counter[str]] = {kind: Counter() for kind in _KINDS}

    def add(self, found: Iterable[Active]) -> None:
        """One look."""
        with self._lock:
            self._polls += 1
            for each in found:
                both = f"{each.session}{PART}{each.event}" if each.session else ""
                for kind, subject in zip(_KINDS, (each.event, each.sql, each.session, both), strict=True):
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
                out.append(Sample(at_ns, observer, "", EPOCH, self._began_ns + 0.0))
                out.append(Sample(at_ns, observer, "", POLLS, self._polls))
                out += [Sample(at_ns, observer, subject, SAMPLES, n) for subject, n in counter.items()]
            return out
