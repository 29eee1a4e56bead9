"""What many hosts can spoil: a host that is not to be believed, one that is missing, a late start, a sum that devices
did not see."""

from __future__ import annotations

from typing import Any

import pytest
from makers import card_runs
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.examination import examine
from iocast.diagnose.trust.host_parts import host_parts
from iocast.model.finding import TrustComponent
from iocast.model.hosts import HostPart, HostRow
from iocast.model.run import PhaseRecord

SECOND_NS = card_runs.SECOND_NS


def host(name: str, **fields: Any) -> HostPart:
    """A host that did half of a row of reads."""
    row = HostRow(
        **{
            "phase": "randread 8k",
            "ios": 20_000,
            "bytes": 20_000 * 8192,
            "ios_per_s": 100.0,
            "bytes_per_s": 819_200.0,
            "started_ns": 0,
            "elapsed_ns": 10 * SECOND_NS,
            "trust": "A",
        }
        | fields
    )
    return HostPart(name=name, path="/u01", rows=(row,))


def judged(*hosts: HostPart, record: PhaseRecord | None = None) -> TrustComponent:
    """The component of a row of those hosts."""
    row = record or card_runs.reads()
    run = replace(card_runs.run(row), hosts=hosts)
    part = host_parts(Facts(run).row(row))
    assert examine(run).trust["randread 8k"].components[-1] == part
    return part


def test_hosts_that_agree_cost_nothing() -> None:
    assert judged(host("db1"), host("db2")).grade == "A"


def test_a_row_is_worth_what_its_worst_host_is() -> None:
    part = judged(host("db1"), host("db2", trust="D", reason="The page cache answered 80%. More words."), host("db3"))
    assert (part.grade, part.clause) == ("D", "host db2 alone is D: the page cache answered 80%")


def test_a_row_that_a_host_did_not_measure_is_no_row_of_all() -> None:
    part = judged(host("db1"), replace(host("db2"), rows=(), lost="it was killed"))
    assert (part.grade, part.clause) == ("D", "only 1 of 2 hosts measured it: db2 did not")


@pytest.mark.parametrize(("late_ns", "grade"), [(0, "A"), (50_000_000, "A"), (1 * SECOND_NS, "C")])
def test_hosts_that_began_far_apart_cost_trust(late_ns: int, grade: str) -> None:
    base = card_runs.reads()
    ten_s = replace(base.measurement, elapsed_ns=10 * SECOND_NS)
    assert judged(host("db1"), host("db2", started_ns=late_ns), record=replace(base, measurement=ten_s)).grade == grade


def test_what_lies_outside_the_common_time_is_told() -> None:
    part = judged(host("db1"), host("db2", outside_ios=20_000))
    assert part.grade == "C"
    assert part.clause.startswith("33% of the I/Os lie outside the time in which all hosts ran")


@pytest.mark.parametrize(("share", "grade"), [(1.0, "A"), (1.015, "A"), (1.04, "B"), (0.8, "D")])
def test_the_sum_is_held_against_the_devices_of_all_hosts(share: float, grade: str) -> None:
    base = card_runs.reads()
    did = base.measurement
    samples = card_runs.diskstats(did.elapsed_ns, reads=did.ios, read_bytes=round(did.bytes * share))
    part = judged(host("db1"), host("db2"), record=replace(base, samples=samples))
    assert part.grade == grade
