"""The key of pseudonyms: one that ends with this process, or that of a file, by which outputs can be compared."""

from __future__ import annotations

from pathlib import Path

from iocast.archive.regular_file import LARGEST_SMALL, regular_bytes
from iocast.errors import SpecError
from iocast.model.anonymity.pseudonyms import Pseudonyms

LEAST_BYTES = 16  # fewer could be tried one after the other


def pseudonyms(key_file: str | None) -> Pseudonyms:
    """Those of a key file; without one those of a key that nobody has. Raises SpecError."""
    if key_file is None:
        return Pseudonyms()
    hint = f"make one: (umask 077; head -c 32 /dev/urandom > {key_file})"
    try:
        key = regular_bytes(Path(key_file), LARGEST_SMALL)
    except OSError as error:
        raise SpecError(f"--anonymous-key {key_file}: {error.strerror}", hint) from error
    if len(key) < LEAST_BYTES:
        raise SpecError(f"--anonymous-key {key_file} has {len(key)} bytes, fewer than {LEAST_BYTES}", hint)
    return Pseudonyms(key)
