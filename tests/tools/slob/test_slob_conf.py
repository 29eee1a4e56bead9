"""slob.conf: SLOB's own defaults, limits and refusals, each with its line."""

from __future__ import annotations

import pytest

from iocast.tools.slob.slob_conf import HotSpot, SlobConf, ThinkTime, check_sessions, looks_like_slob, read_slob_conf

WHOLE = """\
#### settings of a test
UPDATE_PCT=10
SCAN_PCT=5
RUN_TIME=300
WORK_LOOP=0
SCALE=128M
SCAN_TABLE_SZ=1M
WORK_UNIT=64
REDO_STRESS=HEAVY
LOAD_PARALLEL_DEGREE=2
THREADS_PER_SCHEMA=8
DATABASE_STATISTICS_TYPE=awr   # statspack or awr
#DBA_PRIV_USER="system"
EXTERNAL_SCRIPT=""
DO_HOTSPOT=TRUE
HOTSPOT_MB=8
HOTSPOT_OFFSET_MB=16
HOTSPOT_FREQUENCY=3
HOT_SCHEMA_FREQUENCY=4
THINK_TM_FREQUENCY=7
THINK_TM_MIN=.1
THINK_TM_MAX=0.5
"""


def read(text: str) -> tuple[SlobConf, list[tuple[int, str]], list[str]]:
    faults: list[tuple[int, str]] = []
    notes: list[str] = []
    conf = read_slob_conf(text, lambda line, what, way_out: faults.append((line, what)), notes.append)
    return conf, faults, notes


def test_all_parameters_are_read() -> None:
    conf, faults, notes = read(WHOLE)
    assert (faults, notes) == ([], [])
    assert conf == SlobConf(
        update_percent=10,
        scan_percent=5,
        run_s=300,
        loops=0,
        scale_blocks=16_384,
        block_bytes=8_192,
        scan_table_blocks=128,
        work_unit_blocks=64,
        redo="heavy",
        load_parallel=2,
        threads_per_schema=8,
        hot_spot=HotSpot(8 << 20, 16 << 20, 3),
        hot_schema_every=4,
        think=ThinkTime(100_000_000, 500_000_000, 7),
        lines=conf.lines,
    )
    assert conf.lines["DATABASE_STATISTICS_TYPE"] == 12
    assert "EXTERNAL_SCRIPT" not in conf.lines
    assert [looks_like_slob(text) for text in (WHOLE, "UPDATE_PCT=1\nNUM_SCHEMAS=4\n")] == [True, False]


def test_an_empty_file_has_the_defaults_of_runit() -> None:
    conf, faults, _ = read("")
    assert not faults
    assert (conf.update_percent, conf.run_s, conf.scale_blocks, conf.work_unit_blocks) == (25, 300, 10_000, 256)
    assert (conf.redo, conf.threads_per_schema, conf.hot_spot, conf.think) == ("lite", 1, None, None)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("UPDATE_PCT=51", "UPDATE_PCT=51: 51 to 99 are refused by SLOB and pgio, whose loop cannot hold them"),
        ("UPDATE_PCT=99", "UPDATE_PCT=99: 51 to 99 are refused by SLOB and pgio, whose loop cannot hold them"),
        ("UPDATE_PCT=101", "UPDATE_PCT=101: the most is 100"),
        ("SCAN_PCT=60", "SCAN_PCT=60: 51 to 99 are refused by SLOB and pgio, whose loop cannot hold them"),
        ("RUN_TIME=29", "RUN_TIME=29: the least is 30"),
        ("RUN_TIME=5m", "RUN_TIME=5m: not a whole number"),
        ("WORK_UNIT=2", "WORK_UNIT=2: the least is 3"),
        ("WORK_UNIT=1025", "WORK_UNIT=1025: the most is 1,024"),
        ("WORK_UNIT=064", "WORK_UNIT=064: a number of base 8 to the shell"),
        ("SCALE=9999", "SCALE=9999: 9,999 blocks; the least is 10,000"),
        ("SCALE=78M", "SCALE=78M: 9,984 blocks of 8,192 bytes; the least is 10,000"),
        ("SCALE=80m", "SCALE=80m: not a number of blocks, nor one with M, G or T"),
        ("SCALE=80MB", "SCALE=80MB: not a number of blocks, nor one with M, G or T"),
        ("SCAN_TABLE_SZ=3", "SCAN_TABLE_SZ=3: 3 blocks; the least is 4"),
        ("REDO_STRESS=heavy", "REDO_STRESS=heavy: not a value that it has"),
        ("DO_HOTSPOT=true", "DO_HOTSPOT=true: not a value that it has"),
        ("DATABASE_STATISTICS_TYPE=AWR", "DATABASE_STATISTICS_TYPE=AWR: not a value that it has"),
        ("SQLNET_SERVICE_MAX=2", "SQLNET_SERVICE_MAX=2: SQLNET_SERVICE_BASE is not set"),
        ("ADMIN_SQLNET_SERVICE=slob", "ADMIN_SQLNET_SERVICE=slob: SQLNET_SERVICE_BASE is not set"),
        ("THINK_TM_MIN=2", "THINK_TM_MIN=2: more than THINK_TM_MAX"),
        ("UPDATE_PCNT=5", 'UPDATE_PCNT is not a parameter of SLOB; did you mean "UPDATE_PCT"?'),
        ("DO_UPDATE_HOTSPOT=TRUE", "DO_UPDATE_HOTSPOT=TRUE is of SLOB 2.2"),
    ],
)
def test_each_limit_of_slob_is_a_fault_with_its_line(line: str, fault: str) -> None:
    assert read(f"# first\n{line}\n")[1] == [(2, fault)]


def test_a_hot_spot_beyond_the_table_is_refused() -> None:
    lines = "SCALE=80M\nDO_HOTSPOT=TRUE\nHOTSPOT_MB={}\nHOTSPOT_OFFSET_MB=16\nHOTSPOT_FREQUENCY=3\n"
    assert read(lines.format(64))[1] == []
    assert read(lines.format(65))[1] == [(3, "HOTSPOT_MB=65: 16 MB + 65 MB is beyond SCALE, which is 80 MB")]


def test_the_last_assignment_counts_and_earlier_names_are_known() -> None:
    conf, faults, notes = read("WORK_UNIT=8\nWORK_UNIT=16\nTHINK_TM_MODULUS=7\nSHARED_DATA_MODULUS=0\n")
    assert (conf.work_unit_blocks, conf.think and conf.think.every, faults) == (16, 7, [])
    assert notes == ["line 3: THINK_TM_MODULUS is of an earlier SLOB: read as THINK_TM_FREQUENCY"]


def test_the_sessions_of_all_schemas_have_a_limit() -> None:
    faults: list[str] = []
    for schemas in (1, 2048, 2049, 4097):
        check_sessions(schemas, 8, lambda line, what, way_out: faults.append(what))
    assert faults == [
        "2,049 schemas with 8 sessions each are more than the 16,384 sessions of SLOB",
        "4,097 schemas: SLOB takes 1 to 4,096",
    ]
