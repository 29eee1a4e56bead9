"""A profile says of made traces what they were made of, and of real ones what others found."""

from __future__ import annotations

import random
from collections import OrderedDict
from pathlib import Path

import pytest
from makers.made_traces import SECOND, database_load, profile_of, random_reads, scan
from makers.trace_samples import MSR, SHARED, WITHOUT_SHARED

from iocast.analyse.profiling.concurrency import concurrency, loop_of
from iocast.analyse.profiling.layer_bands import latency_modes, layer_of
from iocast.analyse.profiling.measure_profile import measure_profile
from iocast.analyse.profiling.scans import scans
from iocast.analyse.profiling.trace_phases import trace_phases
from iocast.analyse.profiling.use_shares import share_curve, share_of_busiest
from iocast.errors import AnalysisError
from iocast.report.profile.profile_sentences import cautions, scan_words
from iocast.results.profiles import long_runs
from iocast.tools.traces import TraceOptions, read_traces


def _lru_misses(references: list[object], size: int) -> float:
    cache: OrderedDict[object, None] = OrderedDict()
    misses = 0
    for each in references:
        if each in cache:
            cache.move_to_end(each)
            continue
        misses += 1
        cache[each] = None
        if len(cache) > size:
            cache.popitem(last=False)
    return misses / len(references)


def test_counts_of_a_database_load(tmp_path: Path) -> None:
    ios = database_load()
    profile = profile_of(tmp_path, ios)
    assert (profile.events, profile.with_latency, profile.targets) == (len(ios), len(ios), 3)
    reads = sum(each.events for each in profile.sizes if each.op == 0)
    assert reads == sum(io[2] == "R" for io in ios)
    assert profile.reference_bytes == 8192
    writes = profile.order.streams.of(1)
    assert writes is not None
    assert writes.sequential_requests > 0.98 * writes.requests
    reads_found = profile.order.streams.of(0)
    assert reads_found is not None
    assert reads_found.sequential_requests < 0.05 * reads_found.requests
    assert reads_found.random < reads_found.requests


def test_a_scan_every_ten_seconds_is_found_with_its_period(tmp_path: Path) -> None:
    (first, *_) = scans(profile_of(tmp_path, database_load()))
    assert (first.runs, first.bytes, first.requests) == (6, 16 << 20, 16)
    assert first.period_ns == pytest.approx(10 * SECOND)


def test_the_hot_fifth_gets_four_fifths(tmp_path: Path) -> None:
    drawn = random.Random(2)
    reads = [
        (
            at * 1000,
            0,
            "R",
            (drawn.randrange(200) if drawn.random() < 0.8 else 200 + drawn.randrange(800)) * 8192,
            8192,
            1,
        )
        for at in range(100_000)
    ]
    footprint = profile_of(tmp_path, reads).footprint
    assert footprint is not None
    assert (footprint.blocks, footprint.references) == (1000, 100_000)
    assert share_of_busiest(share_curve(footprint), 0.2) == pytest.approx(0.8, abs=0.01)
    assert footprint.hot_spots[0].offset < 200 * 8192


def test_requests_are_cut_into_blocks_and_cut_blocks_count_twice(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, [(0, 0, "W", 4096, 8192, 5), (9, 0, "W", 8191, 2, 5)], reference_bytes=4096)
    footprint = profile.footprint
    assert footprint is not None
    assert (footprint.references, footprint.blocks, footprint.rewritten_blocks) == (4, 2, 2)


def test_misses_are_those_of_a_real_lru(tmp_path: Path) -> None:
    drawn = random.Random(4)
    blocks = [int(drawn.paretovariate(0.4)) % 5000 for _ in range(20_000)]
    ios = [(at * 1000, 0, "R", block * 8192, 8192, 1) for at, block in enumerate(blocks)]
    curve = profile_of(tmp_path, ios, cache_bytes=[777 * 8192]).order.references.all
    assert curve is not None
    for size in (16, 777, 1024):
        assert curve.ratios[curve.cache_blocks.index(size)] == pytest.approx(_lru_misses(list(blocks), size), abs=1e-12)


