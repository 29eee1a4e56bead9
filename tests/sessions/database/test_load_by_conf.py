"""A slob.conf is run on the data that it means, and on no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SpecError
from iocast.model.database.database_result import DatabaseServer
from iocast.model.target import Target
from iocast.sessions.database import load_by_conf


def server(blocks: int, tables: int = 2) -> DatabaseServer:
    sizes = {"block_bytes": 8192, "cache_bytes": 1, "data_bytes": 1}
    return DatabaseServer(product="PostgreSQL", version="18", tables=tables, table_blocks=blocks, **sizes)


@pytest.mark.parametrize(
    "text", ["UPDATE_PCT=0\nREDO_STRESS=LITE\nSCALE=80M\n", "UPDATE_PCT=0\nNUM_SCHEMAS=2\nNUM_THREADS=1\nSCALE=80M\n"]
)
def test_sessions_are_those_of_all_tables_and_the_size_must_be_that_of_the_file(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.conf").write_text(text)
    conf = load_by_conf.read_conf(str(tmp_path / "x.conf"))
    there = [server(10_240)]
    monkeypatch.setattr(
        load_by_conf, "find_database", lambda url, ask: Target(path=url, kind="database", database=there[0])
    )
    assert load_by_conf.ramp_on(conf, "postgresql:///").sessions == (2,)
    there[0] = server(10_000)
    with pytest.raises(SpecError, match="SCALE is 10,240 blocks of 8192 bytes, the tables at the URL have 10,000"):
        load_by_conf.ramp_on(conf, "postgresql:///")
    there[0] = server(10_240, tables=3)
    if conf.tables:
        with pytest.raises(SpecError, match="NUM_SCHEMAS is 2, the data set has 3"):
            load_by_conf.ramp_on(conf, "postgresql:///")
    else:
        assert load_by_conf.ramp_on(conf, "postgresql:///").sessions == (3,)
