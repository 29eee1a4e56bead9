"""Observers watch the machine while a load, or production, runs; one that cannot see says why."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple, Protocol

from iocast.model.block_times import BlockTimes
from iocast.model.run import Blind, Sample
from iocast.model.target import Target
from iocast.observe import (
    block,
    cpu,
    diskstats,
    limits,
    maintenance,
    pagecache,
    pressure,
    slabs,
)
from iocast.observe.observer import BlindError, Observer, ObserverFactory, Timing


class ObserverModule(Protocol):
    """One observer, as a module: `Observer(target, files)` makes it; the texts say its price."""

    NAME: str
    NEEDS: str
    OVERHEAD: str

    @property
    def Observer(self) -> ObserverFactory:
        """Builds the observer of a target and of the work files on it."""


OBSERVERS: tuple[ObserverModule, ...] = (
    diskstats,
    block,
    pagecache,
    pressure,
    cpu,
    limits,
    maintenance,
    slabs,
)


class Observed(NamedTuple):
    """What the observers saw while phases ran concurrently."""

    samples: tuple[Sample, ...]
    block: BlockTimes | None
    blind: tuple[Blind, ...]


class Watch:
    """All observers together. One that fails goes blind with its reason, is not asked again, stops nobody."""

    def __init__(
        self,
        target: Target,
        files: tuple[str, ...] = (),
        modules: tuple[ObserverModule, ...] = OBSERVERS,
    ) -> None:
        self._made = [(module.NAME, module.Observer, (target, files)) for module in modules]
        self._seeing: dict[str, Observer] = {}
        self._blind: list[Blind] = []

    def __enter__(self) -> Watch:
        for name, make, arguments in self._made:
            try:
                observer = make(*arguments)
                observer.__enter__()
            except Exception as error:  # a plug-in may fail in any way; the load goes on
                self._blind.append(Blind(name, _why(error)))
            else:
                self._seeing[name] = observer
        return self

    def sample(self) -> list[Sample]:
        """The raw counters of this instant of all observers that can see."""
        samples: list[Sample] = []
        for name, observer in list(self._seeing.items()):
            try:
                samples += observer.sample()
            except Exception as error:  # as above
                self._blind.append(Blind(name, _why(error)))
                self._leave(name)
        return samples

    def block_times(self) -> BlockTimes | None:
        """The histograms of block requests, of the one observer that keeps them; None when it cannot see."""
        for name, observer in list(self._seeing.items()):
            if isinstance(observer, Timing):
                try:
                    return observer.times()
                except Exception as error:  # as above
                    self._blind.append(Blind(name, _why(error)))
                    self._leave(name)
        return None

    @property
    def blind(self) -> tuple[Blind, ...]:
        """What cannot be seen and why: whole observers, and parts of those that still see."""
        parts = [Blind(name, why) for name, observer in self._seeing.items() for why in observer.unseen]
        return (*self._blind, *parts)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blind = list(self.blind)  # the reasons stay readable when the watching is over
        for name in list(self._seeing):
            self._leave(name)

    def _leave(self, name: str) -> None:
        try:
            self._seeing.pop(name).__exit__(None, None, None)
        except Exception as error:
            self._blind.append(Blind(name, f"could not be closed: {_why(error)}"))


def _why(error: Exception) -> str:
    return error.why if isinstance(error, BlindError) else f"{type(error).__name__}: {error}"
