"""Views of a database by name, of all its instances: RAC is sampled as oracle1, oracle2, a lone instance as oracle."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from iocast.model.live.seen import Seen
from iocast.model.view import View


def is_seen(seen: Seen, database: str) -> bool:
    """Whether anything of a kind of database was seen at both ends."""
    return any(_instance(observer.partition(".")[0], database) is not None for observer in seen.observers)


def views_of(seen: Seen, database: str, name: str) -> Iterator[View]:
    """Every subject of one view of the database, instance by instance."""
    for observer in seen.observers:
        connection, _, view = observer.partition(".")
        if view == name and _instance(connection, database) is not None:
            yield from seen.views(observer).values()


def rate_of(views: Iterable[View], metric: str) -> float | None:
    """A counter per second over several subjects; None where none of them knows it."""
    known = [rate for view in views if (rate := view.per_s(metric)) is not None]
    return sum(known) if known else None


def _instance(connection: str, database: str) -> str | None:
    """Of `oracle2` and `oracle`: 2; "" for the only connection, None for another kind."""
    found = re.fullmatch(rf"{database}(\d*)", connection)
    return found[1] if found else None
