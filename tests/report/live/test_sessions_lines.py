"""watch sessions: who is active in what, and how many by instance: the slaves of a calibration on two nodes."""

from __future__ import annotations

from makers.command_line import compare
from makers.oracle_spools import FIRST_S, intervals_of, look, row

from iocast.analyse.live.session_waits import by_event, session_waits
from iocast.model.live.moment import Interval
from iocast.report.live.database_modes import sessions_lines
from iocast.tools.oracle.oracle_statements import SESSION_COLUMNS

CALIBRATION = "Disk file I/O Calibration"


def _look(at_s: int, sessions: list[tuple[object, ...]]) -> str:
    """A look with these sessions, whose last two columns say that they wait."""
    told = [f"#iocast session {'|'.join(SESSION_COLUMNS)}", *(row(*each) for each in sessions)]
    return look(at_s).replace("#iocast end", "\n".join((*told, "#iocast end")))


def _slave(instance: int, number: int) -> tuple[object, ...]:
    return (instance, 100 + number, 7, "", CALIBRATION, "User I/O", "WAITING")


def _interval() -> Interval:
    """Two looks: 16 slaves on two instances in both, a session on a processor in the second."""
    slaves = [_slave(instance, number) for instance in (1, 2) for number in range(8)]
    on_cpu = (1, 55, 3, "9babjv8yq8ru3", CALIBRATION, "User I/O", "WAITED SHORT TIME")
    (found,) = intervals_of(_look(FIRST_S, slaves), _look(FIRST_S + 10, [*slaves, on_cpu]))
    return found


def test_sixteen_slaves_are_eight_on_each_instance() -> None:
    """source-systems.md C3."""
    groups = {(each.event, each.instance): each for each in by_event(session_waits(_interval()))}
    for instance in ("1", "2"):
        assert (groups[CALIBRATION, instance].sessions, groups[CALIBRATION, instance].active) == (8, 8.0)
    assert groups["CPU", "1"].sessions == 1


def test_they_print_as_their_golden_file() -> None:
    compare("watch_sessions.txt", "\n".join((*sessions_lines.lines(_interval()), "")))


def test_programs_get_a_row_a_session_and_event() -> None:
    found = sessions_lines.table(_interval())
    assert len(found.rows) == 17
    assert ("1", "100,7", 1.0, "User I/O", CALIBRATION) in found.rows
    assert ("1", "55,3", 1.0, None, "CPU") in found.rows


def test_nobody_is_active() -> None:
    (interval,) = intervals_of(_look(FIRST_S, []), _look(FIRST_S + 10, []))
    (line,) = sessions_lines.lines(interval)
    assert line.endswith("no session was found active")
