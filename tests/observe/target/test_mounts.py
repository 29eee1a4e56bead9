"""Which mount holds a path: escapes, bind mounts, covered mounts, numbers."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.observe.target.mounts import choose_mount, find_mount, parse_mountinfo, remote_places, unescape

TEXT = r"""27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw,errors=remount-ro
30 27 8:17 / /mnt/my\040disk rw,noatime shared:7 master:2 - xfs /dev/sdb1 rw,logbufs=8
31 27 8:17 /sub /srv/bind ro,relatime - xfs /dev/sdb1 rw,logbufs=8
32 27 0:44 / /mnt/none rw - tmpfs  rw,size=1k
33 27 8:33 / /data rw - ext4 /dev/sdc1 rw
34 33 8:49 / /data/pg rw - ext4 /dev/sdd1 rw
35 27 8:65 / /data rw - ext4 /dev/sde1 rw
garbage
"""
MOUNTS = parse_mountinfo(TEXT)


def test_lines_are_read_with_escapes_and_any_number_of_optional_fields() -> None:
    assert len(MOUNTS) == 7
    disk = MOUNTS[1]
    assert (disk.mount_point, disk.filesystem, disk.source) == ("/mnt/my disk", "xfs", "/dev/sdb1")
    assert (disk.mount_id, disk.major, disk.minor, disk.root) == (30, 8, 17, "/")
    assert disk.options == "rw,noatime,logbufs=8"
    assert MOUNTS[3].source == ""


def test_read_only_in_the_mount_or_in_the_file_system_is_read_only() -> None:
    assert MOUNTS[2].options == "ro,relatime,logbufs=8"
    line = "27 1 254:0 / / rw,relatime - ext4 /dev/vda ro"
    assert parse_mountinfo(line)[0].options == "relatime,ro"


@pytest.mark.parametrize(
    ("path", "device", "mount_id"),
    [
        ("/", None, 27),
        ("/etc/passwd", None, 27),
        ("/mnt/my disk/a/b", None, 30),
        ("/mnt/my disk", None, 30),
        ("/mnt/my disks/a", None, 27),  # a longer name is no place below
        ("/srv/bind/x", None, 31),
        ("/srv/bindings", None, 27),
        ("/data/x", (8, 65), 35),  # the last made of two on one point
        ("/data/x", None, 35),
        ("/data/pg/x", (8, 65), 35),  # 35 covers 34, the number tells
        ("/data/pg/x", (8, 49), 34),
        ("/mnt/my disk/a", (0, 99), 30),  # btrfs: a number that no mount has
    ],
)
def test_the_mount_that_holds_a_path(path: str, device: tuple[int, int] | None, mount_id: int) -> None:
    found = choose_mount(MOUNTS, path, device)
    assert found is not None
    assert found.mount_id == mount_id


def test_no_mounts_no_answer() -> None:
    assert choose_mount((), "/a") is None


@given(st.text(alphabet=st.characters(codec="utf-8")))
def test_escaping_as_the_kernel_does_is_undone(text: str) -> None:
    escaped = "".join(f"\\{ord(c):03o}" if c in " \t\n\\#" else c for c in text)
    assert unescape(escaped) == text


def test_this_machine_agrees_with_stat(tmp_path: Path) -> None:
    found = find_mount(str(tmp_path))
    assert found is not None
    number = os.stat(tmp_path).st_dev
    if found.filesystem not in ("btrfs", "overlay"):
        assert (found.major, found.minor) == (os.major(number), os.minor(number))
    assert os.path.ismount(found.mount_point)


def test_a_link_is_followed_to_where_it_leads(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/proc/self")
    found = find_mount(str(link))
    assert found is not None
    assert found.filesystem == "proc"


@pytest.mark.parametrize("remote", ["/far", "/"])
@pytest.mark.parametrize("kind", ["nfs4", "fuse.sshfs", "9p"])
def test_a_local_disk_below_a_remote_file_system_is_not_remote(remote: str, kind: str) -> None:
    """An NFS home with a scratch disk: its files are looked at, and those of the home are not."""
    lines = ["20 1 8:1 / / rw - ext4 /dev/sda1 rw"] if remote != "/" else []
    lines += [f"21 20 0:50 / {remote} rw - {kind} server:/far rw", "22 21 8:2 / /far/scratch rw - ext4 /dev/sda2 rw"]
    places = remote_places(mounts=parse_mountinfo("\n".join(lines)))
    assert places.hold("/far/bob/file")
    assert not places.hold("/far/scratch/file")
    assert places.hold("/far/scratchy/file")
    assert places.hold("/etc/passwd") == (remote == "/")


def test_a_local_disk_that_is_mounted_over_a_remote_one_counts() -> None:
    lines = "21 20 0:50 / /far rw - nfs4 server:/far rw\n22 21 8:2 / /far rw - ext4 /dev/sda2 rw"
    assert not remote_places(mounts=parse_mountinfo(lines)).hold("/far/file")
