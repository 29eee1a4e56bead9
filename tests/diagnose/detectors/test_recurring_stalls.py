"""Stalls that recur by one clock are one finding with its period, over all rows that met them."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.left_out import long_but

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


CLOCKS = [("sim:nvme,stall=300ms/4s", 3, "4 s"), ("sim:nvme,stall=60ms/1s", 20, "1 s")]


@pytest.mark.long
@pytest.mark.parametrize(("target", "seconds", "every"), long_but(CLOCKS, CLOCKS[0]))
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


QUICK_ROWS = """\
name = "rows"
[files]
size = "2GiB"
[defaults]
time = "3s"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 8, 1, 4, 8, 1]
[[phase]]
test = "scan"
size = "128k"
pattern = "sequential"
"""


def test_a_stall_behind_a_neighbour_is_named_on_a_disk(tmp_path: Path) -> None:
    """Of 397 ms, on a disk whose I/Os wait 100 ms in a queue of eight, longer behind the neighbour: it was missed."""
    run = planted.measured("sim:hdd,noise=60/s:2s/9s,stall=400ms/7s", QUICK_ROWS, tmp_path)
    found = planted.told(run, stalls.CODE)
    queued = [each for each in found if " 8x1" in each.phase or " 4x1" in each.phase]
    assert queued
    for each in queued:
        assert all(350_000_000 <= span.end_ns - span.start_ns <= 450_000_000 for span in each.spans)
    assert not [each for each in found if "every" in each.says and "every 7 s" not in each.says]


@pytest.mark.long
def test_a_disk_with_a_neighbour_alone_does_not_stall(tmp_path: Path) -> None:
    for seed in range(1, 5):
        run = planted.measured("sim:hdd,noise=60/s:2s/9s", QUICK_ROWS, tmp_path / str(seed), seed)
        told = planted.told(run, stalls.CODE)
        assert not [
            each.says for each in told if each.evidence["stalls"]
        ]  # some wait in turn behind it, and are told so


def test_a_short_time_into_which_longer_ones_fit_is_no_clock() -> None:
    """Stalls of one clock of 7 s and one beside it: "every 700 ms", of which 27 of 31 would have been missed."""
    ends = [0.36, 1.08, 8.08, 15.08, 22.08]
    found = tuple(
        stalls.Stall(round(at * 1e9) - 400_000_000, round(at * 1e9), 1, 400_000_000, 400_000_000) for at in ends
    )
    assert stalls.period_ns(found) == 0
    every = tuple(stalls.Stall(at * SECOND_NS, at * SECOND_NS + 4, 1, 4, 4) for at in (0, 7, 14, 28, 35))
    assert stalls.period_ns(every) == 7 * SECOND_NS


def test_what_was_outstanding_before_a_row_is_no_stall_of_its_first_io() -> None:
    def told(at_ns: int) -> int:
        slow = (SlowIo(at_ns, "read", 0, 0, 8192, 400_000_000, 400_000_000),)
        times = card_runs.histogram((240_000, 40_000), (400_000_000, 1))
        return len(list(stalls.detect(Facts(card_runs.run(card_runs.reads(times=times, slow=slow))))))

    assert told(0) == 0
    assert told(SECOND_NS) == 1


@pytest.mark.long
def test_stalls_beyond_the_recorded_ios_are_counted_as_at_least(tmp_path: Path) -> None:
    """Eight users meet 60 stalls, and 64 I/Os of a row are recorded one by one: they belong to some of them."""
    job = 'name = "rows"\n[[phase]]\ntest = "randread"\nsize = "8k"\npattern = "random"\ntime = "60s"\nusers = [4, 8]\n'
    run = planted.measured("sim:nvme,stall=60ms/1s", job, tmp_path)
    told = {each.says for each in examine(run).findings if each.code == stalls.CODE}
    assert len(told) == 1
    assert ": at least " in min(told)
    assert min(told).endswith("Only the 64 slowest I/Os are recorded one by one on each row.")
