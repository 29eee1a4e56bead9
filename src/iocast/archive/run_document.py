"""run.json, schema 2: how a Run is written down, with target, job and hosts beside the plan."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from iocast.archive.json_files import BROKEN, converted, decoded, not_understood, parsed, untyped
from iocast.archive.migrations import migrated_run
from iocast.errors import ArchiveError
from iocast.model.calibration_request import CalibrationRequest
from iocast.model.hosts import HostPart
from iocast.model.plan import EngineName, Phase, Plan, Polling, WorkFiles
from iocast.model.run import SCHEMA_VERSION, Blind, Host, Maintenance, PhaseRecord, Run, Series, Source, Tape
from iocast.model.target import Target
from iocast.model.tree import Tree
from iocast.model.verification import Verification


class _Job(Struct, frozen=True, forbid_unknown_fields=True):
    """What was asked for: the name of the job, its file as it was read, the experiment or the search that it is."""

    name: str
    file: str = ""
    experiment: str = ""
    calibration: CalibrationRequest | None = None


class _Plan(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A Plan without its target and job."""

    phases: tuple[Phase, ...]
    files: WorkFiles
    engine: EngineName = "auto"
    polling: Polling = "none"
    seed: int = 1
    interval_ns: int = 1_000_000_000
    tree: Tree | None = None


class _Document(Struct, frozen=True, kw_only=True):
    schema_version: int = SCHEMA_VERSION
    run_id: str
    status: Literal["running", "done", "interrupted", "failed"]
    started_unix_ns: int
    iocast_version: str = ""
    hosts: tuple[Host, ...]
    target: Target
    job: _Job
    plan: _Plan
    phases: tuple[PhaseRecord, ...] = ()
    blind: tuple[Blind, ...] = ()
    files_whole: bool = False
    warnings: tuple[str, ...] = ()
    verifications: tuple[Verification, ...] = ()
    source: Source | None = None
    tape: Tape | None = None
    maintenance: tuple[Maintenance, ...] = ()
    parts: tuple[HostPart, ...] = ()  # of a run that several hosts made at once; then `hosts` has them as one


class _Version(Struct):
    schema_version: int = 0


def document_of(run: Run) -> _Document:
    """What is written down of a run: all but its samples and series, which are tables."""
    plan = run.plan
    return _Document(
        run_id=run.run_id,
        status=run.status,
        started_unix_ns=run.started_unix_ns,
        iocast_version=run.iocast_version,
        hosts=(run.host,),
        target=plan.target,
        job=_Job(plan.name, plan.job, plan.experiment, plan.calibration),
        plan=_Plan(
            phases=plan.phases,
            files=plan.files,
            engine=plan.engine,
            polling=plan.polling,
            seed=plan.seed,
            interval_ns=plan.interval_ns,
            tree=plan.tree,
        ),
        phases=tuple(replace(record, samples=(), series=Series()) for record in run.phases),
        blind=run.blind,
        files_whole=run.files_whole,
        warnings=run.warnings,
        verifications=run.verifications,
        source=run.source,
        tape=run.tape,
        maintenance=run.maintenance,
        parts=run.hosts,
    )


def _run_of(document: _Document, path: Path) -> Run:
    if len(document.hosts) != 1:
        raise ArchiveError(
            f"{path} has {len(document.hosts)} hosts; this iocast reads runs of one host",
            "read it with the version of iocast that wrote it, or a newer one",
        )
    plan, job = document.plan, document.job
    return Run(
        run_id=document.run_id,
        plan=Plan(
            name=job.name,
            target=document.target,
            phases=plan.phases,
            files=plan.files,
            engine=plan.engine,
            polling=plan.polling,
            seed=plan.seed,
            interval_ns=plan.interval_ns,
            job=job.file,
            experiment=job.experiment,
            calibration=job.calibration,
            tree=plan.tree,
        ),
        host=document.hosts[0],
        started_unix_ns=document.started_unix_ns,
        status=document.status,
        phases=document.phases,
        blind=document.blind,
        files_whole=document.files_whole,
        warnings=document.warnings,
        iocast_version=document.iocast_version,
        verifications=document.verifications,
        source=document.source,
        tape=document.tape,
        maintenance=document.maintenance,
        hosts=document.parts,
    )


def version_of(path: Path, text: bytes) -> int:
    """The schema of a run.json. Raises ArchiveError when it has none, or a newer one than this iocast knows."""
    version = decoded(path, text, _Version).schema_version
    if version > SCHEMA_VERSION:
        raise ArchiveError(
            f"{path} was written by a newer iocast (schema {version}; this one reads up to {SCHEMA_VERSION})",
            "read it with the version of iocast that wrote it, or a newer one",
        )
    if version < 1:
        raise not_understood(path, "schema_version is missing")
    return version


def run_of(path: Path, text: bytes) -> Run:
    """The run of a run.json of any schema so far, without samples and series; not yet checked. Raises ArchiveError."""
    version = version_of(path, text)
    try:
        if version == SCHEMA_VERSION:
            document = parsed(text, _Document)
        else:
            document = converted(migrated_run(version, untyped(text)), _Document)
    except BROKEN as error:
        raise not_understood(path, error) from error
    return _run_of(document, path)
