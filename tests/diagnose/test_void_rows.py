"""A row that measured something else is judged for nothing else."""

from __future__ import annotations

from makers import card_runs

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.limits import by_load


def test_a_void_row_has_no_bottleneck() -> None:
    made = card_runs.troubled_card()
    found = examine(made)
    assert found.trust["randread 8k"].void
    assert by_load.bounds(Facts(made))["randread 8k"].by == "device", "it was the page cache, never the device"
    assert (found.bounds["randread 8k"].by, found.bounds["randread 8k"].says) == (
        "unknown",
        "Bottleneck unknown: the row is void.",
    )
    assert (found.bounds["randread 8k x 8"].by, found.bounds["randread 8k x 8"].says) == (
        "unknown",
        "Bottleneck unknown: I/O stalled: 1 stall of 2.1 s, at t=6.1 s.",
    ), "what the page cache did is no measure of a load on the device"
