"""The arithmetic of copies: the published figures to the digit, and that rates, times and sizes agree for all."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.copied_files import copies, copy, refused

from iocast.analyse.copy_figures import Spent, base_of, cells, share_more, spent, trials_of
from iocast.model.copy_trials import CopyTrial

MB = 1_000_000


def test_the_published_copies_of_1000_mb() -> None:
    stock, window = Spent(1000 * MB, 137.504, 0.0, 14.363), Spent(1000 * MB, 116.217, 0.0, 14.264)
    assert (round(stock.mb_per_s or 0, 2), round(window.mb_per_s or 0, 2)) == (7.27, 8.60)
    assert round(share_more(14.363, 10.853), 3) == 0.323
    assert round(window.system_s / stock.system_s, 3) == 0.993
    assert stock.system_s_per_gb == 14.363


def test_the_published_reads_of_512_mb() -> None:
    assert round(512 / 815, 3) == 0.628
    assert Spent(512 * MB, 512 / 815, 0.0, 0.0).mb_per_s == pytest.approx(815)
    assert [round(1 + share_more(rate, 815), 2) for rate in (1460, 2900)] == [1.79, 3.56]


@given(size=st.integers(1, 10**15), real_s=st.floats(1e-6, 1e6), system_s=st.floats(0, 1e5))
def test_rate_times_time_is_the_size(size: int, real_s: float, system_s: float) -> None:
    found = Spent(size, real_s, 0.0, system_s)
    assert found.mb_per_s is not None
    assert found.system_s_per_gb is not None
    assert math.isclose(found.mb_per_s * real_s * 1e6, size, rel_tol=1e-9)
    assert math.isclose(found.system_s_per_gb * size / 1e9, system_s, rel_tol=1e-9, abs_tol=1e-12)


@given(value=st.floats(1, 1e3), than=st.floats(1, 1e3))
def test_more_and_less_are_each_others_inverse(value: float, than: float) -> None:
    assert math.isclose((1 + share_more(value, than)) * (1 + share_more(than, value)), 1, rel_tol=1e-9)


def test_what_has_no_time_or_size_has_no_rate() -> None:
    assert Spent(0, 1.0, 0.0, 0.5).system_s_per_gb is None
    assert Spent(1, 0.0, 0.0, 0.5).mb_per_s is None


def test_fsync_is_in_the_durable_figures_only() -> None:
    from msgspec.structs import replace

    made = copy("splice", 2.0, system_s=0.5)
    made = replace(made, figures=replace(made.figures, sync_ns=500_000_000, sync_system_ns=250_000_000))
    assert (spent(made, synced=False).real_s, spent(made, synced=True).real_s) == (2.0, 2.5)
    assert (spent(made, synced=False).system_s, spent(made, synced=True).system_s) == (0.5, 0.75)


def test_medians_are_of_whole_proven_copies() -> None:
    rounds = [copy("splice", real_s, number) for number, real_s in enumerate((1.0, 3.0, 2.0), 1)]
    bad: CopyTrial = copy("splice", 0.001, 4, same=False)
    run = copies(*rounds, bad, refused("sendfile", "sendfile", 22, "EINVAL"))
    by_method = {each.method: each for each in cells(run)}
    splice = by_method["splice"]
    assert splice.copies == 3
    assert splice.synced is not None
    assert splice.synced.real_s == 2.0
    assert splice.rate_per_s == 500e6
    assert (by_method["sendfile"].copies, by_method["sendfile"].rate_per_s) == (0, None)


def test_ways_are_set_beside_the_plain_one_by_round() -> None:
    plain = [copy("read_write_block", 2.0 + 0.01 * number, number) for number in (1, 2, 3)]
    half = [copy("sendfile", 1.0 + 0.005 * number, number) for number in (1, 2, 3)]
    run = copies(*plain, *half)
    assert base_of(run, "cold") == "read_write_block"
    found = {each.method: each.time_ratio for each in cells(run)}
    assert found["read_write_block"] is None
    assert found["sendfile"] is not None
    assert found["sendfile"].ratio == pytest.approx(0.5)
    assert found["sendfile"].verdict == "different"
    assert [trial.cell.round for trial in trials_of(run, "sendfile", "cold")] == [1, 2, 3]


@pytest.mark.parametrize(
    ("cache", "cached", "asked"),
    [("cold", 0, True), ("cold", 500_000_000, False), ("warm", 10**9, True), ("warm", 900_000_000, False)],
)
def test_the_state_of_the_page_cache_is_held_against_what_was_asked(cache: str, cached: int, asked: bool) -> None:
    (found,) = cells(copies(copy("splice", 1.0, cache=cache, cached_bytes=cached)))
    assert found.as_asked is asked


def test_a_reflink_has_no_rate_of_the_storage() -> None:
    (found,) = cells(copies(copy("copy_file_range", 0.001, shared_bytes=10**9)))
    assert (found.shared, found.rate_per_s) == (1.0, None)
