"""Processes: bytes and calls of each process that is followed, its CPU time and its waits for a processor.

What it is: /proc/PID/io (bytes asked for, `rchar` and `wchar`; bytes of the storage, `read_bytes` and `write_bytes`)
page faults that waited for I/O (`major_faults`), and the schedstat of all threads (`run_ns`, `run_delay_ns`), since
each process began. Of processes that are named also whether they use libaio (`aio_contexts`), as of now.

Why it matters: it names the process that makes the I/O, without tracing. Bytes asked for that never reached the storage
came from a cache; a process that waits longer for a processor than it runs is not slowed down by the storage.

Needs: /proc/PID/io is readable by root and by the owner of a process only; schedstat needs CONFIG_SCHED_INFO.

Overhead: four small reads for each process and one more for each of its threads.

What it cannot see: processes that began and ended between two samples; I/O of mmap in `rchar`; read-ahead makes
`read_bytes` larger than what was asked for; writes are counted when a page becomes dirty, not when it reaches the
storage.
"""

from __future__ import annotations

import os

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.limits import read_or_empty
from iocast.observe.live.watched import EVERYBODY, Watched, processes
from iocast.observe.observer import BlindError

NAME = metrics.PROCESSES
NEEDS = "/proc/PID/io (root, or the owner of the process) and /proc/PID/schedstat"
OVERHEAD = (
    "CPU time, measured on 2 processors: 20 µs a sample for each process of the machine, "
    "60 µs for each that is followed"
)


class Observer:
    """Reads the counters of those who are followed; the target makes no difference."""

    def __init__(
        self, target: Target, files: tuple[str, ...] = (), watched: Watched = EVERYBODY, root: str = "/"
    ) -> None:
        self.unseen: tuple[str, ...] = ()
        self._watched = watched
        self._root = root
        self._looks = 0
        self._aio: dict[int, int] = {}

    def __enter__(self) -> Observer:
        running = processes(self._watched, self._root)
        if not running:
            raise BlindError("no process is there to be followed")
        hidden = sum(1 for pid, _ in running if not self._io(pid))
        if hidden:
            of_all = f"{hidden} of {len(running)} processes"
            self.unseen = (f"bytes of {of_all}: /proc/PID/io is for root and the owner of a process",)
        return self

    def sample(self) -> list[Sample]:
        """Subject `pid|command`; what cannot be read of a process is left out."""
        samples: list[Sample] = []
        for pid, command in processes(self._watched, self._root):
            now_ns, subject = unix_ns(), f"{pid}{metrics.PART}{command}"
            counters = self._io(pid) | self._scheduled(pid) | self._faults(pid) | self._contexts(pid)
            samples += [Sample(now_ns, NAME, subject, metric, float(value)) for metric, value in counters.items()]
        self._looks += 1
        return samples

    def _io(self, pid: int) -> dict[str, int]:
        return parse_process_io(read_or_empty(os.path.join(self._root, f"proc/{pid}/io")))

    def _scheduled(self, pid: int) -> dict[str, int]:
        """Of all threads together: the file of the process is that of its first thread."""
        together: dict[str, int] = {}
        tasks = os.path.join(self._root, f"proc/{pid}/task")
        try:
            threads = os.listdir(tasks)
        except OSError:
            return {}
        for thread in threads:
            for metric, value in parse_schedstat(read_or_empty(os.path.join(tasks, thread, "schedstat"))).items():
                together[metric] = together.get(metric, 0) + value
        return together

    def _faults(self, pid: int) -> dict[str, int]:
        words = read_or_empty(os.path.join(self._root, f"proc/{pid}/stat")).rpartition(")")[2].split()
        return {metrics.MAJOR_FAULTS: int(words[9])} if len(words) > 9 and words[9].isdigit() else {}

    def _contexts(self, pid: int) -> dict[str, int]:
        """The kernel maps a ring for each context. Maps are long: only of who is named are they read, now and then."""
        if not self._watched.pids and not self._watched.commands:
            return {}
        if pid not in self._aio or self._looks % _MAPS_EVERY == 0:
            self._aio[pid] = read_or_empty(os.path.join(self._root, f"proc/{pid}/maps")).count("/[aio]")
        return {metrics.AIO_CONTEXTS: self._aio[pid]}

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""


_MAPS_EVERY = 10  # samples
_IO = (
    metrics.RCHAR,
    metrics.WCHAR,
    metrics.SYSCR,
    metrics.SYSCW,
    metrics.READ_BYTES,
    metrics.WRITE_BYTES,
    metrics.CANCELLED_WRITE_BYTES,
)
_SCHEDSTAT = (metrics.RUN_NS, metrics.RUN_DELAY_NS, metrics.TIMESLICES)


def parse_process_io(text: str) -> dict[str, int]:
    """Counters by the kernel's names; others are left out."""
    pairs = (line.partition(":") for line in text.splitlines())
    return {name: int(value) for name, _, value in pairs if name in _IO and value.strip().isdigit()}


def parse_schedstat(text: str) -> dict[str, int]:
    """Time on a processor, time of waiting for one, times it got one. {} where the kernel does not count them."""
    words = text.split()
    if len(words) != len(_SCHEDSTAT):
        return {}
    return {name: int(word) for name, word in zip(_SCHEDSTAT, words, strict=True)}
