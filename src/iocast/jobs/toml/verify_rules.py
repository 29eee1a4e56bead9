"""What a job says of verification: contradictions in a phase, between phases, and the phase that reads back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iocast.errors import TargetError
from iocast.jobs.toml.contradictions import PAYLOADS, Conflict, sizes_of, weights_of
from iocast.jobs.toml.field_checks import read_io_size
from iocast.model.plan import Length, Phase
from iocast.model.target import Target
from iocast.model.workload import MixItem, Workload

SECTOR_BYTES = 512
_ALONE = ("test", "role")


def reads_back(own: Mapping[str, Any]) -> bool:
    """True for a [[phase]] that reads back what others wrote."""
    return own.get("role") == "verify"


def reading_phase(test: str = "verify") -> Phase:
    """The phase that reads back; how much and where the journal knows."""
    load = Workload(mix=(MixItem("read", 4096),), direct=False)
    return Phase(name=test, test=test, workload=load, length=Length(bytes=0), role="verify")


def reading_conflicts(own: Mapping[str, Any]) -> Iterator[Conflict]:
    """What a phase that reads back says and cannot mean."""
    for name in own:
        if name not in _ALONE:
            says = f'{name} with role = "verify": it reads back everything written with verify, each block once'
            yield Conflict(name, says, "leave it out")


def writing_conflicts(given: Mapping[str, Any]) -> Iterator[Conflict]:
    """What a phase says that writes to be verified."""
    weights = weights_of(given)
    if not given.get("verify") or "write" not in weights:
        return
    if "trim" in weights:
        yield Conflict("verify", "verify with trims: trimmed data cannot be verified", "trim in a phase of its own")
    payload = next((name for name in PAYLOADS if name in given and given[name] != "unique"), None)
    if payload:
        says = f"verify with {payload}: every sector is sealed, so all sectors differ"
        yield Conflict("verify", says, "leave one of them out")
    sizes = {read_io_size(text): field for text, field in sizes_of(given).items()}
    block = read_io_size(given["verify_block"]) if "verify_block" in given else SECTOR_BYTES
    if block % SECTOR_BYTES:
        yield Conflict("verify_block", f"verify_block is not a multiple of {SECTOR_BYTES} bytes")
        return
    for size_bytes, field in sizes.items():
        if size_bytes % block:
            what = "verify_block" if "verify_block" in given else f"{SECTOR_BYTES} bytes, the size of a sealed sector"
            yield Conflict(field, f"verify: writes of {size_bytes} bytes are not whole multiples of {what}")


def order_conflict(phases: Sequence[Phase]) -> str:
    """Why these phases in this order cannot be verified, "" when they can, or nothing asks for it."""
    waiting: Phase | None = None
    verified = False
    for phase in phases:
        if phase.verify:
            waiting = phase
            verified = True
        elif phase.role == "verify":
            if not verified:
                return f'"{phase.name}" has nothing to read back: no earlier phase has verify = true'
            waiting = None
        elif waiting is not None and phase.workload.writes:
            return (
                f'"{phase.name}" overwrites what "{waiting.name}" wrote, without verify: it could not be read back. '
                'Add a phase with role = "verify" between them'
            )
    blocks = {phase.verify_block_bytes for phase in phases if phase.verify}
    return "the phases with verify set different verify_block: all share one journal" if len(blocks) > 1 else ""


def refuse_unverifiable(phases: Sequence[Phase], target: Target) -> None:
    """Raises TargetError when a phase verifies on a simulated device."""
    asks = [phase.name for phase in phases if phase.verify or phase.role == "verify"]
    if asks and target.kind == "sim":
        raise TargetError(
            f'phase "{asks[0]}": {target.path} is simulated and stores no data to verify',
            "run it on a directory, or leave verify out",
        )
