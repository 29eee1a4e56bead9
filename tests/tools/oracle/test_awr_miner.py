"""AWR-Miner, by hand in its form: the snapshots of an event are added up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.tools import importers
from iocast.tools.oracle import awr_miner
from iocast.tools.oracle.oracle_events import WAITS_NOTE

Reader = Callable[..., Run]


def test_snapshots_of_an_event_are_added_up(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "awr_miner.txt"),))
    assert [(each.phase.name, each.measurement.classes[0].op, each.measurement.ios) for each in run.phases] == [
        ("db file sequential read", "read", 100),
        ("log file parallel write", "write", 7),
    ]
    times = run.phases[0].measurement.service("read")
    assert times.quantile_bounds_ns(0.4) == (0, 1_000_000)
    assert times.quantile_bounds_ns(0.9) == (4_000_000, 8_000_000)  # edges are upper ones
    assert times.quantile_bounds_ns(0.99) == (8_000_000, 16_000_000)
    assert {"length", "size", "users", "depth"} <= {*run.phases[0].unstated}
    assert not run.warnings
    assert run.source is not None
    assert run.source.notes == (WAITS_NOTE,)
    assert importers.importer_of(str(fixtures / "awr_miner.txt")) is awr_miner


def test_a_cut_block_says_so(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "awr_miner.txt").read_text()
    run = read_all(("m.out", text[: text.index("         7\n")]))
    assert [each.measurement.ios for each in run.phases] == [100]
    assert "the block of waits is cut" in run.warnings[0]


@pytest.mark.parametrize(
    ("was", "then", "says"),
    [
        ("IO-WAIT-HISTOGRAM", "WAITS", "no block IO-WAIT-HISTOGRAM"),
        ("WAIT_TIME_MILLI", "WAIT_TIME_MICRO", "without the columns"),
        ("  8         50", "  9         50", "m.out:12: db file sequential read: the edge 9 ms"),
        ("  8         50", "  8        -50", 'db file sequential read: its count is "-50", not a whole number'),
    ],
)
def test_what_does_not_fit_is_refused(fixtures: Path, read_all: Reader, was: str, then: str, says: str) -> None:
    text = (fixtures / "awr_miner.txt").read_text()
    assert was in text
    with pytest.raises(SourceError) as refused:
        read_all(("m.out", text.replace(was, then)))
    assert says in refused.value.message
