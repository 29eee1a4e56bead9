"""The compact model of a trace that was made from known numbers finds these numbers."""

from __future__ import annotations

import random
from bisect import bisect
from itertools import accumulate
from pathlib import Path

import pytest
from makers.made_traces import SECOND, Io, database_load, profile_of

from iocast.analyse.profiling.load_model import fitted_skew, load_model, population
from iocast.errors import AnalysisError
from iocast.model.profiling.profile import Footprint, UseCount


def _drawn(count: int, weights: list[float], *, reads: float = 0.7, seed: int = 1) -> list[Io]:
    """I/Os of 8k, 16k and 64k (80, 10, 10) at 1000 a second, whose 64k blocks have these weights."""
    drawn, total = random.Random(seed), list(accumulate(weights))
    order = list(range(len(weights)))
    drawn.shuffle(order)
    ios, at = [], 0.0
    for _ in range(count):
        at += drawn.expovariate(1000) * SECOND
        block = order[bisect(total, drawn.random() * total[-1])]
        size = drawn.choices((8192, 16384, 65536), (80, 10, 10))[0]
        ios.append((int(at), 0, "R" if drawn.random() < reads else "W", block * 65536, size, 1_000_000))
    return ios


def test_mix_sizes_rate_and_skew_of_a_known_generator(tmp_path: Path) -> None:
    weights = [rank**-1.1 for rank in range(1, 2001)]
    profile = profile_of(tmp_path, _drawn(60_000, weights), reference_bytes=65536)
    (part,) = load_model(profile).parts
    shares = {(item.op, item.size_bytes): item.weight for item in part.items}
    assert sum(share for (op, _), share in shares.items() if op == "read") == pytest.approx(70, abs=1)
    by_size = [shares["read", size] + shares["write", size] for size in (8192, 16384, 65536)]
    assert by_size == [pytest.approx(80, abs=1), pytest.approx(10, abs=1), pytest.approx(10, abs=1)]
    assert part.rate_per_s == pytest.approx(1000, rel=0.02)
    assert part.pattern == "zipf"
    assert part.theta == pytest.approx(1.1, abs=0.1)


def test_a_hot_part_is_no_zipf(tmp_path: Path) -> None:
    weights = [8.0] * 200 + [0.5] * 800  # four fifths to a fifth
    profile = profile_of(tmp_path, _drawn(60_000, weights), reference_bytes=65536)
    skew = fitted_skew(profile.footprint)
    assert skew.pattern == "hotspot"
    assert (skew.space_percent, skew.access_percent) == (pytest.approx(20, abs=1), pytest.approx(80, abs=1.5))


def test_uniform_requests_have_no_skew(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, _drawn(10_000, [1.0] * 2000), reference_bytes=65536)
    assert fitted_skew(profile.footprint).pattern == "random"


def test_blocks_that_were_not_touched_yet_are_estimated() -> None:
    # 1000 draws of 1000 blocks touch 632 of them.
    seen = Footprint(8192, 1000, 632, 632, 0, 0, 0, (UseCount(1, 632),), ())
    assert population(seen) == pytest.approx(1000, rel=0.01)


def test_streams_are_peeled_from_the_random_part(tmp_path: Path) -> None:
    model = load_model(profile_of(tmp_path, database_load()))
    parts = {part.name: part for part in model.parts}
    assert set(parts) == {"scan-read-1", "writes", "random"}
    assert (parts["writes"].pattern, parts["random"].items[0].size_bytes) == ("sequential", 8192)
    assert parts["scan-read-1"].rate_per_s == pytest.approx(96 / 60, rel=0.01)
    assert "targets" in model.missing


def test_what_has_no_sizes_is_no_load(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, [(0, 0, "R", 0, 8192, 1)])
    with pytest.raises(AnalysisError, match="has no times"):
        load_model(profile)


def test_a_single_very_hot_block_is_a_hot_part() -> None:
    # A header that each transaction reads, as SQLite's: 5000 references of one block, 2 to 9 of 2000 others.
    uses = tuple(UseCount(count, 250) for count in range(9, 1, -1))
    seen = Footprint(4096, 5000 + 250 * 44, 2001, 2001, 0, 0, 0, (UseCount(5000, 1), *uses), ())
    skew = fitted_skew(seen)
    assert skew.pattern == "hotspot"
    assert skew.space_percent == pytest.approx(0.05, abs=0.02), "and not 0, which no job may have"
    assert skew.access_percent == pytest.approx(31, abs=2)
