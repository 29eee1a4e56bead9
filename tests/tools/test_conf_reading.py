"""slob.conf and pgio.conf as data sets and loads: what does nothing is noted, what cannot be is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SpecError
from iocast.model.database.database_load import DatabaseLoad, DataSet, HotSpot, LoadRamp, Think
from iocast.tools.conf_reading import ConfLoad, read_conf
from iocast.tools.pgio import pgio_conf
from iocast.tools.slob import slob_conf

SLOB = """\
UPDATE_PCT=20
SCAN_PCT=5
RUN_TIME=300
SCALE=128M
WORK_UNIT=8
REDO_STRESS=HEAVY
THREADS_PER_SCHEMA=4
LOAD_PARALLEL_DEGREE=8
SYSDBA_PASSWD=open-sesame
DO_HOTSPOT=TRUE
HOTSPOT_MB=8
HOTSPOT_OFFSET_MB=16
HOTSPOT_FREQUENCY=3
THINK_TM_FREQUENCY=7
"""
PGIO = """\
UPDATE_PCT={share}
RUN_TIME=120
NUM_SCHEMAS=4
NUM_THREADS=2
WORK_UNIT=255
UPDATE_WORK_UNIT=8
SCALE=1G
DBNAME=pg10
CONNECT_STRING="pg10"
"""


def read(tmp_path: Path, text: str) -> ConfLoad:
    (tmp_path / "x.conf").write_text(text)
    return read_conf(str(tmp_path / "x.conf"))


def test_a_slob_conf_is_a_load_on_as_many_tables_as_there_are(tmp_path: Path) -> None:
    conf = read(tmp_path, SLOB)
    assert conf.data_set(tables=2, seed=7) == DataSet(size_bytes=256 << 20, tables=2, seed=7)
    assert conf.ramp(2) == LoadRamp(
        load=DatabaseLoad(
            update_pct=20,
            scan_pct=5,
            work_unit=8,
            redo="heavy",
            hot=HotSpot(size_bytes=8 << 20, offset_bytes=16 << 20, every=3),
            think=Think(least_ns=100_000_000, most_ns=500_000_000, every=7),
        ),
        sessions=(8,),
        seconds=300.0,
    )
    assert conf.notes == (
        "line 8: LOAD_PARALLEL_DEGREE has no effect: iocast builds one table after another",
        "line 9: SYSDBA_PASSWD has no effect: no privileged user is needed, and passwords are not read from files of"
        " settings",
    )


def test_all_problems_are_told_together_and_no_password_is(tmp_path: Path) -> None:
    text = "HOT_SCHEMA_FREQUENCY=4\nSYSDBA_PASSWD= open-sesame\nREDO_STRESS=lite\nUPDATE_PCT=75\nWORK_LOOP=5\n"
    with pytest.raises(SpecError) as refused:
        read(tmp_path, text)
    lines = refused.value.message.splitlines()
    assert lines[0].endswith("x.conf has 4 problems")
    assert [line.split("x.conf:")[1][:2] for line in lines[1:]] == ["1:", "2:", "3:", "4:"]
    assert "open-sesame" not in refused.value.message


def test_more_sessions_than_slob_takes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"x.conf: 5,000 schemas: SLOB takes 1 to 4,096"):
        read(tmp_path, SLOB).ramp(5_000)


def test_a_pgio_conf_says_how_many_tables(tmp_path: Path) -> None:
    conf = read(tmp_path, PGIO.format(share=0))
    assert conf.data_set() == DataSet(size_bytes=4 << 30, tables=4)
    assert conf.ramp(4) == LoadRamp(load=DatabaseLoad(work_unit=255), sessions=(8,), seconds=120.0)
    assert [note.split()[2] for note in conf.notes] == ["DBNAME", "CONNECT_STRING"]
    assert read(tmp_path, PGIO.format(share=100)).ramp(4).load == DatabaseLoad(update_pct=100, work_unit=8)
    with pytest.raises(SpecError, match=r":6: UPDATE_WORK_UNIT=8: updates touch as many blocks here as reads"):
        read(tmp_path, PGIO.format(share=20))


def test_a_file_of_neither_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="assigns nothing that only SLOB or pgio has"):
        read(tmp_path, "A=1\n")


def test_the_guide_says_of_each_parameter_what_becomes_of_it() -> None:
    guide = (Path(__file__).parents[2] / "docs/guide/slob-and-pgio.md").read_text("utf-8")
    rows = "\n".join(line for line in guide.splitlines() if line.startswith("| "))
    for module in (slob_conf, pgio_conf):
        for name in (*module.READ, *module.INERT):
            assert name in rows, name
