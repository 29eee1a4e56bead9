"""Units: what is accepted, what is refused and why, and that texts come back as they were."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.errors import SpecError
from iocast.units import (
    LARGEST,
    bandwidth_text,
    duration_text,
    parse_bandwidth,
    parse_duration,
    parse_percent,
    parse_rate,
    parse_size,
    rate_text,
    size_text,
)

SIZES = "sizes are written 4096, 8k or 8KiB (1024 each), 8kB (1000 each), and so on with M, G, T, P"


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("8k", 8192),
        ("8K", 8192),
        ("0008k", 8192),
        ("8KiB", 8192),
        ("8kiB", 8192),
        ("8kB", 8000),
        ("8KB", 8000),
        ("1m", 1 << 20),
        ("1MiB", 1 << 20),
        ("200MB", 200_000_000),
        ("2 GiB", 2 << 30),
        (" 2g ", 2 << 30),
        ("1.5GiB", 3 << 29),
        (".5k", 512),
        ("1TB", 10**12),
        ("1TiB", 1 << 40),
        ("1PB", 10**15),
        ("1p", 1 << 50),
        ("512B", 512),
        ("4096", 4096),
        (4096, 4096),
        ("0", 0),
    ],
)
def test_sizes(text: str | int, size_bytes: int) -> None:
    assert parse_size(text) == size_bytes


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", '"" is not a size: empty'),
        ("  ", '"  " is not a size: empty'),
        ("-8k", '"-8k" is not a size: negative'),
        (-8, "-8 is not a size: negative"),
        (True, "true is not a size: the unit is missing"),
        ("nan", '"nan" is not a size: no number at the start'),
        ("inf", '"inf" is not a size: no number at the start'),
        ("+8k", '"+8k" is not a size: no number at the start'),
        ("1e3", '"1e3" is not a size: unknown unit "e3"'),
        ("8q", '"8q" is not a size: unknown unit "q"'),
        ("8 kibi", '"8 kibi" is not a size: unknown unit "kibi"'),
        ("8k k", '"8k k" is not a size: unknown unit "k k"'),
        ("0.3k", '"0.3k" is not a size: not a whole number of bytes'),
        ("9000000p", '"9000000p" is not a size: too large'),
        (
            "8kb",
            '"8kb" is not a size: "kb" may mean bits or bytes: write KiB (1024) or kB (1000), with this capitalisation',
        ),
        (
            "8 Mib",
            '"8 Mib" is not a size: "Mib" may mean bits or bytes: write MiB (1024) or MB (1000), '
            "with this capitalisation",
        ),
        ("512b", '"512b" is not a size: "b" may mean bits or bytes: write B for bytes'),
        ("٨k", '"٨k" is not a size: no number at the start'),
    ],
)
def test_refused_sizes(text: str | int, message: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_size(text)
    assert refused.value.message == message
    assert refused.value.hint == SIZES


def test_a_very_long_number_is_refused_and_cut() -> None:
    with pytest.raises(SpecError, match=r'^"9{59,60}…" is not a size') as refused:
        parse_size("9" * 10_000)
    assert len(refused.value.message) < 120


@pytest.mark.parametrize(
    ("text", "duration_ns"),
    [
        ("10s", 10_000_000_000),
        ("500ms", 500_000_000),
        ("2m", 120_000_000_000),
        ("2min", 120_000_000_000),
        ("1h", 3_600_000_000_000),
        ("1d", 86_400_000_000_000),
        ("1.5s", 1_500_000_000),
        ("100us", 100_000),
        ("100µs", 100_000),
        ("100μs", 100_000),
        ("0.1 ns", None),
        ("7ns", 7),
        ("10", None),
        ("10S", None),
        ("-1s", None),
        ("soon", None),
    ],
)
def test_durations(text: str, duration_ns: int | None) -> None:
    if duration_ns is not None:
        assert parse_duration(text) == duration_ns
        return
    with pytest.raises(SpecError) as refused:
        parse_duration(text)
    assert refused.value.message.startswith(f'"{text}" is not a time: ')
    assert refused.value.hint == "times are written 100us, 500ms, 10s, 1.5s, 2m, 1h, 1d"


@pytest.mark.parametrize(
    ("text", "rate_per_s"),
    [
        ("500/s", 500.0),
        ("2.5k/s", 2500.0),
        ("1M/s", 1e6),
        ("30/min", 0.5),
        ("100 / h", 100 / 3600),
        ("0/s", 0.0),
    ],
)
def test_rates(text: str, rate_per_s: float) -> None:
    assert parse_rate(text) == rate_per_s


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("500", '"/s" or "/min" is missing'),
        ("500/week", 'unknown unit "/week"'),
        ("5MB/s", 'unknown unit "MB/s"'),
        ("-5/s", "negative"),
        ("nan/s", "no number at the start"),
        ("", "empty"),
    ],
)
def test_refused_rates(text: str, why: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_rate(text)
    assert refused.value.message == f'"{text}" is not a rate: {why}'
    assert refused.value.hint == "rates are written 500/s, 2.5k/s (k = 1000), 30/min, 100/h"


def test_bandwidths_never_mix_1000_and_1024() -> None:
    assert parse_bandwidth("200MB/s") == 200_000_000
    assert parse_bandwidth("200MiB/s") == 209_715_200
    assert parse_bandwidth("1M/s") == 1_048_576


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("200MB", '"/s" is missing at the end'),
        ("200MB/min", '"/s" is missing at the end'),
        ("-1MB/s", "negative"),
        ("", "empty"),
        ("1Q/s", 'unknown unit "Q"'),
        ("1Mb/s", '"Mb" may mean bits or bytes: write MiB (1024) or MB (1000), with this capitalisation'),
    ],
)
def test_refused_bandwidths(text: str, why: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_bandwidth(text)
    assert refused.value.message == f'"{text}" is not a bandwidth: {why}'


def test_percentages() -> None:
    assert parse_percent("50%") == 50.0
    assert parse_percent("0.1 %") == 0.1
    for text, why in {
        "50": '"%" is missing',
        "101%": "more than 100",
        "5%%": 'unknown unit "%%"',
    }.items():
        with pytest.raises(SpecError) as refused:
            parse_percent(text)
        assert refused.value.message == f'"{text}" is not a percentage: {why}'


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [(8192, "8k"), (1 << 20, "1M"), (2 << 30, "2G"), (512, "512"), (1536, "1536"), (10**9, "1GB"), (0, "0")],
)
def test_size_text(size_bytes: int, text: str) -> None:
    assert size_text(size_bytes) == text


def test_other_texts() -> None:
    assert [duration_text(ns) for ns in (0, 7, 100_000, 500_000_000, 90_000_000_000, 3_600_000_000_000)] == [
        "0s",
        "7ns",
        "100us",
        "500ms",
        "90s",
        "1h",
    ]
    assert [rate_text(rate) for rate in (500.0, 0.5, 1e7)] == ["500/s", "0.5/s", "10000000/s"]
    assert bandwidth_text(200_000_000) == "200MB/s"


@given(st.integers(0, LARGEST))
def test_sizes_come_back(size_bytes: int) -> None:
    assert parse_size(size_text(size_bytes)) == size_bytes
    assert parse_bandwidth(bandwidth_text(size_bytes)) == size_bytes


@given(
    st.integers(0, 8000),
    st.sampled_from([1, 512, 1000, 1024, 10**6, 1 << 20, 10**9, 1 << 30, 10**12, 1 << 40]),
)
def test_round_sizes_come_back(count: int, factor: int) -> None:
    assert parse_size(size_text(count * factor)) == count * factor


@given(st.integers(0, 10**18))
def test_durations_come_back(duration_ns: int) -> None:
    assert parse_duration(duration_text(duration_ns)) == duration_ns


@given(st.floats(1e-6, 1e12) | st.just(0.0))
def test_rates_come_back(rate_per_s: float) -> None:
    assert parse_rate(rate_text(rate_per_s)) == rate_per_s


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    for parse in (parse_size, parse_duration, parse_rate, parse_bandwidth, parse_percent):
        try:
            read, said, hint = parse(text), '"', "-"
        except SpecError as error:
            read, said, hint = 0, error.message, error.hint
        assert read >= 0
        assert said.startswith('"')
        assert hint
