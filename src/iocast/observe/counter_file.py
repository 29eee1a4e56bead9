"""A text file of the kernel that is held open and read again from its start at each sample."""

from __future__ import annotations

import os

_CHUNK_BYTES = 65536


class CounterFile:
    """One file of /proc or /sys. Opening raises OSError, and so does reading when its device is gone."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._fd = os.open(path, os.O_RDONLY)

    def read(self) -> str:
        """The text of this instant."""
        parts: list[bytes] = []
        read_bytes = 0
        # Files of many records (diskstats) come one page a call; only an empty read means the end.
        while part := os.pread(self._fd, _CHUNK_BYTES, read_bytes):
            parts.append(part)
            read_bytes += len(part)
        return b"".join(parts).decode("utf-8", "replace")

    def close(self) -> None:
        """Closes it; harmless when called twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
