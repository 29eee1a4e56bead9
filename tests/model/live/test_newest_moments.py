"""What a screen can go back to is bounded by samples, not by moments alone."""

from __future__ import annotations

from makers.live_moments import device, moment

from iocast import metrics
from iocast.model.live.moment import Moment
from iocast.model.live.newest_moments import NewestMoments

VDA, SHELL, FILE = (metrics.DISKSTATS, "vda"), (metrics.PROCESSES, "{}|sh"), (metrics.CALLS_BY_FILE, "read|/{}")


def _moment(at: int, processes: int = 100) -> Moment:
    """A disk, and two samples for each process."""
    counters = {VDA: device(reads=at * 10)}
    for pid in range(processes):
        counters |= {(name, subject.format(pid)): {"count": float(at)} for name, subject in (SHELL, FILE)}
    return moment(at, counters)


def _kept(moments: NewestMoments) -> int:
    return sum(len(moments[at].samples) for at in range(len(moments)))


def test_the_oldest_go() -> None:
    moments = NewestMoments(5)
    for at in range(8):
        moments.add(_moment(at))
    assert (len(moments), moments.dropped) == (5, 3)
    assert moments[0] == _moment(3)
    assert moments.between(1, 3) == [_moment(4), _moment(5)]


def test_of_older_ones_single_processes_and_files_go_first() -> None:
    moments = NewestMoments(900, most_samples=2000)
    for at in range(100):
        moments.add(_moment(at))
        assert _kept(moments) <= 2000
    assert len(moments) == 100
    assert moments[99] == _moment(99)
    assert metrics.PROCESSES in moments[97].by_observer
    assert set(moments[0].by_observer) == {metrics.WATCH, metrics.DISKSTATS}
    assert moments[0].values(metrics.DISKSTATS) == _moment(0).values(metrics.DISKSTATS)


def test_then_the_oldest_moments_and_an_interval_is_always_left() -> None:
    moments = NewestMoments(900, most_samples=300)
    for at in range(100):
        moments.add(_moment(at))
    assert moments.dropped == 100 - len(moments) > 50
    assert moments[len(moments) - 1] == _moment(99)
    assert moments[len(moments) - 2] == _moment(98)
    moments.add(_moment(100, processes=1000))
    assert [moments[at].time_ns for at in range(len(moments))] == [_moment(99).time_ns, _moment(100).time_ns]
