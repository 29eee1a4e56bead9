"""What a live screen can go back to: pausing, stepping, zooming, in bounded memory."""

from __future__ import annotations

from makers.live_moments import SECOND_NS, device, moment

from iocast import metrics
from iocast.top.history import History

VDA = (metrics.DISKSTATS, "vda")


def _reads(history: History) -> int | None:
    """The I/Os of the interval that is shown: 10 a moment, times its number."""
    interval = history.interval()
    return None if interval is None else interval.views(metrics.DISKSTATS)["vda"].delta(metrics.READS)


def _filled(count: int, kept: int = 100) -> History:
    """Moment n has done 1 + 2 + ... + n reads, so that an interval's reads are the number of its end."""
    history = History(kept)
    for at in range(count):
        history.add(moment(at, {VDA: device(reads=at * (at + 1) / 2)}))
    return history


def test_it_follows_the_newest() -> None:
    assert _reads(History()) is None
    assert _reads(_filled(1)) is None
    assert _reads(_filled(5)) == 4


def test_a_pause_stays_where_it_is() -> None:
    history = _filled(5)
    history.pause()
    history.add(moment(5, {VDA: device(reads=15)}))
    assert (_reads(history), history.behind) == (4, 1)
    history.pause()
    assert (_reads(history), history.behind, history.paused) == (5, 0, False)


def test_stepping_stops_at_both_ends() -> None:
    history = _filled(5)
    history.step(-2)
    assert (_reads(history), history.behind) == (2, 2)
    history.step(-99)
    assert _reads(history) == 1
    history.step(99)
    assert (_reads(history), history.paused) == (4, True)


def test_zooming_adds_intervals_up() -> None:
    history = _filled(5)
    history.zoom(2)
    interval = history.interval()
    assert interval is not None
    assert (interval.elapsed_ns, _reads(history)) == (2 * SECOND_NS, 3 + 4)
    history.zoom(100)
    assert _reads(history) == 1 + 2 + 3 + 4
    history.zoom(0.001)
    assert _reads(history) == 4


def test_memory_is_bounded_and_a_pause_moves_with_the_oldest() -> None:
    history = _filled(10, kept=4)
    history.step(-99)
    assert _reads(history) == 7  # moments 6 to 9 are kept
    for at in range(10, 30):
        history.add(moment(at, {VDA: device(reads=at * (at + 1) / 2)}))
    assert _reads(history) == 27
    assert len(history.up_to_shown(100)) == 1


def test_heat_maps_end_at_what_is_shown() -> None:
    history = _filled(10)
    assert [each.after.time_ns for each in history.up_to_shown(3)] == [moment(at, {}).time_ns for at in (7, 8, 9)]
    history.step(-4)
    assert history.up_to_shown(100)[-1].after.time_ns == moment(5, {}).time_ns
