"""Targets of this machine: files, directories, devices, and all that is no storage."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from iocast.errors import TargetError
from iocast.observe.target.device_stack import describe
from iocast.observe.target.direct import probe_direct


def test_this_directory() -> None:
    target = describe(".")
    assert target.path == os.getcwd()
    assert target.kind == "directory"
    assert target.size_bytes is None
    assert target.filesystem is not None
    assert target.mount_point is not None
    assert os.path.ismount(target.mount_point)
    assert target.free_bytes is not None
    assert target.total_bytes is not None
    assert 0 <= target.free_bytes <= target.total_bytes
    assert target.layers or target.notes
    assert target.direct is True or target.direct_why_not


def test_the_layers_are_those_that_lsblk_names() -> None:
    target = describe(".")
    if shutil.which("lsblk") is None or target.device is None:
        pytest.skip("no lsblk, or no block device below this directory")
    found = json.loads(
        subprocess.run(
            ["lsblk", "--json", "--bytes", "--inverse", "--list", "-o", "KNAME,SIZE,LOG-SEC,SCHED,MAJ:MIN"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
    )
    theirs = {device["kname"]: device for device in found["blockdevices"]}
    for layer in target.layers:
        shown = theirs[layer.name]
        assert layer.size_bytes == shown["size"]
        assert layer.logical_block_bytes == shown["log-sec"]
        assert layer.scheduler == shown["sched"]
        assert f"{layer.major}:{layer.minor}" == shown["maj:min"]


def test_a_file_has_a_size_and_is_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "data file"
    file.write_bytes(b"x" * 10_000)
    before = file.stat()
    target = describe(str(file))
    assert (target.kind, target.size_bytes) == ("file", 10_000)
    after = file.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, 10_000)
    assert file.read_bytes() == b"x" * 10_000


def test_looking_at_a_directory_leaves_nothing_behind(tmp_path: Path) -> None:
    describe(str(tmp_path))
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_for_root_is_not_free_not_even_for_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = os.statvfs_result((4096, 1024, 1000, 500, 400, 9, 9, 9, 0, 255))
    monkeypatch.setattr(os, "statvfs", lambda _: given)
    for user in (0, 1000):
        monkeypatch.setattr(os, "geteuid", lambda user=user: user)
        target = describe(str(tmp_path))
        assert (target.free_bytes, target.total_bytes) == (400 * 1024, 1000 * 1024)


def test_dots_behind_a_link_lead_where_the_kernel_goes(tmp_path: Path) -> None:
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a/b")
    (tmp_path / "a/here").write_bytes(b"")
    assert describe(str(tmp_path / "link/../here")).path == str(tmp_path / "a/here")
    assert describe(str(tmp_path / "link")).path == str(tmp_path / "link")


def test_tmpfs_is_memory() -> None:
    if not os.path.isdir("/dev/shm"):
        pytest.skip("no /dev/shm")
    target = describe("/dev/shm")
    if target.filesystem != "tmpfs":
        pytest.skip("/dev/shm is no tmpfs here")
    assert target.layers == ()
    assert target.mount_point == "/dev/shm"
    assert "memory" in target.notes[0]


def refusal(path: str) -> TargetError:
    with pytest.raises(TargetError) as caught:
        describe(path)
    assert caught.value.hint
    return caught.value


def test_a_fifo_is_no_storage(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    error = refusal(str(fifo))
    assert "a FIFO is not storage" in error.hint
    assert str(fifo) in error.message


def test_a_socket_is_no_storage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        assert "a socket" in refusal("s").message


def test_a_character_device_is_no_storage() -> None:
    assert "a character device" in refusal("/dev/null").message


def test_kernel_files_are_no_storage() -> None:
    assert "on proc" in refusal("/proc/cpuinfo").message


def test_missing_paths_say_what_to_do(tmp_path: Path) -> None:
    assert "mkdir" in refusal(str(tmp_path / "new")).hint
    assert str(tmp_path / "no") in refusal(str(tmp_path / "no/new")).message
    assert "lsblk" in refusal("/dev/no-such-disk").hint
    (tmp_path / "dangling").symlink_to("nowhere")
    assert "symbolic link to nowhere" in refusal(str(tmp_path / "dangling")).message


@pytest.mark.parametrize("path", ["", "a\0b", "x" * 5000])
def test_impossible_paths(path: str) -> None:
    refusal(path)


def test_a_path_through_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    refusal(str(tmp_path / "file/below"))


@pytest.mark.parametrize("hidden", ["stat", "open"])
def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hidden: str) -> None:
    # root may do everything, so the refusal is made here
    file = tmp_path / "secret"
    file.write_bytes(b"x")
    real = getattr(os, hidden)

    def refuse(path: object, *rest: object, **more: object) -> object:
        if path == str(file):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **more)

    monkeypatch.setattr(os, hidden, refuse)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "no permission to read" in refusal(str(file)).message
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "not even by root" in refusal(str(file)).message


def test_direct_is_unknown_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*_: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    assert probe_direct(str(tmp_path), "directory") == (
        None,
        "not tried: no write permission",
    )


def test_direct_is_refused_by_the_open_or_by_the_io(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    real = os.open

    def no_direct(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_DIRECT:
            raise OSError(22, "Invalid argument")
        return real(path, flags, mode)

    def no_io(*_: object) -> int:
        raise OSError(22, "Invalid argument")

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", no_direct)
        direct, why = probe_direct(str(tmp_path), "directory")
        assert direct is False
        assert "refuses to open" in why
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwritev", no_io)
        direct, why = probe_direct(str(tmp_path), "directory")
        assert direct is False
        assert "refuses the I/O" in why


def test_direct_is_unknown_without_unnamed_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unsupported(*_: object) -> int:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "open", unsupported)
    direct, why = probe_direct(str(tmp_path), "directory")
    assert direct is None
    assert "O_TMPFILE" in why


def test_an_ext4_on_a_loop_device_leads_to_the_disk_of_its_image(loop_mount: tuple[str, Path, Path]) -> None:
    device, image, point = loop_mount
    target = describe(str(point))
    assert (target.filesystem, target.mount_point, target.mount_source) == ("ext4", str(point), device)
    assert target.direct is True
    below = describe(str(image.parent)).layers
    top = target.layers[0]
    assert (top.name, top.kind, top.size_bytes) == (os.path.basename(device), "loop", 64 << 20)
    assert target.layers[1:] == below
    assert top.lower == tuple(layer.name for layer in below[:1])


def test_a_loop_device_itself(loop_mount: tuple[str, Path, Path]) -> None:
    device, _, point = loop_mount
    target = describe(device)
    assert (target.kind, target.size_bytes, target.direct) == ("block", 64 << 20, True)
    assert target.mount_point == str(point)  # so it is in use
    assert f"{os.path.basename(device)} is mounted on {point}" in target.notes


def test_a_bind_mount_shows_its_own_point(loop_mount: tuple[str, Path, Path], tmp_path: Path) -> None:
    _, _, point = loop_mount
    (point / "sub").mkdir(exist_ok=True)
    subprocess.run(["mount", "--bind", str(point / "sub"), str(tmp_path)], check=True)
    try:
        target = describe(str(tmp_path))
        assert target.mount_point == str(tmp_path)
        assert target.layers == describe(str(point)).layers
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
