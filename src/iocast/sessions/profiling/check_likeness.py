"""profile --check: is a generated or replayed load like the original?"""

from __future__ import annotations

from msgspec import Struct

from iocast.analyse.profiling.control_traces import control, halves, measured_alike
from iocast.analyse.profiling.profile_distances import LikenessCheck, likeness
from iocast.archive import profile_folder
from iocast.archive.writing.private_rooms import temporary_room
from iocast.errors import AnalysisError, SpecError
from iocast.model.report import Report
from iocast.sessions.profiling.profile_traces import Profiled, profile_traces
from iocast.sessions.requests.profile import ProfileRequest

FEWEST = 1000  # timed events of each side [J]


class CheckedLikeness(Struct, frozen=True):
    """The check of a generated load against its original."""

    check: LikenessCheck
    original: str
    generated: str

    def report(self, *, charts: bool = False) -> Report:
        """The verdict, and every distance with its noise and its control."""
        from iocast.report.profile.likeness_report import likeness_report

        return likeness_report(self.check, self.original, self.generated)


def check_likeness(request: ProfileRequest) -> CheckedLikeness:
    """Holds the second trace or profile of a request against the first. Raises IocastError."""
    if len(request.traces) != 2:
        raise SpecError("--check takes two traces or profiles", "iocast profile --check ORIGINAL GENERATED")
    original, generated = (_profiled(request, path) for path in request.traces)
    for each in (original, generated):
        if each.profile.timed < FEWEST or not each.profile.length_ns:
            raise AnalysisError(
                f"{each.profile.name} has {each.profile.timed} I/Os with a time", f"a check needs {FEWEST} at least"
            )
    if not any(each.op < 2 and each.size for each in original.profile.sizes):
        raise AnalysisError(f"{original.profile.name} has no sizes", "profile it with --block-size SIZE")
    events = profile_folder.events_of(original.folder)
    with temporary_room("iocast-check-") as held:
        room = held.place
        other = generated.profile
        if other.reference_bytes != original.profile.reference_bytes:
            other = measured_alike(original.profile, profile_folder.events_of(generated.folder), room)
        parts = halves(original.profile, events, room)
        check = likeness(original.profile, other, parts, control(original.profile, events, room))
    return CheckedLikeness(check, original.profile.name, generated.profile.name)


def _profiled(request: ProfileRequest, path: str) -> Profiled:
    from msgspec.structs import replace

    return profile_traces(replace(request, traces=(path,)))
