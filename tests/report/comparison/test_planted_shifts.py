"""Five runs of each side find a service that takes a tenth longer, and do not tell equal devices apart."""

from __future__ import annotations

from collections import Counter

import pytest
from comparisons import DEVICES, comparisons, counted, verdicts

EACH, SECONDS = 1, 10
FOUND, FALSE = 0.80, 0.015


@pytest.fixture(scope="module")
def kinds() -> dict[str, Counter[str]]:
    """What differs on every fifth device: a disk, two laws of flash, a single queue in an open loop."""
    seen: dict[str, Counter[str]] = {}
    for device, load in DEVICES[::5]:
        for kind, pair in comparisons(device, load, EACH, SECONDS):
            seen.setdefault(kind, Counter()).update(counted(dict(verdicts(pair))))
    return seen


def test_a_tenth_of_the_service_time_is_found(kinds: dict[str, Counter[str]]) -> None:
    """Each shift counts once: in an open loop throughput is given, and only response times can show it."""
    shifts = [counts for kind, counts in kinds.items() if kind.startswith("a tenth slower")]
    assert len(shifts) == 2
    assert all(counts["any"] >= FOUND * counts["pairs"] for counts in shifts)


def test_equal_devices_are_not_told_apart(kinds: dict[str, Counter[str]]) -> None:
    for kind in ("equal", "equal, single runs"):
        counts = kinds[kind]
        figures = [name.removesuffix(" compared") for name in counts if name.endswith(" compared")]
        assert {"throughput", "p50", "p95", "p99"} <= {*figures}
        assert all(counts[name] <= FALSE * counts[f"{name} compared"] for name in figures)
