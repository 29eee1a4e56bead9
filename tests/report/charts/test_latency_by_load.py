"""The shares behind the classic chart are all I/Os."""

from __future__ import annotations

import pytest
from makers import card_runs
from makers.card_pages import chart_of

from iocast.report.charts import latency_by_load


def test_the_shares_behind_the_classic_chart_are_all_io() -> None:
    for row in chart_of(card_runs.quick_card(), latency_by_load).tables[0].rows:
        shares = [row.cells[key] for key in ("fast", "middling", "slow")]
        assert sum(share for share in shares if isinstance(share, float)) == pytest.approx(1)
