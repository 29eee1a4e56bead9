"""What an NFS client counted for each mount and operation: /proc/PID/mountstats.

A line of an operation holds: ops, transmissions, timeouts, bytes sent and received, ms in the client's queue, ms of
round trips, ms from the first to the last of it, and, from RPC statistics 1.1 on, errors. The kernel sums the time in
the queue without a sign, and it can become negative: 18446743919241604546 is -154467947070 ms.
"""

from __future__ import annotations

import re

from msgspec import Struct

from iocast import metrics

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
            found, by_operation = _MOUNT.match(line), False
            current = None
            if found:
                current = NfsMount(export=found[1], mounted_on=_unescaped(found[2]), sizes={}, operations={})
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
    found = _OPERATION.match(line)
    counters = _counters([int(word) for word in found[2].split()]) if found else {}
    if found and counters and counters[metrics.OPS]:
        mount.operations[found[1]] = counters


def _counters(numbers: list[int]) -> dict[str, int]:
    """{} for a line of another form."""
    if len(numbers) not in (_WITHOUT_ERRORS, len(_FIELDS)):
        return {}
    signed = (number - 2 * _SIGNED if number >= _SIGNED else number for number in numbers)
    return {name: number * unit for (name, unit), number in zip(_FIELDS, signed, strict=False)}


def _unescaped(path: str) -> str:
    """Blanks stand as \\040."""
    return _OCTAL.sub(lambda octal: chr(int(octal[1], 8)), path)
