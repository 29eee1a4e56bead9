"""Stalls that recur by one clock are one finding with its period, over all rows that met them."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.examination import examine
from iocast.model.measurement import SlowIo
from iocast.model.run import PhaseRecord
from iocast.report.card.findings_section import alike

SECOND_NS = card_runs.SECOND_NS
SHORT_ROWS = """\
name = "rows"
[files]
size = "4GiB"
[defaults]
size = "8k"
pattern = "random"
time = "{seconds}s"
[[phase]]
test = "randread"
users = [1, 4, 8, 16]
[[phase]]
test = "randwrite"
write = 100
users = [1, 4, 8, 16]
"""


@pytest.mark.parametrize(
    ("target", "seconds", "every"), [("sim:nvme,stall=300ms/4s", 3, "4 s"), ("sim:nvme,stall=60ms/1s", 20, "1 s")]
)
def test_a_clock_of_the_device_is_one_finding(target: str, seconds: int, every: str, tmp_path: Path) -> None:
    """Over rows of 3 s that met one stall or none, as over rows that met many."""
    run = planted.measured(target, SHORT_ROWS.format(seconds=seconds), tmp_path)
    (found,) = (each for each in alike(examine(run).findings) if each.finding.code == stalls.CODE)
    assert f"I/O stalled every {every}, for " in found.finding.says
    assert found.finding.remedy.startswith(f"Look for what runs every {every}: ")
    assert len(found.phases) >= 5


def _recurring(name: str, every_s: float) -> PhaseRecord:
    slow = tuple(
        SlowIo(round((at + 1) * every_s * SECOND_NS), "read", 0, 0, 8192, 150_000_000, 150_000_000) for at in range(10)
    )
    return card_runs.reads(name, times=card_runs.histogram((240_000, 40_000), (150_000_000, 10)), users=1, slow=slow)


def test_rows_of_real_storage_show_a_clock_each_by_itself() -> None:
    rows = [_recurring("one", 2.0), _recurring("two", 2.0), _recurring("three", 0.7)]
    told = {each.phase: each.says for each in stalls.detect(Facts(card_runs.run(*rows)))}
    assert told["one"] == told["two"] == "I/O stalled every 2 s, for 150 ms: 20 stalls on 2 rows."
    assert told["three"].endswith("They recur every 700 ms.")


def test_stalls_that_come_by_no_clock_keep_their_moments() -> None:
    record = card_runs.reads(
        "one",
        times=card_runs.histogram((240_000, 40_000)),
        slow=(SlowIo(4 * SECOND_NS, "read", 0, 0, 8192, SECOND_NS, SECOND_NS),),
    )
    (found,) = stalls.detect(Facts(card_runs.run(record)))
    assert found.says == "I/O stalled: 1 stall of 1 s, at t=4 s."
