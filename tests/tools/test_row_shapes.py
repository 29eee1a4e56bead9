"""Rows become samples by the names of their columns: what is unknown has none, only units change."""

from __future__ import annotations

import pytest

from iocast.metrics import NO_BOUND
from iocast.model.run import Sample
from iocast.tools.database_rows import Buckets, Counter, Rows, Statistics, counters, named, samples_of

IO = Rows(key=("who", "object"), counters=counters("reads read_time:ms/reads hits"))


def told(shape: Rows | Statistics | Buckets, *rows: dict[str, object]) -> dict[tuple[str, str], float]:
    return {(each.subject, each.metric): each.value for each in samples_of(shape, rows, "db.view", 7)}


def test_a_row_is_a_subject_by_its_key_and_a_sample_a_counter() -> None:
    (first, *_) = samples_of(IO, [{"who": "client", "object": "relation", "reads": 5}], "db.view", 7)
    assert first == Sample(7, "db.view", "client|relation", "reads", 5.0)


def test_the_order_of_columns_and_rows_means_nothing() -> None:
    rows: list[dict[str, object]] = [
        {"who": "a", "object": "x", "reads": 1, "read_time": 2.0, "hits": 3},
        {"hits": 6, "read_time": 5.0, "object": "x", "reads": 4, "who": "b"},
    ]
    assert told(IO, *rows) == told(IO, *reversed(rows)) == told(IO, *(dict(reversed(row.items())) for row in rows))
    assert told(IO, *rows)["b|x", "read_time_ns"] == 5_000_000


def test_an_event_that_is_missing_leaves_all_others_as_they_are() -> None:
    rows: list[dict[str, object]] = [{"who": who, "object": "", "reads": n} for n, who in enumerate("abcde")]
    whole, without = told(IO, *rows), told(IO, *(row for row in rows if row["who"] != "b"))
    assert {place: value for place, value in whole.items() if place[0] != "b|"} == without


@pytest.mark.parametrize("nothing", [None, "", "none of it", float("nan"), float("inf"), 1e308, "1e308", 10**400])
def test_what_is_unknown_has_no_sample(nothing: object) -> None:
    assert told(IO, {"who": "a", "object": "x", "reads": nothing, "hits": 0}) == {("a|x", "hits"): 0.0}


def test_no_time_with_events_was_not_taken_and_without_events_is_nought() -> None:
    assert ("a|x", "read_time_ns") not in told(IO, {"who": "a", "object": "x", "reads": 3, "read_time": 0.0})
    assert told(IO, {"who": "a", "object": "x", "reads": 0, "read_time": 0})["a|x", "read_time_ns"] == 0.0


@pytest.mark.parametrize(
    ("column", "unit", "metric"),
    [
        ("reads", "", "reads"),
        ("read_time", "ms", "read_time_ns"),
        ("time_waited_micro", "us", "time_waited_ns"),
        ("redo synch time (usec)", "us", "redo synch time_ns"),
        ("wait_time_milli", "ms", "wait_time_ns"),
    ],
)
def test_names_stay_but_for_the_unit(column: str, unit: str, metric: str) -> None:
    assert named(column, unit) == metric


def test_a_statistic_has_its_name_in_a_column() -> None:
    shape = Statistics(key=("inst_id",), name="name", value="value", units={"redo write time": "cs"})
    rows = [
        {"inst_id": 1, "name": "redo write time", "value": "12"},
        {"inst_id": 2, "name": "user Commits", "value": 3},
        {"inst_id": 2, "name": None, "value": 3},
    ]
    assert told(shape, *rows[:2]) == {("1", "redo write time_ns"): 120_000_000.0, ("2", "user commits"): 3.0}


def test_buckets_are_named_by_their_bounds_and_rows_of_one_are_added_up() -> None:
    """Containers, and instances of one event, are rows of their own."""
    shape = Buckets(
        key=("event",), upper="wait_time_micro", unit="us", count="wait_count", unbounded=4294967295, total=None
    )
    row = {"event": "log file sync", "wait_time_micro": 8, "wait_count": 2}
    over = {"event": "log file sync", "wait_time_micro": 4294967295, "wait_count": 1}
    assert told(shape, row, row, over) == {("log file sync", "lt_8000ns"): 4.0, ("log file sync", NO_BOUND): 1.0}


def test_a_bound_that_is_a_word_is_none() -> None:
    shape = Buckets(key=(), upper="time", unit="s", count="count", total=Counter("total", "s"))
    rows = [
        {"time": "      0.000010", "count": 2, "total": "      0.000012"},
        {"time": "TOO LONG", "count": 1, "total": "TOO LONG"},
    ]
    assert told(shape, *rows) == {("", "lt_10000ns"): 2.0, ("", "total_ns"): 12_000.0, ("", NO_BOUND): 1.0}
