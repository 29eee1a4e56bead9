"""A reel without names: what is shown, scraped or recorded of it has pseudonyms only."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING

from iocast.model.anonymity.anonymised import anonymised, texts
from iocast.model.anonymity.name_kinds import pseudonym
from iocast.model.live.moment import Moment
from iocast.model.run import Blind

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms
    from iocast.sessions.live.watching import Reel, Stopping


def without_names(reel: Reel, names: Pseudonyms | None) -> Reel:
    """The reel itself where names may stay."""
    return reel if names is None else _Nameless(reel, names)


class _Nameless:
    def __init__(self, reel: Reel, names: Pseudonyms) -> None:
        self._reel, self._names = reel, names
        self.interval_ns = reel.interval_ns

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        for moment in self._reel.moments(stopping):
            yield anonymised(moment, self._names)

    @property
    def texts(self) -> Mapping[str, str]:
        return texts(self._names, self._reel.texts)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(pseudonym(self._names, "source", each) for each in self._reel.sources)

    @property
    def blind(self) -> tuple[Blind, ...]:
        return anonymised(self._reel.blind, self._names)
