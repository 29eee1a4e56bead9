"""The section of a replay says whether times were kept, who was late, and what the trace has that was not replayed."""

from __future__ import annotations

import pytest
from makers.card_runs import histogram, reads, run
from msgspec.structs import replace

from iocast.model.measurement import RecordedLatency, ReplayFacts
from iocast.model.plan import Replay, ReplayMode
from iocast.model.run import PhaseRecord
from iocast.report.card.replay_section import section, sentence
from iocast.results.replayed import replays

MS = 1_000_000
FACTS = ReplayFacts(
    events=1100,
    replayed=1000,
    left_out={"not_io": 90, "failed": 10},
    rounded=7,
    moved=0,
    recorded_ns=10_000 * MS,
    latency=(RecordedLatency("read", histogram((5 * MS, 1000))),),
    due_ios=(500, 500),
    independent=0,
)


def _replayed(mode: ReplayMode, late_ns: int, own_ns: int = 0) -> PhaseRecord:
    """A replay of which one I/O in ten was so late, of it so much by the generator."""
    (record,) = run(reads(times=histogram((MS, 1000)))).phases
    did = replace(
        record.measurement,
        replay=FACTS,
        issue_error=histogram((1000, 900), (late_ns, 100)),
        lag=histogram((1000, 900), (max(own_ns, 1000), 100)),
    )
    asked = Replay(events="events.parquet", mode=mode)
    return replace(record, measurement=did, phase=replace(record.phase, replay=asked))


def test_times_that_were_kept_are_said_to_be() -> None:
    said = sentence(_replayed("timed", late_ns=2000))
    assert "1,000 of 1,100 events of the trace were replayed at their times" in said
    assert "Issue times were kept: none was more than 1 ms late" in said
    assert "Median service time of a read: 1.00 ms here, 5.00 ms in the trace." in said


@pytest.mark.parametrize(
    ("may_be_cached", "direct", "says"),
    [
        (1000, True, "those of the trace are not known to be: 5.00 ms may be the time of the page cache"),
        (1000, False, "Median service time of a read: 1.00 ms here, 5.00 ms in the trace."),
        (400, True, "Median service time of a read: 1.00 ms here"),
        (400, False, "they were buffered here (1.00 ms in the median), and those of the trace were not (5.00 ms)."),
    ],
)
def test_the_page_cache_and_storage_are_not_compared(may_be_cached: int, direct: bool, says: str) -> None:
    """598 and 13.7 us were: 44 times slower."""
    record = _replayed("timed", late_ns=2000)
    latency = tuple(replace(each, may_be_cached=may_be_cached) for each in FACTS.latency)
    did = replace(record.measurement, replay=replace(FACTS, latency=latency))
    changed = replace(record, measurement=did, plan=replace(record.plan, direct=direct))
    assert says in sentence(changed)
    (result,) = replays(replace(run(), phases=(changed,)))
    assert result.times[0].trace_may_be_cached_share == may_be_cached / 1000


def test_who_was_late_is_named() -> None:
    storage = sentence(_replayed("timed", late_ns=80 * MS))
    assert "Issue times were not kept: 10% were more than 1 ms late" in storage
    assert "the storage was slower than the trace" in storage
    assert "this machine could not issue them in time" in sentence(_replayed("timed", 80 * MS, own_ns=80 * MS))


def test_as_fast_as_possible_has_no_times_to_keep() -> None:
    assert "Issue times" not in sentence(_replayed("fast", late_ns=80 * MS))


def test_what_was_left_out_is_counted_by_reason() -> None:
    record = _replayed("dependent", late_ns=2000)
    found = section(made := replace(run(), phases=(record,)), tuple(replays(made)))
    assert found is not None
    changes = next(table for table in found.tables if table.key == "changes")
    assert [(row.cells["ios"], row.cells["change"]) for row in changes.rows] == [
        (90, "left out: opens, seeks and other calls that move no data"),
        (10, "left out: failed in the trace"),
        (7, "rounded to whole blocks"),
    ]


def test_other_rows_have_no_such_section() -> None:
    assert section(run(reads()), ()) is None
    assert sentence(run(reads()).phases[0]) == ""
