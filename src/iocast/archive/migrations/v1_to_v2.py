"""Schema 1 to 2: hosts are a list, target and job leave the plan, runs have an id, findings go by their codes.

The tables of schema 1 have unsigned numbers and of the columns that name the run only the phase; both are read as
they are.
"""

from __future__ import annotations

import re
from typing import Any

from iocast.archive.run_id import derived_run_id

_OF_THE_JOB = {"name": "name", "job": "file", "experiment": "experiment"}


def run(old: dict[str, Any]) -> dict[str, Any]:
    """run.json."""
    new = {key: value for key, value in old.items() if key not in ("host", "plan")}
    plan = dict(old["plan"])
    target = plan.pop("target")
    job = {after: plan.pop(before) for before, after in _OF_THE_JOB.items() if before in plan}
    host = old["host"]
    return new | {
        "schema_version": 2,
        "run_id": derived_run_id(int(old["started_unix_ns"]), host["name"], target["path"], job["name"]),
        "hosts": [host],
        "target": target,
        "job": job,
        "plan": plan,
    }


def diagnosis(old: dict[str, Any]) -> dict[str, Any]:
    """diagnosis.json, which had no schema of its own."""
    steps = [{**step, "finding": code_of_old_name(step["finding"])} for step in old.get("steps", ())]
    untested = {code_of_old_name(name): why for name, why in old.get("untested", {}).items()}
    return {**old, "schema_version": 2, "steps": steps, "untested": untested}


def code_of_old_name(name: str) -> str:
    """The code of a finding that was known by its name: lower case, spaces as underscores, no punctuation."""
    return re.sub(r"[^a-z0-9_]", "", re.sub(r"[\s_-]+", "_", name.lower()))
