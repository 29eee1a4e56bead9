"""What `iocast watch blk` writes: iolatency's histogram to the character, slow requests, losses, raw values."""

from __future__ import annotations

import json
from datetime import datetime

import pytest
from makers.card_runs import histogram

from iocast.model.block_times import BlockClass, BlockDevice, BlockTimes, DeviceNumber, SlowRequest
from iocast.report.renderers import block_lines

TEN_SECONDS = (95, 74, 475, 2035, 1245, 37, 11, 7, 23, 10)  # published: 4012 I/Os of a database server


def times(*, lost: int = 0, slow: tuple[SlowRequest, ...] = (), slow_count: int = 0) -> BlockTimes:
    """100 reads of 8k in one second, on sda."""
    reads = BlockClass(
        op="read",
        size_bytes=8192,
        ios=100,
        bytes=819_200,
        queue=histogram((2_000, 50)),
        device=histogram((1_000_000, 99), (600_000_000, 1)),
        total=histogram((1_001_000, 99), (600_002_000, 1)),
    )
    disk = BlockDevice(
        device=DeviceNumber(8, 0),
        name="sda",
        classes=(reads,),
        device_ms_powers=(99, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        total_ms_powers=(0, 99, 0, 0, 0, 0, 0, 0, 0, 0, 1),
        slow=slow,
        slow_count=slow_count,
        in_flight=3,
    )
    return BlockTimes(elapsed_ns=1_000_000_000, watched_ns=1_000_000_000, lost_events=lost, devices=(disk,))


def test_iolatency_prints_the_published_sample() -> None:
    lines = list(block_lines.iolatency(TEN_SECONDS, "ms"))
    assert lines == [
        "  >=(ms) .. <(ms)   : I/O      |Distribution                          |",
        "       0 -> 1       : 95       |##                                    |",
        "       1 -> 2       : 74       |##                                    |",
        "       2 -> 4       : 475      |#########                             |",
        "       4 -> 8       : 2035     |######################################|",
        "       8 -> 16      : 1245     |########################              |",
        "      16 -> 32      : 37       |#                                     |",
        "      32 -> 64      : 11       |#                                     |",
        "      64 -> 128     : 7        |#                                     |",
        "     128 -> 256     : 23       |#                                     |",
        "     256 -> 512     : 10       |#                                     |",
    ]
    assert [block_lines.stars(count, 2035) for count in TEN_SECONDS] == [2, 2, 9, 38, 24, 1, 1, 1, 1, 1]
    assert sum(TEN_SECONDS) == 4012


def test_in_microseconds_the_times_are_added_up() -> None:
    counts = (0,) * 9 + (1396, 23945, 34846)  # 256, 512 and 1024 µs and more, as published
    lines = list(block_lines.iolatency(counts, "us"))
    assert [line.rsplit(" ", 1)[1] for line in lines[-3:]] == ["536064", "18389760", "53523456"]
    assert lines[0].startswith("  >=(us) .. <(us)   : I/O ")


def test_nothing_done_is_a_head_without_rows() -> None:
    assert len(list(block_lines.iolatency((), "ms"))) == 1
    assert block_lines.stars(0, 10) == 0


def test_powers_add_up_devices_of_different_reach() -> None:
    one = times()
    other = BlockDevice(device=DeviceNumber(8, 16), device_ms_powers=(1, 2), total_ms_powers=(3,))
    both = BlockTimes(elapsed_ns=1, watched_ns=1, devices=(*one.devices, other))
    assert block_lines.powers(both, "ms", queued=False) == (100, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    assert block_lines.powers(both, "ms", queued=True)[:2] == (3, 99)


def test_an_outlier_is_one_line_and_a_device_is_summed_up() -> None:
    outlier = SlowRequest(at_ns=1, op="read", sector=123_456, size_bytes=8192, queue_ns=2_000, device_ns=600_000_000)
    lines = list(block_lines.slow(times(slow=(outlier,), slow_count=1), 500_000_000))
    assert lines == [
        "> 500000 us: sda, sector 123456, 600002 us (read of 8k)",
        "sda: num 100, min 1.00 ms, avg 6.99 ms, max 600 ms",
    ]
    assert "> 500000 us: sda, and 8 more" in block_lines.slow(times(slow=(outlier,), slow_count=9), 500_000_000)


def test_the_live_table() -> None:
    head, row = block_lines.live(times())
    assert row.split() == ["sda", "read", "100", "0.82", "2.00µs", "2.00µs", "2.00µs", "1.00ms", "1.00ms", "600ms", "3"]
    assert len(head) == len(row)


def test_what_was_lost_is_said() -> None:
    assert list(block_lines.losses(times())) == []
    assert list(block_lines.live(times(lost=7)))[-1] == "lost: 7 trace records; the counts above are too low"


def test_raw_values_are_one_line_of_json() -> None:
    line = block_lines.json_line(times(lost=1), 42)
    assert "\n" not in line
    said = json.loads(line)
    (disk,) = said["devices"]
    assert (said["time_unix_ns"], said["lost_events"], disk["number"], disk["in_flight"]) == (42, 1, "8:0", 3)
    (reads,) = disk["classes"]
    assert (reads["op"], reads["ios"], reads["queue"]["count"]) == ("read", 100, 50)
    assert reads["device"]["max_ns"] == pytest.approx(600_000_000)


def test_an_interval_says_its_time_when_asked() -> None:
    """As -T of iolatency does, below the blank line; the option did not exist."""
    ended = int(datetime(2026, 11, 22, 20, 46, 33).timestamp()) * 10**9  # local time
    for shown in (block_lines.Shown(timed=True), block_lines.Shown(timed=True, iolatency=True)):
        assert block_lines.interval_text(times(), ended, shown).splitlines()[:2] == ["", "20:46:33:"]
    assert "20:46:33" not in block_lines.interval_text(times(), ended, block_lines.Shown())
