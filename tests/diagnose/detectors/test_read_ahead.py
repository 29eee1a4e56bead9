"""Read-ahead: random buffered reads of which the device delivers more bytes than were asked for."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.shortcuts import read_ahead


@pytest.mark.parametrize(
    ("share", "direct", "said"), [(1.5, False, 1), (1.05, False, 0), (0.4, False, 0), (1.5, True, 0)]
)
def test_random_buffered_reads_of_which_the_device_delivers_more(share: float, direct: bool, said: int) -> None:
    record = card_runs.reads(direct=direct)
    did = record.measurement
    seen = card_runs.diskstats(did.elapsed_ns, reads=did.ios, read_bytes=round(share * did.bytes), writes=0)
    found = list(read_ahead.detect(Facts(card_runs.run(replace(record, samples=seen)))))
    assert len(found) == said
    if said:
        assert found[0].state == "counted"
        assert "vda1 delivered 1.5 times the bytes of these random buffered reads" in found[0].says
