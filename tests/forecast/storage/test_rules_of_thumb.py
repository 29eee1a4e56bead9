"""Rules of thumb: dated, in order, and the links carry what their line code leaves."""

from __future__ import annotations

import pytest

from iocast.forecast.laws.link_payload import fibre_round_trip_s, serial_payload_bytes_per_s, tcp_payload_bytes_per_s
from iocast.forecast.storage.rules_of_thumb import rules_of_thumb


def test_every_medium_has_a_band_a_source_and_a_date() -> None:
    names = [medium.name for medium in rules_of_thumb().medium]
    assert {"15,000 rpm disk", "NVMe SSD", "SATA SSD"} <= set(names)
    for medium in rules_of_thumb().medium:
        low, high, good = medium.read_ns
        assert low < good < high, medium.name
        assert medium.iops_low < medium.iops_high
        assert medium.source
        assert medium.checked.year >= 2026


def test_6_ms_is_good_on_a_fast_disk() -> None:
    fast = next(medium for medium in rules_of_thumb().medium if medium.name.startswith("15,000"))
    assert fast.read_ns == (4_000_000, 10_000_000, 6_000_000)


def test_links_carry_about_100_mb_per_s_a_gbit() -> None:
    for link in rules_of_thumb().link:
        assert 0.95 * link.rule_bytes_per_s <= link.payload_bytes_per_s <= 1.2 * link.rule_bytes_per_s, link.name


def test_payloads() -> None:
    assert tcp_payload_bytes_per_s(1) == pytest.approx(117.68531e6, rel=1e-6)
    assert serial_payload_bytes_per_s(2.125, 8, 10, 2) == pytest.approx(425e6)
    assert fibre_round_trip_s(1) == pytest.approx(9.7934418e-6)