def test_misses_of_a_public_trace_are_those_of_a_real_lru(tmp_path: Path) -> None:
    trace = SHARED / "block_csv/cloudphysics_part.csv"
    if not trace.exists():
        pytest.skip(WITHOUT_SHARED)
    events = str(tmp_path / "events.parquet")
    read_traces((str(trace),), events)
    profile = measure_profile(events, "a", "0", reference_bytes=None, cache_bytes=[5000])
    curve, arrivals = profile.order.references.all, profile.order.arrivals
    assert curve is not None
    assert arrivals is not None
    # 39,999 requests in 1,861 s; stamps are whole seconds, which say nothing of shorter windows.
    assert (profile.length_ns, profile.tick_ns) == (1_861 * 10**9, 10**9)
    assert arrivals.rate_per_s == pytest.approx(21.49, abs=0.01)
    assert [each.width_ns for each in arrivals.peaks] == [10**9, 10**10, 6 * 10**10]
    # 33,667 of 39,999 references miss in an LRU list of 5000 that is simulated step by step.
    places = [line.rpartition(",")[2] for line in trace.read_text().splitlines()[1:]]
    assert _lru_misses(list(places), 5000) == pytest.approx(33_667 / 39_999)
    assert curve.ratios[curve.cache_blocks.index(5000)] == pytest.approx(33_667 / 39_999, abs=1e-9)


def test_a_real_session_of_oracle_to_the_digit(tmp_path: Path) -> None:
    trace = SHARED / "oracle_10046/ora12101_dbfsr_part1.trc"
    if not trace.exists():
        pytest.skip(WITHOUT_SHARED)
    events = str(tmp_path / "events.parquet")
    read_traces((str(trace),), events, TraceOptions(block_size_bytes=8192))
    profile = measure_profile(events, "a", "0")
    (cell,) = profile.order.by_size
    assert (cell.events, round(cell.latency.mean_ns / 1e6, 3)) == (14_395, 5.927)
    fast, slow = latency_modes(profile)
    assert (round(fast.share, 2), round(slow.share, 2)) == (0.27, 0.73)
    assert (fast.layer, slow.layer) == ("array_cache", "disk")
    found = concurrency(profile)
    assert found is not None
    assert round(found.mean, 3) == 0.984
    assert (found.most, found.little_holds, loop_of(profile).code, loop_of(profile).depth) == (1, True, "closed", 1)


def test_random_arrivals_are_an_open_load(tmp_path: Path) -> None:
    profile = profile_of(tmp_path, random_reads(20_000))
    arrivals = profile.order.arrivals
    assert arrivals is not None
    assert arrivals.rate_per_s == pytest.approx(1000, rel=0.03)
    assert all(0.7 < each.index < 1.4 for each in arrivals.dispersion if each.windows >= 200)
    assert (loop_of(profile).code, loop_of(profile).reason) == ("open", "independent")
    found = concurrency(profile)
    assert found is not None
    assert found.mean == pytest.approx(1.0, rel=0.05)


def test_a_depth_of_four_is_a_closed_load(tmp_path: Path) -> None:
    drawn, ends, ios = random.Random(3), [0.0] * 4, []
    for _ in range(5000):
        ends.sort()
        at, took = ends[0], drawn.expovariate(1) * 1e6
        ends[0] = at + took
        ios.append((int(at), 0, "R", drawn.randrange(1 << 20) * 8192, 8192, int(took)))
    loop = loop_of(profile_of(tmp_path, ios))
    assert (loop.code, loop.reason, loop.depth) == ("closed", "constant_depth", 4)


def test_a_light_load_may_be_either(tmp_path: Path) -> None:
    loop = loop_of(profile_of(tmp_path, random_reads(2000, rate_per_s=5)))
    assert (loop.code, loop.reason) == ("unknown", "light")


def test_a_rate_that_doubles_is_two_phases(tmp_path: Path) -> None:
    slow = random_reads(6000, 500)
    fast = [(io[0] + slow[-1][0], *io[1:]) for io in random_reads(24_000, 2000, seed=2)]
    first, second = trace_phases(profile_of(tmp_path, slow + fast))
    assert first.rate_per_s == pytest.approx(500, rel=0.06)
    assert second.rate_per_s == pytest.approx(2000, rel=0.06)
    assert len(trace_phases(profile_of(tmp_path, random_reads(20_000)))) == 1


def test_events_out_of_order_are_sorted_first(tmp_path: Path) -> None:
    ios = scan(0, 0, 65536, 100)
    one = profile_of(tmp_path, ios)
    other = profile_of(tmp_path, list(reversed(ios)))
    assert one.order == other.order


def test_what_a_trace_does_not_say_is_unknown(tmp_path: Path) -> None:
    trace = tmp_path / "log"
    trace.write_text("fio version 2 iolog\n/a add\n/a read 0 512\n/a read 512 512\n")
    events = str(tmp_path / "events.parquet")
    read_traces((str(trace),), events)
    profile = measure_profile(events, "log", "0")
    assert profile.order.in_flight is None
    assert concurrency(profile) is None
    assert (profile.with_latency, loop_of(profile).reason) == (0, "no_latency")
    assert trace_phases(profile) == ()


