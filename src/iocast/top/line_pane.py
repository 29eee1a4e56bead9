"""LinePane: lines of `report.live` in a pane that scrolls; of a new screen only the lines that changed are drawn."""

from __future__ import annotations

from collections.abc import Iterable

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from iocast.report.live.styled_lines import Line, Style
from iocast.text import harmless_line

_STYLES: dict[Style, RichStyle] = {
    "plain": RichStyle(),
    "head": RichStyle(bold=True),
    "dim": RichStyle(dim=True),
    "strong": RichStyle(bold=True),
    "warn": RichStyle(bold=True, color="yellow"),
    "heat1": RichStyle(color="black", bgcolor="color(226)"),
    "heat2": RichStyle(color="black", bgcolor="color(220)"),
    "heat3": RichStyle(color="black", bgcolor="color(214)"),
    "heat4": RichStyle(color="black", bgcolor="color(208)"),
    "heat5": RichStyle(color="black", bgcolor="color(202)"),
    "heat6": RichStyle(color="black", bgcolor="color(196)"),
}


class LinePane(ScrollView, can_focus=True):
    """See the module."""

    def __init__(self, id: str) -> None:
        super().__init__(id=id)
        self._lines: list[Line] = []

    def show(self, lines: Iterable[Line]) -> None:
        """Replaces what is shown; the place that it is scrolled to stays."""
        before, self._lines = self._lines, list(lines)
        if len(before) != len(self._lines):
            self.virtual_size = Size(0, len(self._lines))
            self.refresh()
            return
        top, width = self.scroll_offset.y, self.size.width
        for at, (old, new) in enumerate(zip(before, self._lines, strict=True)):
            if old != new and 0 <= at - top < self.size.height:
                self.refresh(Region(0, at - top, width, 1))

    def says(self) -> str:
        """The text of all lines."""
        return "\n".join("".join(piece.text for piece in each) for each in self._lines)

    def render_line(self, y: int) -> Strip:
        """One line of the pane, as wide as it is."""
        at = self.scroll_offset.y + y
        pieces = self._lines[at] if at < len(self._lines) else ()
        segments = [Segment(harmless_line(piece.text), _STYLES[piece.style]) for piece in pieces]
        base = self.rich_style
        return Strip(segments).apply_style(base).crop_extend(0, self.size.width, base)
