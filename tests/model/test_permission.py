"""What may be written to: one decision, with its reason as a code."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.load import permission_of
from iocast.model.permission import Permission, permission
from iocast.model.target import Identity, Target
from iocast.sessions.target_finding import find_target

DISK = Identity(marks=("serial:1", "wwn:2"), number="8:16", size_bytes=1 << 30)


def test_what_stands_on_a_path_now(tmp_path: Path) -> None:
    (tmp_path / "data").write_bytes(b"x" * (1 << 20))
    assert permission_of(find_target(str(tmp_path / "data"))) == Permission(False, "foreign_file")
    assert permission_of(find_target(str(tmp_path / "new.dat"))) == Permission(True, "own_files")
    assert permission_of(find_target(str(tmp_path))) == Permission(True, "own_files")
    assert permission_of(find_target("sim:hdd")) == Permission(True, "simulated")


@pytest.mark.parametrize(
    ("identity", "destroy", "code"),
    [
        (None, "", "block_device"),
        (None, "serial:1", "block_device"),
        (DISK, "", "block_device"),
        (DISK, "wwn:2", "block_device"),  # not the name that it goes by
        (DISK, "serial:1", "given_up"),
        (Identity(marks=(), number="8:16", size_bytes=1), "", "block_device"),  # nothing tells it from others
        (Identity(marks=("loop:8:1:12",), number="7:0", size_bytes=1), "loop:8:1:12", "block_device"),  # of an old run
        (Identity(marks=("loop:8:1:12:g7",), number="7:0", size_bytes=1), "loop:8:1:12:g7", "given_up"),
    ],
)
def test_a_device_is_given_up_by_its_name_alone(identity: Identity | None, destroy: str, code: str) -> None:
    target = Target(path="/dev/x", kind="block", identity=identity, destroy=destroy)
    for own_file in (True, False):
        assert permission(target, own_file=own_file) == Permission(code == "given_up", code)  # type: ignore[arg-type]


def test_the_place_of_an_imported_run_is_never_written_to() -> None:
    assert not permission(Target(path="sda", kind="unknown"), own_file=True).may_write
