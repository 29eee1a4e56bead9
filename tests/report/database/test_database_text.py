"""The working set stands against all that may hold it: the engine's cache, the control group's limit, the memory."""

from __future__ import annotations

from typing import Any

import pytest
from makers.card_runs import TARGET
from msgspec.structs import replace

from iocast.model.database.database_result import DatabaseServer
from iocast.report.database.database_text import caches

MIB = 1 << 20
SERVER = DatabaseServer(
    product="PostgreSQL", version="18", block_bytes=8192, cache_bytes=16 * MIB, data_bytes=64 * MIB, pid=7
)


@pytest.mark.parametrize(
    ("server", "says"),
    [
        ({}, "4 times its cache of 16.0 MiB, 0.062 times the 1.0 GiB of its machine's memory"),
        ({"pid": None}, "4 times its cache of 16.0 MiB"),  # on another machine
        (
            {"memory_limit_bytes": 32 * MIB},
            "4 times its cache of 16.0 MiB, 2 times the memory limit of 32.0 MiB of its control group",
        ),
        ({"direct": True}, "4 times its cache of 16.0 MiB, no page cache (direct I/O)"),
        (
            {"direct": True, "kept_free_bytes": 4 * MIB},
            "4 times its cache of 16.0 MiB (of which innodb_lru_scan_depth keeps 4.0 MiB free), no page cache (direct"
            " I/O)",
        ),
        (
            {"direct": True, "kept_free_bytes": 16 * MIB},
            "4 times its cache of 16.0 MiB (all of which innodb_lru_scan_depth keeps free: it holds next to nothing),"
            " no page cache (direct I/O)",
        ),
    ],
)
def test_what_may_hold_the_data(server: dict[str, Any], says: str) -> None:
    assert caches(replace(TARGET, database=replace(SERVER, **server)), 1 << 30) == f"That is {says}."
