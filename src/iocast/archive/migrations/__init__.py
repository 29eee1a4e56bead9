"""Older run folders: each step turns the documents of one schema into those of the next. No folder is rewritten."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import msgspec

from iocast.archive.migrations import v1_to_v2

STEPS: dict[int, ModuleType] = {1: v1_to_v2}  # by the schema from which a step leads on


def migrated_run(version: int, document: Any) -> Any:
    """A run.json of an older schema as this iocast writes it. Raises ValidationError for what it cannot be."""
    return _migrated("run", version, document)


def migrated_diagnosis(version: int, document: Any) -> Any:
    """The same for a diagnosis.json."""
    return _migrated("diagnosis", version, document)


def _migrated(what: str, version: int, document: Any) -> Any:
    try:
        for step in [STEPS[at] for at in sorted(STEPS) if at >= version]:
            document = getattr(step, what)(document)
    except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise msgspec.ValidationError(f"not a document of schema {version}: {error!r}") from error
    return document
