"""What a live watch cannot see, and where its samples come from."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from iocast.model.run import Blind
from iocast.report.live.styled_lines import Line, line


def notes_lines(sources: Sequence[str], blind: Sequence[Blind], width: int) -> Iterator[Line]:
    """Sources, then one paragraph for each blind part."""
    yield line("Sources", "head")
    for source in ("this machine", *sources):
        yield line(f"  {source}")
    yield ()
    yield line("Not seen", "head")
    for each in blind:
        for text in textwrap.wrap(f"{each.observer}: {each.why}", width, initial_indent="  ", subsequent_indent="    "):
            yield line(text)
    if not blind:
        yield line("  nothing is missing")
