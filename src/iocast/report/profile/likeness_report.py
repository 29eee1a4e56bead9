"""Whether a generated load is like the original: each distance against the noise and the control."""

from __future__ import annotations

from iocast import text
from iocast.analyse.profiling.profile_distances import Distance, DistanceCode, LikenessCheck
from iocast.model.report import Column, Report, Row, Table
from iocast.report.wording import section

NAMES: dict[DistanceCode, str] = {
    "rate": "mean rate: relative difference",
    "operations": "operations: share that differs",
    "sizes": "operation x size: share that differs",
    "gaps": "time between I/Os: largest difference of the distributions",
    "dispersion": "dispersion over scales: largest |ln ratio|",
    "in_flight": "I/Os under way: largest difference of the distributions",
    "sequential": "sequential share: difference",
    "misses": "miss ratio: mean difference over 40 cache sizes",
    "places": "places: Jensen-Shannon distance over 64 stretches",
}
COLUMNS = (
    Column("what", "distance", "text"),
    Column("value", "generated", "ratio"),
    Column("limit", "limit", "ratio"),
    Column("noise", "two halves\nof the original", "ratio"),
    Column("control", "random\ncontrol", "ratio"),
    Column("verdict", "verdict", "text"),
)


def likeness_report(check: LikenessCheck, original: str, generated: str) -> Report:
    """The verdict, and all distances."""
    rows = tuple(
        Row(
            {
                "what": NAMES[each.code],
                "code": each.code,
                "value": each.value,
                "limit": each.limit,
                "noise": each.noise,
                "control": each.control,
                "verdict": _verdict(each),
                "accepted": each.accepted,
                "control_accepted": each.control_accepted,
            }
        )
        for each in check.distances
    )
    notes = (
        "Limit: twice the distance of the two halves of the original, or a fixed cap, whichever is larger.",
        "Control: random arrivals, uniform places, one size, at the same rate. At least one distance must reject it.",
    )
    table = Table("", COLUMNS, rows, key="distances", notes=notes)
    return Report(
        title=f"{generated} against {original}",
        verdict=_says(check),
        sections=(section("differences", tables=(table,)),),
        kind="profile",
    )


def _verdict(each: Distance) -> str:
    return {None: "not judged", True: "alike", False: "differs"}[each.accepted]


def _says(check: LikenessCheck) -> str:
    differs = [NAMES[each.code].partition(":")[0] for each in check.distances if each.accepted is False]
    judged = sum(each.accepted is not None for each in check.distances)
    told = sum(each.control_accepted is False for each in check.distances)
    match check.verdict:
        case "undecided":
            return "Undecided: a random load of the same rate passes too; the original has no structure to check."
        case "alike":
            return (
                f"Alike: {judged} of {judged} distances are within their limits; {told} of them reject a random load."
            )
        case _:
            return f"Not alike in {len(differs)} of {text.counted(judged, 'distance')}: {', '.join(differs)}."
