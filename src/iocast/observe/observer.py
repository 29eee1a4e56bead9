"""What every observer is: a context manager that reads raw counters, or says why it cannot see."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, runtime_checkable

from iocast.errors import BlindError as BlindError
from iocast.model.block_times import BlockTimes
from iocast.model.run import Sample
from iocast.model.target import Target


class Observer(Protocol):
    """Watches while it is entered. `unseen` names the parts that it cannot see, and why, once entered."""

    unseen: tuple[str, ...]

    def __enter__(self) -> Observer:
        """Opens what is to be read. Raises BlindError when nothing at all can be seen."""

    def sample(self) -> list[Sample]:
        """Raw counters of this instant. Raises BlindError when they cannot be read any more."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Closes what was opened; harmless when called twice."""


@runtime_checkable
class Timing(Protocol):
    """An observer that also keeps histograms of block requests, asked for once, when the load is over."""

    def times(self) -> BlockTimes:
        """What was seen since it was entered. Raises BlindError when it cannot be read any more."""


ObserverFactory = Callable[[Target, tuple[str, ...]], Observer]
