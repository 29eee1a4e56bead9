"""The places that all of a test's I/O passes: every layer of a stack, and all disks together."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from makers import card_runs

from iocast.analyse.device_io import DeviceIo, device_io
from iocast.analyse.places import ENOUGH_BYTES, Place, moved_share, passed_by_all, places
from iocast.model.target import Layer

replace = msgspec.structs.replace
SECOND_NS = card_runs.SECOND_NS


def _layer(name: str, *lower: str, kind: str = "disk", **limits: Any) -> Layer:
    return Layer(name=name, kind=kind, major=8, minor=0, lower=lower, **limits)


def _places(*layers: Layer, silent: str = "", filesystem: str | None = "ext4") -> tuple[Place, ...]:
    """The places of this stack, of which each layer read 100 bytes."""
    samples = tuple(
        sample
        for layer in layers
        if layer.name != silent
        for sample in card_runs.diskstats(SECOND_NS, layer=layer.name, reads=1, read_bytes=100)
    )
    target = replace(card_runs.TARGET, layers=layers, filesystem=filesystem)
    return places(device_io(card_runs.reads(samples=samples)), target)


def test_from_a_partition_to_its_disk() -> None:
    found = _places(_layer("sda1", "sda", kind="partition"), _layer("sda"))
    assert [place.io.layer for place in found] == ["sda1", "sda"]
    assert not any(place.writes_multiply or place.spread for place in found)


def test_disks_below_a_stripe_are_summed() -> None:
    found = _places(_layer("md0", "sda", "sdb", kind="raid0"), _layer("sda"), _layer("sdb"))
    assert [(place.io.layer, place.io.read_bytes) for place in found] == [("md0", 100), ("sda+sdb", 200)]
    assert (found[1].spread, found[1].writes_multiply) == (True, False)


def test_two_partitions_of_one_disk_are_that_disk_once() -> None:
    found = _places(
        _layer("dm-0", "sda1", "sda2", kind="lvm"),
        _layer("sda1", "sda", kind="partition"),
        _layer("sda2", "sda", kind="partition"),
        _layer("sda"),
    )
    assert [place.io.layer for place in found] == ["dm-0", "sda1+sda2", "sda"]


def test_a_layer_that_is_not_counted_hides_its_place_but_not_those_below() -> None:
    layers = (_layer("md0", "sda", "sdb", kind="raid0"), _layer("sda"), _layer("sdb"))
    assert [place.io.layer for place in _places(*layers, silent="md0")] == ["sda+sdb"]
    assert [place.io.layer for place in _places(*layers, silent="sdb")] == ["md0"]


def test_a_disk_beside_a_partition_waits_for_it() -> None:
    layers = (_layer("md0", "sda1", "sdb", kind="raid0"), _layer("sda1", "sda"), _layer("sdb"), _layer("sda"))
    assert [place.io.layer for place in _places(*layers)] == ["md0", "sda1+sdb", "sda+sdb"]


def test_a_circle_has_an_end() -> None:
    found = _places(_layer("a", "b"), _layer("b", "c"), _layer("c", "b"))
    assert 1 <= len(found) <= 3


@pytest.mark.parametrize(
    ("kind", "writes", "reads"),
    [
        ("raid1", True, False),
        ("raid10", True, False),
        ("raid5", True, True),
        ("lvm", True, True),  # over several: it may be a mirror, a cache, a thin pool
        ("raid0", False, False),
        ("linear", False, False),
        ("multipath", False, False),
    ],
)
def test_what_kinds_over_two_layers_make_of_a_write(kind: str, writes: bool, reads: bool) -> None:
    top, bottom = _places(_layer("md0", "sda", "sdb", kind=kind), _layer("sda"), _layer("sdb"))
    assert (bottom.writes_multiply, bottom.reads_multiply) == (writes, reads)
    assert not top.writes_multiply


def test_a_logical_volume_over_one_disk_changes_nothing() -> None:
    _, bottom = _places(_layer("dm-0", "sda", kind="lvm"), _layer("sda"))
    assert not bottom.writes_multiply


def test_a_file_system_that_copies_multiplies_from_the_top() -> None:
    (top,) = _places(_layer("sda"), filesystem="btrfs")
    assert (top.writes_multiply, top.reads_multiply, top.spread) == (True, True, True)


def test_requests_are_as_small_as_the_tightest_layer_makes_them() -> None:
    found = _places(
        _layer("dm-0", "sda", kind="crypt", max_io_bytes=1 << 20),
        _layer("sda", max_io_bytes=512 << 10, max_segments=64, logical_block_bytes=4096),
    )
    assert [place.split_bytes for place in found] == [1 << 20, 64 * 4096]
    assert [place.block_bytes for place in found] == [512, 4096]


def test_a_journal_needs_a_file_system_above() -> None:
    assert [place.journalled for place in _places(_layer("sda"), filesystem=None)] == [False]
    assert [place.journalled for place in _places(_layer("sda"))] == [True]
    loop = _places(_layer("loop0", "sda", kind="loop"), _layer("sda"), filesystem=None)
    assert [(place.journalled, place.cached) for place in loop] == [(False, False), (True, True)]


def test_all_disks_of_one_stack_know_of_every_layer_above_them() -> None:
    """The mirror is two layers above the disks: their partitions do not hide it."""
    layers = (
        _layer("md0", "sda1", "sdb1", kind="raid1"),
        _layer("sda1", "sda", kind="partition"),
        _layer("sdb1", "sdb", kind="partition"),
        _layer("sda"),
        _layer("sdb"),
    )
    assert [place.writes_multiply for place in _places(*layers)] == [False, True, True]


def test_paths_of_one_disk_are_no_stripe() -> None:
    _, bottom = _places(_layer("dm-0", "sda", "sdb", kind="multipath"), _layer("sda"), _layer("sdb"))
    assert not bottom.spread


def _io(layer: str, read: int | None = 100, written: int | None = 100, requests: int = 1) -> DeviceIo:
    return DeviceIo(
        layer=layer, elapsed_ns=SECOND_NS, reads=requests, writes=requests, read_bytes=read, written_bytes=written
    )


def test_all_io_passes_the_top_and_all_disks() -> None:
    partition, loop = (
        _places(_layer("sda1", "sda"), _layer("sda")),
        _places(_layer("loop0", "sda", kind="loop"), _layer("sda")),
    )
    top = _io("top")
    assert passed_by_all(None, partition) == ()
    assert passed_by_all(top, ()) == (top,)
    assert passed_by_all(partition[0].io, partition[:1]) == (partition[0].io,)  # it is the disk itself
    assert passed_by_all(top, partition) == (top, partition[-1].io)
    for seen, still in ((partition, False), (loop, True)):
        silent = (*seen[:-1], replace(seen[-1], io=_io("sda", 0, 0, requests=0)))
        assert (silent[-1].io in passed_by_all(top, silent)) == still  # only a cache explains disks that stand still


def test_the_share_is_that_of_the_place_that_moved_least() -> None:
    upper, lower, unseen = _io("md0", 3 << 20, 8 << 20), _io("sda", 6 << 20, 2 << 20), _io("sdb", None, None)
    assert moved_share(4 << 20, "read", (lower, upper, unseen)) == (0.75, upper)
    assert moved_share(4 << 20, "write", (upper, lower, unseen)) == (0.5, lower)
    assert moved_share(4 << 20, "read", (unseen,)) is None
    assert moved_share(4 << 20, "read", (upper, replace(upper, layer="sda"))) == (
        0.75,
        upper,
    )  # of equal ones the first
    assert moved_share(ENOUGH_BYTES, "read", (upper,)) == (3.0, upper)
    assert moved_share(ENOUGH_BYTES - 1, "read", (upper,)) is None
