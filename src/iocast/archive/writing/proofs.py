"""How iocast knows again what it wrote, in another process or another year: by an attribute.

A whole file has the digest of its content there, so that a copy that keeps attributes is known and a changed file is
not. A file that is added to says so, and a folder names its own inode. What has no proof is not ours.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import secrets

from iocast.archive.writing.renaming import keeps_names, rename_to_free_name
from iocast.archive.writing.whole_files import GROWING, NEW, identity_text, is_growing, status_of

SHA256 = "user.iocast.sha256"
_MADE = "user.iocast.made"  # on a folder
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def sign(descriptor: int) -> None:
    """Proves a whole file; not every file system has attributes. Raises OSError where it cannot be read."""
    digest = _digest_of(descriptor)
    with contextlib.suppress(OSError):
        os.setxattr(descriptor, SHA256, digest.encode())


def prove_folder(descriptor: int) -> None:
    """Proves a folder; a copy of it is not proven."""
    with contextlib.suppress(OSError):
        os.setxattr(descriptor, _MADE, identity_text(descriptor))


def is_folder_proven(descriptor: int) -> bool:
    """Whether iocast made a folder that is open, if only to be passed through."""
    try:
        return os.getxattr(f"/proc/self/fd/{descriptor}", _MADE) == identity_text(descriptor)
    except OSError:
        return False


def is_proven(folder: int, name: str, status: os.stat_result, *, growing: bool) -> bool:
    """Whether the plain file that was looked at still has the name, and has the proof that iocast wrote it. Of one that
    is `growing` that says nothing of what is in it.
    """
    try:
        descriptor = os.open(name, os.O_RDONLY | _SAFELY, dir_fd=folder)
    except OSError:
        return False
    try:
        if not os.path.samestat(os.fstat(descriptor), status):
            return False
        proofs = os.listxattr(descriptor)
        if GROWING in proofs and is_growing(descriptor):
            return growing
        return SHA256 in proofs and os.getxattr(descriptor, SHA256) == _digest_of(descriptor).encode()
    except OSError:
        return False
    finally:
        os.close(descriptor)


def only_ours_change(folder: int) -> bool:
    """Whether nobody but the caller and root can rename what the caller has in the folder. Raises OSError."""
    return keeps_names(os.fstat(folder), f"/proc/self/fd/{folder}")


def unlink_same(folder: int, name: str, status: os.stat_result) -> None:
    """Removes the file that was looked at; another one that took its name stays, or gets it back. Raises OSError.

    Where others can rename it is renamed first, to a name that nobody knows, and looked at there.
    """
    if only_ours_change(folder):
        os.unlink(name, dir_fd=folder)
        return
    away = f".{name}.{secrets.token_hex(4)}{NEW}"
    rename_to_free_name(folder, name, away)
    there = status_of(folder, away)
    if there is not None and os.path.samestat(there, status):
        os.unlink(away, dir_fd=folder)
        return
    if there is not None:
        rename_to_free_name(folder, away, name)
    raise OSError(errno.EPERM, f"{name} was exchanged by another program meanwhile", name)


def _digest_of(descriptor: int) -> str:
    with open(f"/proc/self/fd/{descriptor}", "rb") as whole:
        return hashlib.file_digest(whole, "sha256").hexdigest()
