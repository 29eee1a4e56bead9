"""What a table of events says of itself is read as iocast writes it, or refused."""

from __future__ import annotations

import json

import pytest

from iocast.analyse.profiling.event_queries import _footer
from iocast.errors import AnalysisError

FILE = {
    "path": "trace.csv",
    "format": "msr",
    "lines": 3,
    "accepted": 2,
    "ignored": {"heading": 1},
    "rejected": {},
    "events": 2,
    "notes": [],
    "figures": {},
}


def test_a_footer_of_ours_is_read() -> None:
    facts = {"clock": "realtime", "tick_ns": "100", "targets": '["sda"]', "files": json.dumps([FILE])}
    footer = _footer("events.parquet", [(f"iocast.{key}", value) for key, value in facts.items()])
    assert (footer.clock, footer.tick_ns, footer.epoch_ns, footer.targets) == ("realtime", 100, None, ["sda"])
    assert footer.files is not None
    assert footer.files[0].ignored == {"heading": 1}


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tick_ns", '"soon"'),  # was a traceback, one damaged table in 400
        ("tick_ns", "soon"),
        ("epoch_ns", "[1]"),
        ("clock", "3"),
        ("targets", '{"0": "sda"}'),
        ("actors", "[1]"),
        ("files", "7"),
        ("files", json.dumps([{**FILE, "ignored": 1}])),
        ("files", json.dumps([{"path": "trace.csv"}])),
    ],
)
def test_a_damaged_one_is_refused(key: str, value: str) -> None:
    with pytest.raises(AnalysisError, match=r"events.parquet cannot be profiled: .*damaged"):
        _footer("events.parquet", [(f"iocast.{key}", value)])
