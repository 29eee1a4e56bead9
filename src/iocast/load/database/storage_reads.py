"""What the processes of a server on this machine fetched from storage, by the kernel's account of each.

The device's own counters hold the reads of everybody who uses it; these are of the server alone. Read-ahead counts, and
what the engine reads for itself. Needs to be root or the owner of the server.
"""

from __future__ import annotations

from collections.abc import Mapping


def read_bytes_by_process(pid: int | None) -> dict[int, int] | None:
    """Bytes since each process began: of the server and its children; None where that cannot be seen."""
    if pid is None:
        return None
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
        counts = {pid: _read_bytes(pid)}
    except OSError:
        return None
    for child in children:
        try:
            counts[child] = _read_bytes(child)
        except OSError as error:
            if isinstance(error, PermissionError):
                return None
    return counts


def fetched_bytes(before: Mapping[int, int] | None, after: Mapping[int, int] | None) -> int | None:
    """What they fetched in between; None where it was not seen."""
    if before is None or after is None:
        return None
    return sum(count - before.get(pid, 0) for pid, count in after.items())


def _read_bytes(pid: int) -> int:
    """Raises OSError."""
    with open(f"/proc/{pid}/io", encoding="ascii") as file:
        fields = dict(line.split(": ") for line in file.read().splitlines())
    return int(fields["read_bytes"])
