"""The sessions of a row at work: a thread each, slice by slice, until their time is over or someone says stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence

from iocast.errors import IocastError, LoadError
from iocast.load.database.load_server import LoadSession, Slice
from iocast.starting import starting


class SessionCrew:
    """Runs all sessions from one start; slices end with the intervals of the row, so that each belongs to one."""

    def __init__(self, sessions: Sequence[LoadSession], interval_ns: int, length_ns: int) -> None:
        self._sessions, self._interval_ns, self._length_ns = sessions, interval_ns, length_ns
        self.slices: list[list[tuple[int, Slice]]] = [[] for _ in sessions]  # (interval, slice), of each session
        self.errors: list[IocastError | Exception] = []
        self.queued_ns = 0  # its threads were ready to run and no processor was free
        self.ran_ns = 0
        self._lock = threading.Lock()
        self._limit_ns = length_ns
        self._claimed_ns = 0
        self._threads = [
            threading.Thread(target=self._work, args=(number,), name=f"iocast-load-{number}", daemon=True)
            for number in range(len(sessions))
        ]

    def start(self, began: object) -> None:
        """All begin. Raises LoadError where there may not be as many threads; those that run are stopped."""
        for session in self._sessions:
            session.begin(began)
        try:
            with starting():
                for thread in self._threads:
                    thread.start()
        except LoadError:
            self.stop()
            raise

    @property
    def working(self) -> bool:
        """True while any session is at work."""
        return any(thread.is_alive() for thread in self._threads)

    @property
    def complete(self) -> int:
        """How many intervals are over for all sessions."""
        with self._lock:
            return min((done[-1][0] + 1 if done else 0) for done in self.slices)

    @property
    def issuing_ns(self) -> int:
        """How long statements were sent."""
        with self._lock:
            return min(self._limit_ns, self._length_ns)

    def stop(self) -> None:
        """No session begins another interval than those that have begun."""
        with self._lock:
            self._limit_ns = min(self._limit_ns, max(self._claimed_ns, self._interval_ns))

    def wait(self, seconds: float) -> None:
        """Until all have ended, or so long."""
        until = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _claim(self, interval: int) -> int | None:
        """The end of a slice that may begin; None when the work is over."""
        with self._lock:
            begin_ns = interval * self._interval_ns
            if begin_ns >= self._limit_ns or self.errors:
                return None
            till_ns = min(begin_ns + self._interval_ns, self._length_ns)
            self._claimed_ns = max(self._claimed_ns, till_ns)
            return till_ns

    def _work(self, number: int) -> None:
        interval = 0
        try:
            while (till_ns := self._claim(interval)) is not None:
                done = self._sessions[number].run(till_ns)
                last_ns = done.crossing.ended_ns if done.crossing is not None else 0
                with self._lock:
                    self.slices[number].append((interval, done))
                # A statement that took longer than an interval leaves none to do in those that it passed.
                interval = max(interval + 1, last_ns // self._interval_ns)
        except Exception as error:  # told by whoever waits for the crew
            with self._lock:
                self.errors.append(error)
        ran_ns, queued_ns = _scheduled()
        with self._lock:
            self.ran_ns += ran_ns
            self.queued_ns += queued_ns


def _scheduled() -> tuple[int, int]:
    """How long this thread ran, and waited for a processor; (0, 0) where the kernel does not say."""
    try:
        with open("/proc/thread-self/schedstat", encoding="ascii") as file:
            ran, queued, _ = file.read().split()
            return int(ran), int(queued)
    except (OSError, ValueError):
        return 0, 0
