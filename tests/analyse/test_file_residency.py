"""Residency of the work files around a phase."""

from __future__ import annotations

import pytest
from makers import card_runs

from iocast.analyse.file_residency import residency
from iocast.model.run import Sample


def _sample(at: int, file: str, metric: str, value: float) -> Sample:
    return Sample(at, "pagecache", file, metric, value)


def test_first_and_last_of_all_files_are_summed() -> None:
    samples = (
        _sample(0, "a", "file_bytes", 600),
        _sample(0, "b", "file_bytes", 400),
        _sample(0, "a", "cached_bytes", 60),
        _sample(0, "b", "cached_bytes", 40),
        _sample(9, "a", "cached_bytes", 360),
    )
    seen = residency(card_runs.reads(samples=samples))
    assert seen is not None
    assert (seen.before_bytes, seen.after_bytes, seen.file_bytes) == (100, 400, 1000)
    assert seen.before_share == pytest.approx(0.1)
    assert seen.rise_share == pytest.approx(0.3)


def test_nothing_seen_is_none() -> None:
    assert residency(card_runs.reads(samples=())) is None
    unsized = (_sample(0, "a", "cached_bytes", 5),)
    assert residency(card_runs.reads(samples=unsized)) is None


def test_the_first_and_the_last_count_and_not_what_was_in_between() -> None:
    cached = [_sample(at, "a", "cached_bytes", value) for at, value in enumerate((700, 900, 100, 200))]
    seen = residency(card_runs.reads(samples=(_sample(0, "a", "file_bytes", 1000), *cached)))
    assert seen is not None
    assert (seen.before_bytes, seen.after_bytes) == (700, 200)
    assert seen.rise_share == pytest.approx(-0.5), "a file can leave the cache"


def test_the_cache_of_the_machine_and_empty_files_are_no_work_files() -> None:
    machine = [Sample(0, "cpu", "memory", "cached_bytes", 1e9), Sample(0, "cpu", "memory", "file_bytes", 1e9)]
    empty = [_sample(0, "b", "cached_bytes", 50), _sample(0, "b", "file_bytes", 0)]
    own = [_sample(0, "a", "cached_bytes", 25), _sample(0, "a", "file_bytes", 100)]
    seen = residency(card_runs.reads(samples=(*machine, *empty, *own)))
    assert seen is not None
    assert (seen.before_bytes, seen.after_bytes, seen.file_bytes) == (25, 25, 100)
