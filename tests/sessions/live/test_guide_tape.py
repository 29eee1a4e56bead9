"""The tape of the guide can be played, and says what the guide says of it."""

from __future__ import annotations

from pathlib import Path

from iocast.model.live.moment import intervals
from iocast.report.live.verdict_lines import verdict_of
from iocast.sessions.live.playing import Playing

TAPE = Path(__file__).resolve().parents[3] / "docs/guide/tapes/slow-database"


def test_health_a_neighbour_and_starvation_follow_each_other() -> None:
    playing = Playing(str(TAPE))
    assert playing.run.tape is not None
    assert playing.run.tape.provenance == "real"
    codes = [verdict_of(interval).code for interval in intervals(playing.moments(lambda: False))]
    crowded = [at for at, code in enumerate(codes) if code == "device_queue"]
    assert len(crowded) >= 6
    assert crowded == list(range(crowded[0], crowded[-1] + 1)), "as long as the neighbour was there"
    assert "none" in codes[: crowded[0]]
    assert "cpu" in codes[crowded[-1] + 1 :]
