"""What verbs print with --json is of a type of theirs, and `iocast schema` prints the schema of that type."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from makers.command_line import iocast, small_job

from iocast.commands import VERBS
from iocast.commands.cmd_schema import ANSWERS, answer_types

pytestmark = pytest.mark.slow

IOLOG = "fio version 3 iolog\na add\na open\n" + "".join(f"{n} a read {8192 * n} 8192\n" for n in range(400))
SIM = "sim:hdd"
# Each with words that end in a moment. RUN is a run of a job with reads, OTHER one on another device.
CALLS: dict[str, list[tuple[str, ...]]] = {
    "card": [("card", SIM)],
    "run": [("run", "JOB", SIM)],
    "diagnose": [("diagnose", SIM)],
    "experiment": [("experiment",), ("experiment", "arm", SIM), ("experiment", "arm", SIM, "--plan")],
    "plan": [("plan",), ("plan", "card-quick", SIM)],
    "spec": [("spec", "card-quick"), ("spec", "card-quick", "--to", "fio")],
    "report": [("report", "RUN")],
    "runs": [("runs",)],
    "show": [("show", "last")],
    "trend": [("trend", SIM)],
    "fleet": [("fleet",)],
    "note": [("note", "last", "after the move", "--tag", "new")],
    "compare": [("compare", "RUN", "OTHER")],
    "repeat": [("repeat", "2", "JOB", SIM)],
    "ab": [("ab", "JOB", SIM, "sim:nvme", "--rounds", "2")],
    "gate": [("gate", SIM, SIM, "--job", "JOB")],
    "study": [("study",), ("study", "vmware", SIM, "--plan")],
    "calibrate": [("calibrate", SIM, "--max-latency", "30ms", "--time", "1s")],
    "matrix": [("matrix", SIM, "--run", "simple", "--plan")],
    "forecast": [("forecast", "--measure", SIM, "--iops", "50", "--slo", "p99=60ms")],
    "size": [("size", "--capacity", "2TB", "--iops", "30000", "--slo", "5ms")],
    "model": [("model", "mm1", "--service", "7.2ms", "--rate", "135,75")],
    "profile": [("profile", "trace.log")],
    "replay": [("replay", "trace.log", SIM)],
    "clean": [("clean", ".", "--dry-run")],
    "schema": [("schema",), ("schema", "card")],
    "completion": [("completion", "bash")],
    "config": [("config", "card")],
}
ANSWERED = [(verb, words) for verb, calls in CALLS.items() for words in calls]
# Those that need more than a moment: root, a server, or a file that was written with verify.
ELSEWHERE = {"serve", "capture", "load-db", "import", "top", "watch", "verify", "hosts"}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with two runs and a trace."""
    made = tmp_path_factory.mktemp("schema")
    (made / "trace.log").write_text(IOLOG)
    small_job(made, direct=False)
    for device, *out in (("sim:nvme", "--out", "run"), ("sim:nvme", "--out", "other"), (SIM,)):
        assert iocast("run", "small.toml", device, *out, cwd=made).returncode == 0
    return made


def _is_one_of(text: str, types: tuple[Any, ...]) -> bool:
    for each in types:
        try:
            msgspec.json.decode(text, type=each)
        except msgspec.ValidationError:
            continue
        return True
    return False


def test_every_verb_has_a_schema() -> None:
    assert set(ANSWERS) == set(VERBS)
    assert set(CALLS) | ELSEWHERE == set(VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_a_schema_names_what_it_refers_to(verb: str, tmp_path: Path) -> None:
    told = iocast("schema", verb, cwd=tmp_path)
    assert told.returncode == 0, told.stderr
    text = json.dumps(schema := json.loads(told.stdout))
    named = {part.split('"')[0] for part in text.split('"#/definitions/')[1:]}
    assert named <= set(schema["definitions"])
    assert verb in schema["title"] or verb == "schema"


def test_an_unknown_verb_has_none(tmp_path: Path) -> None:
    refused = iocast("schema", "crad", cwd=tmp_path)
    assert refused.returncode == 2
    assert 'did you mean "card"?' in refused.stderr


@pytest.mark.parametrize(("verb", "words"), ANSWERED)
def test_an_answer_is_of_its_schema(place: Path, verb: str, words: tuple[str, ...]) -> None:
    run, other = (f"{out}/{name}" for out in ("run", "other") for name in os.listdir(place / out))
    stand_ins = {"JOB": "small.toml", "RUN": run, "OTHER": other}
    told = iocast(*(stand_ins.get(word, word) for word in words), "--json", cwd=place)
    assert told.returncode == 0, told.stderr
    assert _is_one_of(told.stdout, answer_types(verb)), told.stdout[:2000]
