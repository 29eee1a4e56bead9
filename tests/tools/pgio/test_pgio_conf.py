"""pgio.conf: pgio's own defaults, limits and refusals."""

from __future__ import annotations

import pytest

from iocast.tools.pgio.pgio_conf import PgioConf, looks_like_pgio, read_pgio_conf

WHOLE = """
UPDATE_PCT=20
RUN_TIME=120
NUM_SCHEMAS=4
NUM_THREADS=2
WORK_UNIT=255
UPDATE_WORK_UNIT=8
SCALE=1G

DBNAME=pg10
CONNECT_STRING="pg10"

CREATE_BASE_TABLE=TRUE
"""


def read(text: str) -> tuple[PgioConf, list[tuple[int, str]]]:
    faults: list[tuple[int, str]] = []
    conf = read_pgio_conf(text, lambda line, what, way_out: faults.append((line, what)))
    return conf, faults


def test_all_parameters_are_read() -> None:
    conf, faults = read(WHOLE)
    assert not faults
    assert conf == PgioConf(
        update_percent=20,
        run_s=120,
        schemas=4,
        threads_per_schema=2,
        work_unit_blocks=255,
        update_work_unit_blocks=8,
        scale_blocks=131_072,
        lines=conf.lines,
    )
    assert looks_like_pgio(WHOLE)


def test_an_empty_file_has_the_defaults_of_runit() -> None:
    conf, faults = read("")
    assert not faults
    assert (conf.update_percent, conf.run_s, conf.schemas, conf.scale_blocks) == (0, 300, 1, 128 << 17)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("UPDATE_PCT=75", "UPDATE_PCT=75: 51 to 99 are refused by SLOB and pgio, whose loop cannot hold them"),
        ("SCALE=1023", "SCALE=1023: 1,023 blocks; the least is 1,024"),
        ("SCALE=7M", "SCALE=7M: 896 blocks of 8,192 bytes; the least is 1,024"),
        ("NUM_THREADS=0", "NUM_THREADS=0: the least is 1"),
        ("CREATE_BASE_TABLE=yes", "CREATE_BASE_TABLE=yes: not a value that it has"),
        ("REDO_STRESS=LITE", "REDO_STRESS is not a parameter of pgio"),
    ],
)
def test_each_limit_of_pgio_is_a_fault_with_its_line(line: str, fault: str) -> None:
    assert read(f"\n{line}\n")[1] == [(2, fault)]


def test_a_work_unit_must_fit_into_the_table() -> None:
    fault = "WORK_UNIT=1024: not less than SCALE, which is 1,024 blocks"
    assert read("SCALE=1024\nWORK_UNIT=1024\n")[1] == [(2, fault)]
