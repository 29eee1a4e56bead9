"""A source without names: what is shown, scraped or recorded of it has pseudonyms only."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING

from iocast.model.anonymity.anonymised import anonymised, texts
from iocast.model.anonymity.name_kinds import pseudonym
from iocast.model.live.moment import Moment
from iocast.model.run import Blind

if TYPE_CHECKING:
    from iocast.model.anonymity.pseudonyms import Pseudonyms
    from iocast.sessions.live.watching import SampleSource, Stopping


def without_names(source: SampleSource, names: Pseudonyms | None) -> SampleSource:
    """The source itself where names may stay."""
    return source if names is None else _Nameless(source, names)


class _Nameless:
    def __init__(self, source: SampleSource, names: Pseudonyms) -> None:
        self._source, self._names = source, names
        self.interval_ns = source.interval_ns

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        for moment in self._source.moments(stopping):
            yield anonymised(moment, self._names)

    @property
    def texts(self) -> Mapping[str, str]:
        return texts(self._names, self._source.texts)

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(pseudonym(self._names, "source", each) for each in self._source.sources)

    @property
    def blind(self) -> tuple[Blind, ...]:
        return anonymised(self._source.blind, self._names)
