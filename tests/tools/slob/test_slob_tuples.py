"""The table of awr_info.sh, by hand in its form with published figures."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools.kernel import diskstats_series
from iocast.tools.slob import slob_tuples
from iocast.tools.source_files import Head

Reader = Callable[..., Run]
OLD = (
    "FILE|SESSIONS|ELAPSED|EXECUTES|PREADS|READ_MBS|PWRITES|WRITE_MBS|REDO_MBS|DFSR_LAT|DPR_LAT|DFPR_LAT|DFPW_LAT|"
    "LFPW_LAT|TOP WAIT|\n"
)
LINES = (
    "awr.txt.128|128|304|370|71554|   559|28191|   329|108.2|   759|||   312|440653|db file sequential read|\n"
    "awr.txt.64|64|304|370|60000|   469|0|   0|0|   400||   900|0|0|db file parallel read|\n"
)


def test_reports_are_rows_by_their_sessions(read_all: Reader) -> None:
    assert slob_tuples.sniff(Head("tuples.txt", OLD))
    run = read_all(("tuples.txt", OLD + LINES))
    first, second = run.phases
    assert (first.phase.name, first.plan.users) == ("128 sessions", 128)
    assert {each.op: (each.ios, each.bytes >> 20) for each in first.measurement.classes} == {
        "read": (71_554 * 304, 559 * 304),
        "write": (28_191 * 304, 329 * 304),
    }
    assert first.measurement.service("read").mean_ns == 759_000
    assert {"ios", "depth", "arrival"} <= {*first.unstated}
    times = second.measurement.service("read")
    assert times.mean_ns != times.mean_ns  # reads in parallel: 400 us are of a part


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("a|1|2|3|4|5|6|7\n", ":2: 8 cells under 16 columns"),
        (LINES.replace("|304|", "||", 1), ":2: no elapsed time"),
        (LINES.replace("71554", "7155a"), ':2: PREADS is "7155a", not a number'),
        ("", ": columns without a report"),
    ],
)
def test_what_is_none_of_it_is_refused(read_all: Reader, line: str, fault: str) -> None:
    with pytest.raises(SourceError, match=fault):
        read_all(("tuples.txt", OLD + line))


def test_vmstat_beside_it_is_not_taken_for_disk_counters() -> None:
    line = " 2  1      0 43799056 235028 20116216    0    0 53179 33877 8481 15448  2  1 96  1  0\n"
    assert not diskstats_series.sniff(Head("vmstat.out", line * 4))
