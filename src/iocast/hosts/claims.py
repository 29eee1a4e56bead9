"""Claims: what each host is about to do to storage, held against what all others are, before one byte is written."""

from __future__ import annotations

import os

from msgspec import Struct
from msgspec.structs import replace

from iocast import __version__
from iocast.archive.ownership import boot_id
from iocast.errors import IocastError, SpecError, TargetError
from iocast.load import Layout
from iocast.model.hosts import Share
from iocast.model.plan import Plan
from iocast.model.target import NETWORK_FILESYSTEMS, Target
from iocast.text import capacity, counted

_SHARED = (*NETWORK_FILESYSTEMS, "smb", "gluster", "ocfs2", "gfs2", "orangefs")  # that several hosts mount at once
_SLICE_BYTES = 1 << 20  # slices of storage begin at whole MiB
_LEAST_SLICES = 64  # MiB of each


class Claim(Struct, frozen=True, kw_only=True):
    """What one host will do, as its plan says."""

    host: str
    path: str
    machine: str  # which start of which machine
    version: str = __version__
    digest: str = ""  # of the phases: all must make the same
    writes: bool = False
    storage: tuple[str, ...] = ()  # what names the device or directory: two with one of these in common have the same
    room: str = ""  # the file system of the work files; "" where none is filled
    fill_bytes: int = 0
    free_bytes: int | None = None
    refused: str = ""  # why this host cannot do it
    hint: str = ""


def claim_of(host: str, plan: Plan, layout: Layout, digest: str) -> Claim:
    """What a host claims with a plan."""
    target, machine = plan.target, boot_id()
    return Claim(
        host=host,
        path=target.path,
        machine=machine,
        digest=digest,
        writes=layout.own or any(phase.workload.writes for phase in plan.phases),
        storage=() if target.simulated is not None else storage_names(target, machine),
        room=_file_system(target, machine) if layout.fill_bytes else "",
        fill_bytes=layout.fill_bytes,
        free_bytes=target.free_bytes,
    )


def refusal_of(host: str, path: str, error: IocastError) -> Claim:
    """The claim of a host that cannot do what it is asked for."""
    return Claim(host=host, path=path, machine=boot_id(), refused=error.message, hint=error.hint)


def check_claims(claims: list[Claim], share: Share) -> None:
    """Raises SpecError, TargetError where the hosts cannot do together what each of them could alone."""
    refused = [claim for claim in claims if claim.refused]
    if refused:
        others = "" if len(refused) == 1 else f" (and {counted(len(refused) - 1, 'more host')} refused)"
        raise TargetError(f"{refused[0].host}: {refused[0].refused}{others}", refused[0].hint)
    first = claims[0]
    for claim in claims:
        if claim.version != first.version:
            raise TargetError(
                f"{claim.host} has iocast {claim.version}, {first.host} {first.version}",
                "install the same version on all hosts: their figures are added up",
            )
        if claim.digest != first.digest:
            raise TargetError(
                f"{claim.host} would measure other rows than {first.host}: their storage does not allow the same",
                "compare `iocast plan JOB PATH` on both, and give a job that names its rows",
            )
    if share == "same" and any(claim.writes for claim in claims):
        raise SpecError(
            "--share same is for jobs that only read files or devices that are there",
            "to write, give each host its own directory (--share own) or its slice of a device (--share slices)",
        )
    if share == "own":
        _refuse_shared(claims)
    _check_room(claims)


def _refuse_shared(claims: list[Claim]) -> None:
    for number, claim in enumerate(claims):
        for other in claims[:number]:
            if not set(claim.storage) & set(other.storage):
                continue
            where = claim.path if claim.path == other.path else f"{other.path} and {claim.path}"
            raise TargetError(
                f"{other.host} and {claim.host} have the same storage: {where}",
                f"give each a directory of its own (%h in PATH is the name of the host: {other.path}/%h), --share "
                "slices for a part of one device each, or --share same to read the same bytes",
            )


def _check_room(claims: list[Claim]) -> None:
    """A file system that several hosts share has its room once."""
    rooms: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.room:
            rooms.setdefault(claim.room, []).append(claim)
    for alike in rooms.values():
        needed = sum(claim.fill_bytes for claim in alike)
        free = min((claim.free_bytes for claim in alike if claim.free_bytes is not None), default=None)
        if free is not None and needed > free:
            names = ", ".join(claim.host for claim in alike)
            raise TargetError(
                f"{names} share a file system with {capacity(free)} free, and their work files need {capacity(needed)}",
                "give smaller work files (--size), or fewer hosts",
            )


def storage_names(target: Target, machine: str) -> tuple[str, ...]:
    """Names of what a target is, the same on every host that has it."""
    if target.members:
        return tuple(name for member in target.members for name in storage_names(member, machine))
    if target.kind == "block":
        identity = target.identity
        if identity is None:
            return (f"{machine} {target.path}",)
        part = f"{identity.start_bytes}+{identity.size_bytes}"
        marks = tuple(f"{mark} {part}" for mark in identity.marks if not mark.startswith("loop:"))
        return (*marks, f"{machine} {identity.number}")
    if _is_shared(target):
        below = os.path.relpath(os.path.realpath(target.path), target.mount_point or "/")
        return (f"{target.mount_source} {below}",)
    try:
        status = os.stat(target.path)
    except OSError:
        return (f"{machine} {os.path.realpath(target.path)}",)
    return (f"{machine} {status.st_dev}:{status.st_ino}",)


def _is_shared(target: Target) -> bool:
    return bool(target.mount_source) and (target.filesystem or "").removeprefix("fuse.").startswith(_SHARED)


def _file_system(target: Target, machine: str) -> str:
    if _is_shared(target):
        return f"{target.mount_source}"
    try:
        place = target.path if os.path.exists(target.path) else os.path.dirname(target.path)
        return f"{machine} {os.stat(place).st_dev}"
    except OSError:
        return ""


def sliced(plan: Plan, number: int, of: int) -> Plan:
    """The plan on slice `number` of `of` of one device or file that is there: writes of two hosts never meet.

    Raises SpecError.
    """
    target = plan.target
    if target.kind not in ("block", "file") or target.size_bytes is None:
        raise SpecError(
            f"--share slices needs a block device or a file that is there; {target.path} is a {target.kind}",
            "for directories each host has work files of its own: omit --share",
        )
    mebibytes = target.size_bytes // _SLICE_BYTES // of
    if mebibytes < _LEAST_SLICES:
        raise SpecError(
            f"{target.path} has {capacity(target.size_bytes)}: too little for {of} slices of {_LEAST_SLICES} MiB",
            "give a larger device, or fewer hosts",
        )
    placed = [phase.name for phase in plan.phases if phase.region_start_bytes or phase.region_size_bytes is not None]
    if placed:
        raise SpecError(
            f'"{placed[0]}" has a region of its own, which slices would move', "omit the region, or --share slices"
        )
    start, size = number * mebibytes * _SLICE_BYTES, mebibytes * _SLICE_BYTES
    phases = tuple(replace(phase, region_start_bytes=start, region_size_bytes=size) for phase in plan.phases)
    return replace(plan, phases=phases)
