"""Instances of one Oracle database, watched side by side: each over a connection of its own, with its own clock."""

from __future__ import annotations

from types import TracebackType

from iocast.databases.database import DatabaseObserver, Server
from iocast.model.run import Sample


class SeveralInstances:
    """See `database.DatabaseObserver`. The samples of each bear its own name, `oracle1`, `oracle2`."""

    def __init__(self, observers: tuple[DatabaseObserver, ...]) -> None:
        self._observers = observers
        self.unseen: tuple[str, ...] = ()

    @property
    def observers(self) -> tuple[DatabaseObserver, ...]:
        """One for each instance."""
        return self._observers

    @property
    def server(self) -> Server:
        """The first; each has its own."""
        return self._observers[0].server

    @property
    def url(self) -> str:
        """All of them."""
        return " ".join(each.url for each in self._observers)

    def __enter__(self) -> DatabaseObserver:
        try:
            for each in self._observers:
                each.__enter__()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        self._note_unseen()
        return self

    def _note_unseen(self) -> None:
        self.unseen = tuple(f"{each.url}: {why}" for each in self._observers for why in each.unseen)

    def sample(self) -> list[Sample]:
        """One instance after the other."""
        samples = [sample for each in self._observers for sample in each.sample()]
        self._note_unseen()
        return samples

    def texts(self) -> dict[str, str]:
        """Those of all: statements have the same sql_id everywhere."""
        by_name: dict[str, str] = {}
        for each in self._observers:
            by_name |= each.texts()
        return by_name

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for each in self._observers:
            each.__exit__(kind, error, trace)
