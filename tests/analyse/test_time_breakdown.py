"""Where the time of a row went: parts that add up, and every reason why they may not."""

from __future__ import annotations

import pytest
from makers.block_runs import block, row
from makers.card_runs import run
from msgspec.structs import replace

from iocast.analyse.time_breakdown import lowest, whereabouts
from iocast.model.block_times import BlockTimes
from iocast.model.target import Layer, Target


def test_the_parts_add_up_to_the_response() -> None:
    made = row(block(), response_ns=1_000_000)
    (found,) = whereabouts(run(made), made)
    parts = (found.unsent_ns, found.system_ns, found.queue_ns, found.device_ns)
    assert parts == pytest.approx((600_000, 90_000, 10_000, 300_000))
    assert found.inexact == ()
    assert (found.requests, found.watched_share, found.devices) == (100, 1.0, ("vda",))


@pytest.mark.parametrize(
    ("times", "why"),
    [
        (block(ios=200, size_bytes=4096), ("merged",)),
        (block(ios=150), ("others",)),
        (block(ios=150, watched_ns=5), ()),  # who watched half of the time cannot know
    ],
)
def test_what_does_not_add_up_is_blank_and_says_why(times: BlockTimes, why: tuple[str, ...]) -> None:
    made = row(times)
    (found,) = whereabouts(run(made), made)
    assert found.inexact == why
    assert (found.system_ns is None) == bool(why)


def test_the_page_cache_and_syncs_are_no_part_of_a_request() -> None:
    made = row(block())
    load = replace(made.phase.workload, direct=False)
    (found,) = whereabouts(run(made), replace(made, phase=replace(made.phase, workload=load)))
    assert found.inexact == ("cached",)


def test_nothing_seen_and_too_little_seen_say_nothing() -> None:
    for times in (None, block(ios=20)):
        made = row(times)
        assert list(whereabouts(run(made), made)) == []


def test_phases_at_once_share_what_was_seen() -> None:
    first, second = row(block()), row(None)
    first, second = (
        replace(each, phase=replace(each.phase, name=name, together="both"))
        for each, name in ((first, "a"), (second, "b"))
    )
    (found,) = whereabouts(run(first, second), second)
    assert "shared" in found.inexact


def test_requests_are_not_counted_again_in_the_layer_above() -> None:
    path = Layer(name="mp", kind="multipath", major=1, minor=0, lower=("sda",))
    disk = Layer(name="sda", kind="disk", major=1, minor=1)
    times = BlockTimes(elapsed_ns=1, watched_ns=1, devices=(*block(name="mp").devices, *block(name="sda").devices))
    assert [each.name for each in lowest(times, Target(path="/x", kind="block", layers=(path, disk)))] == ["sda"]
