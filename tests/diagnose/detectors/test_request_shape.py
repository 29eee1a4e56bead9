"""What becomes of I/Os on their way: writes that are gathered, large requests that are split."""

from __future__ import annotations

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import request_shape
from iocast.model.workload import MixItem, Sequential, Workload


@pytest.mark.parametrize(
    ("request_bytes", "moved", "said"), [(512 << 10, 0.7, 1), (1 << 10, 0.7, 0), (512 << 10, 0.01, 0)]
)
def test_small_buffered_writes_in_sequence_are_gathered(request_bytes: int, moved: float, said: int) -> None:
    load = Workload(mix=(MixItem("write", 1024),), locality=Sequential(), direct=False)
    did = card_runs.measurement([card_runs.part("write", 1024, card_runs.histogram((2_000, 400_000)))])
    written = round(moved * did.bytes)
    seen = card_runs.diskstats(
        did.elapsed_ns,
        reads=0,
        read_bytes=0,
        writes=max(1, written // request_bytes),
        writes_merged=0,
        written_bytes=written,
    )
    run = card_runs.run(card_runs.record("write 1k 1x1", load, did, seen))
    found = list(request_shape.detect(Facts(run)))
    assert [each.code for each in found] == ["consolidation"] * said
    if said:
        assert "requests of 512.8 KiB (gathered in the page cache)" in found[0].says


@pytest.mark.parametrize(
    ("others_bytes", "requests", "said"), [(8192, 1.47, 0), (8192, 4.0, 1), (0, 1.47, 1), (300, 1.47, 1)]
)
def test_small_requests_of_others_are_not_pieces_of_large_ones(others_bytes: int, requests: float, said: int) -> None:
    """1M reads, and as many bytes more at the device as 8k of others would be for each request beyond one an I/O."""
    record = card_runs.reads("read 1M", size_bytes=1 << 20, sequential=True, times=card_runs.histogram((2e6, 4_000)))
    did = record.measurement
    more = round((requests - 1) * did.ios) if requests < 2 else round(0.47 * did.ios)
    moved = did.bytes + others_bytes * more
    seen = card_runs.diskstats(did.elapsed_ns, reads=round(requests * did.ios), read_bytes=moved, writes=0)
    found = list(request_shape.detect(Facts(card_runs.run(replace(record, samples=seen)))))
    assert [each.code for each in found] == ["splitting"] * said
