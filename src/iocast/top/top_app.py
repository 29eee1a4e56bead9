"""TopApp: a source, live or from a tape, on the screen of a terminal; keys pause it, step back, zoom, choose a view."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import ClassVar, Literal

from rich.text import Text
from textual import work
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Footer, Static
from textual.worker import get_current_worker

from iocast.errors import IocastError
from iocast.model.live.moment import Moment
from iocast.report.live.help_lines import help_lines
from iocast.report.live.latency.heat_view import heat_view
from iocast.report.live.latency.histogram_choice import histograms
from iocast.report.live.layers_view import overview
from iocast.report.live.notes_lines import notes_lines
from iocast.report.live.styled_lines import Line, line
from iocast.sessions.live.watching import SampleSource
from iocast.text import harmless_line
from iocast.top.history import History
from iocast.top.line_pane import LinePane

_LOOK_S = 0.05
View = Literal["overview", "heat", "notes", "help"]


class Arrived(Message):
    """A moment came, from the thread that reads the source."""

    def __init__(self, moment: Moment) -> None:
        super().__init__()
        self.moment = moment


class Ended(Message):
    """The source is over, or could not go on."""

    def __init__(self, why: str) -> None:
        super().__init__()
        self.why = why


class TopApp(App[None]):
    """See the module. All that is shown are lines of `report.live`."""

    CSS = """
    #state { height: 1; background: $panel; color: $text; }
    #body { height: 1fr; }
    """
    TITLE = "iocast top"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("space", "pause", "Pause"),
        Binding("left", "step(-1)", "Back"),
        Binding("right", "step(1)", "Forward"),
        Binding("shift+left", "step(-10)", "Back 10", show=False),
        Binding("shift+right", "step(10)", "Forward 10", show=False),
        Binding("end", "follow", "Newest", show=False),
        Binding("plus,equals_sign", "zoom(2.0)", "Longer", show=False),
        Binding("minus", "zoom(0.5)", "Shorter", show=False),
        Binding("o", "show('overview')", "Overview"),
        Binding("h", "show('heat')", "Heat map"),
        Binding("tab", "choose(1)", "Next histogram", show=False),
        Binding("shift+tab", "choose(-1)", "Previous histogram", show=False),
        Binding("n", "show('notes')", "Notes"),
        Binding("d", "toggle_dark", "Dark/light", show=False),
        Binding("question_mark", "show('help')", "Help"),
    ]

    def __init__(self, source: SampleSource, says: str = "") -> None:
        super().__init__()
        self._source, self._says = source, says
        self.history = History()
        self.view: View = "overview"
        self.chosen: tuple[str, str] | None = None
        self._over = self._state_says = ""
        self._taken = threading.Event()  # the last moment that was read

    def compose(self) -> ComposeResult:
        """One line of state, the view, and the keys."""
        yield Static(id="state", markup=False)
        yield LinePane(id="body")
        yield Footer()

    def on_mount(self) -> None:
        """Begins to read. A signal ends it as a key does: the terminal is as it was, and a tape is saved."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            if signal.getsignal(number) is not signal.SIG_IGN:
                asyncio.get_running_loop().add_signal_handler(number, self.exit)
        self._draw()
        self._read()

    @work(thread=True, exclusive=True)
    def _read(self) -> None:
        worker = get_current_worker()
        why = "the tape is over"
        try:
            with closing(self._source.moments(lambda: worker.is_cancelled)) as moments:
                for moment in moments:
                    self._taken.clear()
                    self.post_message(Arrived(moment))
                    while not self._taken.wait(_LOOK_S):  # a tape is read faster than it is drawn
                        if worker.is_cancelled:
                            return
        except IocastError as error:
            why = error.message
        if not worker.is_cancelled:
            self.post_message(Ended(why))

    def on_arrived(self, message: Arrived) -> None:
        """Keeps it, and shows it unless the screen is paused."""
        self.history.add(message.moment)
        if not self.history.paused:
            self._draw()
        else:
            self._state()
        self._taken.set()

    def on_ended(self, message: Ended) -> None:
        """The screen stays; it can still be stepped through."""
        self._over = message.why
        self._state()

    def on_resize(self) -> None:
        """Lines are as wide as the screen."""
        self._draw()

    def action_pause(self) -> None:
        """Stops, or follows the newest again."""
        self.history.pause()
        self._draw()

    def action_follow(self) -> None:
        """To the newest."""
        self.history.follow()
        self._draw()

    def action_step(self, intervals: int) -> None:
        """Back or forward in time."""
        self.history.step(intervals)
        self._draw()

    def action_zoom(self, factor: float) -> None:
        """Longer or shorter intervals."""
        self.history.zoom(factor)
        self._draw()

    def action_show(self, view: View) -> None:
        """Another view; the same key again: the overview."""
        self.view = "overview" if view == self.view else view
        self._draw()

    def action_choose(self, step: int) -> None:
        """The next histogram of the heat map."""
        interval = self.history.interval()
        known = sorted(histograms(interval)) if interval else []
        if known:
            at = known.index(self.chosen) + step if self.chosen in known else 0
            self.chosen = known[at % len(known)]
            self.view = "heat"
        self._draw()

    def action_toggle_dark(self) -> None:
        """Dark or light."""
        self.theme = "textual-light" if self.theme == "textual-dark" else "textual-dark"

    def _state(self) -> None:
        parts = [self._says or "this machine"]
        if self.history.span > 1:
            parts.append(f"{self.history.span} intervals together")
        if self.history.paused:
            parts.append(f"paused, {self.history.behind} behind the newest")
        if self._over:
            parts.append(self._over)
        says = harmless_line(f" {' · '.join(parts)}")
        if says != self._state_says:  # a new text is laid out anew, with all of the screen
            self._state_says = says
            self.query_one("#state", Static).update(Text(says, no_wrap=True, overflow="ellipsis"))

    def _draw(self) -> None:
        if self.query("#body"):
            self._state()
            self.query_one("#body", LinePane).show(self._lines(max(40, self.size.width - 2)))

    def _lines(self, width: int) -> Iterable[Line]:
        views: dict[View, Callable[[], Iterable[Line]]] = {
            "overview": lambda: self._of_interval(width),
            "heat": lambda: heat_view(self.history.up_to_shown(width), self.chosen, width),
            "notes": lambda: notes_lines(self._source.sources, self._source.blind, width),
            "help": help_lines,
        }
        return views[self.view]()

    def _of_interval(self, width: int) -> Iterable[Line]:
        interval = self.history.interval()
        if interval is None:
            return [line("Reading the first interval …", "dim")]
        return overview(interval, self._source.texts, width)
