"""An observer of one server: connects, asks its queries by name, follows the epochs, looks at sessions in between."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from iocast import metrics
from iocast._core import unix_ns
from iocast.databases.activity import ActivityPoller
from iocast.databases.database import DatabaseObserver, Server
from iocast.databases.query import LostError, Query, RefusedError, Session
from iocast.errors import DatabaseError, IocastError
from iocast.model.run import Sample
from iocast.tools.database_rows import Active, ActivityCounts, Followed, Row, samples_of, subject_of
from iocast.tools.foreign_numbers import moment_ns

_MOST_TEXT = 16_000_000  # characters of the texts that are remembered
_OF_A_TEXT = 100  # that each takes beside its own


class Circumstances(Struct, frozen=True, kw_only=True):
    """What counters must be read by, asked for at every sample."""

    started_ns: int  # when the server began to count at the latest
    timing: Mapping[str, bool] = {}  # setting → whether these times are taken


class Engine(Protocol):
    """What differs from one kind of database to the next."""

    name: str

    def identify(self, session: Session) -> Server:
        """Who answers. Raises DatabaseError for a version that cannot be watched."""
        ...

    def clock(self, session: Session) -> int:
        """The time of the server, in ns since 1970."""
        ...

    def queries(self, session: Session) -> tuple[Query, ...]:
        """What this server can be asked."""
        ...

    def unseen(self, session: Session) -> list[str]:
        """What this user, or this server as it is set up, does not show."""
        ...

    def circumstances(self, session: Session) -> Circumstances:
        """As they are now."""
        ...

    def active(self, session: Session) -> list[Active]:
        """The sessions that are active now, ours left out."""
        ...

    def texts(self, session: Session, counts: ActivityCounts, known: Mapping[str, str]) -> dict[str, str]:
        """Texts of subjects; those that are known need not be asked for again."""
        ...


class WatchedDatabase:
    """See `database.DatabaseObserver`."""

    def __init__(self, engine: Engine, url: str, dial: Callable[[], Session], polls_per_s: float) -> None:
        self._engine, self._url, self._dial = engine, url, dial
        self._polls_per_s = polls_per_s
        self._session: Session | None = None
        self._server: Server | None = None
        self._queries: tuple[Query, ...] = ()
        self._followed: dict[str, Followed] = {}
        self._counts = ActivityCounts(engine.name, unix_ns())
        self._poller: ActivityPoller | None = None
        self._static: tuple[str, ...] = ()
        self._answered_ns = unix_ns()
        self._passing: dict[str, str] = {}  # what cannot be seen at present, by what it is
        self._texts: dict[str, str] = {}
        self.unseen: tuple[str, ...] = ()

    @property
    def server(self) -> Server:
        """Who answered."""
        if self._server is None:
            raise DatabaseError("the database has not been entered", "use it in a with statement")
        return self._server

    @property
    def url(self) -> str:
        """Where it is, without any secret."""
        return self._url

    def __enter__(self) -> DatabaseObserver:
        try:
            self._meet(self._dial())
        except DatabaseError:
            self.__exit__(None, None, None)
            raise
        except IocastError as error:
            self.__exit__(None, None, None)
            raise DatabaseError(f"{self._url}: {error.message}", error.hint) from None
        if self._polls_per_s:
            self._poller = ActivityPoller(self._counts, self._dial, self._engine.active, self._polls_per_s)
            self._poller.start()
        self._note_unseen()
        return self

    def _note_unseen(self) -> None:
        """What cannot be seen, and why, as of now."""
        looking = (self._poller.why,) if self._poller and self._poller.why else ()
        self.unseen = (*self._static, *self._passing.values(), *looking)

    def _meet(self, session: Session) -> None:
        """Everything that is asked once a connection."""
        self._session = session
        server = self._engine.identify(session)
        offset = ClockOffset.measured(lambda: self._engine.clock(session))
        self._server = offset.of(server)
        self._queries = self._engine.queries(session)
        self._static = tuple(self._engine.unseen(session))
        for query in self._queries:
            observer = f"{self._engine.name}.{query.name}"
            self._followed.setdefault(query.name, Followed(observer, since_entered=query.since_entered))

    def sample(self) -> list[Sample]:
        """Raw counters of this instant; while the server does not answer, only for how long it has not."""
        samples = self._samples()
        self._note_unseen()
        now_ns = unix_ns()
        if not samples:
            observer = f"{self._engine.name}.{metrics.ANSWER}"
            return [Sample(now_ns, observer, "", metrics.SILENT_NS, float(now_ns - self._answered_ns))]
        self._answered_ns = now_ns
        return samples

    def _samples(self) -> list[Sample]:
        for _ in range(2):  # a connection may have been lost since the last time
            try:
                if self._session is None:
                    self._meet(self._dial())
                samples = self._sampled()
            except LostError as error:
                self._drop(error.message)
            except IocastError as error:
                self._drop(error.message)
                break
            else:
                self._passing.pop("answer", None)
                return samples
        return []

    def _drop(self, why: str) -> None:
        self._passing["answer"] = f"the server does not answer: {why}"
        if self._session is not None:
            self._session.close()
        self._session = None

    def _sampled(self) -> list[Sample]:
        session = self._session
        assert session is not None
        out: list[Sample] = []
        now = self._engine.circumstances(session)
        for query in self._queries:
            try:
                rows = session.rows(query.sql, query.parameters)
            except RefusedError as error:
                self._give_up(query, error)
                continue
            self._passing.pop(query.name, None)
            out += self._samples_of(query, unix_ns(), rows, now)
        if self._poller:
            out += self._counts.samples(unix_ns())
        return out

    def _give_up(self, query: Query, error: RefusedError) -> None:
        """Leaves a query out: for this time, or for good."""
        if error.lasting:
            self._queries = tuple(each for each in self._queries if each.name != query.name)
        if not (query.optional and error.lasting):
            self._passing[query.name] = f"{query.name}: {error.message}"

    def _samples_of(self, query: Query, at_ns: int, rows: list[Row], now: Circumstances) -> list[Sample]:
        """The samples of the rows of a query, times that are not taken left out."""
        off: set[str] = set()
        timed: list[Row] = []
        for row in rows:
            untimed = query.untimed(row, now.timing)
            off |= set(untimed.values())
            timed.append({column: None if column in untimed else value for column, value in row.items()})
        self._say_what_is_off(query, off)
        samples = samples_of(query.shape, timed, f"{self._engine.name}.{query.name}", at_ns)
        epoch_ns, own = now.started_ns, dict[str, int]()
        if query.reset:
            for row in rows:
                reset_ns = moment_ns(row.get(query.reset))
                if query.resets == "view":
                    epoch_ns = max(epoch_ns, reset_ns)
                elif reset_ns:
                    subject = subject_of(row, query.shape.key)
                    own[subject] = max(own.get(subject, 0), reset_ns)
        return self._followed[query.name].tick(at_ns, samples, epoch_ns, own, sorted(off))

    def _say_what_is_off(self, query: Query, off: set[str]) -> None:
        if off:
            self._passing[f"{query.name} timing"] = f"{query.name}: timing off: {', '.join(sorted(off))}"
        else:
            self._passing.pop(f"{query.name} timing", None)

    def texts(self) -> dict[str, str]:
        """What subjects stand for, as far as is known."""
        if self._session is not None:
            try:
                by_name = self._engine.texts(self._session, self._counts, self._texts)
                self._texts |= {subject: without_secrets(text) for subject, text in by_name.items()}
                self._forget_texts()
            except RefusedError as error:
                self._passing["texts"] = f"texts: {error.message}"
            except LostError as error:
                self._drop(error.message)
        return dict(self._texts)

    def _forget_texts(self) -> None:
        """The oldest go: statements are new for days on a server whose texts are not alike."""
        excess = sum(map(len, self._texts.values())) + _OF_A_TEXT * len(self._texts) - _MOST_TEXT
        for subject in list(self._texts) if excess > 0 else ():
            if excess <= 0:
                break
            excess -= len(self._texts.pop(subject)) + _OF_A_TEXT

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._poller is not None:
            self._poller.stop()
        if self._session is not None:
            self._session.close()
        self._session = None


TRIES = 5


class ClockOffset(Struct, frozen=True):
    """Its clock minus ours, and half the round trip: the truth is that much off at most."""

    offset_ns: int
    uncertainty_ns: int

    @classmethod
    def measured(cls, ask: Callable[[], int], local: Callable[[], int] = unix_ns) -> ClockOffset:
        """The quickest of a few round trips: it leaves the least open."""
        offsets = []
        for _ in range(TRIES):
            before_ns = local()
            remote_ns = ask()
            after_ns = local()
            offsets.append(cls(remote_ns - (before_ns + after_ns) // 2, (after_ns - before_ns + 1) // 2))
        return min(offsets, key=lambda each: each.uncertainty_ns)

    def of(self, server: Server) -> Server:
        """A server with its clock."""
        return replace(server, clock_offset_ns=self.offset_ns, clock_uncertainty_ns=self.uncertainty_ns)


_MENTIONS: Final = re.compile(
    r"passw|identified|secret|credential|private_key|access_key|token|connection\s+'", re.IGNORECASE
)
_LITERAL: Final = re.compile(
    r"'(?:[^'\\]|''|\\.)*(?:'|$)"  # also one that was cut off
    r'|"(?:[^"]|"")*(?:"|$)'
    r"|\$(\w*)\$.*?(?:\$\1\$|$)",
    re.DOTALL,
)
_BARE: Final = re.compile(r"(identified\s+by\s+)(?!values\b|password\b)[^\s'\"]\S*", re.IGNORECASE)
_HIDDEN: Final = "'***'"


def without_secrets(text: str) -> str:
    """The text, with all that is quoted hidden where it mentions a secret; most texts are left as they are."""
    if not _MENTIONS.search(text):
        return text
    return _LITERAL.sub(_HIDDEN, _BARE.sub(rf"\1{_HIDDEN}", text))
