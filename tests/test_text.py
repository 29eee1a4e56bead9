"""Numbers as text: three figures, a unit, and a width that does not jump."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast import text


@pytest.mark.parametrize(
    ("value_ns", "shown"),
    [
        (0, "0 s"),
        (850, "850 ns"),
        (999.4, "999 ns"),
        (999.6, "1.00 µs"),
        (1_000, "1.00 µs"),
        (62_000, "62.0 µs"),
        (999_400, "999 µs"),
        (999_600, "1.00 ms"),
        (1_240_000, "1.24 ms"),
        (3_100_000_000, "3.10 s"),
        (75_000_000_000, "75.0 s"),
        (1_234_000_000_000, "1234 s"),
        (None, ""),
        (math.nan, ""),
    ],
)
def test_duration(value_ns: float | None, shown: str) -> None:
    assert text.duration(value_ns) == shown


@given(st.floats(1, 9.9e11))
def test_a_column_of_durations_is_never_wider_than_six(value_ns: float) -> None:
    assert len(text.duration(value_ns, space="")) <= 6


@given(st.floats(1_000, 1e12))
def test_a_duration_keeps_three_figures(value_ns: float) -> None:
    number, unit = text.duration(value_ns).split()
    factor = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    assert float(number) * factor == pytest.approx(value_ns, rel=0.0051)


@pytest.mark.parametrize(
    ("shown", "wanted"),
    [
        (text.brief_time(62_300), "62 µs"),
        (text.brief_time(1_240_000), "1.2 ms"),
        (text.brief_time(2_000_000_000), "2 s"),
        (text.brief_time(0.4), "0 ns"),
        (text.size(512), "512"),
        (text.size(8192), "8k"),
        (text.size(1 << 20), "1M"),
        (text.size(8130.5), "7.94k"),
        (text.size(2300), "2300"),
        (text.size(1_000_000), "1MB"),
        (text.size(123_456_789), "118M"),
        (text.size(None), ""),
        (text.size(1023.7 * 1024), "1M"),
        (text.size(1023 * 1024), "1023k"),
        (text.size(1023), "1023"),
        (text.duration(0, space=""), "0s"),
        (text.article("8k"), "an"),
        (text.share_of(0.95), "95% of"),
        (text.share_of(2.36), "2.4 times"),
        (text.share_of(49.42), "49 times"),
        (text.article("800k"), "an"),
        (text.article("16k"), "a"),
        (text.article("11k"), "an"),
        (text.article("18M"), "an"),
        (text.article("110k"), "a"),
        (text.article("1M"), "a"),
        (text.capacity(2 << 30), "2.0 GiB"),
        (text.capacity(512), "512 bytes"),
        (text.capacity(2048), "2.0 KiB"),
        (text.megabytes_per_s(12_106_000), "12.1"),
        (text.megabytes_per_s(840_000), "0.84"),
        (text.megabytes_per_s(1_240_000_000), "1240"),
        (text.brief_throughput(997e6), "997 MB/s"),
        (text.brief_throughput(1.24e9), "1.2 GB/s"),
        (text.brief_throughput(12), "12 bytes/s"),
        (text.rate(12_400), "12.4k"),
        (text.rate(999.4), "999"),
        (text.rate(999.6), "1.00k"),
        (text.rate(1_240_000), "1.24M"),
        (text.rate(3.5), "3.5"),
        (text.percent(0.004), "0.4%"),
        (text.percent(0.12), "12%"),
        (text.percent(0.0001), "<0.1%"),
        (text.percent(0.0), "0%"),
        (text.decimal(63.97), "64.0"),
        (text.decimal(128.4), "128"),
        (text.whole(12_400), "12,400"),
        (text.load(4, 1), "4x1"),
        (text.load(4, 16), "4x16"),
        (text.ratio(1.126, 1.04, 1.23), "1.13 (1.04..1.23)"),
        (text.ratio(0.0042, 0.00051, 0.1), "0.0042 (0.00051..0.10)"),
        (text.ratio(0.0, None, None), "0.00"),
        (text.instant(0), "1970-01-01 00:00 UTC"),
    ],
)
def test_other_figures(shown: str, wanted: str) -> None:
    assert shown == wanted


def test_the_strip_shows_every_share_and_only_those() -> None:
    shares = (0.0, 1e-6, 0.125, 0.126, 0.5, 1.0)
    assert text.strip(shares) == "·▁▁▂▄█"
    assert text.strip_ascii(shares) == ".01159"
    assert text.strip(None) == text.strip_ascii(None) == ""


@given(st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_a_strip_has_one_sign_a_bucket(shares: list[float]) -> None:
    assert len(text.strip(shares)) == len(text.strip_ascii(shares)) == 10
    for share, sign, digit in zip(shares, text.strip(shares), text.strip_ascii(shares), strict=True):
        assert (sign == "·") == (share == 0) or share < 1e-9
        assert (digit == ".") == (share == 0)


def test_a_negative_time_is_a_difference() -> None:
    assert text.duration(-2_286_965, space="") == "-2.29ms"
    assert text.duration(-999.6) == "-1.00 µs"
    assert text.brief_time(-2_286_965) == "-2.3 ms"


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0.5, "500 ms"), (42, "42.0 s"), (300, "5 min"), (3_930, "1 h 5 min"), (86_400, "24 h"), (273_700, "3 d 4 h")],
)
def test_a_long_duration_has_two_units(seconds: float, said: str) -> None:
    assert text.long_duration(seconds * 1e9) == said
