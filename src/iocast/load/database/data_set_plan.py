"""What every data set is made by, on any server: its notes, its chunks, its lock, and what is refused beforehand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from msgspec import Struct

from iocast.errors import LoadError, TargetError
from iocast.load.database.key_stream import drawn, stream_of
from iocast.load.database.load_server import OnBuild
from iocast.model.database.database_load import LEAST_BLOCKS, MOST_BLOCKS, DataSet

FORMAT = 2
MARK = "iocast load data set"  # how the comment of each object of ours begins
NOTHING_CHANGED = "nothing was changed; see what it is, then drop the data set again"
WAIT_S = 10.0  # for whoever holds the lock: a server process that has lost its client notices within a second or two
_AGAIN_S = 0.2
_STATES = {"complete": "a complete data set", "dropping": "what is left of a data set that was being dropped"}


class BuiltDataSet(Struct, frozen=True):
    """The row of the table `data_set`: what was begun, and whether it is complete."""

    generation: str
    format: int
    size_bytes: int
    tables: int
    filling: str
    seed: int
    rows: int
    block_bytes: int
    state: str

    def fits(self, data_set: DataSet) -> bool:
        """True when this is what was asked for."""
        same = (self.size_bytes, self.tables, self.filling, self.seed)
        return self.format == FORMAT and same == (data_set.size_bytes, data_set.tables, data_set.filling, data_set.seed)


class Chunk(NamedTuple):
    """Rows that are written in one transaction with the note that they are there."""

    first: int  # position in the table, from 0
    keys: list[int]
    done: int  # rows of the table when it is written


class Holder(NamedTuple):
    """Who holds the lock of a data set: in words, and the statement that ends it."""

    says: str
    ended_by: str


def refuse_size(data_set: DataSet, rows: int) -> None:
    """Raises TargetError for tables that are too small to be measured, or that keys do not reach."""
    if rows < LEAST_BLOCKS:
        raise TargetError(
            f"{data_set.tables} tables of {rows} blocks are too small to be measured",
            f"each needs {LEAST_BLOCKS} blocks: give a larger --size, or fewer --tables",
        )
    if rows > MOST_BLOCKS:
        raise TargetError(
            f"a table of {rows:,} blocks is too large", f"give more --tables: {MOST_BLOCKS:,} blocks each"
        )


def refuse_other(built_data_set: BuiltDataSet | None, data_set: DataSet, place: str) -> None:
    """Raises TargetError where `place` holds a data set that is complete, or that is not the beginning of this one."""
    if built_data_set is not None and (built_data_set.state != "building" or not built_data_set.fits(data_set)):
        what = _STATES.get(built_data_set.state, "an unfinished data set of another shape")
        raise TargetError(f"{place} holds {what} already", "remove it first: iocast load-db drop URL")


def complete(built_data_set: BuiltDataSet | None, place: str) -> BuiltDataSet:
    """The data set that `place` ("database", "server") has. Raises TargetError where none is complete."""
    if built_data_set is None:
        raise TargetError(f"this {place} has no data set of iocast", "build one: iocast load-db build URL --size 4GiB")
    if built_data_set.state != "complete" or built_data_set.format != FORMAT:
        raise TargetError(
            f"the data set of this {place} is not complete"
            if built_data_set.format == FORMAT
            else "another iocast built it",
            "run `iocast load-db build` with the same options again, or `iocast load-db drop`",
        )
    return built_data_set


def fill(
    built_data_set: BuiltDataSet,
    table: int,
    done: int,
    chunk_bytes: int,
    on_build: OnBuild,
    write: Callable[[Chunk], None],
) -> None:
    """Writes the rows that a table lacks, chunk by chunk, in the order of its keys. Raises LoadError when stopped."""
    order = KeyOrder(built_data_set.rows, built_data_set.seed, table)
    most = max(1, chunk_bytes // built_data_set.block_bytes)
    while done < built_data_set.rows:
        if not tell(on_build, "fill", built_data_set, table, done):
            raise BuildStoppedError
        count = min(most, built_data_set.rows - done)
        write(Chunk(done, list(order.keys(done, count)), done + count))
        done += count


def tell(on_build: OnBuild, step: str, built_data_set: BuiltDataSet, table: int, done: int) -> bool:
    """Tells how far a build is; False when it is to stop."""
    before, whole = (table - 1) * built_data_set.rows, built_data_set.rows * built_data_set.tables
    return on_build(step, table, (before + done) * built_data_set.block_bytes, whole * built_data_set.block_bytes)


class BuildStoppedError(LoadError):
    """The build was told to stop."""

    def __init__(self) -> None:
        super().__init__("stopped: the data set is not complete", "the same command goes on; or: iocast load-db drop")


def replaced(name: str, kind: str) -> TargetError:
    """Where an object of a data set should be there is none, or that of somebody else."""
    return TargetError(
        f"{name} is not the {kind} that iocast made: somebody dropped, renamed or replaced it",
        "iocast load-db drop URL removes what is left of the data set, and nothing of others; then build it again",
    )


def unmarked(place: str, removal: str) -> TargetError:
    """A data set in `place` whose objects do not say that they are ours; `removal` is the statement for it all."""
    return TargetError(
        f"the {place} has a data set without marks that tell its objects from those of others: an older iocast built"
        " it, or it was restored from a dump, or came with a clone of its database",
        f"nothing was changed; if it holds nothing of yours, remove it by hand: {removal}",
    )


class InUseError(LoadError):
    """A lock was not had in time."""


def in_use(users: str) -> TargetError:
    """Sessions that are no iocast hold the tables that were to be dropped; `users` says which, or shows them."""
    return TargetError(
        "the tables of the data set are in use, so that they cannot be dropped",
        f"nothing was changed; wait for their users, or end them, then drop again: {users}",
    )


def take_lock(tried: Callable[[], bool], holders: Callable[[], list[Holder]]) -> None:
    """Waits some seconds for the lock of the data set, then raises TargetError, which says who holds it."""
    until = time.monotonic() + WAIT_S
    while not tried():
        if time.monotonic() > until:
            raise _held(holders())
        time.sleep(_AGAIN_S)


def _held(holders: list[Holder]) -> TargetError:
    says = "; ".join(each.says for each in holders) or "a session that cannot be seen"
    ending = f"; if its client is gone, end it: {holders[0].ended_by}" if holders else ""
    return TargetError(
        "another iocast builds, loads or drops this data set",
        f"its lock is held by {says}: wait for it to end{ending}",
    )


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
