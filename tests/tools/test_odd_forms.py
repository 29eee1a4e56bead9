"""Forms in which people have results of others: with what a log put before each line, in other languages, wrapped."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.imported_series import values_of

from iocast.tools import importers
from iocast.tools.fio.normal_text import without_prefix

FIO = """\
db: (g=0): rw=write, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=sync, iodepth=1
fio-3.33
Starting 1 process
db: (groupid=0, jobs=1): err= 0: pid=7: Wed Nov 25 10:00:00 2026
  write: IOPS=100, BW=400KiB/s (410kB/s)(400KiB/1000msec); 0 zone resets
     lat (usec): min=5, max=90, avg=20.00, stdev= 9.00
  fsync/fdatasync/sync_file_range:
    sync (msec): min=5, max=12, avg= 9.98, stdev= 0.50
     issued rwts: total=0,100,0,0 short=99,0,0,0 dropped=0,0,0,0

Run status group 0 (all jobs):
"""
SAR = """\
Linux 6.1.0 (db1) \t{date} \t_x86_64_\t(4 CPU)

{at[0]}          DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util
{at[1]}          sda     10.00     40.00     40.00      8.00      0.01      1.00      1.00
{at[2]}          sda {wrapped}     40.00     40.00      8.00      0.01      1.00      1.00
"""
DSTAT = """\
--dsk/sda-----dsk/sdb-- --io/sda-----io/sdb--
 read  writ: read  writ| read  writ: read  writ
  38k 3442k:  13k   12k|0.54  4.64 :9.89   1.00
   0  5744k:   0     0 |   0  33.4 :   0     0\x20
"""


@pytest.mark.parametrize("before", ["", "        ", "2026-11-25T10:00:0{}.123Z ", "10:00:0{} DEBUG| [stdout] "])
def test_what_a_log_put_before_each_line_is_no_part_of_it(tmp_path: Path, before: str) -> None:
    lines = [before.format(at % 10) + line for at, line in enumerate(FIO.splitlines())]
    assert without_prefix(lines) == FIO.splitlines()
    (path := tmp_path / "fio.txt").write_text("\n".join(lines) + "\n")
    (run,) = importers.read((str(path),))
    (record,) = run.phases
    assert record.phase.name == "db"
    ios = {each.op: each.ios for each in record.measurement.classes}
    assert ios == {"write": 100, "fdatasync": 99}, "fio counts datasyncs as short reads"
    assert record.ios_per_s == pytest.approx(100), "flushes are no IOPS"
    assert not any(each.short_ios for each in record.measurement.classes)


@pytest.mark.parametrize(
    ("date", "at", "wrapped", "rates"),
    [
        ("2026年11月25日", ("10时00分01秒", "10时00分02秒", "10时00分03秒"), "    20.00", [10.0, 20.0]),
        ("2026年11月25日", ("10時00分01秒", "10時00分02秒", "10時00分03秒"), "    20.00", [10.0, 20.0]),
        ("11/25/2026", ("10:00:01", "10:00:02", "10:00:03"), "3689348814741910528.00", [10.0]),
    ],
)
def test_sar_in_other_languages_and_with_a_counter_that_wrapped(
    tmp_path: Path, date: str, at: tuple[str, str, str], wrapped: str, rates: list[float]
) -> None:
    (path := tmp_path / "sar.txt").write_text(SAR.format(date=date, at=at, wrapped=wrapped), encoding="utf-8")
    (run,) = importers.read((str(path),))
    assert values_of(run, "sda")["ios_per_s"] == rates
    assert any("a counter was reset" in each for each in run.warnings) == (len(rates) == 1)


def test_dstat_with_two_disks(tmp_path: Path) -> None:
    (path := tmp_path / "dstat.txt").write_text(DSTAT)
    (run,) = importers.read((str(path),))
    assert values_of(run, "sda")["write_bytes_per_s"] == [5744 * 1024]
    assert values_of(run, "sdb")["reads_per_s"] == [0.0]
