"""A made load against its original: words for people, codes and yes or no for programs."""

from __future__ import annotations

from iocast.analyse.profiling.profile_distances import Distance, LikenessCheck
from iocast.report.profile.likeness_report import likeness_report
from iocast.report.renderers import json_report

CHECK = LikenessCheck(
    (
        Distance("rate", 0.1, 0.005, 1.2, 0.02),
        Distance("sizes", 0.01, 0.005, 0.9, 0.02),
        Distance("places", 0.5, 0.1, 0.6, None),
    )
)


def test_a_distance_is_alike_differs_or_is_not_judged() -> None:
    report = likeness_report(CHECK, "original", "made")
    assert report.verdict == "Not alike in 1 of 2 distances: mean rate."
    (table,) = report.sections[0].tables
    assert [row.cells["accepted"] for row in table.rows] == ["differs", "alike", "not judged"]
    assert table.rows[2].cells["code"] == "places: Jensen-Shannon distance over 64 stretches"
    rate, sizes, places = json_report.document(report).distances  # type: ignore[union-attr]
    assert (rate.code, rate.accepted, rate.control_accepted) == ("rate", False, False)
    assert (sizes.accepted, places.accepted, places.limit, places.control_accepted) == (True, None, None, None)
