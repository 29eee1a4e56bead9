"""What the sessions of a database were doing in an interval, from looks at them many times a second."""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from iocast.model.live.readings import Readings

# As observers of databases name them (metrics.WAITS and the like).
_KINDS: Final = ("waits", "active_sql", "sessions")


class Share(Struct, frozen=True):
    """One wait, statement or session: in how much of all that was found active, and how many sessions at a time."""

    subject: str
    share: float
    active_mean: float


class Activity(Struct, frozen=True):
    """An interval of a database: how many sessions were active on average, and where they were found, most first."""

    polls: int
    active_mean: float
    waits: tuple[Share, ...]
    statements: tuple[Share, ...]
    sessions: tuple[Share, ...]

    @property
    def wait_classes(self) -> tuple[Share, ...]:
        """Waits by their class, as MOATS has them; CPU is one."""
        classes: dict[str, tuple[float, float]] = {}
        for each in self.waits:
            name = each.subject.partition("|")[0]
            share, active_mean = classes.get(name, (0.0, 0.0))
            classes[name] = share + each.share, active_mean + each.active_mean
        ordered = sorted(classes.items(), key=lambda item: (-item[1][0], item[0]))
        return tuple(Share(name, *figures) for name, figures in ordered)


def watched_databases(readings: Readings) -> tuple[str, ...]:
    """The databases whose sessions are looked at: "postgresql", "oracle"; by the names of their observers."""
    names = (observer.rpartition(".") for observer in readings.observers)
    return tuple(dict.fromkeys(database for database, _, kind in names if kind in _KINDS))


def activity(readings: Readings, database: str) -> Activity | None:
    """None where nobody looked in this seen."""
    waits = readings.views(f"{database}.waits")
    polls = waits[""].delta("polls") if "" in waits else None
    if not polls:
        return None
    counts = {kind: _counted(readings, f"{database}.{kind}") for kind in _KINDS}
    total = sum(counts["waits"].values())
    waits_of, statements, sessions = (_shares(counts[kind], total, polls) for kind in _KINDS)
    return Activity(polls, total / polls, waits_of, statements, sessions)


def _counted(readings: Readings, observer: str) -> dict[str, int]:
    views = readings.views(observer).items()
    return {subject: gained for subject, view in views if subject and (gained := view.delta("samples"))}


def _shares(counts: dict[str, int], total: int, polls: int) -> tuple[Share, ...]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(Share(subject, count / total, count / polls) for subject, count in ordered) if total else ()
