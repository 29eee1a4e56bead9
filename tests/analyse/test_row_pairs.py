"""Which parts of the target a run has written before one of its rows."""

from __future__ import annotations

import pytest
from makers import card_runs

from iocast.analyse.row_pairs import written_before
from iocast.model.workload import MixItem, Op, Workload

MIB = 1 << 20


@pytest.mark.parametrize(
    ("before", "written"),
    [((), False), (("write",), True), (("trim",), False), (("write", "trim"), False), (("trim", "write"), True)],
)
def test_what_was_trimmed_since_is_not_written(before: tuple[Op, ...], written: bool) -> None:
    times = card_runs.histogram((1e6, 1000))
    phases = [
        card_runs.record(op, Workload(mix=(MixItem(op, MIB),)), card_runs.measurement([card_runs.part(op, MIB, times)]))
        for op in before
    ]
    row = card_runs.reads("row")
    assert written_before(card_runs.run(*phases, row), row) == written
