"""Views of a database by name, of all its instances: RAC is sampled as oracle1, oracle2, a lone instance as oracle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from iocast.model.live.readings import Readings
from iocast.model.view import View


def is_seen(readings: Readings, database: str) -> bool:
    """Whether anything of a kind of database was seen at both ends."""
    return any(_is_of(observer.partition(".")[0], database) for observer in readings.observers)


def observers_of(readings: Readings, database: str, name: str) -> tuple[str, ...]:
    """Who sampled one view of the database: an observer an instance, or one for all."""
    observers = []
    for observer in readings.observers:
        connection, _, view = observer.partition(".")
        if view == name and _is_of(connection, database):
            observers.append(observer)
    return tuple(observers)


def views_of(readings: Readings, database: str, name: str) -> Iterator[View]:
    """Every subject of one view of the database, instance by instance."""
    for observer in observers_of(readings, database, name):
        yield from readings.views(observer).values()


def rate_of(views: Iterable[View], metric: str) -> float | None:
    """A counter per second over several subjects; None where none of them knows it."""
    known = [rate for view in views if (rate := view.per_s(metric)) is not None]
    return sum(known) if known else None


def _is_of(connection: str, database: str) -> bool:
    """`oracle` and `oracle2` are connections to Oracle."""
    return re.fullmatch(rf"{database}\d*", connection) is not None
