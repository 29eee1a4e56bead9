"""Families of rows: which belong together, and what they are called."""

from __future__ import annotations

from makers import card_runs
from makers.card_runs import reads

from iocast.diagnose.examination import examine
from iocast.report.charts.families import families, pooled


def test_rows_of_a_test_and_size_are_a_family_in_the_order_of_their_loads() -> None:
    rows = [reads(f"randread 8k {users}x1", users=users) for users in (8, 1, 4)]
    run = card_runs.run(*rows, reads("read 128k", size_bytes=1 << 17), card_runs.mixed())
    found = families(run, examine(run), {})
    assert [(family.key, [member.at_once for member in family.members]) for family in found] == [
        ("randread-8k", [1, 4, 8]),
        ("read-128k", [1]),
        ("mixed-8k-reads", [64]),
        ("mixed-8k-writes", [64]),
        ("mixed-fsyncs", [64]),
    ]
    rest = pooled(found[1:], "Other rows")
    assert rest is not None
    assert rest.ladder == ()
    assert rest.name(rest.members[0]) == "read 128k"


def test_tests_whose_names_differ_in_signs_only_have_charts_of_their_own() -> None:
    run = card_runs.run(*(reads(f"{test} 8k") for test in ("a+b", "a-b", "a.b")))
    assert [family.key for family in families(run, examine(run), {})] == ["a-b-8k", "a-b-8k-2", "a-b-8k-3"]
