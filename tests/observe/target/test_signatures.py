"""What is recognised, by the library and by the program, and that nobody looking is no "nothing there"."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from iocast.errors import TargetError
from iocast.observe.target import signatures as module
from iocast.observe.target.signatures import Signature, signatures

MIB = 1 << 20


@pytest.fixture
def image(tmp_path: Path) -> Iterator[int]:
    """A blank image of 4 MiB, open."""
    descriptor = os.open(tmp_path / "image", os.O_RDWR | os.O_CREAT, 0o600)
    os.ftruncate(descriptor, 4 * MIB)
    yield descriptor
    os.close(descriptor)


@pytest.fixture(params=["library", "program"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Looks once with libblkid, once with blkid."""
    if request.param == "library":
        try:
            module._load()
        except OSError:
            pytest.skip("needs libblkid")
    else:
        if shutil.which("blkid", path="/usr/sbin:/sbin:/usr/bin") is None:
            pytest.skip("needs blkid")
        monkeypatch.setattr(module, "_LIBRARY", "libblkid-that-is-not-there.so")
    return str(request.param)


def test_nothing_on_a_blank_image(image: int, way: str) -> None:
    assert signatures(image, "image") == ()


def test_a_signature_has_its_kind_and_place(image: int, way: str) -> None:
    os.pwrite(image, b"LUKS\xba\xbe\0\1", 0)
    offset = 0 if way == "library" else None
    assert signatures(image, "image") == (Signature("crypto_LUKS", "encrypted volume", offset),)


def test_all_that_is_there_is_found(image: int) -> None:
    try:
        module._load()
    except OSError:
        pytest.skip("needs libblkid")
    os.pwrite(image, b"\1CD001\1", 32768)
    os.pwrite(image, b"LUKS\xba\xbe\0\1", 0)
    os.pwrite(image, b"ORCLDISKVOL1", 32)
    assert {found.kind for found in signatures(image, "image")} >= {"crypto_LUKS", "iso9660", "oracleasm"}


def test_the_program_knows_only_that_there_are_several(image: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("blkid", path="/usr/sbin:/sbin:/usr/bin") is None:
        pytest.skip("needs blkid")
    monkeypatch.setattr(module, "_LIBRARY", "libblkid-that-is-not-there.so")
    os.pwrite(image, b"hsqs" + bytes(24) + b"\4\0\0\0", 0)
    os.pwrite(image, b"ORCLDISKVOL1", 32)
    assert signatures(image, "image") == (Signature("several", "signature"),)


def test_blind_is_not_empty(image: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_LIBRARY", "libblkid-that-is-not-there.so")
    monkeypatch.setattr(shutil, "which", lambda *_args, **_more: None)
    with pytest.raises(TargetError, match="its contents are unknown") as why:
        signatures(image, "the image")
    assert "libblkid1" in why.value.hint


def test_what_cannot_be_read_is_not_empty(tmp_path: Path) -> None:
    try:
        module._load()
    except OSError:
        pytest.skip("needs libblkid")
    descriptor = os.open(tmp_path / "image", os.O_WRONLY | os.O_CREAT, 0o600)
    os.ftruncate(descriptor, 4 * MIB)
    try:
        with pytest.raises(TargetError, match="contents are unknown"):
            signatures(descriptor, "image")
    finally:
        os.close(descriptor)
