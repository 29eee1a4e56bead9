"""Figures that others published of disks, as simulated disks show them: rules of thumb (V2), SATA beside SAS (V6)."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers import card_runs
from makers.left_out import long_after
from makers.trial_runs import Silent, column, ruling

from iocast import jobs, load, runner
from iocast.diagnose.comparable import side
from iocast.diagnose.experiments.named import working_set
from iocast.jobs import parse_target
from iocast.model.job import FileSize, Job
from iocast.model.measurement import Measurement
from iocast.model.plan import Length, Phase
from iocast.model.workload import MixItem, Workload
from iocast.report.comparison_report import compare

MS, GB = 1_000_000, 1_000_000_000
SETS = (GB, 100 * GB, 1000 * GB)
# Mean ms of 8k random reads one at a time, over 1, 100 and 1000 GB (V6).
SATA, SAS = (5.5, 7.5, 12.5), (4.0, 4.5, 7.0)


def measured(device: str, out: Path, *, users: int = 1, ios: int = 20_000) -> Measurement:
    """8k random reads on a simulated device."""
    reads = Workload(mix=(MixItem(op="read", size_bytes=8192),), users=users)
    phase = Phase(name="randread", test="randread", workload=reads, length=Length(ios=ios))
    job = Job(name="vectors", phases=(phase,), file_size=FileSize(1 << 20))
    plan, _ = jobs.plan(job, parse_target(device), seed=1, memory_bytes=1 << 34)
    (record,) = runner.run(runner.Work(plan, load.lay_out(plan), str(out)), Silent(), lambda: False).run.measured
    return record.measurement


@pytest.mark.parametrize(
    ("rpm", "turn_ms", "band_ms"),
    [(7200, 4.1667, (6.17, 12.17)), (10_000, 3.0, (5.0, 11.0)), (15_000, 2.0, (4.0, 10.0))],
)
def test_half_a_turn_and_the_band_of_seeks(
    rpm: int, turn_ms: float, band_ms: tuple[float, float], tmp_path: Path
) -> None:
    for seek_ms, mean_ms in zip((0, 2, 8), (turn_ms, *band_ms), strict=True):
        law = f"sim:hdd,service=disk:{rpm}:{seek_ms}ms:0ms,bandwidth=none"
        found = measured(law, tmp_path).service().mean_ns / MS
        # 20,000 turns: their mean is known to 0.4 %.
        assert found == pytest.approx(mean_ms, abs=0.015 * turn_ms + 0.005)


def test_disks_add_up(tmp_path: Path) -> None:
    """One fast disk makes 150 I/Os a second, thirty that make 50 each 1500."""
    one = measured("sim:hdd,service=constant:6.6667ms,bandwidth=none", tmp_path)
    assert one.rate_per_s == pytest.approx(150, rel=0.001)
    many = measured("sim:hdd,service=constant:20ms,bandwidth=none,servers=30", tmp_path, users=30)
    assert many.rate_per_s == pytest.approx(1500, rel=0.001)


def test_a_block_on_a_link_of_400_mb_a_second(tmp_path: Path) -> None:
    found = measured("sim:nvme,service=constant:1ns,bandwidth=400MB/s", tmp_path, ios=1000)
    assert found.service().mean_ns == pytest.approx(20_481, abs=1)


@pytest.mark.parametrize(
    ("rpm", "seek", "published", "within_ms"),
    long_after(1, [(7200, "1.0075ms:13.58ms", SATA, 0.12), (10_000, "0.674ms:6ms", SAS, 0.35)]),
    ids=["sata", "sas"],
)
def test_working_sets_of_two_disks(
    rpm: int, seek: str, published: tuple[float, ...], within_ms: float, tmp_path: Path
) -> None:
    device = f"sim:hdd,size=1000GB,bandwidth=none,service=disk:{rpm}:{seek}"
    found = ruling(working_set, device, tmp_path, seconds=100.0, sizes=SETS)
    even = [row for row in found.rows if row.where == "even"]
    zipf = [row for row in found.rows if row.where != "even"]
    means = [row.mean_ns / MS for row in even]
    assert means == pytest.approx(published, abs=within_ms)
    assert [row.rate_per_s for row in even] == pytest.approx([1000 / mean for mean in means], rel=0.01)
    assert zipf[0].mean_ns / MS < means[-1]
    assert column(found, "set_bytes")[:3] == pytest.approx(list(SETS), rel=0.001)


def test_the_buffer_of_a_drive_makes_zipf_reads_faster(tmp_path: Path) -> None:
    """V6: 8.5 ms by Zipf's law where even reads take 12.5. Hot blocks are scattered, so the arm moves as far; what a
    drive keeps of its last 64 reads explains the rest."""
    device = "sim:hdd,size=1000GB,bandwidth=none,cache=4MiB:200us"
    found = ruling(working_set, device, tmp_path, seconds=100.0, sizes=(GB, 1000 * GB))
    even, zipf = (row.mean_ns / MS for row in found.rows[-2:])
    assert even == pytest.approx(SATA[2], abs=0.12)
    assert zipf == pytest.approx(8.5, abs=0.4)
    assert "a cache serves the hot blocks" in found.says


def test_one_beside_the_other() -> None:
    """IOPS of one at a time, and how many times as long SATA takes, the largest first: 1.786, 1.667, 1.375."""
    names = [f"{size // GB}G" for size in SETS]

    def disk(label: str, means_ms: tuple[float, ...]) -> object:
        rows = []
        for name, mean_ms in zip(names, means_ms, strict=True):
            times = card_runs.histogram((mean_ms * MS, 1000))
            rows.append(card_runs.reads(name, times=times, elapsed_ns=round(1000 * mean_ms * MS)))
        return side(label, (card_runs.run(*rows),) * 3)

    report = compare([disk("SATA", SATA), disk("SAS", SAS), disk("SATA again", SATA)])
    (table,) = (each for section in report.sections for each in section.tables if each.key == "relative")
    means = [row.cells for row in table.rows if row.cells["statistic"] == "mean"]
    assert [cells["relative1"] for cells in means] == pytest.approx([1.786, 1.667, 1.375], abs=0.0005)
    rates = [row.cells["first"] for row in table.rows if row.cells["statistic"] == "throughput"]
    assert rates == ["80 IOPS", "133 IOPS", "182 IOPS"]
