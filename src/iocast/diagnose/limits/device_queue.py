"""Whether writes are serialised, by the queue at the device beside that of a control: the rule of source row G1."""

from __future__ import annotations

from iocast.model.codes import SerialisationCode

SERIALISED, ENOUGH = 0.25, 0.5  # of the control's queue; of the requested one, which the control must reach


def queue_verdict(at_device: float | None, asked: float, control: float) -> SerialisationCode:
    """`control` is the queue of a raw device, else the deepest one of the same session."""
    if at_device is None:
        return "not_seen"
    if control < ENOUGH * asked:
        return "device_too_fast"
    return "serialised" if at_device <= SERIALISED * control else "parallel"
