"""Reads of data as PostgreSQL counts them: all of them, whatever they are for; none where their time is no latency."""

from __future__ import annotations

from iocast.analyse.live.database_reads import database_reads
from iocast.model.view import View


def _views(**kinds: dict[str, int]) -> dict[str, View]:
    names = {name.replace("_", "|"): counters for name, counters in kinds.items()}
    return {name: View(name, 1_000_000_000, counters) for name, counters in names.items()}


def test_scans_and_vacuum_read_data_too() -> None:
    """A scan reads in a context of its own (bulkread): left out, it was told as late statistics."""
    found = database_reads(
        _views(
            backend_relation_normal={"reads": 183, "read_time_ns": 22_198_000, "read_bytes": 1_499_136},
            backend_relation_bulkread={"reads": 25_154, "read_time_ns": 1_623_528_000, "read_bytes": 206_061_568},
            worker_relation_vacuum={"reads": 10, "read_time_ns": 1_000_000, "read_bytes": 81_920},
            backend_wal_normal={"reads": 7, "read_time_ns": 7, "read_bytes": 7},
        )
    )
    assert found is not None
    assert (found.count, found.sum_ns, found.bytes) == (25_347, 1_646_726_000, 207_642_624)


def test_before_18_combined_reads_are_blocks_and_no_latency() -> None:
    assert database_reads(_views(backend_relation_normal={"reads": 65_536, "read_time_ns": 800_000_000})) is None
