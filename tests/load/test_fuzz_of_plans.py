"""Plans and journals with values changed at random: a result comes out, or a refusal; never an abort or a panic.

Each batch is run by a process of its own, within 4 GiB of memory: an abort ends that process and is noticed here.
"""

from __future__ import annotations

import json
import random
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from makers import plan_batch
from makers.damaged_folders import damaged
from makers.mutations import TIMES
from makers.saved_runs import empty_run

from iocast import load

TARGETS = ("sim:nvme", "sim:hdd,stall=1s/2s", "sim:sata-ssd,slow=0s..1s:3")
PLANS, JOURNALS, BATCH = 400, 200, 100
FILE_BYTES, BLOCK_BYTES, RUN_ID = 1 << 20, 8192, 7
BLOCKS = FILE_BYTES // BLOCK_BYTES


def simulated() -> list[dict[str, Any]]:
    """Plans of each kind of phase that a card has, on several simulated devices; whole ones, and short ones."""
    found = []
    for target in TARGETS:
        run = empty_run(target=target)
        files = load.lay_out(run.plan).files
        for number, phase in enumerate(run.plan.phases):
            handed = load.phase_plan(run.plan, phase, files, load.phase_seed(run.plan, phase, number))
            plan = json.loads(msgspec.json.encode(handed))
            found += [plan, plan | {"length": {"ios": 300}}]
    return found


def real(folder: Path) -> list[dict[str, Any]]:
    """Reads in a ring, and writes by threads that are to be verified."""
    file = folder / "work.dat"
    file.write_bytes(bytes(FILE_BYTES))
    plan = simulated()[1] | {"simulated": None, "direct": False, "seed": 1, "users": 2, "depth": 2}
    plan["files"] = [{"path": str(file), "start_bytes": 0, "size_bytes": FILE_BYTES}]
    plan |= {"arrival": {"kind": "closed"}, "locality": {"kind": "uniform"}, "payload": {"kind": "unique"}}
    reads = plan | {"engine": "uring", "mix": [{"op": "read", "size_bytes": 4096}]}
    writes = plan | {"engine": "sync", "mix": [{"op": "write", "size_bytes": BLOCK_BYTES}], "verify": verify(folder)}
    return [reads, writes]


def verify(folder: Path) -> dict[str, Any]:
    return {
        "journal": str(folder / "journal.bin"),
        "run_id": RUN_ID,
        "block_bytes": BLOCK_BYTES,
        "first_blocks": [0],
    }


def journal() -> bytes:
    """Of blocks that were written once and acknowledged."""
    head = b"iocjrnl1" + struct.pack("<QQQ", RUN_ID, BLOCK_BYTES, BLOCKS)
    return head.ljust(4096, b"\0") + struct.pack("<IIII", 1, 1, 0, 0) * BLOCKS


def answers(cases: list[dict[str, Any]], folder: Path) -> list[str]:
    """What came of each case. Fails with the first one that got no answer, and when a thread of the core panicked."""
    text = "\n".join(json.dumps(case) for case in cases)
    with (folder / "said").open("w+") as said, (folder / "why").open("w+") as why:
        done = subprocess.run(
            [sys.executable, plan_batch.__file__], input=text, text=True, stdout=said, stderr=why, timeout=900
        )
        said.seek(0)
        why.seek(0)
        found, errors = said.read().split(), why.read()
    if done.returncode or len(found) != len(cases):
        pytest.fail(f"exit {done.returncode} at {json.dumps(cases[min(len(found), len(cases) - 1)])}\n{errors[-4000:]}")
    assert "panicked" not in errors, errors
    return found


def in_batches(cases: list[dict[str, Any]], folder: Path) -> list[str]:
    found = []
    for first in range(0, len(cases), BATCH):
        found += answers(cases[first : first + BATCH], folder)
    return found


