"""Two profiles: counts, then sizes, then times, then why; development against production of a published comparison."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.made_traces import Io, profile_of

from iocast.analyse.profiling.latency_difference import profile_difference, strip
from iocast.model.profiling.profile import Profile
from iocast.report.profile.profile_comparison import comparison_verdict, profile_comparison
from iocast.report.renderers import json_report

# Counts of single-block reads by latency of a published comparison of two databases (source-vectors.md V8), with the
# edges of production. The edges of development are not published: they are chosen so that its stated mean can come
# out. Within a bucket, values are placed so that both means are the stated ones.
PRODUCTION = (4419, 2713, 391, 118, 22189, 2794, 1688, 2003, 11969, 14877, 2003, 105, 3, 3)
PRODUCTION_UPPER_US = (10, 50, 100, 200, 500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 100_000, 500_000)
DEVELOPMENT = (1, 14, 908, 13238, 6900, 9197, 15603, 9056, 265, 26, 12, 12)
DEVELOPMENT_UPPER_US = (64, 128, 256, 512, 1024, 2048, 16_000, 32_000, 65_000, 131_000, 262_000, 524_000)


def _reads(counts: tuple[int, ...], uppers: tuple[int, ...], mean_us: float) -> list[Io]:
    """Reads in these buckets with this mean: each at the same share of the way up its bucket."""
    lowers = (0, *uppers)[: len(uppers)]
    total = sum(counts)
    low = sum(count * lower for count, lower in zip(counts, lowers, strict=True)) / total
    high = sum(count * upper for count, upper in zip(counts, uppers, strict=True)) / total
    way = (mean_us - low) / (high - low)
    assert 0 < way < 1
    ios, at = [], 0
    for count, lower, upper in zip(counts, lowers, uppers, strict=True):
        took = round((lower + way * (upper - lower)) * 1000)
        for _ in range(count):
            ios.append((at, 0, "R", (at * 7919) % (1 << 40) // 8192 * 8192, 8192, took))
            at += 20_000_000
    return ios


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> tuple[Profile, Profile]:
    dev = _reads(DEVELOPMENT, DEVELOPMENT_UPPER_US, 8643)
    prod = _reads(PRODUCTION, PRODUCTION_UPPER_US, 4516)
    return profile_of(tmp_path_factory.mktemp("d"), dev), profile_of(tmp_path_factory.mktemp("p"), prod)


def test_development_and_production(sides: tuple[Profile, Profile]) -> None:
    found = profile_difference(*sides)
    (cell,) = found.cells
    assert (cell.first.events, cell.other.events) == (55_232, 65_275)
    means = [each.latency.mean_ns / 1e6 for each in (cell.first, cell.other)]
    assert means == [pytest.approx(8.643, rel=1e-3), pytest.approx(4.516, rel=1e-3)]
    assert cell.bands[0].other_share == pytest.approx(7132 / 65_275)  # 10.93 % below 64 us
    assert strip(cell.other.latency) == (*PRODUCTION, 0)
    said = comparison_verdict(found)
    assert said.startswith(
        "B has 1.18 times as many I/Os as A, same operations and sizes; 8k reads are 1.91 times faster"
    )
    assert "8.6 ms (A), 4.5 ms (B)" in said
    assert "0.00181% (A) and 10.9% (B) take below 64 µs, as from a cache in the host." in said


def test_the_parts_add_up_to_the_difference(sides: tuple[Profile, Profile]) -> None:
    (cell,) = profile_difference(*sides).cells
    parts = sum(each.by_share_ns + each.by_time_ns for each in cell.bands)
    assert parts == pytest.approx(cell.difference_ns, rel=0.005)  # buckets are known within 0.2 %


def _mixed(fast_share: float, slow_ns: int) -> list[Io]:
    return [
        (
            at * 10_000_000,
            0,
            "R",
            at * 8192 * 9973 % (1 << 40),
            8192,
            30_000 if at % 100 < fast_share * 100 else slow_ns,
        )
        for at in range(2000)
    ]


def test_fewer_cache_hits_are_told_as_the_reason(tmp_path: Path) -> None:
    first = profile_of(tmp_path, _mixed(0.8, 5_000_000))
    other = profile_of(tmp_path, _mixed(0.1, 5_000_000))
    said = comparison_verdict(profile_difference(first, other))
    assert said.startswith("Same number of I/Os, same operations and sizes; 8k reads are ")
    assert "Mostly because 80% (A) and 10% (B) of them take below 64 µs (page cache or memory)." in said


def test_slower_storage_is_told_as_the_reason(tmp_path: Path) -> None:
    first = profile_of(tmp_path, _mixed(0.1, 5_000_000))
    other = profile_of(tmp_path, _mixed(0.1, 15_000_000))
    report = profile_comparison(first, other)
    assert "Mostly because those from 1 ms to 100 ms (disk, or queueing) take longer." in report.verdict
    assert {table.key for part in report.sections for table in part.tables} == {
        "workloads",
        "compared_operations",
        "reasons",
        "compared_latencies",
    }


def test_what_is_compared_is_figures_in_json_and_words_in_the_table(tmp_path: Path) -> None:
    first = profile_of(tmp_path, _mixed(0.1, 5_000_000))
    other = profile_of(tmp_path, [*_mixed(0.1, 5_000_000), (1, 1, "W", 0, 512, 1000)])
    report = profile_comparison(first, other)
    rows = {(row.code, row.op): row for row in json_report.document(report).workloads}  # type: ignore[union-attr]
    assert (rows["events", None].first_count, rows["events", None].other_count) == (2000, 2001)
    assert (rows["share", "write"].first_share, rows["share", "write"].other_share) == (0, pytest.approx(1 / 2001))
    assert (rows["size", "write"].first_bytes, rows["size", "write"].other_bytes) == (None, 512)
    (table,) = (table for part in report.sections for table in part.tables if table.key == "workloads")
    told = {row.cells["code"]: (row.cells["first"], row.cells["other"]) for row in table.rows}
    assert (told["I/Os"], told["writes"]) == (("2,000", "2,001"), ("0%", "<0.1%"))
    assert (told["reads: size"], told["writes: size"]) == (("8k", "8k"), ("", "512 B"))
    assert told["reads: pattern"] == ("random", "random")


def test_other_sizes_are_said(tmp_path: Path) -> None:
    first = profile_of(tmp_path, _mixed(0.1, 5_000_000))
    other = profile_of(tmp_path, [(*io[:4], 16384, io[5]) for io in _mixed(0.1, 5_000_000)])
    said = comparison_verdict(profile_difference(first, other))
    assert said == (
        "Same number of I/Os, 100% of them of other operations or sizes; no latencies of the same operation and size "
        "to compare."
    )
