"""Scripts for Oracle are written into a directory, over nothing of others; what they cannot do is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from iocast.errors import ArchiveError, SpecError
from iocast.model.database.database_load import DatabaseLoad, DataSet, HotSpot, LoadRamp, Think
from iocast.sessions.database.oracle_scripts import oracle_load, write_scripts
from iocast.tools.oracle.load_scripts import OracleLoad

DATA = DataSet(size_bytes=1 << 30, tables=2, seed=7)


def test_a_load_becomes_scripts(tmp_path: Path) -> None:
    said = write_scripts(str(tmp_path / "oracle"), DATA, LoadRamp())
    names = ["iocast_build.sql", "iocast_capture.sql", "iocast_drop.sql", "iocast_package.sql", "iocast_run.sh"]
    assert sorted(each.name for each in (tmp_path / "oracle").iterdir()) == [*names, "iocast_user.sql"]
    assert "Not tried against a server" in said.says
    write_scripts(str(tmp_path / "oracle"), DATA, LoadRamp(seconds=30.0))  # over its own
    (tmp_path / "oracle/iocast_build.sql").write_text("-- somebody's")
    with pytest.raises(ArchiveError, match=r"iocast_build.sql was changed after iocast wrote it|did not make it"):
        write_scripts(str(tmp_path / "oracle"), DATA, LoadRamp())


def test_every_part_of_a_load_is_in_them() -> None:
    load = DatabaseLoad(
        update_pct=20, scan_pct=5, scan_blocks=64, work_unit=8, redo="heavy",
        hot=HotSpot(size_bytes=8 << 20, offset_bytes=16 << 20, every=3),
        think=Think(least_ns=100_000_000, most_ns=500_000_000, every=7),
    )  # fmt: skip
    assert oracle_load(DATA, LoadRamp(load=load, sessions=(1, 8), seconds=30.0)) == OracleLoad(
        table_blocks=65_536, tables=2, seed=7, sessions=(1, 8), seconds=30, update_pct=20, scan_pct=5, scan_blocks=64,
        work_unit=8, heavy=True, hot_first=2048, hot_blocks=1024, hot_every=3,
        think_least_s=0.1, think_most_s=0.5, think_every=7,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("data", "ramp", "load", "what"),
    [
        ({"size_bytes": 1 << 15}, {}, {}, "a table of 2 blocks"),
        ({"filling": "full"}, {}, {}, "--fill full"),
        ({"tables": 65}, {}, {}, "65 tables"),
        ({}, {"rate_per_s": 100.0}, {}, "--rate"),
        ({}, {"until_steady": True}, {}, "--until-steady"),
        ({}, {}, {"zipf_theta": 0.9}, "--zipf"),
        ({}, {}, {"driver": "client"}, "--driver client"),
        ({}, {}, {"work_unit": 1025}, "--work-unit 1025"),
        ({}, {}, {"hot": HotSpot(size_bytes=1 << 30)}, "a hot spot beyond the table"),
        ({}, {}, {"hot": HotSpot(size_bytes=1 << 13), "work_unit": 2}, "a hot spot smaller than a work unit"),
    ],
)
def test_what_they_cannot_do_is_refused(
    data: dict[str, Any], ramp: dict[str, Any], load: dict[str, Any], what: str
) -> None:
    with pytest.raises(SpecError, match=f"the scripts for Oracle cannot do {what}"):
        oracle_load(replace(DATA, **data), LoadRamp(load=DatabaseLoad(**load), **ramp))
