"""The runner: files first, then every phase watched and saved, and an end that keeps what was done."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from makers.work_files import MIB, phase, plan
from msgspec.structs import replace

from iocast import archive, load, runner
from iocast.errors import ArchiveError, IocastError, LoadError, TargetError
from iocast.jobs import load_job, parse_target
from iocast.jobs import plan as make_plan
from iocast.load import core_phases
from iocast.load.filling import check_filled
from iocast.model.plan import Length, Phase
from iocast.model.run import PhaseRecord, Sample
from iocast.model.workload import Constant, MixItem, Workload, Zeros
from iocast.runner import run_loop


class Told:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.said: list[Any] = []

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        self.said.append((phase.name, number, total, seconds_left))

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None:
        self.said.append("tick")

    def end(self, record: PhaseRecord) -> None:
        self.said.append(record.phase.name)

    def close(self) -> None:
        self.said.append("close")


def never() -> bool:
    return False


def perform(made: Any, out: Path, stopped: Any = never, told: Told | None = None) -> runner.Performed:
    return runner.run(runner.Work(made, load.lay_out(made), str(out)), told or Told(), stopped)


def test_files_then_phases_then_saved(tmp_path: Path) -> None:
    told = Told()
    writes = replace(phase("write"), length=Length(ios=50))
    made = plan(tmp_path, 2 * MIB, 2, phase(), writes)
    done = perform(made, tmp_path / "runs", told=told)
    assert done.error is None
    assert done.run.status == "done"
    assert [record.phase.role for record in done.run.phases] == ["fill", "fill", "measure", "measure"]
    assert [record.measurement.stopped for record in done.run.phases] == ["finished"] * 4
    assert done.run.host.memory_bytes_per_s
    assert all(record.samples for record in done.run.phases)
    steps = [each for each in told.said if each != "tick"]
    assert [each[:3] for each in steps if isinstance(each, tuple)] == [
        ("lay out iocast-work.0.dat", 0, 4),
        ("lay out iocast-work.1.dat", 1, 4),
        ("randread", 2, 4),
        ("randwrite", 3, 4),
    ]
    assert steps[-1] == "close"
    assert archive.load(str(done.folder)) == done.run


@pytest.mark.long
def test_the_same_seed_makes_the_same_load_whether_files_were_there_or_not(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, phase(), phase())
    first, second = (perform(made, tmp_path / "runs").run for _ in range(2))
    assert len(first.phases) == len(second.phases) + 1
    handed = [[replace(record.plan, payload_seed=0) for record in run.measured] for run in (first, second)]
    assert handed[0] == handed[1]
    assert len({record.plan.seed for record in first.phases}) == 3
    assert len({record.plan.payload_seed for record in (*first.phases, *second.phases)}) == 5


@pytest.mark.long
def test_whole_files_are_noted_whether_written_now_or_found(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 2)
    assert [perform(made, tmp_path / "runs").run.files_whole for _ in range(2)] == [True, True]
    (tmp_path / "data").write_bytes(os.urandom(2 * MIB))
    assert not perform(plan(tmp_path / "data"), tmp_path / "runs").run.files_whole


def test_two_files_never_hold_the_same_data(tmp_path: Path) -> None:
    seeds = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        seeds.add(perform(plan(tmp_path / name), tmp_path / "runs").run.phases[0].plan.payload_seed)
    assert len(seeds) == 2
    assert (tmp_path / "a/iocast-work.0.dat").read_bytes() != (tmp_path / "b/iocast-work.0.dat").read_bytes()


def test_stopped_between_phases(tmp_path: Path) -> None:
    told = Told()
    made = plan(tmp_path, 2 * MIB, 1, phase(), phase(), phase())
    done = perform(made, tmp_path / "runs", lambda: told.said.count("randread") == 1, told)
    assert done.run.status == "interrupted"
    assert len(done.run.measured) == 1
    assert archive.load(str(done.folder)) == done.run


def test_stopped_at_the_very_end_is_done(tmp_path: Path) -> None:
    told = Told()
    done = perform(plan(tmp_path), tmp_path / "runs", lambda: "randread" in told.said, told)
    assert done.run.status == "done"


def test_stopped_in_the_first_phase_before_anything_came_back(tmp_path: Path) -> None:
    slow = phase(seconds=60.0, arrival=Constant(0.01))
    stop = iter([False, False, *[True] * 9])
    done = perform(plan(tmp_path, 2 * MIB, 1, slow), tmp_path / "runs", lambda: next(stop))
    assert (done.run.status, done.folder, done.run.measured) == ("interrupted", None, ())
    assert sorted(os.listdir(tmp_path)) == ["iocast-work.0.dat", "iocast-work.0.dat.iocast"]


def test_stopped_before_the_first_file(tmp_path: Path) -> None:
    done = perform(plan(tmp_path), tmp_path / "runs", lambda: True)
    assert (done.run.status, done.folder) == ("interrupted", None)
    assert os.listdir(tmp_path) == []


def test_a_phase_that_cannot_run_keeps_those_before_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = core_phases.measure_together, []

    def measure(*arguments: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == 3:
            raise LoadError("randread: no more memory")
        return real(*arguments, **more)

    monkeypatch.setattr(core_phases, "measure_together", measure)
    done = perform(plan(tmp_path, 2 * MIB, 1, phase(), phase(), phase()), tmp_path / "runs")
    assert isinstance(done.error, LoadError)
    assert done.run.status == "failed"
    assert len(done.run.measured) == 1
    assert archive.load(str(done.folder)) == done.run


def test_an_archive_that_fails_keeps_what_was_measured_in_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = archive.RunFolder.save_phase

    def full(folder: archive.RunFolder, number: int, *rest: Any) -> None:
        if number > 1:
            raise ArchiveError("cannot write: No space left on device")
        real(folder, number, *rest)

    monkeypatch.setattr(archive.RunFolder, "save_phase", full)
    done = perform(plan(tmp_path, 2 * MIB, 1, phase(), phase(), phase()), tmp_path / "runs")
    assert isinstance(done.error, ArchiveError)
    assert (done.run.status, len(done.run.measured)) == ("failed", 2)


@pytest.mark.parametrize("kind", [LoadError("no"), RuntimeError("a bug"), KeyboardInterrupt()])
def test_a_fill_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: BaseException) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise kind

    monkeypatch.setattr(core_phases, "measure_together", broken)
    told = Told()
    if isinstance(kind, IocastError):
        assert perform(plan(tmp_path), tmp_path / "runs", told=told).error is kind
    else:
        with pytest.raises(type(kind)):
            perform(plan(tmp_path), tmp_path / "runs", told=told)
    assert os.listdir(tmp_path) == []
    assert told.said[-1] == "close"


def test_writes_that_fail_while_laying_out_are_told(tmp_path: Path) -> None:
    made = replace(plan(tmp_path), target=parse_target("sim:hdd,errors=100%,errno=ENOSPC"), engine="sim")
    writes = Phase(name="f", test="f", workload=Workload(mix=(MixItem("write", 8192),)), length=Length(ios=10))
    files = load.lay_out(made).files
    measurement, _ = load.measure(load.phase_plan(made, writes, files, 1), lambda *_: True)
    with pytest.raises(TargetError, match="10 writes failed with ENOSPC") as refused:
        check_filled(measurement, "f")
    assert "--size" in refused.value.hint


@pytest.mark.long
def test_data_that_repeats_is_not_taken_for_whole_next_time(tmp_path: Path) -> None:
    zeros = plan(tmp_path, 2 * MIB, 1, phase("write", payload=Zeros()))
    perform(zeros, tmp_path / "runs")
    assert load.lay_out(plan(tmp_path)).fill_bytes == 2 * MIB
    perform(plan(tmp_path, 2 * MIB, 1, phase("write")), tmp_path / "runs")
    assert load.lay_out(plan(tmp_path)).fill_bytes == 0


def test_what_the_engine_did_without_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = core_phases.measure_together

    def measure(*arguments: Any, **more: Any) -> Any:
        ((measurement, intervals),) = real(*arguments, **more)
        return ((replace(measurement, engine=replace(measurement.engine, notes=("without huge pages",))), intervals),)

    monkeypatch.setattr(core_phases, "measure_together", measure)
    done = perform(plan(tmp_path, 2 * MIB, 1, phase(), phase()), tmp_path / "runs")
    assert done.run.warnings == ("Engine: without huge pages",)


def test_a_simulated_run_is_the_same_every_time_and_counts_no_real_seconds(tmp_path: Path) -> None:
    told = Told()
    made, _ = make_plan(load_job("card-quick"), parse_target("sim:hdd"), seed=3, memory_bytes=1 << 30)
    runs = [perform(made, tmp_path / "runs", told=told).run for _ in range(2)]
    first, second = (
        [replace(r.measurement, started_unix_ns=0, cpu_user_ns=0, cpu_system_ns=0) for r in run.phases] for run in runs
    )
    assert first == second
    assert {each[3] for each in told.said if isinstance(each, tuple)} == {None}


def test_a_simulated_device_remembers_from_phase_to_phase_but_not_from_run_to_run(tmp_path: Path) -> None:
    writes = replace(phase("write"), length=Length(ios=2000))
    target = parse_target("sim:nvme,service=constant:1ms,bandwidth=none,size=2MiB,unit=64KiB,first_write=3ms")
    made = replace(plan(tmp_path, 2 * MIB, 1, writes, writes), target=target, engine="sim")
    for _ in range(2):
        done = perform(made, tmp_path / "runs").run
        sums = [record.measurement.classes[0].service.sum_ns for record in done.phases]
        assert sums == [2000 * 1_000_000 + 32 * 3_000_000, 2000 * 1_000_000]


def test_phases_that_run_at_once_take_as_long_as_the_longest(tmp_path: Path) -> None:
    beside = [replace(phase(seconds=seconds), together="db") for seconds in (2.5, 1.0)]
    follower = replace(phase(), length=Length(follows=True), together="db")
    made = plan(tmp_path, 2 * MIB, 1, phase(seconds=4), *beside, follower, replace(phase(), length=Length(ios=5)))
    assert [len(group) for group in made.groups] == [1, 3, 1]
    assert made.expected_seconds == 6.5


def test_phases_of_a_group_run_at_once_and_share_what_was_seen(tmp_path: Path) -> None:
    told = Told()
    reads = replace(phase(seconds=0.6), name="reads", together="db")
    log = replace(phase("write"), name="log", together="db", engine="uring", length=Length(follows=True))
    fdatasyncs = replace(log.workload, fsync_every=1, fsync_op="fdatasync")
    made = plan(tmp_path, 2 * MIB, 1, reads, replace(log, workload=fdatasyncs), phase(seconds=0.1))
    done = perform(made, tmp_path / "runs", told=told)
    assert (done.run.status, done.error) == ("done", None)
    one, other, alone = done.run.measured
    assert one.measurement.started_unix_ns == other.measurement.started_unix_ns < alone.measurement.started_unix_ns
    assert [each.measurement.engine.name for each in (one, other)] == ["sync", "uring"]
    assert {each.op for each in other.measurement.classes} == {"write", "fdatasync"}
    assert other.measurement.commit.total > 0
    assert (one.measurement.cpu_phases, alone.measurement.cpu_phases) == (2, 1)
    assert done.run.beside(one) == (one, other) == done.run.beside(other)
    assert done.run.beside(alone) == (alone,)
    assert one.samples == other.samples != ()
    begun = [said for said in told.said if isinstance(said, tuple)]
    assert [name for name, *_ in begun[1:]] == ["db: 2 together", alone.phase.name]
    assert begun[1][1:3] == (1, 3)
    assert done.folder is not None
    kept = sorted(path.name for path in (done.folder / "samples").iterdir())
    assert kept == ["000.parquet", "001.parquet", "003.parquet"], "once for both"
    assert archive.load(str(done.folder)) == done.run


class _OwnWrites:
    """An observer of the bytes that this process has sent to storage."""

    unseen = ()

    def __init__(self, *_: object) -> None:
        pass

    def __enter__(self) -> _OwnWrites:
        return self

    def sample(self) -> list[Sample]:
        counters = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
        return [Sample(0, "own", "process", "written_bytes", float(counters["write_bytes"]))]

    def __exit__(self, *_: object) -> None:
        pass


def test_what_an_engine_tries_on_the_target_is_not_counted_with_the_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_loop, "OBSERVERS", (SimpleNamespace(NAME="own", Observer=_OwnWrites),))
    writes = phase("write")
    directly = replace(writes, workload=replace(writes.workload, direct=True), engine="auto", length=Length(ios=50))
    done = perform(plan(tmp_path, 2 * MIB, 1, directly, direct=True), tmp_path / "runs")
    if done.error is not None:
        pytest.skip(f"no direct I/O here: {done.error.message}")
    (record,) = done.run.measured
    first, *_, last = record.samples
    assert last.value - first.value == record.measurement.bytes


def test_two_phases_share_one_simulated_device(tmp_path: Path) -> None:
    target = parse_target("sim:nvme,service=constant:1ms,servers=1")
    job = load_job("card-quick")
    alone = replace(job.phases[0], length=Length(seconds=1.0))
    beside = [replace(alone, name=name, together="both") for name in ("a", "b")]
    made = make_plan(replace(job, phases=(alone, *beside)), target, seed=1, memory_bytes=1 << 30)[0]
    ios = [record.measurement.ios for record in perform(made, tmp_path).run.measured]
    assert 950 <= ios[0] <= 1001
    assert sum(ios[1:]) == pytest.approx(ios[0], abs=2)
    assert abs(ios[1] - ios[2]) <= 1


def test_files_that_were_trimmed_are_filled_again_before_they_are_read(tmp_path: Path) -> None:
    trims, reads = replace(phase("trim"), length=Length(ios=100)), phase()
    made = plan(tmp_path, 2 * MIB, 1, reads, trims, trims, reads)
    done = perform(made, tmp_path / "runs")
    assert done.error is None
    roles = [record.phase.role for record in done.run.phases]
    assert roles == ["fill", "measure", "measure", "measure", "fill", "measure"]
    assert done.run.phases[2].measurement.error_count == 0
    assert load.lay_out(made).fill_bytes == 0


@pytest.mark.long
def test_files_that_were_filled_again_are_not_filled_a_second_time(tmp_path: Path) -> None:
    trims, reads = replace(phase("trim"), length=Length(ios=100)), phase()
    done = perform(plan(tmp_path, 2 * MIB, 2, trims, reads, reads, trims, reads), tmp_path / "runs")
    assert done.error is None
    roles = [record.phase.role for record in done.run.phases]
    refilled = ["measure", "fill", "fill", "measure"]
    assert roles == ["fill", "fill", *refilled, "measure", *refilled], "once after each trim, both files"


def test_what_reads_holes_on_purpose_and_what_only_writes_fills_nothing(tmp_path: Path) -> None:
    trims = replace(phase("trim"), length=Length(ios=100))
    made = plan(tmp_path, 2 * MIB, 1, trims, replace(phase(), as_it_is=True), phase("write"), phase())
    done = perform(made, tmp_path / "runs")
    assert [record.phase.role for record in done.run.phases] == ["fill", *["measure"] * 3, "fill", "measure"]


def test_files_that_were_left_trimmed_are_filled_by_the_next_run(tmp_path: Path) -> None:
    trims = replace(phase("trim"), length=Length(ios=10))
    made = plan(tmp_path, 2 * MIB, 1, trims)
    assert perform(made, tmp_path / "runs").error is None
    assert load.lay_out(made).fill_bytes == 2 * MIB


def test_a_target_that_cannot_trim_is_refused_before_anything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("iocast.load.trimming._punch", lambda _: "its file system cannot punch holes (not supported)")
    made = plan(tmp_path, 2 * MIB, 1, phase("trim"))
    with pytest.raises(
        TargetError, match=r'does not support trim: its file system cannot punch holes .*phase "randtrim"'
    ):
        perform(made, tmp_path / "runs")
    assert os.listdir(tmp_path) == []
