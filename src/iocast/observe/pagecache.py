"""Page cache: cached and dirty bytes of each work file.

What it is: for each work file its size, its bytes in the page cache, and those that are dirty or
under writeback, from cachestat(2); before Linux 6.5 from mincore(2), which reports cached bytes only.

Why it matters: a read answered by the page cache never reaches the storage. A "direct" test whose files
fill the cache is not direct, and a buffered test whose files fit into it measures memory.

Needs: files readable by this user; for mincore, owned or writable by this user.

Overhead: the kernel walks the cached pages of the file, so it costs nothing for direct I/O and grows with what
is cached. After a slow sample of a file, the next one waits SPARING times as long: one percent of one
processor is the limit.

What it cannot see: caches below (array, disk, hypervisor, ARC of ZFS) and above (of the
database), and which reads were hits.
"""

from __future__ import annotations

import errno
import os
import time

from msgspec import Struct

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.observer import BlindError
from iocast.observe.residency import Residency, by_cachestat, by_mincore

NAME = metrics.PAGECACHE
NEEDS = "work files that this user may read; Linux 6.5 or later for dirty_bytes and writeback_bytes"
OVERHEAD = (
    "per file and sample, 6 µs when nothing is cached, 70 µs for 1 GiB cached in large folios, 15 ms for "
    "1 GiB cached page by page (measured); slow files are sampled less often: "
    "at most 1 % of one processor"
)

SPARING = 100
_CHEAP_NS = 200_000  # below this a file is asked at every sample


class _Watched(Struct):
    path: str
    fd: int
    not_before_ns: int = 0  # on the monotonic clock


class Observer:
    """Asks for each work file. One that does not exist yet is looked for again at each sample."""

    def __init__(self, target: Target, files: tuple[str, ...]) -> None:
        self.unseen: tuple[str, ...] = ()
        self.method = "cachestat"
        self._waiting = list(files)
        self._watched: list[_Watched] = []

    def __enter__(self) -> Observer:
        if not self._waiting:
            raise BlindError("there are no work files")
        self._open_waiting()
        if not self._waiting and not self._watched:
            raise BlindError("; ".join(self.unseen))
        return self

    def sample(self) -> list[Sample]:
        """For each file `file_bytes`, `cached_bytes`, `by_mincore` (0 or 1), and what cachestat tells beyond.

        Files that cost much are left out now and then (see Overhead).
        """
        if self._waiting:
            self._open_waiting()
        samples: list[Sample] = []
        for file in list(self._watched):
            if time.monotonic_ns() >= file.not_before_ns:
                samples += self._ask(file)
        if not self._waiting and not self._watched:
            raise BlindError("; ".join(self.unseen))
        return samples

    def _ask(self, file: _Watched) -> list[Sample]:
        now_ns, started_ns = unix_ns(), time.monotonic_ns()
        try:
            size_bytes = os.lseek(file.fd, 0, os.SEEK_END)  # fstat says 0 for a block device
            residency = self._residency(file.fd, size_bytes)
        except OSError as error:
            self._give_up(file, error)
            return []
        ended_ns = time.monotonic_ns()
        cost_ns = ended_ns - started_ns
        file.not_before_ns = ended_ns + SPARING * cost_ns if cost_ns > _CHEAP_NS else 0
        found_now = {
            metrics.FILE_BYTES: size_bytes,
            metrics.CACHED_BYTES: residency.cached_bytes,
            metrics.DIRTY_BYTES: residency.dirty_bytes,
            metrics.WRITEBACK_BYTES: residency.writeback_bytes,
            metrics.BY_MINCORE: int(self.method == "mincore"),
        }
        return [Sample(now_ns, NAME, file.path, name, float(n)) for name, n in found_now.items() if n is not None]

    def _give_up(self, file: _Watched, error: OSError) -> None:
        self._watched.remove(file)
        os.close(file.fd)
        self.unseen += (f"{file.path}: {error.strerror}",)

    def _residency(self, fd: int, size_bytes: int) -> Residency:
        if self.method == "cachestat":
            try:
                return by_cachestat(fd)
            except OSError as error:
                # EPERM: some containers filter system calls that they do not know.
                if error.errno not in (errno.ENOSYS, errno.EPERM, errno.EOPNOTSUPP):
                    raise
                self.method = "mincore"
                self.unseen += (
                    f"dirty and writeback bytes unknown: cachestat failed ({error.strerror}); mincore is used instead",
                )
        return by_mincore(fd, size_bytes)

    def _open_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for path in waiting:
            try:
                self._watched.append(_Watched(path, os.open(path, os.O_RDONLY)))
            except FileNotFoundError:
                self._waiting.append(path)
            except OSError as error:
                self.unseen += (f"{path}: {error.strerror}",)

    def __exit__(self, *_: object) -> None:
        while self._watched:
            os.close(self._watched.pop().fd)
