"""What an imported series holds of one device."""

from __future__ import annotations

from iocast.model.run import Run


def values_of(run: Run, device: str) -> dict[str, list[float]]:
    """Its samples in their order, by metric."""
    found: dict[str, list[float]] = {}
    for sample in run.phases[0].samples:
        if sample.subject == device:
            found.setdefault(sample.metric, []).append(sample.value)
    return found
