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
import re

from msgspec import Struct

from iocast import metrics
from iocast._core import unix_ns
from iocast.model.run import Sample
from iocast.model.target import Target
from iocast.observe.limits import read_or_empty
from iocast.observe.live.from_nought import FromNought
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
        mounts = self._read(now_ns)
        if not mounts:
            raise BlindError("this machine has no NFS mount")
        self._nought = FromNought(now_ns)
        self._nought.known(mounts)
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


_MS_NS = 1_000_000
_OCTAL = re.compile(r"\\([0-7]{3})")
_SIGNED = 1 << 63
_MOUNT = re.compile(r"^device (.+) mounted on (.+) with fstype (nfs4?)(?: statvers=\S+)?$")
_OPERATION = re.compile(r"^\s+(\w+): ([\d ]+)$")
_SIZES = ("rsize", "wsize")
_FIELDS: tuple[tuple[str, int], ...] = (
    (metrics.OPS, 1),
    (metrics.NTRANS, 1),
    (metrics.TIMEOUTS, 1),
    (metrics.BYTES_SENT, 1),
    (metrics.BYTES_RECV, 1),
    (metrics.QUEUE_NS, _MS_NS),
    (metrics.RTT_NS, _MS_NS),
    (metrics.EXE_NS, _MS_NS),
    (metrics.ERRORS, 1),
)
_WITHOUT_ERRORS = len(_FIELDS) - 1


class NfsMount(Struct, frozen=True, kw_only=True):
    """One mount. `sizes`: rsize and wsize, as they were agreed; `operations`: counters of each that was ever used."""

    export: str  # "filer:/vol/db"
    mounted_on: str
    sizes: dict[str, int]
    operations: dict[str, dict[str, int]]


def parse_mountstats(text: str) -> tuple[NfsMount, ...]:
    """All NFS mounts of the text, in its order. Lines and operations that it does not know are left out."""
    mounts: list[NfsMount] = []
    current: NfsMount | None = None
    by_operation = False
    for line in text.splitlines():
        if line and not line[0].isspace():
            match, by_operation = _MOUNT.match(line), False
            current = None
            if match:
                current = NfsMount(export=match[1], mounted_on=_unescaped(match[2]), sizes={}, operations={})
                mounts.append(current)
        elif current is not None and by_operation:
            _take_operation(current, line)
        elif current is not None:
            _take_options(current, line)
            by_operation = line.strip() == "per-op statistics"
    return tuple(mounts)


def _take_options(mount: NfsMount, line: str) -> None:
    if line.lstrip().startswith("opts:"):
        options = (option.partition("=") for option in line.split(":", 1)[1].strip().split(","))
        mount.sizes.update({name: int(value) for name, _, value in options if name in _SIZES and value.isdigit()})


def _take_operation(mount: NfsMount, line: str) -> None:
    match = _OPERATION.match(line)
    counters = _counters([int(word) for word in match[2].split()]) if match else {}
    if match and counters and counters[metrics.OPS]:
        mount.operations[match[1]] = counters


def _counters(numbers: list[int]) -> dict[str, int]:
    """{} for a line of another form."""
    if len(numbers) not in (_WITHOUT_ERRORS, len(_FIELDS)):
        return {}
    signed = (number - 2 * _SIGNED if number >= _SIGNED else number for number in numbers)
    return {name: number * unit for (name, unit), number in zip(_FIELDS, signed, strict=False)}


def _unescaped(path: str) -> str:
    """Blanks stand as \\040."""
    return _OCTAL.sub(lambda octal: chr(int(octal[1], 8)), path)
