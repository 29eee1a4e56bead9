"""Load through a database: the data set that is built, the load of one row, and the commits of one row."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Filling = Literal["row", "half", "full"]
Driver = Literal["server", "client"]
Redo = Literal["lite", "heavy"]

LEAST_BLOCKS = 64  # of a table
MOST_BLOCKS = 2**31 - 1  # of a table: keys are drawn from 32 bits
MOST_WORK_UNIT = 1024  # blocks of a statement, as SLOB has it


class DataSet(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is built: one row a block, incompressible, in random order of keys, in tables of the same size.

    `filling` says how much of each block is random bytes: "row" a tenth, which leaves room for new versions of the
    row; "half"; "full" nearly all of it, for storage that compresses, and then nothing can be updated.
    """

    size_bytes: int
    tables: int = 1
    filling: Filling = "row"
    seed: int = 1

    def blocks(self, block_bytes: int) -> int:
        """Rows of each table, which is as many blocks."""
        return self.size_bytes // self.tables // block_bytes


class HotSpot(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Each `every`-th statement goes to these bytes of the table, by its keys."""

    size_bytes: int
    offset_bytes: int = 0
    every: int = 1


class Think(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A pause between these times, drawn evenly, before each `every`-th statement of a session."""

    least_ns: int
    most_ns: int
    every: int = 1


class DatabaseLoad(Struct, frozen=True, kw_only=True, tag="load", tag_field="kind", forbid_unknown_fields=True):
    """What each session does, statement by statement. Sessions, rate and time stand in the phase."""

    driver: Driver = "server"
    update_pct: int = 0  # of all statements, exactly
    scan_pct: int = 0  # of the others
    scan_blocks: int = 128  # of one scan, in the order of the file
    work_unit: int = 1  # blocks that each other statement touches, exactly
    hot: HotSpot | None = None
    zipf_theta: float | None = None  # None: every key is equally likely
    think: Think | None = None
    redo: Redo = "lite"  # what an update writes: a counter, or a new filler too


class CommitLoad(Struct, frozen=True, kw_only=True, tag="commit", tag_field="kind", forbid_unknown_fields=True):
    """Each session inserts a row and commits, again and again."""

    row_bytes: int = 200
    synchronous: bool = True  # False: synchronous_commit = off, or its like: the floor


DatabaseWork = DatabaseLoad | CommitLoad


class LoadRamp(Struct, frozen=True, kw_only=True, tag="load", forbid_unknown_fields=True):
    """A load at rising numbers of sessions: one row each."""

    load: DatabaseLoad = DatabaseLoad()
    sessions: tuple[int, ...] = (1, 4, 8, 16)
    seconds: float = 10.0  # of each row
    rate_per_s: float | None = None  # statements of all sessions: an open loop; None: a closed one
    until_steady: bool = False  # a row ends when it is steady, `seconds` at the latest
    first_s: float | None = None  # it is judged after twice this time first; None: an eighth of `seconds`
    test: str = ""  # what its rows are called; "": by what they do
    beside_others: bool = False  # although sessions of others are active, or may be; of a job file


class CommitRamp(Struct, frozen=True, kw_only=True, tag="commit", forbid_unknown_fields=True):
    """The commit test at rising numbers of sessions, each with the floor beside it."""

    sessions: tuple[int, ...] = (1, 4, 8)
    seconds: float = 5.0
    row_bytes: int = 200
    floor: bool = True
    test: str = ""
    beside_others: bool = False


DatabaseRamp = LoadRamp | CommitRamp
