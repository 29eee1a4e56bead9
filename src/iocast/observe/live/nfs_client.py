"""NFS client: operations of each mount, with their time in the client's queue, on the wire, and in all.

What it is: /proc/self/mountstats of every NFS mount, by operation: how many, transmissions, timeouts, bytes, errors,
and three sums of times: `queue_ns` until it was sent, `rtt_ns` until the answer, `exe_ns` from the first to the last.

Why it matters: it tells the client from the server. A queue that is longer than the round trip wants more slots or
connections (nconnect); a long round trip is the network or the server; more transmissions than operations are lost
packets.

Needs: an NFS mount of this mount namespace.

Overhead: one read; the kernel prints about 6 KiB a mount.

What it cannot see: distributions, since the kernel keeps sums only; the server's own time apart from the network's;
which process or file. The kernel sums the queue without a sign and it may come out negative: such a mean is no mean.
"""

from __future__ import annotations

import os

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.limits import read_or_empty
from iocast.observe.live.from_nought import FromNought
from iocast.observe.live.mountstats import parse_mountstats
from iocast.observe.live.watched import EVERYBODY, Watched
from iocast.observe.observer import BlindError

NAME = metrics.NFS_CLIENT
NEEDS = "an NFS mount; /proc/self/mountstats"
OVERHEAD = "about 0.2 ms of CPU time a sample and mount (measured on a text of 60 operations)"


class Observer:
    """Reads all NFS mounts; the target makes no difference."""

    def __init__(
        self, target: Target, files: tuple[str, ...] = (), watched: Watched = EVERYBODY, root: str = "/"
    ) -> None:
        self.unseen: tuple[str, ...] = ()
        self._file = os.path.join(root, "proc/self/mountstats")
        self._nought = FromNought(0)

    def __enter__(self) -> Observer:
        now_ns = unix_ns()
        found = self._read(now_ns)
        if not found:
            raise BlindError("this machine has no NFS mount")
        self._nought = FromNought(now_ns)
        self._nought.known(found)
        return self

    def sample(self) -> list[Sample]:
        """Subject `mount point|operation`; rsize and wsize, in bytes, under the mount point alone."""
        now_ns = unix_ns()
        return self._nought.completed(self._read(now_ns), now_ns)

    def _read(self, now_ns: int) -> list[Sample]:
        samples: list[Sample] = []
        for mount in parse_mountstats(read_or_empty(self._file)):
            for name, size in mount.sizes.items():
                samples.append(Sample(now_ns, NAME, mount.mounted_on, name, float(size)))
            for operation, counters in mount.operations.items():
                subject = f"{mount.mounted_on}{metrics.PART}{operation}"
                samples += [Sample(now_ns, NAME, subject, name, float(value)) for name, value in counters.items()]
        return samples

    def __exit__(self, *_: object) -> None:
        """Nothing is kept open."""
