"""watch sysmetric: the scaling of sysmetric.sql, several instances, and the latency that is none."""

from __future__ import annotations

import pytest
from makers.command_line import compare
from makers.oracle_spools import FIRST_S, intervals_of, look

from iocast.model.live.moment import Interval
from iocast.report.live.database_modes import sysmetric_lines

LATENCY = "Average Synchronous Single-Block Read Latency"
REQUESTS = "Physical Read Total IO Requests Per Sec"
BYTES = "Physical Read Total Bytes Per Sec"


def _interval(*rows: tuple[object, ...]) -> Interval:
    (found,) = intervals_of(*(look(FIRST_S + 60 * at, rows={"sysmetric": rows}) for at in range(2)))
    return found


def test_a_fixed_look_prints_as_its_golden_file() -> None:
    interval = _interval(
        (1, "Host CPU Utilization (%)", 41.25),
        (2, "Host CPU Utilization (%)", 8.5),
        (1, LATENCY, 1981.1),
        (2, LATENCY, 0.41),
        (1, REQUESTS, 5984),
        (2, REQUESTS, 1657.4),
        (1, BYTES, 49073357),
        (2, BYTES, 12792627),
        (1, "Redo Generated Per Sec", 838861),
        (1, "A metric of another release", 7),
    )
    compare("watch_sysmetric.txt", "\n".join((*sysmetric_lines.lines(interval), "")))


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (1981.1, "1981.1"),
        (5001.5, "5001.5"),
        (130, "130"),
        (167.4, "167"),
        (0.41, "0.4"),
        (9.96, "10"),
        (0, "0"),
        (10_000, "+ 10 K"),
        (838_861, "+ 819 K"),
        (49_073_357, "* 47 M"),
    ],
)
def test_figures_are_scaled_as_the_script_does(value: float, shown: str) -> None:
    """source-systems.md C5: 1981.1 prints unscaled."""
    lines = list(sysmetric_lines.lines(_interval((1, LATENCY, value))))
    assert lines[1].endswith(f"{shown:>12}{shown:>12}  (async, not a latency)")


def test_what_adds_up_has_a_total_and_what_does_not_has_none() -> None:
    found = list(sysmetric_lines.lines(_interval((1, LATENCY, 2), (2, LATENCY, 4), (1, REQUESTS, 2), (2, REQUESTS, 4))))
    assert found[1].endswith(f"{2:>12}{4:>12}{'':>12}  (async, not a latency)")
    assert found[2].endswith(f"{2:>12}{4:>12}{6:>12}")


def test_the_latency_is_marked_for_programs_too() -> None:
    found = sysmetric_lines.table(_interval((1, LATENCY, 1981.1), (1, REQUESTS, 4)))
    assert found.rows == (
        (LATENCY, "Milliseconds", "1", 1981.1, "async, not a latency"),
        (REQUESTS, "Requests Per Second", "1", 4, None),
    )
