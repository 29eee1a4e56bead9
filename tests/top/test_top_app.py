"""The live screen, by textual's pilot: what the keys do, at several widths, without a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Mapping

import pytest
from makers.live_moments import SECOND_NS, device, histogram, moment

from iocast import metrics
from iocast.model.live.moment import Moment
from iocast.model.run import Blind
from iocast.sessions.live.watching import Stopping

pytest.importorskip("textual")
from textual.pilot import Pilot
from textual.widgets import Static

from iocast.top.line_pane import LinePane
from iocast.top.top_app import TopApp

LAYER = ("block_layer", "vda|driver|read|8192")
COUNT = 6


class Made:
    """A tape of a disk whose reads grow, and of its latencies."""

    interval_ns = SECOND_NS
    texts: Mapping[str, str] = {"sql|1": "select scratch from pgio1"}
    sources = ("PostgreSQL 18.1 on db1",)
    blind = (Blind("nfs", "nothing is mounted by NFS"),)

    def moments(self, stopping: Stopping) -> Generator[Moment]:
        for at in range(COUNT):
            yield moment(
                at,
                {
                    (metrics.DISKSTATS, "vda"): device(reads=at * 100, queue_ns=at * 10**9, busy_ns=at * 10**9),
                    LAYER: {
                        **histogram({128: at * 90, 8192: at * 10}, sum_ns=at * 50_000_000),
                        "bytes": at * 819_200.0,
                    },
                    ("postgresql.waits", ""): {"polls": at * 10.0},
                    ("postgresql.waits", "IO|DataFileRead"): {"samples": at * 30.0},
                    ("postgresql.waits", "CPU"): {"samples": at * 10.0},
                    ("postgresql.active_sql", "1"): {"samples": at * 40.0},
                },
            )


def _shown(app: TopApp, place: str = "body") -> str:
    if place == "body":
        return app.query_one("#body", LinePane).says()
    return str(app.query_one(f"#{place}", Static).content)


def _piloted(test: Callable[[TopApp, Pilot[None]], Awaitable[None]], size: tuple[int, int] = (100, 30)) -> None:
    async def run() -> None:
        app = TopApp(Made(), "tape made")
        async with app.run_test(size=size) as pilot:
            while "over" not in _shown(app, "state"):
                await pilot.pause(0.02)
            await test(app, pilot)

    asyncio.run(run())


@pytest.mark.parametrize("width", [80, 100, 200])
def test_every_line_fits(width: int) -> None:
    async def test(app: TopApp, pilot: Pilot[None]) -> None:
        lines = _shown(app).splitlines()
        assert max(map(len, lines)) <= width
        text = "\n".join(lines)
        for said in ("vda", "device read", "DataFileRead (IO)", "select scratch", "Active sessions: 4.0"):
            assert said in text
        assert " 75%" in text
        assert " busy" in text  # the last column of devices was cut off at 80

    _piloted(test, (width, 30))


def test_space_pauses_and_arrows_step() -> None:
    async def test(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("left", "left")
        assert "paused, 2 behind the newest" in _shown(app, "state")
        await pilot.press("space")
        assert "paused" not in _shown(app, "state")

    _piloted(test)


def test_longer_intervals_are_said() -> None:
    async def test(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("plus")
        assert "2 intervals together" in _shown(app, "state")
        assert ", 2.0 s" in _shown(app)

    _piloted(test)


def test_heat_maps_notes_and_help() -> None:
    async def test(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("h")
        assert "Frequency" in _shown(app)
        assert "block layer: vda, driver, read, 8192" in _shown(app)
        await pilot.press("n")
        assert "nothing is mounted by NFS" in _shown(app)
        await pilot.press("question_mark")
        assert "quit" in _shown(app)
        await pilot.press("question_mark")
        assert "device read" in _shown(app)

    _piloted(test)


def test_q_ends_it() -> None:
    async def test(app: TopApp, pilot: Pilot[None]) -> None:
        await pilot.press("q")
        assert app.return_value is None

    _piloted(test)


def test_a_tape_is_not_read_further_than_it_is_shown() -> None:
    """Moments that wait for the screen would take memory."""
    shown: list[int] = []

    class Counting(Made):
        def moments(self, stopping: Stopping) -> Generator[Moment]:
            for at, each in enumerate(super().moments(stopping)):
                shown.append(at - len(app.history.up_to_shown(COUNT)))
                yield each

    app = TopApp(Counting(), "tape made")

    async def run() -> None:
        async with app.run_test() as pilot:
            while "over" not in _shown(app, "state"):
                await pilot.pause(0.02)

    asyncio.run(run())
    assert shown == [0, *[1] * (COUNT - 1)], "moments that were read before, without those that made an interval"
