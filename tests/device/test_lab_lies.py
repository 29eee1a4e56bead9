"""A device that acknowledges writes and does not keep them: verification finds every lie, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.lab import SIZE_BYTES, lab
from msgspec import structs

from iocast import load
from iocast.archive.writing.held_folder import open_folder
from iocast.load.verify_journal import begin, read_back
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.target import Target
from iocast.model.verification import BAD_KINDS
from iocast.model.workload import Locality, MixItem, Sequential, Uniform, Workload

pytestmark = [pytest.mark.device, pytest.mark.alone]
BLOCK = 8192
WRITES = SIZE_BYTES // BLOCK
EVERY = 1000
LIES = WRITES // EVERY


def found(place: Path, option: str, locality: Locality, depth: int) -> dict[str, int]:
    """The blocks of each kind after every block of the device was written once."""
    device = str(place / "device")
    writes = Workload(mix=(MixItem("write", BLOCK),), locality=locality, depth=depth)
    phase = Phase(name="writes", test="writes", workload=writes, length=Length(bytes=SIZE_BYTES), verify=True)
    target = Target(path=device, kind="file", direct=True)
    plan = Plan(name="lies", target=target, phases=(phase,), files=WorkFiles(1, SIZE_BYTES), engine="uring")
    layout = load.Layout((load.WorkFile(device, SIZE_BYTES, fill=False),), own=True)
    with lab(place / "device", *([option] if option else []), exact=False):
        journal = begin(plan, layout, open_folder(place))
        assert journal is not None
        told = structs.replace(load.phase_plan(plan, phase, layout.files, 7), verify=journal.plan)
        measured, _ = load.measure(told, lambda *_: True)
        assert (measured.ios, measured.error_count) == (WRITES, 0)
        journal.close()
        back = read_back(place, journal.description, durable_only=False, on_tick=lambda *_: True)
    kinds: dict[str, int] = {"intact": back.intact, **dict(zip(BAD_KINDS, back.bad, strict=True))}
    return {kind: count for kind, count in kinds.items() if count}


@pytest.mark.parametrize(
    ("locality", "depth"), [(Sequential(), 1), (Uniform(repeats=False), 32)], ids=["in order", "random"]
)
@pytest.mark.parametrize(
    ("option", "bad"),
    [("", {}), ("lose_every", {"lost": LIES}), ("tear_every", {"torn": LIES})],
    ids=["honest", "lose", "tear"],
)
def test_what_the_device_did_not_keep_is_counted(
    tmp_path: Path, option: str, bad: dict[str, int], locality: Locality, depth: int
) -> None:
    counts = found(tmp_path, option and f"{option}={EVERY}", locality, depth)
    assert counts == {"intact": WRITES - sum(bad.values()), **bad}


def test_a_write_that_went_elsewhere_is_missed_here_and_found_there(tmp_path: Path) -> None:
    """In order, so that nothing is written again where it went."""
    counts = found(tmp_path, f"misplace_every={EVERY}", Sequential(), 1)
    assert counts == {"intact": WRITES - 2 * LIES, "misplaced": LIES, "lost": LIES}
