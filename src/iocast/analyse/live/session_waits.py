"""Active sessions of Oracle and what each was found doing, and the same by instance and event: top.sql's question."""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.live.database_views import observers_of
from iocast.metrics import ON_CPU, PART, POLLS, SAMPLES, SESSION_WAITS
from iocast.model.live.readings import Readings

_PARTS = 3  # of the session in a subject: inst_id, sid, serial#


class SessionWait(Struct, frozen=True):
    """A session in one state. `looks` of the interval found it there; `polls` is how often was looked."""

    instance: str
    session: str  # sid,serial#
    wait_class: str  # "" on a processor
    event: str
    looks: int
    polls: int


class EventSessions(Struct, frozen=True):
    """How many sessions of an instance were found in an event, and how many of them at a time on average."""

    instance: str
    event: str
    sessions: int
    active: float


def session_waits(readings: Readings) -> tuple[SessionWait, ...]:
    """By instance; who was found most often first."""
    waits = []
    for observer in observers_of(readings, "oracle", SESSION_WAITS):
        views = readings.views(observer)
        polls = (views[""].delta(POLLS) if "" in views else None) or 0
        for subject, view in views.items():
            looks = view.delta(SAMPLES)
            parts = subject.split(PART)
            if looks and polls and len(parts) > _PARTS:
                state = parts[_PARTS:]
                wait_class, event = ("", ON_CPU) if state == [ON_CPU] else (state[0], PART.join(state[1:]))
                waits.append(SessionWait(parts[0], ",".join(parts[1:_PARTS]), wait_class, event, looks, polls))
    return tuple(sorted(waits, key=lambda each: (each.instance, -each.looks, each.event, each.session)))


def by_event(waits: tuple[SessionWait, ...]) -> tuple[EventSessions, ...]:
    """The events in which most sessions were, first; instance by instance."""
    groups: dict[tuple[str, str], list[SessionWait]] = {}
    for each in waits:
        groups.setdefault((each.event, each.instance), []).append(each)
    sessions = [
        EventSessions(instance, event, len(members), sum(each.looks / each.polls for each in members))
        for (event, instance), members in groups.items()
    ]
    return tuple(sorted(sessions, key=lambda each: (-each.active, each.event, each.instance)))
