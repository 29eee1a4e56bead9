"""What every database is to those who watch it: an observer that knows its server and the texts of its subjects."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol

from msgspec import Struct

from iocast.model.run import Sample
from iocast.tools.database_address import AskPassword as AskPassword


class Server(Struct, frozen=True, kw_only=True):
    """The server that is watched, as it says itself, and how far its clock is from ours."""

    product: str  # "PostgreSQL", "MariaDB", "MySQL", "Oracle Database"
    version: str  # "18.6"
    instance: str = ""  # the name of the instance or cluster, "" where it has none
    container: str = ""  # the database that is connected to; of Oracle the container
    host: str = ""  # the machine, as the server says, "" where it does not
    standby: bool = False
    started_unix_ns: int = 0
    clock_offset_ns: int = 0  # its clock minus ours
    clock_uncertainty_ns: int = 0  # half the round trip in which that was measured


class DatabaseObserver(Protocol):
    """An observer (decision 32) that watches one server over connections of its own, and never writes there."""

    unseen: tuple[str, ...]

    @property
    def server(self) -> Server:
        """Who answered; known once entered."""

    @property
    def url(self) -> str:
        """Where it is, without any secret: this may be stored."""

    def __enter__(self) -> DatabaseObserver:
        """Connects. Raises DatabaseError."""

    def sample(self) -> list[Sample]:
        """Raw counters of this instant; none of a server that does not answer, which is asked again the next time."""

    def texts(self) -> dict[str, str]:
        """What subjects stand for: `sql|123` → its text, `setting|shared_buffers` → its value."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Disconnects; harmless when called twice."""
