"""Runs on the simulated device, of 20 ms a phase, and their folders."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from iocast import archive, load
from iocast.archive import RunFolder
from iocast.jobs import load_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.model.run import Blind, Host, PhaseRecord, Run, Sample

HOST = Host(name="h", kernel="6.1", cpus=2, cpu_model="c", memory_bytes=1 << 30)


def empty_run(name: str = "card quick", target: str = "sim:nvme") -> Run:
    job = replace(load_job("card-quick"), name=name)
    short = tuple(replace(phase, length=replace(phase.length, seconds=0.02)) for phase in job.phases)
    plan, _ = make_plan(replace(job, phases=short), parse_target(target), seed=1, memory_bytes=1 << 30)
    plan = replace(plan, interval_ns=5_000_000)
    return Run(
        plan=plan,
        host=HOST,
        started_unix_ns=1_790_000_000_000_000_000,
        status="running",
        run_id="20260921T141320Z-0123456789ab",
    )


def measured(run: Run, number: int, name: str | None = None) -> tuple[PhaseRecord, load.Intervals]:
    """One phase of a run on the simulated device."""
    phase = replace(run.plan.phases[number], name=name or run.plan.phases[number].name)
    files = load.lay_out(run.plan).files
    handed = load.phase_plan(run.plan, phase, files, load.phase_seed(run.plan, phase, number))
    measurement, intervals = load.measure(handed, lambda *_: True)
    series = archive.series(intervals, handed.interval_ns, measurement)
    return PhaseRecord(phase=phase, plan=handed, measurement=measurement, series=series), intervals


def saved(
    tmp_path: Path, samples: tuple[Sample, ...] = (), numbers: tuple[int, ...] = (0, 10)
) -> tuple[Run, RunFolder]:
    """A finished run, and its folder."""
    run = empty_run()
    folder = RunFolder.create(str(tmp_path / "runs"), run)
    for at, number in enumerate(numbers):
        record, intervals = measured(run, number)
        record = replace(record, samples=samples)
        run = replace(run, phases=(*run.phases, record))
        folder.save_phase(at, record.phase.name, intervals, samples)
        folder.save(run)
        assert archive.load(str(folder.path)) == run, "valid after each phase"
    run = replace(run, status="done", blind=(Blind("diskstats", "gone"),), warnings=("w",), iocast_version="0.1.0")
    folder.save(run)
    return run, folder
