"""A listener that keeps the events of a session, and the lines that a terminal would show of them."""

from __future__ import annotations

from iocast.commands.shell.terminal_listener import lines
from iocast.sessions.events import AnswerReady, CardReady, Event
from iocast.sessions.listener import Quiet


class Recording(Quiet):
    """Keeps every event in order; never stops."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)

    @property
    def names(self) -> list[str]:
        """The kinds of events, in order."""
        return [type(event).__name__ for event in self.events]

    @property
    def said(self) -> str:
        """All events but cards in words."""
        return "\n".join(
            line for event in self.events if not isinstance(event, CardReady | AnswerReady) for line in lines(event)
        )
