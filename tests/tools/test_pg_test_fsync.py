"""pg_test_fsync as it prints: the first block, rates where times have few digits, methods that are not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.tools import importers
from iocast.tools.pg_test_fsync import sync_times

PRINTED = """\
1 second per test
O_DIRECT supported on this platform for open_datasync and open_sync.

Compare file sync methods using one 8kB write:
(in "wal_sync_method" preference order, except fdatasync is Linux's default)
        open_datasync                       1832.041 ops/sec     546 usecs/op
        fdatasync                           1704.216 ops/sec     587 usecs/op
        fsync                                812.500 ops/sec    1231 usecs/op
        fsync_writethrough                              n/a
        open_sync                            790.114 ops/sec    1266 usecs/op

Compare file sync methods using two 8kB writes:
        open_datasync                        900.000 ops/sec    1111 usecs/op
"""


def test_the_first_block_is_read() -> None:
    assert sync_times(PRINTED) == {
        "open_datasync": 545_839,
        "fdatasync": 586_780,
        "fsync": 1_230_769,
        "open_sync": 1_265_640,
    }


def test_anything_else_is_nothing() -> None:
    assert sync_times("could not open output file") == {}


def test_its_methods_are_commits(tmp_path: Path) -> None:
    """One operation of fsync is a write with its sync: a commit, with the time of both."""
    unsynced = "\nNon-sync'ed 8kB writes:\n        write      500000.000 ops/sec       2 usecs/op\n"
    (path := tmp_path / "pg.txt").write_text(PRINTED + unsynced)
    (run,) = importers.read((str(path),))
    means = {each.phase.name: each.measurement.service("write").mean_ns for each in run.phases}
    assert means == {**sync_times(PRINTED), "write": 2_000}
    syncs = {each.phase.name: (each.plan.sync, each.plan.fsync_every) for each in run.phases}
    assert syncs == {
        "open_datasync": ("dsync", 0),
        "fdatasync": ("none", 1),
        "fsync": ("none", 1),
        "open_sync": ("sync", 0),
        "write": ("none", 0),
    }
    (path := tmp_path / "cut.txt").write_text(PRINTED[: PRINTED.index("        open_datasync")])
    with pytest.raises(SourceError, match="pg_test_fsync was stopped"):
        importers.read((str(path),))