def test_a_file_that_is_no_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_text("PAR1 and nothing else")
    with pytest.raises(AnalysisError, match="cannot be profiled"):
        measure_profile(str(tmp_path / "a.parquet"), "a", "0")


def test_a_footer_whose_words_are_no_json_is_one_error(tmp_path: Path) -> None:
    (trace := tmp_path / "trace.csv").write_text(MSR)
    events = tmp_path / "events.parquet"
    read_traces((str(trace),), str(events))
    table = events.read_bytes()
    assert b'[{"path"' in table
    events.write_bytes(table.replace(b'[{"path"', b'?{"path"'))
    with pytest.raises(AnalysisError, match="what its footer says of its traces is damaged"):
        measure_profile(str(events), "a", "0")


@pytest.mark.parametrize(
    ("ns", "layer"), [(5_000, "host_cache"), (100_000, "flash"), (933_000, "array_cache"), (8_500_000, "disk")]
)
def test_bands_of_latency(ns: int, layer: str) -> None:
    assert layer_of(ns) == layer


def test_more_scans_than_are_told_one_by_one_count_all(tmp_path: Path) -> None:
    ios = [io for at in range(300) for io in scan(at * 2 * SECOND, at * (1 << 30), 1 << 20, 10)]
    profile = profile_of(tmp_path, ios)
    (found,) = scans(profile)
    assert (found.runs, found.all_told, found.period_ns) == (256, False, None)
    assert found.total_bytes == pytest.approx(300 * 10 * (1 << 20))
    assert "at least 256 sequential reads of up to 10M" in scan_words(profile, *long_runs(profile))


def test_windows_shorter_than_a_step_of_the_stamps_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "t").write_text(
        "version,time,op,size,lbn\n" + "".join(f"1,{at // 50},28,512,8\n" for at in range(5000))
    )
    events = str(tmp_path / "events.parquet")
    read_traces((str(tmp_path / "t"),), events)
    profile = measure_profile(events, "a", "0")
    found = profile.order.arrivals
    assert found is not None
    assert [(each.width_ns, each.most_events) for each in found.peaks] == [
        (10**9, 50),
        (10**10, 500),
        (6 * 10**10, 3000),
    ]
    assert min(each.width_ns for each in found.dispersion) > 10**9
    assert any("steps of 1 s" in each for each in cautions(profile))


def test_the_pause_of_a_closed_load_gives_the_rate_of_the_trace(tmp_path: Path) -> None:
    """Two sessions take turns: one I/O of 800 us at a time, every 1,000 us. A pause of 1,200 us would be too long."""
    ios = [(at * 1_000_000, at % 2, "R", at * 8192, 8192, 800_000) for at in range(2000)]
    loop = loop_of(profile_of(tmp_path, ios))
    assert (loop.code, loop.reason, loop.depth) == ("closed", "constant_depth", 1)
    assert loop.think_ns == pytest.approx(200_000, rel=0.01)


def test_a_long_io_at_the_end_is_no_wrong_unit(tmp_path: Path) -> None:
    """A flush of 20 ms is the last of a trace of 1 s; one of half the trace is doubted."""
    ios = [(at * 1_000_000, 0, "W", at * 8192, 8192, 100_000) for at in range(1000)]
    found = concurrency(profile_of(tmp_path, [*ios, (1_000_000_000, 0, "W", 0, 8192, 20_000_000)]))
    assert found is not None
    assert found.edge_share > 0.1
    assert found.little_holds
    doubted = concurrency(profile_of(tmp_path, [*ios, (1_000_000_000, 0, "W", 0, 8192, 500_000_000)]))
    assert doubted is not None
    assert not doubted.little_holds


def test_concurrency_of_few_latencies_is_unknown(tmp_path: Path) -> None:
    """Direct path I/Os of Oracle have no latency: the rest would say too little is under way."""
    wait = "WAIT #7: nam='{}' ela= 900 file number=4 first dba={} block cnt=1 obj#=8 tim={}\n"
    names = ["db file sequential read", *["direct path read"] * 3]
    text = "".join(wait.format(names[at % 4], at, 2_000_000 + 1000 * at) for at in range(40))
    (tmp_path / "o.trc").write_text("Oracle Database 12c Release 12.1.0.1.0\n" + text)
    events = str(tmp_path / "events.parquet")
    read_traces((str(tmp_path / "o.trc"),), events)
    profile = measure_profile(events, "a", "0")
    assert 0 < profile.with_latency < profile.events / 2
    assert concurrency(profile) is None
    assert (loop_of(profile).code, loop_of(profile).reason) == ("unknown", "few")
