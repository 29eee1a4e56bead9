"""Whether a generated load is like the original: each distance against the noise and the control."""

from __future__ import annotations

from collections.abc import Callable

from iocast import text
from iocast.analyse.profiling.profile_distances import LikenessCheck
from iocast.model.codes import DistanceCode
from iocast.model.report import Report
from iocast.model.results.profiles import LoadDistance
from iocast.report.result_tables import result_table
from iocast.report.wording import section
from iocast.results.profile_differences import likeness_of

NAMES: dict[DistanceCode, str] = {
    "rate": "mean rate: relative difference",
    "operations": "operations: share that differs",
    "sizes": "operation x size: share that differs",
    "gaps": "time between I/Os: largest difference of the distributions",
    "dispersion": "dispersion over scales: largest |ln ratio|",
    "in_flight": "I/Os in flight: largest difference of the distributions",
    "sequential": "sequential share: difference",
    "misses": "miss ratio: mean difference over 40 cache sizes",
    "places": "places: Jensen-Shannon distance over 64 stretches",
}
VERDICTS = {None: "not judged", True: "alike", False: "differs"}


def likeness_report(check: LikenessCheck, original: str, generated: str) -> Report:
    """The verdict, and all distances."""
    result = likeness_of(check)
    words: dict[str, Callable[[LoadDistance], str]] = {
        "code": lambda row: NAMES[row.code],
        "accepted": lambda row: VERDICTS[row.accepted],
    }
    notes = (
        "Limit: twice the distance of the two halves of the original, or a fixed cap, whichever is larger.",
        "Control: random arrivals, uniform places, one size, at the same rate. At least one distance must reject it.",
    )
    table = result_table(LoadDistance, result.distances, key="distances", words=words, notes=notes)
    return Report(
        title=f"{generated} against {original}",
        verdict=_says(check),
        sections=(section("differences", tables=(table,)),),
        kind="profile",
        result=result,
    )


def _says(check: LikenessCheck) -> str:
    differs = [NAMES[each.code].partition(":")[0] for each in check.distances if each.accepted is False]
    judged = sum(each.accepted is not None for each in check.distances)
    rejected = sum(each.control_accepted is False for each in check.distances)
    match check.verdict:
        case "undecided":
            return "Undecided: a random load of the same rate passes too; the original has no structure to check."
        case "alike":
            return (
                f"Alike: {judged} of {judged} distances are within their limits; {rejected} of them"
                " reject a random load."
            )
        case _:
            return f"Not alike in {len(differs)} of {text.counted(judged, 'distance')}: {', '.join(differs)}."
