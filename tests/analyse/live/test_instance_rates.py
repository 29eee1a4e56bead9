"""The instance line of Oracle: the header of the MOATS screen (source-vectors.md V9), and log syncs counted once."""

from __future__ import annotations

import pytest
from makers.oracle_spools import FIRST_S, intervals_of, look

from iocast.analyse.live.instance_rates import instance_rates
from iocast.model.live.moment import Interval
from iocast.report.live.layers_view import instance_lines

MIB = 1 << 20
# Of ten seconds.
MOATS = {
    "execute count": 30_501,
    "user calls": 6_331,
    "parse count (total)": 2_146,
    "parse count (hard)": 91,
    "session cursor cache hits": 32_846,
    "user commits": 4_467,
    "session logical reads": 281_649,
    "physical read total IO requests": 59_840,
    "physical read total bytes": round(468 * MIB),
    "physical write total IO requests": 16_574,
    "physical write total bytes": round(122 * MIB),
    "redo size": round(8 * MIB),
}


def _interval(*statistics: tuple[str, int]) -> Interval:
    (found,) = intervals_of(
        *(
            look(FIRST_S + 10 * at, rows={"sysstat": [(1, name, 7 + at * value) for name, value in statistics]})
            for at in range(2)
        )
    )
    return found


def _rates(interval: Interval) -> dict[str, float | None]:
    return {each.code: each.value for each in instance_rates(interval, "oracle")}


def test_the_header_of_moats() -> None:
    found = _rates(_interval(*MOATS.items()))
    assert (found["statements"], found["commits"], found["logical_reads"]) == (3050.1, 446.7, 28164.9)
    assert (found["calls"], found["hard_parses"], found["cursor_hits"]) == (633.1, 9.1, 3284.6)
    assert found["soft_parses"] == pytest.approx(205.5)
    assert (found["reads"], found["writes"]) == (5984.0, 1657.4)
    reads, read, writes, written = (found[each] for each in ("reads", "read_bytes", "writes", "written_bytes"))
    assert reads is not None
    assert writes is not None
    assert read == pytest.approx(46.8 * MIB)
    assert written == pytest.approx(12.2 * MIB)
    assert (read or 0) / reads == pytest.approx(8200.8, abs=0.05)
    assert (written or 0) / writes == pytest.approx(7718, abs=0.5)
    assert found["log_bytes"] == pytest.approx(0.8 * MIB)
    assert found["log_sync"] is None


def test_the_time_of_log_syncs_is_counted_once() -> None:
    """Oracle tells it in centiseconds, too, which are not asked for: 4 ms each."""
    synched = (("redo synch writes", 100), ("redo synch time (usec)", 400_000))
    found = _rates(_interval(*synched))
    assert (found["log_syncs"], found["log_sync"]) == (10, pytest.approx(4_000_000))


def test_the_line_leaves_out_what_is_unknown() -> None:
    interval = _interval(("physical read total IO requests", 59_840), ("physical read total bytes", 468 * MIB))
    (shown,) = instance_lines("oracle", instance_rates(interval, "oracle"), 100)
    assert "".join(piece.text for piece in shown) == "oracle:   5,984 physical reads/s   49 MB/s read"
