"""The order of keys in a table: a permutation that looks random, so that neighbours by key are far apart on disk."""

from __future__ import annotations

from collections.abc import Iterator

from iocast.load.database.key_stream import drawn, stream_of

_ROUNDS = 4


class KeyOrder:
    """A Feistel network over the least even number of bits that holds all keys; what falls outside goes round again."""

    def __init__(self, rows: int, seed: int, table: int) -> None:
        self._rows = rows
        self._half = max(1, ((rows - 1).bit_length() + 1) // 2)
        self._streams = [stream_of(seed, -1 - table * _ROUNDS - each) for each in range(_ROUNDS)]

    def key(self, position: int) -> int:
        """The key, from 1, of the row at a position of the table, from 0."""
        value = self._mixed(position)
        while value >= self._rows:
            value = self._mixed(value)
        return value + 1

    def keys(self, first: int, count: int) -> Iterator[int]:
        """Those of neighbouring positions."""
        return (self.key(position) for position in range(first, first + count))

    def _mixed(self, value: int) -> int:
        half = self._half
        mask = (1 << half) - 1
        left, right = value >> half, value & mask
        for stream in self._streams:
            left, right = right, left ^ (drawn(stream, right, 0) & mask)
        return left << half | right
