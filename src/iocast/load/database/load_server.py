"""What each kind of server is to a load: described, with a data set that is built and dropped, and sessions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

from msgspec import Struct

from iocast.load.database.key_stream import KINDS, Kind
from iocast.load.database.tallies import Tally
from iocast.model.database.database_load import CommitLoad, DatabaseLoad, DataSet
from iocast.model.database.database_result import CommitPath, DatabaseServer, LayerBelow, Statements

NAME = "iocast-load"  # by which the sessions of a load are known on the server
# (step, table from 1 or 0, bytes done, bytes of all tables); False stops the work.
OnBuild = Callable[[str, int, int, int], bool]


class SessionPlan(NamedTuple):
    """What one session of a row is to do."""

    number: int  # from 0
    table: int  # from 1
    stream: int
    work: DatabaseLoad | CommitLoad
    rows: int
    block_bytes: int
    gap_ns: float = 0.0  # mean distance of its statements in an open loop; 0: a closed one
    even: bool = False  # the distances are all the same
    first_due_ns: float = 0.0
    traced: Callable[[str, int], None] | None = None  # told of each statement, by a client: for tests


class Crossing(NamedTuple):
    """The statement that was under way when a slice was over; it counts where it ended."""

    kind: Kind
    response_ns: int
    service_ns: int
    lag_ns: int
    ended_ns: int


class Slice(NamedTuple):
    """What a session did in one interval."""

    response: dict[Kind, Tally]
    service: dict[Kind, Tally]  # the same objects in a closed loop
    lag: Tally
    ended_ns: int  # of the last statement, since the load began
    crossing: Crossing | None
    number: int = 0  # of the statement that comes next, and when it is due
    due_ns: float = 0.0
    touched: tuple[int, int, int, int] = (0, 0, 0, 0)  # of tables: buffers asked for, misses; of indexes: the same


def no_times() -> dict[Kind, Tally]:
    """Empty counts of each kind."""
    return {kind: Tally() for kind in KINDS}


class LoadSession(Protocol):
    """One connection, prepared to run statements. All raise LoadError."""

    def begin(self, began: object) -> None:
        """The moment from which all times count, as `LoadServer.now` gave it."""

    def run(self, till_ns: int) -> Slice:
        """Statements until so long after the beginning; it returns when the last one has ended."""

    def close(self) -> None:
        """Ends the connection; harmless when it is gone."""


class Counters(Struct, frozen=True, kw_only=True):
    """Counters of the whole server at one instant."""

    reads: int | None = None
    read_ns: int | None = None
    syncs: int | None = None
    sync_ns: int | None = None
    writes: int | None = None
    write_ns: int | None = None
    log_bytes: int | None = None
    touched: tuple[int, int, int, int] | None = None  # of the data set: as in Slice, since it was built
    misses: int | None = None  # of the cache of the whole server, whoever had them


class ForeignSessions(NamedTuple):
    """Sessions of others on the server."""

    active: int
    unjudged: int  # nobody tells this user whether they are active
    why: str = ""  # and how that is changed


class Built(Struct, frozen=True, kw_only=True):
    """What is there after a build. `notes` say what could not be done."""

    server: DatabaseServer
    resumed: bool = False
    notes: tuple[str, ...] = ()


class Dropped(Struct, frozen=True, kw_only=True):
    """What a drop removed, and what it found beside it and left."""

    objects: tuple[str, ...]
    size_bytes: int
    left: tuple[str, ...] = ()
    place_stays: bool = False  # the schema or database: others put objects there, or made it, or could have unseen


class LoadServer(Protocol):
    """A server, connected. All raise LoadError, TargetError or DatabaseError."""

    redacted: str  # its URL without secrets

    def describe(self) -> DatabaseServer:
        """The server and its data set. Raises TargetError where none is complete."""

    def local_pid(self) -> int | None:
        """The process behind this connection, where it runs on this machine."""

    def foreign_sessions(self) -> ForeignSessions:
        """How many sessions of others are active, and how many may be."""

    def held_by(self) -> str:
        """Who holds the lock of the data set, against what this connection is for; "" for nobody."""

    def build(self, data_set: DataSet, on_build: OnBuild) -> Built:
        """Builds the data set, or goes on where an interrupted build ended."""

    def drop(self) -> Dropped:
        """Removes what `build` made, and nothing else."""

    def prepare(self, work: DatabaseLoad | CommitLoad) -> tuple[str, ...]:
        """Before a row: loops are there, rows of earlier commits are gone. Returns what is to be said of it."""

    def now(self) -> object:
        """The server's time, from which sessions count theirs."""

    def session(self, wanted: SessionPlan) -> LoadSession:
        """A new connection for a session."""

    def counters(self) -> Counters:
        """As they are told now."""

    def touched(
        self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad
    ) -> Statements:
        """The counts of a row with the blocks that its statements touched."""

    def below(
        self, before: Counters, after: Counters, did: Statements, work: DatabaseLoad | CommitLoad
    ) -> LayerBelow | None:
        """What the engine read from the layer below in between, and how long that took; None: not known."""

    def commits(self, before: Counters, after: Counters, commits: int) -> CommitPath:
        """What commits cost below."""

    def close(self) -> None:
        """Ends the connection."""
