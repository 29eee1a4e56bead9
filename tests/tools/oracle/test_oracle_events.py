"""Oracle's wait events for I/O are families: what stands behind a colon is which cache answered."""

from __future__ import annotations

import pytest

from iocast.tools.oracle.oracle_events import EVENTS, event_row, family


@pytest.mark.parametrize(
    "event", ["cell single block physical read: flash cache", "cell multiblock physical read: RDMA"]
)
def test_reads_that_a_cache_answered_are_reads(event: str) -> None:
    assert EVENTS[family(event)] == "read"
    row = event_row(event, {256: 10, 512: 4}, unit_ns=1000)
    assert (row.test, row.name, row.ops[0].ios) == ("read", event, 14)


def test_other_waits_are_none() -> None:
    assert family("SQL*Net message from client") not in EVENTS
