"""The driver of a database: an optional package, loaded when it is needed."""

from __future__ import annotations

import importlib
from types import ModuleType

from iocast.errors import DatabaseError


def driver(name: str, product: str) -> ModuleType:
    """The package. Raises DatabaseError with the way out where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise DatabaseError(
            f"{product} cannot be reached without the package {name}: {error}", "pip install 'iocast[databases]'"
        ) from None
