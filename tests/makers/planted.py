"""Simulated devices with a planted condition: a job is run on one, and what is suspected is tested."""

from __future__ import annotations

from pathlib import Path

from makers import kept_runs

from iocast import jobs
from iocast.diagnose import examination
from iocast.diagnose.experiments.next_step import Budget
from iocast.jobs import load_job, parse_job, parse_target
from iocast.model.experiment import Diagnosis
from iocast.model.finding import Finding
from iocast.model.run import Run
from iocast.sessions.inquire import inquire
from iocast.sessions.listener import Quiet

BUDGET = Budget(seconds=6000.0, bytes=1 << 50)

# Reads and writes at random, more and more at once: what curves are made of.
LADDER = """\
name = "ladder"
[files]
size = "4GiB"
[defaults]
time = "{seconds}s"
direct = true
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = [1, 2, 4, 8, 16, 32, 64]
[[phase]]
test = "randwrite"
write = 100
size = "8k"
pattern = "random"
users = [1, 2, 4, 8]
[[phase]]
test = "scan"
size = "{scan}"
pattern = "sequential"
users = [1, 8]
[[phase]]
test = "load"
write = 100
size = "1M"
pattern = "sequential"
users = 8
"""

# One row for so long that what changes with time is in it.
LONG = """\
name = "long"
[files]
size = "4GiB"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = {users}
time = "{seconds}s"
direct = true
"""

# As the survey does it: short, several at once, in quarters of a second.
SUSTAINED = """\
name = "sustained"
interval = "250ms"
[files]
size = "1GiB"
[[phase]]
test = "sustained"
size = "8k"
pattern = "random"
users = 8
time = "15s"
direct = true
"""

# What a card measures, in a few rows.
ROWS = """\
name = "rows"
[defaults]
time = "{seconds}s"
size = "8k"
pattern = "random"
direct = true
[[phase]]
test = "randread"
users = [1, 8, 32]
[[phase]]
test = "commit"
write = 100
pattern = "sequential"
sync = "dsync"
users = [1, 4]
[[phase]]
test = "randwrite"
write = 100
users = 8
[[phase]]
test = "write"
write = 100
size = "1M"
pattern = "sequential"
"""


def ladder(seconds: int = 2, scan: str = "1M") -> str:
    """The job of curves, each row so long."""
    return LADDER.format(seconds=seconds, scan=scan)


def long(seconds: int, users: int = 1) -> str:
    """The job of one row."""
    return LONG.format(seconds=seconds, users=users)


def measured(target: str, job: str, out: Path, seed: int = 1) -> Run:
    """The run of a job on a simulated target."""
    made, _ = jobs.plan(parse_job(job, "planted"), parse_target(target), seed=seed, memory_bytes=8 << 30)
    return kept_runs.run_of(made, out)


def card(target: str, out: Path, seconds: int = 3) -> Run:
    """The run of a few rows of a card on a simulated target."""
    return measured(target, ROWS.format(seconds=seconds), out)


def survey(target: str, out: Path, preset: str = "survey", seed: int = 1) -> Run:
    """The run of a preset on a simulated target."""
    made, _ = jobs.plan(load_job(preset), parse_target(target), seed=seed, memory_bytes=8 << 30)
    return kept_runs.run_of(made, out)


def suspected(run: Run) -> dict[str, Finding]:
    """The findings of a run, the last of each code."""
    return {finding.code: finding for finding in examination.examine(run).findings}


def told(run: Run, code: str) -> list[Finding]:
    """The findings of one code, in the order in which they are told."""
    return [finding for finding in examination.examine(run).findings if finding.code == code]


def inquired(run: Run, out: Path) -> tuple[dict[str, Finding], Diagnosis]:
    """All findings after the experiments, of each code the last that was decided, or else the last."""
    found = inquire(run, BUDGET, str(out / "experiments"), Quiet())
    after = examination.examine(run, found.diagnosis)
    decided_last = sorted(after.findings, key=lambda finding: finding.state in ("confirmed", "rejected", "counted"))
    return {finding.code: finding for finding in decided_last}, found.diagnosis


def confirmed(run: Run, out: Path) -> set[str]:
    """The codes of what an experiment has confirmed."""
    return {name for name, finding in inquired(run, out)[0].items() if finding.state == "confirmed"}
