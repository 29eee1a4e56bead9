"""The drivers of databases: optional packages, imported when they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from iocast.errors import DatabaseError


@contextmanager
def needed_for(product: str) -> Iterator[None]:
    """Around the import of a driver. Raises DatabaseError with the way out where it is not installed."""
    try:
        yield
    except ImportError as error:
        said = f"{product} cannot be reached without its driver: {error}"
        raise DatabaseError(said, "pip install 'iocast[databases]'") from None
