"""Takes the pictures of `iocast top` in the guide again, of its tape: `python docs/top_pictures.py`.

Each is an SVG by textual's own export, in the state that a few keys lead to.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from msgspec import Struct

from iocast.sessions.live.playing import Playing
from iocast.top.top_app import TopApp

GUIDE = Path(__file__).resolve().parent / "guide"
TAPE = GUIDE / "tapes" / "slow-database"


class Picture(Struct, frozen=True):
    """`steps` back from the end; of `chosen` (observer, subject) its heat map; `size` in characters."""

    name: str
    steps: int
    chosen: tuple[str, str] | None = None
    size: tuple[int, int] = (100, 36)


WANTED = (
    Picture("top-healthy", 30),
    Picture("top-neighbour", 20),
    Picture("top-starved", 10),
    Picture("top-heat-map", 0, ("system_calls", "postgres|pread64|8192")),
)


async def take(wanted: Picture) -> str:
    """The screen as SVG, when the tape is read."""
    app = TopApp(Playing(str(TAPE)), "tape slow-database")
    async with app.run_test(size=wanted.size) as pilot:
        while "over" not in str(app.query_one("#state").render()):
            await pilot.pause(0.05)
        for _ in range(wanted.steps):
            await pilot.press("left")
        if wanted.chosen is not None:
            app.chosen = wanted.chosen
            await pilot.press("h")
        await pilot.pause()
        return app.export_screenshot(title="iocast top")


def main() -> None:
    """Writes all of them."""
    for wanted in WANTED:
        (GUIDE / "pictures" / f"{wanted.name}.svg").write_text(asyncio.run(take(wanted)), encoding="utf-8")


if __name__ == "__main__":
    main()
