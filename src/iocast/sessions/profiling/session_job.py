"""A trace of system calls as a job of sessions that go from step to step; None where its sessions are unknown."""

from __future__ import annotations

from iocast.analyse.profiling.load_model import direct_of
from iocast.analyse.profiling.session_model import Role, SessionModel, session_model
from iocast.archive import profile_folder
from iocast.archive.writing.private_rooms import temporary_room
from iocast.model.job import FileSize, Job
from iocast.model.phase_names import unique_names
from iocast.model.plan import Length, Phase
from iocast.model.profiling.step_chain import mean_pause_ns, step_mix
from iocast.model.workload import Arrival, Closed, Stepped, Workload
from iocast.sessions.profiling.profile_traces import Profiled

BLOCK_BYTES = 4096  # of references, where each request is one


def session_job(profiled: Profiled, seconds: float) -> tuple[Job, SessionModel] | None:
    """The job and what it stands on. Raises IocastError."""
    profile = profiled.profile
    if not profiled.folder or profile.layers != ("syscall",):
        return None
    with temporary_room("iocast-sessions-") as room:
        events = profile_folder.events_of(profiled.folder)
        model = session_model(events, room.place, profile.reference_bytes or BLOCK_BYTES)
    if model is None:
        return None
    alone = len(model.roles) == 1
    phases = [
        Phase(
            name=name,
            test=name,
            workload=_workload(role, direct=direct_of(profile)),
            length=Length(seconds=seconds),
            together="" if alone else "profile",
        )
        for name, role in zip(_names(model), model.roles, strict=True)
    ]
    job = Job(
        name=f"like {profile.name}"[:80],
        phases=unique_names(phases),
        description="made from a profile by iocast profile --to",
        file_count=model.files,
        file_size=FileSize(size_bytes=model.file_bytes),
        engine="sync",
    )
    return job, model


def _names(model: SessionModel) -> list[str]:
    return ["sessions" if role.users > 1 else f"session-{at}" for at, role in enumerate(model.roles, 1)]


def _workload(role: Role, *, direct: bool) -> Workload:
    pause_ns = mean_pause_ns(role.steps)
    arrival: Arrival = Closed(round(pause_ns))
    if role.between and pause_ns:
        arrival = Stepped(round(role.users * 1e9 / pause_ns, 4))
    return Workload(mix=step_mix(role.steps), arrival=arrival, users=role.users, direct=direct, steps=role.steps)
