"""Tar archives of which two builds have the same bytes: nothing but names, contents, modes and owners counts."""

from __future__ import annotations

import gzip
import io
import tarfile
from pathlib import Path
from typing import NamedTuple


class Entry(NamedTuple):
    """One member of an archive."""

    data: bytes = b""
    mode: int = 0o644
    owner: int = 0
    link: str = ""  # where a symbolic link leads
    kind: bytes = tarfile.REGTYPE


def directory(mode: int = 0o755, owner: int = 0) -> Entry:
    """A directory."""
    return Entry(mode=mode, owner=owner, kind=tarfile.DIRTYPE)


def link(to: str) -> Entry:
    """A symbolic link."""
    return Entry(mode=0o777, link=to, kind=tarfile.SYMTYPE)


def written(entries: dict[str, Entry], epoch: int) -> bytes:
    """A tar archive in the order of names, so that a directory comes before what is in it."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, entry in sorted(entries.items()):
            item = tarfile.TarInfo(name)
            item.type, item.mode, item.linkname = entry.kind, entry.mode, entry.link
            item.uid = item.gid = entry.owner
            item.size, item.mtime = len(entry.data), epoch
            tar.addfile(item, io.BytesIO(entry.data))
    return stream.getvalue()


def compressed(data: bytes, epoch: int) -> bytes:
    """Bytes compressed by gzip, whose header says nothing of the file or the builder."""
    stream = io.BytesIO()
    with gzip.GzipFile("", "wb", 6, stream, epoch) as packed:
        packed.write(data)
    return stream.getvalue()


def of_folder(folder: Path) -> dict[str, Entry]:
    """All files and links below a folder, by their path from there; of modes only counts whether a file may be run."""
    entries = {}
    for path in folder.rglob("*"):
        if path.is_symlink():
            entries[str(path.relative_to(folder))] = link(str(path.readlink()))
        elif path.is_file():
            mode = 0o755 if path.stat().st_mode & 0o100 else 0o644
            entries[str(path.relative_to(folder))] = Entry(path.read_bytes(), mode)
    return entries
