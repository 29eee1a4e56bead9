"""How the sides of a comparison are called, and its title."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from iocast.diagnose.comparable import Side


def called(sides: Sequence[Side]) -> tuple[Side, ...]:
    """The sides named by target, or by job, where these tell them apart; else as they are."""
    targets, jobs = [_target(side) for side in sides], [_job(side) for side in sides]
    both = [f"{target}, {job}" for target, job in zip(targets, jobs, strict=True)]
    names = next((each for each in (targets, jobs, both) if len({*each}) == len(each)), None)
    if names is None:
        return tuple(sides)
    return tuple(replace(side, label=name) for side, name in zip(sides, names, strict=True))


def title(sides: Sequence[Side]) -> str:
    """What they have in common, then what they are called: "Comparison · card quick · /mnt/a and /mnt/b"."""
    targets, jobs = {_target(side) for side in sides}, {_job(side) for side in sides}
    job, target = (each.pop() if len(each) == 1 else "" for each in (jobs, targets))
    shared = f"{job} on {target}" if job and target else job or target
    names = [side.label for side in sides]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    return " · ".join(filter(None, ("Comparison", shared, listed)))


def _target(side: Side) -> str:
    return ", ".join(dict.fromkeys(run.plan.target.path for run in side.runs))


def _job(side: Side) -> str:
    return ", ".join(dict.fromkeys(run.plan.name for run in side.runs))
