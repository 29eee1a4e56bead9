"""Makes a named experiment on a simulated device, and hands its judgement back."""

from __future__ import annotations

from pathlib import Path

from iocast import jobs, load, runner
from iocast.diagnose.experiments.named import Ruling, Trial, TrialSetup
from iocast.jobs import parse_target
from iocast.model.job import FileSize, Job
from iocast.model.plan import Phase
from iocast.model.run import PhaseRecord, Run
from iocast.model.target import Target


class Silent:
    """A progress that says nothing."""

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None: ...

    def tick(self, elapsed_ns: int, ios: int, bytes_moved: int, errors: int) -> None: ...

    def end(self, record: PhaseRecord) -> None: ...

    def close(self) -> None: ...


def asked(trial: Trial, target: Target, **changes: object) -> TrialSetup:
    """What an experiment is asked when a person asks for nothing more."""
    usual = trial.DEFAULTS
    fields = {
        "target": target,
        "size_bytes": target.size_bytes,
        "may_write": True,
        "seconds": usual.seconds,
        "rounds": usual.rounds,
        "block_bytes": usual.block_bytes,
        "depth": usual.depth,
        "streams": usual.streams,
        "files": usual.files,
    }
    return TrialSetup(**{**fields, **changes})


def run_of(trial: Trial, device: str, out: Path, **changes: object) -> Run:
    """The run of an experiment on a simulated device."""
    target = parse_target(device)
    wanted = asked(trial, target, **changes)
    job = Job(
        name=f"experiment {trial.NAME}",
        phases=trial.phases(wanted),
        file_size=FileSize(1 << 20),
        tree=trial.tree(wanted) if hasattr(trial, "tree") else None,
        experiment=trial.NAME,
    )
    plan, _ = jobs.plan(job, target, seed=1, memory_bytes=1 << 34)
    return runner.run(runner.Work(plan, load.lay_out(plan), str(out)), Silent(), lambda: False).run


def ruling(trial: Trial, device: str, out: Path, **changes: object) -> Ruling:
    """What the experiment says of it."""
    return trial.judge((run_of(trial, device, out, **changes),))


def column(found: Ruling, field: str) -> list[object]:
    """One field of all rows."""
    return [getattr(row, field) for row in found.rows]
