"""Claims: what hosts may not do to storage at the same time."""

from __future__ import annotations

from typing import Any

import pytest
from makers.card_runs import TARGET
from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.hosts.claims import Claim, check_claims, sliced, storage_names
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.target import Identity, Target
from iocast.model.workload import MixItem, Workload

GIB = 1 << 30


def claim(host: str, **fields: Any) -> Claim:
    """A claim on storage of its own."""
    return Claim(**{"host": host, "path": "/u01", "machine": host, "storage": (host,), "version": "1"} | fields)


def test_hosts_with_storage_of_their_own_may_begin() -> None:
    check_claims([claim("db1", writes=True), claim("db2", writes=True)], "own")


def test_a_refusal_of_one_host_is_that_of_all_and_names_it() -> None:
    with pytest.raises(TargetError, match="db2: /u01 is full") as refused:
        check_claims([claim("db1"), claim("db2", refused="/u01 is full", hint="make room")], "own")
    assert refused.value.hint == "make room"


def test_two_names_of_one_device_are_refused_and_both_ways_out_are_told() -> None:
    with pytest.raises(TargetError, match="db1 and db2 have the same storage") as refused:
        check_claims([claim("db1", storage=("wwn:1", "a")), claim("db2", storage=("b", "wwn:1"))], "own")
    assert "--share slices" in refused.value.hint
    assert "--share same" in refused.value.hint
    check_claims([claim("db1", storage=("wwn:1",)), claim("db2", storage=("wwn:1",))], "same")


def test_the_same_bytes_are_only_read() -> None:
    with pytest.raises(SpecError, match="only read"):
        check_claims([claim("db1"), claim("db2", writes=True)], "same")


def test_other_versions_and_other_rows_are_refused() -> None:
    with pytest.raises(TargetError, match="db2 has iocast 2, db1 1"):
        check_claims([claim("db1"), claim("db2", version="2")], "own")
    with pytest.raises(TargetError, match="db2 would measure other rows than db1"):
        check_claims([claim("db1", digest="a"), claim("db2", digest="b")], "own")


def test_the_room_of_a_shared_file_system_counts_once() -> None:
    both = [claim(host, room="nfs:/x", fill_bytes=6 * GIB, free_bytes=10 * GIB) for host in ("db1", "db2")]
    with pytest.raises(TargetError, match=r"db1, db2 share a file system with 10.0 GiB free.*need 12.0 GiB"):
        check_claims(both, "own")
    check_claims([replace(each, room=each.host) for each in both], "own")


def block(path: str, number: str, *marks: str) -> Target:
    """A block device."""
    identity = Identity(marks=marks, number=number, size_bytes=8 * GIB)
    return Target(path=path, kind="block", size_bytes=8 * GIB, identity=identity)


def test_a_device_is_known_on_every_host_whatever_it_is_called() -> None:
    one = storage_names(block("/dev/sdb", "8:16", "wwn:naa.5"), "machine-a")
    other = storage_names(block("/dev/dm-3", "253:3", "wwn:naa.5"), "machine-b")
    assert set(one) & set(other)
    third = storage_names(block("/dev/sdb", "8:16", "wwn:naa.6"), "machine-b")
    assert not set(one) & set(third)


def test_an_export_is_the_same_wherever_it_is_mounted() -> None:
    here = Target(path="/u01/x", kind="directory", filesystem="nfs4", mount_source="nas:/v", mount_point="/u01")
    there = Target(path="/mnt/x", kind="directory", filesystem="nfs4", mount_source="nas:/v", mount_point="/mnt")
    assert storage_names(here, "a") == storage_names(there, "b")


def test_slices_are_whole_mebibytes_that_never_meet() -> None:
    reads = Workload(mix=(MixItem(op="read", size_bytes=8192, weight=1),))
    phase = Phase(name="r", test="r", workload=reads, length=Length(seconds=1))
    plan = Plan(name="p", target=block("/dev/sdb", "8:16"), phases=(phase,), files=WorkFiles(1, 8 * GIB))
    slices = [sliced(plan, number, 3).phases[0] for number in range(3)]
    ends = [each.region_start_bytes + (each.region_size_bytes or 0) for each in slices]
    assert [each.region_start_bytes for each in slices[1:]] == ends[:-1]
    assert all(each.region_start_bytes % (1 << 20) == 0 for each in slices)
    assert ends[-1] <= 8 * GIB
    with pytest.raises(SpecError, match="too little for 200 slices"):
        sliced(plan, 0, 200)
    with pytest.raises(SpecError, match="needs a block device or a file"):
        sliced(replace(plan, target=TARGET), 0, 2)
