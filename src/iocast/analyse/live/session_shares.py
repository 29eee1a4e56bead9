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


class HeldLock(Struct, frozen=True):
    """What sessions wait for at the end of an interval: `relation` is a table, or a kind of lock."""

    holder: str
    state: str  # of the session that holds it: "idle in transaction"; "" is unknown
    relation: str
    waiting: int


def held_locks(readings: Readings) -> tuple[HeldLock, ...]:
    """PostgreSQL's locks that sessions wait for, the one with the most waiters first."""
    locks = []
    for subject, values in readings.values("postgresql.held_locks").items():
        parts = subject.split("|", 2)
        if len(parts) == 3 and (waiting := values.get("waiting")):
            locks.append(HeldLock(parts[0], parts[1], parts[2], int(waiting)))
    return tuple(sorted(locks, key=lambda lock: (-lock.waiting, lock.holder)))


def row_lock_waits(readings: Readings) -> int:
    """Of InnoDB, whose sessions show what they do and not that they wait: how many wait for a row at the end."""
    return int(readings.values("mysql.global_status").get("", {}).get("innodb_row_lock_current_waits", 0))


class BackgroundWork(Struct, frozen=True):
    """What PostgreSQL does beside its sessions; None is unknown."""

    checkpoint_buffers_per_s: float | None
    temporary_bytes_per_s: float | None
    vacuumed: tuple[str, ...]


def background_work(readings: Readings) -> BackgroundWork:
    """Of PostgreSQL: 17 moved the checkpoints to a view of their own."""
    checkpoints = readings.views("postgresql.pg_stat_checkpointer").get("")
    writer = readings.views("postgresql.pg_stat_bgwriter").get("")
    of_checkpoints = None if checkpoints is None else checkpoints.per_s("buffers_written")
    if of_checkpoints is None and writer is not None:
        of_checkpoints = writer.per_s("buffers_checkpoint")
    bases = readings.views("postgresql.pg_stat_database").values()
    spilt = [rate for view in bases if (rate := view.per_s("temp_bytes")) is not None]
    vacuums = readings.values("postgresql.pg_stat_progress_vacuum")
    names = sorted({subject.partition("|")[0] for subject in vacuums if subject})
    return BackgroundWork(of_checkpoints, sum(spilt) if spilt else None, tuple(names))


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
