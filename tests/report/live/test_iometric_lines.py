"""watch iometric: functions of two instances, totals that are their sums, and minutes that differ."""

from __future__ import annotations

from makers.command_line import compare
from makers.oracle_spools import FIRST_S, intervals_of, look

from iocast.model.live.moment import Interval
from iocast.report.live.database_modes import iometric_lines

READS = "Buffer Cache Reads"
LOG = "LGWR"


def _of(instance: int, function: str, reads: float, writes: float, begin_s: int) -> tuple[object, ...]:
    """Small reads and writes of 8 kB; a window of a minute."""
    mb = 8192 / (1 << 20)
    return (instance, function, reads, writes, 0, 0, reads * mb, writes * mb, 0, 0, 8.5, begin_s, begin_s + 60)


def _interval(*rows: tuple[object, ...]) -> Interval:
    (found,) = intervals_of(*(look(FIRST_S + 60 * at, rows={"iofuncmetric": rows}) for at in range(2)))
    return found


def _totals(interval: Interval) -> list[str]:
    lines = list(iometric_lines.lines(interval))
    (head,) = [at for at, line in enumerate(lines) if "READ_TOT_IOPS" in line]
    return lines[head + 1].split()


def test_two_instances_of_one_minute_print_as_their_golden_file() -> None:
    interval = _interval(_of(1, READS, 1813, 0, FIRST_S), _of(1, LOG, 0, 12, FIRST_S), _of(2, READS, 1856, 0, FIRST_S))
    compare("watch_iometric.txt", "\n".join((*iometric_lines.lines(interval), "")))


def test_rows_sum_to_the_totals() -> None:
    """source-systems.md C4: 1,813 and 1,856 are 3,669."""
    interval = _interval(_of(1, READS, 1813, 4, FIRST_S), _of(2, READS, 1856, 8, FIRST_S))
    assert _totals(interval)[2:] == ["3669", "29", "12", "0"]
    assert not any("differ" in line for line in iometric_lines.lines(interval))


def test_different_minutes_are_said() -> None:
    """The document adds up 1,813 and 1,856, and shows 3,763: its instances' minutes differ."""
    lines = list(iometric_lines.lines(_interval(_of(1, READS, 1813, 0, FIRST_S), _of(2, READS, 1856, 0, FIRST_S - 25))))
    (said,) = [line for line in lines if "differ" in line]
    assert said.startswith("The minutes of the instances differ: 1 ")
    assert said.endswith("The total is of no minute of its own.")


def test_a_tape_of_before_has_no_minutes() -> None:
    old = [
        look(FIRST_S + 60 * at, rows={"iofuncmetric": [_of(1, READS, 9, 0, 0), _of(2, READS, 1, 0, 0)]})
        .replace("|begin_s|end_s", "")
        .replace(f"|{0:>38}|{60:>38}", "")
        for at in range(2)
    ]
    (interval,) = intervals_of(*old)
    lines = list(iometric_lines.lines(interval))
    assert "Unknown which minute: instance 1, 2. The totals may be of different minutes." in lines
    assert _totals(interval)[0] == "10"


def test_programs_get_what_is_known() -> None:
    found = iometric_lines.table(_interval(_of(1, READS, 1813.4, 0, FIRST_S)))
    (row,) = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert (row["INST_ID"], row["FUNCTION"], row["RD_IOPS_SM"], row["WT_IOPS_LG"]) == ("1", READS, 1813.4, 0)
