"""The panels of sessions: MOATS' shares of its seed, wait classes, sessions that can be told apart."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from makers.live_moments import moment

from iocast.analyse.live.session_shares import Activity, activity
from iocast.model.live.moment import Interval
from iocast.report.live.activity_panes import activity_panes
from iocast.report.live.styled_lines import plain

# Top waits of a screen of MOATS: 60, 17, 15, 6 and 2 per cent.
WAITS = {"User I/O|db file sequential read": 60, "CPU": 17, "User I/O|direct path read": 15}
REST = {"Commit|log file sync": 6, "System I/O|log file parallel write": 2}


def _found(sessions: Mapping[str, int], waits: Mapping[str, int]) -> Activity:
    def counters(factor: int) -> dict[tuple[str, str], dict[str, float]]:
        return {
            ("oracle.waits", ""): {"polls": 10.0 * factor},
            **{("oracle.waits", name): {"samples": float(count * factor)} for name, count in waits.items()},
            **{("oracle.sessions", name): {"samples": float(count * factor)} for name, count in sessions.items()},
        }

    found = activity(Interval(moment(0, counters(1)), moment(1, counters(2))), "oracle")
    assert found is not None
    return found


def test_waits_have_the_shares_of_moats() -> None:
    found = _found({}, WAITS | REST)
    assert [round(100 * each.share) for each in found.waits] == [60, 17, 15, 6, 2]
    assert [(each.subject, round(100 * each.share)) for each in found.wait_classes] == [
        ("User I/O", 75),
        ("CPU", 17),
        ("Commit", 6),
        ("System I/O", 2),
    ]
    assert sum(each.active_mean for each in found.wait_classes) == pytest.approx(found.active_mean)


@pytest.mark.parametrize("width", [80, 100, 200])
def test_sessions_of_one_program_can_be_told_apart(width: int) -> None:
    texts = {"session|4711": "app@shop pgbench client backend", "session|4712": "app@shop pgbench client backend"}
    shown = plain(activity_panes(_found({"4711": 60, "4712": 40}, WAITS | REST), texts, width))
    assert "Wait classes (sessions): User I/O 75% (7.5), CPU 17% (1.7), Commit 6% (0.6)," in shown
    assert " 60% 4711 app@shop" in shown
    assert " 40% 4712 app@shop" in shown


def test_statements_that_nobody_reports_are_not_idle() -> None:
    """A database whose sessions waited had "none was active" as its top statements."""
    assert "not reported" in plain(activity_panes(_found({"1": 100}, WAITS | REST), {}, 100))
    assert "none was active" in plain(activity_panes(_found({}, {}), {}, 100))


@pytest.mark.parametrize("width", [80, 100, 200])
def test_the_busiest_statement_is_told_in_two_lines_at_most(width: int) -> None:
    """MOATS has the text of the top statement below its panels: the pane itself cuts it off."""

    def counters(factor: int) -> dict[tuple[str, str], dict[str, float]]:
        looked = {("oracle.waits", ""): {"polls": 10.0 * factor}, ("oracle.waits", "CPU"): {"samples": 10.0 * factor}}
        return {**looked, ("oracle.active_sql", "c13sma6rkr27c"): {"samples": 7.0 * factor}}

    found = activity(Interval(moment(0, counters(1)), moment(1, counters(2))), "oracle")
    assert found is not None
    text = "select c from t where " + " and ".join(f"c{at} = :{at}" for at in range(40))
    told = plain(activity_panes(found, {"sql|c13sma6rkr27c": text}, width)).splitlines()
    assert [line for line in told if line.startswith("70% select c from t where c0 = :0 and c1")]
    assert told[-1].endswith("…")
    assert all(len(line) <= width for line in told)
    short = plain(activity_panes(found, {"sql|c13sma6rkr27c": "commit"}, width)).splitlines()
    assert len(short) == len(told) - 2
