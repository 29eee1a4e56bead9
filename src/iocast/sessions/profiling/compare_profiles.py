"""compare, of two profiles: what differs, and why the one is slower."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from iocast.archive import profile_folder
from iocast.errors import AnalysisError, SpecError
from iocast.model.profiling.profile import Profile
from iocast.model.report import Report


class ComparedProfiles(Struct, frozen=True):
    """Two profiles beside each other."""

    first: Profile
    other: Profile

    def report(self, *, charts: bool = False) -> Report:
        """Counts, sizes, times, and the reason."""
        from iocast.report.profile.profile_comparison import profile_comparison

        return profile_comparison(self.first, self.other)


def all_profiles(paths: Sequence[str]) -> bool:
    """Whether profiles are to be compared. Raises SpecError where only some are."""
    are_profiles = [profile_folder.is_profile(path) for path in paths]
    if any(are_profiles) and not all(are_profiles):
        run = paths[are_profiles.index(False)]
        raise SpecError(f"{run} is not a profile, and cannot be compared with one", "compare two profiles, or two runs")
    return all(are_profiles)


def compare_profiles(paths: Sequence[str]) -> ComparedProfiles:
    """Two profiles by their folders, both with I/O. Raises IocastError."""
    if len(paths) != 2:
        raise SpecError(f"{len(paths)} profiles are given", "two profiles are compared at a time: iocast compare A B")
    comparison = ComparedProfiles(profile_folder.load(paths[0]), profile_folder.load(paths[1]))
    for path, profile in zip(paths, (comparison.first, comparison.other), strict=True):
        if not profile.events:
            raise AnalysisError(f"{path} has no I/O to compare", "compare profiles of traces with I/O")
    return comparison
