"""How far the build of a data set is: on a terminal as one line that is written over."""

from __future__ import annotations

import os
import sys

from iocast.commands.database.database_lines import step_line
from iocast.commands.shell.streams import work_goes_on
from iocast.commands.shell.terminal_listener import TerminalListener
from iocast.sessions import events
from iocast.text import harmless_line


class BuildListener(TerminalListener):
    """Writes how far a build is over itself on a terminal; elsewhere a line for each step."""

    def __init__(self) -> None:
        super().__init__()
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._step = ("", 0)

    def tell(self, event: events.Event) -> None:
        """Steps are shown, all else is said."""
        if not isinstance(event, events.BuildStep):
            self._clear()
            super().tell(event)
        elif self._live:
            with work_goes_on(""):
                sys.stderr.write(f"\r{harmless_line(step_line(event))[:100]}\x1b[K")
                sys.stderr.flush()
        elif (event.step, event.table) != self._step:
            self._step = (event.step, event.table)
            super().tell(event)

    def _clear(self) -> None:
        if self._live:
            with work_goes_on(""):
                sys.stderr.write("\r\x1b[K")
