"""How far the build of a data set is: on a terminal one line that is written over, elsewhere a few plain ones."""

from __future__ import annotations

import os
import sys

from iocast.commands.database.database_lines import step_line
from iocast.commands.shell.showing import say
from iocast.sessions import events
from iocast.text import harmless_line

EVERY_S = 60.0  # elsewhere, how far a long step is


class BuildProgress:
    """Shows the steps of a build on stderr."""

    def __init__(self) -> None:
        self._live = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
        self._step, self._said_s = ("", 0), 0.0

    def show(self, event: events.BuildStep) -> None:
        """Writes the step over the last one; elsewhere says it where it is new, or has taken long."""
        if self._live:
            sys.stderr.write(f"\r{harmless_line(step_line(event))[:100]}\x1b[K")
            sys.stderr.flush()
        elif (event.step, event.table) != self._step or event.elapsed_s - self._said_s >= EVERY_S:
            self._step, self._said_s = (event.step, event.table), event.elapsed_s
            say(step_line(event))

    def clear(self) -> None:
        """Takes the line away, before something else is said."""
        if self._live:
            sys.stderr.write("\r\x1b[K")
