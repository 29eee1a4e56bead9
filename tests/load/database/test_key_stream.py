"""Keys and kinds of statements: the same for the same seed, updates exact, every key once in the order of the table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.load.database.data_set_plan import KeyOrder
from iocast.load.database.key_stream import Places, drawn, kind_of, place_of, places_of, stream_of, zipf_rank
from iocast.model.database.database_load import DatabaseLoad, HotSpot

BLOCK = 8192


@given(seed=st.integers(0, 2**32), session=st.integers(0, 4095))
def test_a_seed_and_a_session_name_one_stream(seed: int, session: int) -> None:
    stream = stream_of(seed, session)
    assert stream == stream_of(seed, session)
    assert stream != stream_of(seed, session + 1)
    assert 0 <= drawn(stream, 7, 0) < 2**32


@given(share=st.integers(0, 100), first=st.integers(0, 10**9))
def test_updates_have_their_share_of_any_ten_thousand_statements(share: int, first: int) -> None:
    load = DatabaseLoad(update_pct=share)
    updates = sum(kind_of(load, number) == "update" for number in range(first, first + 10_000))
    assert abs(updates - share * 100) <= 1


@pytest.mark.parametrize(("updates", "scans"), [(0, 10), (20, 25), (50, 50), (100, 50), (99, 100)])
def test_scans_have_their_share_of_what_is_no_update(updates: int, scans: int) -> None:
    load = DatabaseLoad(update_pct=updates, scan_pct=scans)
    kinds = [kind_of(load, number) for number in range(10_000)]
    others = 10_000 - kinds.count("update")
    assert abs(kinds.count("scan") - others * scans / 100) <= 1


@given(rows=st.integers(64, 2**31 - 1), number=st.integers(0, 10**9), blocks=st.integers(1, 64))
def test_a_statement_stays_inside_of_the_table(rows: int, number: int, blocks: int) -> None:
    first = place_of(Places(rows), stream_of(1, 0), number, blocks)
    assert 1 <= first <= rows - blocks + 1


def test_places_are_spread_evenly() -> None:
    stream = stream_of(3, 1)
    eighths = [0] * 8
    for number in range(40_000):
        eighths[(place_of(Places(8000), stream, number, 1) - 1) // 1000] += 1
    assert all(4600 < count < 5400 for count in eighths)


def test_every_third_statement_goes_to_the_hot_spot() -> None:
    load = DatabaseLoad(hot=HotSpot(size_bytes=100 * BLOCK, offset_bytes=500 * BLOCK, every=3))
    places, stream = places_of(load, 100_000, BLOCK), stream_of(1, 0)
    keys = [place_of(places, stream, number, 1) for number in range(3000)]
    assert all(501 <= key <= 600 for key in keys[2::3])
    assert sum(501 <= key <= 600 for key in keys) < 1020


@pytest.mark.parametrize("theta", [0.5, 0.99, 1.0, 1.2])
def test_zipf_prefers_low_ranks_and_stays_inside(theta: float) -> None:
    ranks = [zipf_rank(drawn(stream_of(1, 0), number, 0), 1000, theta) for number in range(20_000)]
    assert min(ranks) == 0
    assert max(ranks) < 1000
    first, tenth = ranks.count(0), ranks.count(9)
    # The continuous law from 1 to 2, and from 10 to 11.
    expected = _mass(1, theta) / _mass(10, theta)
    assert first / tenth == pytest.approx(expected, rel=0.35)


def _mass(rank: int, theta: float) -> float:
    steps = 1000
    return sum((rank + (step + 0.5) / steps) ** -theta for step in range(steps)) / steps


@given(rows=st.integers(64, 3000), seed=st.integers(0, 1000), table=st.integers(1, 9))
def test_each_key_comes_once(rows: int, seed: int, table: int) -> None:
    assert sorted(KeyOrder(rows, seed, table).keys(0, rows)) == list(range(1, rows + 1))


def test_neighbours_by_key_are_far_apart_in_the_table() -> None:
    rows = 20_000
    position = {key: at for at, key in enumerate(KeyOrder(rows, 1, 1).keys(0, rows))}
    distances = [abs(position[key + 1] - position[key]) for key in range(1, rows)]
    assert sum(distance < 16 for distance in distances) < 0.01 * rows
    assert rows / 4 < sum(distances) / len(distances) < rows / 2  # of two random places it is a third