def changed(content: bytes, chance: random.Random) -> bytes:
    """The bytes, shorter or with a few of them others."""
    if chance.random() < 0.4:
        return content[: chance.randrange(len(content))]
    several = bytearray(content)
    for _ in range(chance.randrange(1, 9)):
        at = chance.choice((chance.randrange(32), 4096 + chance.randrange(len(content) - 4096)))
        several[at : at + 4] = chance.choice((b"\xff" * 4, b"\0" * 4, bytes([chance.randrange(256)]) * 4))
    return bytes(several[: len(content)])


@pytest.mark.long
def test_plans_end_in_a_result_or_a_refusal(tmp_path: Path) -> None:
    chance = random.Random(7 if TIMES == 1 else None)
    plans = [json.dumps(plan).encode() for plan in simulated()]
    plans += [json.dumps(plan).encode() for plan in real(tmp_path)] * (len(plans) // 4)
    whole = {"journal": journal().hex(), "journal_path": str(tmp_path / "journal.bin")}
    cases = []
    for _ in range(PLANS * TIMES):
        plan = chance.choice(plans)
        files = whole if b"journal.bin" in plan else {}
        cases.append({"kind": "plan", "text": damaged(plan, chance).decode("utf-8", "replace"), **files})
    assert set(in_batches(cases, tmp_path)) == {"done", "refused"}


@pytest.mark.long
def test_journals_end_in_a_result_or_a_refusal(tmp_path: Path) -> None:
    chance = random.Random(7 if TIMES == 1 else None)
    _, writes = real(tmp_path)
    asked = {"verify": verify(tmp_path), "files": [[str(tmp_path / "work.dat"), FILE_BYTES]], "durable_only": False}
    place = {"journal_path": str(tmp_path / "journal.bin")}
    cases = []
    for number in range(JOURNALS * TIMES):
        kind, text = (("plan", json.dumps(writes)), ("read_back", json.dumps(asked)))[number % 2]
        if number % 5 == 4:
            text = damaged(json.dumps(asked).encode(), chance).decode("utf-8", "replace")
            kind = "read_back"
        cases.append({"kind": kind, "text": text, "journal": changed(journal(), chance).hex(), **place})
    assert set(in_batches(cases, tmp_path)) == {"done", "refused"}


def test_a_journal_of_any_length_but_its_own_is_refused(tmp_path: Path) -> None:
    real(tmp_path)
    asked = {"verify": verify(tmp_path), "files": [[str(tmp_path / "work.dat"), FILE_BYTES]], "durable_only": True}
    whole = journal()
    lengths = [*range(0, len(whole), 1 + 61 // TIMES), len(whole) - 1]
    place = {"kind": "read_back", "text": json.dumps(asked), "journal_path": str(tmp_path / "journal.bin")}
    cases = [place | {"journal": whole[:length].hex()} for length in lengths]
    assert set(in_batches(cases, tmp_path)) == {"refused"}
    assert answers([place | {"journal": whole.hex()}], tmp_path) == ["done"]


def test_a_journal_that_is_truncated_during_a_run_is_a_refusal(tmp_path: Path) -> None:
    text = json.dumps(real(tmp_path)[1] | {"length": {"seconds": 20.0}})
    place = {"journal": journal().hex(), "journal_path": str(tmp_path / "journal.bin")}
    assert answers([{"kind": "plan", "text": text, "truncates": True, **place}], tmp_path) == ["refused"]


def test_what_no_machine_can_allocate_is_refused(tmp_path: Path) -> None:
    sim, (reads, _) = simulated()[1], real(tmp_path)
    device, large = sim["simulated"], [{"op": "read", "size_bytes": 1 << 30}]
    region = [reads["files"][0] | {"size_bytes": 1 << 40}]
    asked = [
        sim | {"simulated": device | {"servers": 2**32 - 1}},
        sim | {"simulated": device | {"servers": 2**20, "stripe": {"members": 4096, "stripe_bytes": 65536}}},
        sim | {"users": 4096, "depth": 16384},
        sim | {"slow_limit": 2**40},
        reads | {"mix": large, "files": region, "depth": 16384},
        reads | {"engine": "sync", "users": 4096, "depth": 256},
    ]
    cases = [{"kind": "plan", "text": json.dumps(plan)} for plan in asked]
    assert answers(cases, tmp_path) == ["refused"] * len(cases)
