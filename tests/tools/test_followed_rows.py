"""Epochs: what began again is told from what did little."""

from __future__ import annotations

from iocast.metrics import EPOCH
from iocast.model.run import Sample
from iocast.model.view import views
from iocast.tools.database_rows import Followed

SECOND_NS = 1_000_000_000
NOW_NS = 1_795_442_322 * SECOND_NS  # a date: values are doubles, which keep 256 ns of it


class Watched:
    """A view that is looked at once a second."""

    def __init__(self, *, since_entered: bool = False) -> None:
        self.followed, self.at_ns = Followed("db.view", since_entered=since_entered), NOW_NS
        self.samples: list[Sample] = []

    def look(self, *, epoch: int = 0, own: dict[str, int] | None = None, times: object = None, **rows: float) -> None:
        self.at_ns += SECOND_NS
        counted = [Sample(self.at_ns, "db.view", subject, "calls", value) for subject, value in rows.items()]
        self.samples += self.followed.tick(self.at_ns, counted, NOW_NS + epoch, own or {}, times)

    def deltas(self, looks: int = 0) -> dict[str, int | None]:
        """Of all looks, or of the last ones."""
        since_ns = self.at_ns - (looks - 1) * SECOND_NS if looks else 0
        seen = views([each for each in self.samples if each.time_ns >= since_ns], "db.view")
        return {subject: view.delta("calls") for subject, view in seen.items()}


def test_counters_go_on_within_an_epoch() -> None:
    watched = Watched()
    watched.look(a=1, b=5)
    watched.look(a=3, b=5)
    assert watched.deltas() == {"a": 2, "b": 0}


def test_a_reset_and_other_times_end_it() -> None:
    watched = Watched()
    watched.look(a=1, times=["on"])
    watched.look(a=9, times=["off"])
    assert watched.deltas() == {"a": None}, "one millisecond of a date must not be lost in a double"
    watched.look(a=10, times=["off"])
    assert watched.deltas(2) == {"a": 1}
    watched.look(a=11, times=["off"], epoch=SECOND_NS)
    assert watched.deltas(2) == {"a": None}


def test_a_row_may_have_its_own_epoch() -> None:
    watched = Watched()
    watched.look(a=1, b=1, own={"a": NOW_NS, "b": NOW_NS})
    watched.look(a=2, b=2, own={"a": NOW_NS, "b": NOW_NS + SECOND_NS})
    assert watched.deltas() == {"a": 1, "b": None}


def test_counted_since_entered_rows_that_never_moved_are_left_out() -> None:
    watched = Watched(since_entered=True)
    watched.look(idle=1000, busy=50)
    assert {each.metric for each in watched.samples} == {EPOCH}
    watched.look(idle=1000, busy=53, new=4)
    watched.look(idle=1000, busy=54, new=4)
    assert watched.deltas() == {"busy": 4, "new": 4}
    assert watched.deltas(2) == {"busy": 1, "new": 0}


def test_a_row_that_was_evicted_and_made_anew_is_unknown_until_then() -> None:
    watched = Watched(since_entered=True)
    watched.look(a=1000)
    watched.look(a=1100)
    watched.look(a=7)
    assert watched.deltas(2) == {"a": None}
    watched.look(a=9)
    assert watched.deltas(2) == {"a": 2}
    watched.look()
    watched.look(a=5)
    assert watched.deltas(2) == {"a": 5}, "away for a look, it began from nought"
    assert watched.deltas() == {"a": None}


def test_rows_that_are_gone_are_forgotten() -> None:
    """A day of statements that come, are cleared and go leaves nothing behind."""
    watched = Watched(since_entered=True)
    for at in range(50):
        watched.look(**{f"s{at}": 5})
        watched.look(**{f"s{at}": 2})
    watched.samples.clear()
    watched.look(a=1)
    watched.look(a=1)
    held = [len(each) for each in vars(watched.followed).values() if isinstance(each, dict)]
    assert max(held) <= 1
