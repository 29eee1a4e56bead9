"""Charts of replays: what the trace issues beside what completed, and how late I/Os were issued."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.msr_traces import every, msr

import iocast
from iocast.model.run import PhaseRecord
from iocast.report.charts import charts_at, plot_of, replay_lateness, replay_rates
from iocast.report.plot.theme import LIGHT

ONE_SERVER = "sim:nvme,service=constant:1ms,servers=1"


def replayed(folder: Path, gap_ms: float, count: int, **how: str) -> PhaseRecord:
    card = iocast.replay(msr(folder, every(gap_ms, count, 0.4)), ONE_SERVER, out=str(folder / "runs"), **how)
    (record,) = card.run.measured
    return record


@pytest.fixture(scope="module")
def slow(tmp_path_factory: pytest.TempPathFactory) -> PhaseRecord:
    """Twice as many I/Os a second as the device can serve, for three seconds: it takes six."""
    return replayed(tmp_path_factory.mktemp("slow"), 0.5, 6000)


def test_the_trace_is_ahead_of_a_storage_that_is_too_slow(slow: PhaseRecord) -> None:
    (chart,) = replay_rates.tell(slow)
    assert [span.wanted_per_s for span in chart.spans[:4]] == [2000.0, 2000.0, 2000.0, 0.0]
    done = [span.done_per_s for span in chart.spans]
    assert done[1:5] == [pytest.approx(999, abs=2)] * 4
    assert chart.summary == "The trace issues most at 0 s: 2.00k IOPS, 998 completed here."


def test_lateness_grows_while_the_queue_does(slow: PhaseRecord) -> None:
    late = slow.measurement.lateness
    assert sum(map(sum, late.rows)) == slow.measurement.issue_error.total == 6000
    (chart,) = replay_lateness.tell(slow)
    latest = [moment.most_ns for moment in chart.moments]
    assert latest[0] < latest[2]  # type: ignore[operator]
    assert latest[-1] == 1 << 32  # three seconds are below 4.29 s
    assert "of the I/Os were issued more than 1 ms late; the latest by 3" in chart.summary


def test_both_are_drawn(slow: PhaseRecord) -> None:
    charts = charts_at("replay", slow)
    assert [chart.kind for chart in charts] == ["replay_rates", "replay_lateness"]
    for chart in charts:
        assert plot_of(chart, LIGHT).marks


def test_what_is_replayed_as_fast_as_possible_has_no_times_to_keep(tmp_path: Path) -> None:
    assert charts_at("replay", replayed(tmp_path, 0.5, 3000, mode="fast")) == ()
