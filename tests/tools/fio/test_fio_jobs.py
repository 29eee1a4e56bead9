"""Forty-six fio job files of the kinds people use: each runs on a simulated device, or is refused as it should be."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from makers.fio_jobs import ENVIRONMENT, RUN
from makers.left_out import long_after
from msgspec.structs import replace

from iocast import load
from iocast.errors import SpecError
from iocast.jobs import load_job, parse_target, plan
from iocast.model.plan import Length, Phase

JOBS = Path(__file__).parent / "files"


# Job file -> how it is refused, and the way out.
REFUSED = {
    "cloud_all_from_zero": (
        "cloud_all_from_zero.fio:13: [read] 8 users read the same blocks from the start: "
        "the page cache or the storage cache answers all but one",
        "give offset_increment and size (a part for each), leave out filename (a file for each), or set numjobs=1",
    ),
    "four_zones": (
        "four_zones.fio:6: random_distribution=zoned:60/10:30/20:8/30:2/40: only one hot and "
        "one cold zone are supported, the same for reads and writes",
        "nearest: zoned:80/20:20/80",
    ),
    "latency_target": (
        "latency_target.fio:8: latency_target=2ms: iocast does not search for a queue depth",
        "write a section for each iodepth; the card shows where it bends",
    ),
    "mapped": (
        "mapped.fio:2: ioengine=mmap: unknown engine",
        "nearest: psync with direct=0: both use the page cache",
    ),
    "pareto": (
        "pareto.fio:3: random_distribution=pareto:0.2: the pareto distribution is not supported",
        "nearest: zipf:0.99, or zoned:80/20:20/80 (a hot fifth)",
    ),
    "pinned": (
        "pinned.fio has 3 problems\n"
        "  pinned.fio:10: cpus_allowed=0-3: iocast does not pin threads to CPUs (taskset -c CPUS "
        "iocast run ...)\n"
        "  pinned.fio:11: nice=-5: iocast does not change its priority (nice -n LEVEL iocast run ...)\n"
        "  pinned.fio:12: sqthread_poll_cpu=3: polling is on or off for all I/Os, on any CPU (sqthread_poll "
        "or hipri alone)",
        "",
    ),
    "rate_min": (
        "rate_min.fio:6: rate_min=50m: iocast does not end a phase because it is slow",
        "leave it out: the card shows what was reached",
    ),
    "rate_one_side": (
        "rate_one_side.fio:6: rate_iops=500,: only reads have a limit; the other I/Os would run unlimited",
        "give both, such as rate_iops=700,300, or make two sections with a stonewall",
    ),
    "replay": (
        "replay.fio:3: read_iolog=trace.iolog: iocast cannot replay traces yet",
        "describe the load with rw, bs, iodepth and rate_iops",
    ),
    "runs_of_eight": (
        "runs_of_eight.fio:2: rw=randread:8: sequential runs at random offsets are not supported",
        "nearest: a larger bs",
    ),
    "size_range": (
        "size_range.fio:3: bsrange=4k-64k: a range of sizes is not supported",
        "nearest: bssplit=4k/:8k/:16k/:32k/:64k/",
    ),
    "thinktime_bursts": (
        "thinktime_bursts.fio:6: thinktime_blocks=8: iocast pauses after every I/O or not at all",
        "thinktime_blocks=1",
    ),
    "verify_only": (
        "verify_only.fio:9: verify_only=1: an earlier run is verified with the journal in its run folder",
        "verify=crc32c in the section that writes, then iocast verify RUN",
    ),
    "zoned_device": (
        "zoned_device.fio has 3 problems\n"
        "  zoned_device.fio:6: zonemode=strided: zones are not supported (offset and size say which "
        "part is used)\n"
        "  zoned_device.fio:7: zonesize=1m: zones are not supported (offset and size say which part "
        "is used)\n"
        "  zoned_device.fio:8: zoneskip=1m: zones are not supported (offset and size say which part "
        "is used)",
        "",
    ),
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(JOBS)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


def test_every_job_file_is_here() -> None:
    assert sorted(path.stem for path in JOBS.glob("*.fio")) == sorted([*RUN, *REFUSED])
    assert len(RUN) + len(REFUSED) >= 40


@pytest.mark.parametrize("name", long_after(3, sorted([*RUN, *REFUSED])))
def test_fio_itself_takes_it(name: str) -> None:
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    done = subprocess.run(["fio", "--parse-only", f"{name}.fio"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", RUN)
def test_it_is_understood_and_runs(name: str) -> None:
    job = load_job(f"{name}.fio")
    assert [phase.name for phase in job.phases] == RUN[name]
    short = replace(job, phases=tuple(shortened(phase) for phase in job.phases if phase.role != "verify"))
    made, omitted = plan(short, parse_target("sim:nvme"), seed=1, memory_bytes=1 << 34)
    assert omitted == []
    layout = load.lay_out(made)
    for number, phase in enumerate(made.phases):
        handed = load.phase_plan(made, phase, layout.files, load.phase_seed(made, phase, number))
        measurement, _ = load.measure(handed, lambda *_: True)
        assert measurement.stopped == "finished"
        assert measurement.ios > 0
        assert measurement.error_count == 0


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_the_reason_and_the_way_out(name: str) -> None:
    with pytest.raises(SpecError) as refused:
        load_job(f"{name}.fio")
    assert (refused.value.message, refused.value.hint) == REFUSED[name]


def shortened(phase: Phase) -> Phase:
    """The same for a hundredth of a second, or for as few I/Os as its users can do; simulated devices keep no data."""
    return replace(phase, verify=False, length=Length(seconds=0.05, ios=max(500, 2 * phase.workload.asked_depth)))
