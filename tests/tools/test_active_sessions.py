"""Sessions that are found active are counted by event, statement and session, beside the number of looks."""

from __future__ import annotations

import pytest

from iocast import metrics
from iocast.model.view import views
from iocast.tools import database_rows
from iocast.tools.database_rows import Active, ActivityCounts


def test_shares_of_an_interval_come_from_two_samples() -> None:
    counts = ActivityCounts("db", 5)
    before = counts.samples(10)
    counts.add([Active("1", "IO|DataFileRead", "42"), Active("2")])
    counts.add([Active("1", "IO|DataFileRead", "")])
    counts.add([])
    samples = [*before, *counts.samples(20)]
    found = {
        kind: {subject: dict(view.deltas) for subject, view in views(samples, f"db.{kind}").items()}
        for kind in (metrics.WAITS, metrics.ACTIVE_SQL, metrics.SESSIONS)
    }
    assert found[metrics.WAITS] == {"": {"polls": 3}, "IO|DataFileRead": {"samples": 2}, "CPU": {"samples": 1}}
    assert found[metrics.ACTIVE_SQL] == {"": {"polls": 3}, "42": {"samples": 1}}
    assert found[metrics.SESSIONS] == {"": {"polls": 3}, "1": {"samples": 2}, "2": {"samples": 1}}


def test_memory_is_bounded_and_nothing_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_rows, "MOST_SUBJECTS", 2)
    counts = ActivityCounts("db", 5)
    counts.add([Active(str(number)) for number in range(5)])
    counts.add([Active("0")])
    assert counts.subjects(metrics.SESSIONS) == {"0", "1", database_rows.OTHERS}
    found = {each.subject: each.value for each in counts.samples(1) if each.observer == "db.sessions"}
    assert (found["0"], found["1"], found["others"]) == (2.0, 1.0, 3.0)
