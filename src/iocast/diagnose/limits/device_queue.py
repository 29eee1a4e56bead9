"""Whether I/Os wait for each other above the device, by the queue at the device: a lock lets one pass at a time.

Beside a control (a raw device, else the deepest queue of the same session) it is the rule of source row G1. Without one
the lock's own figures decide: behind it the device has one I/O for as long as anything waits, so fewer than two on
average; and not less than half of one, or the device is too quick, and they wait for something else.
"""

from __future__ import annotations

from iocast.model.codes import SerialisationCode

SERIALISED, ENOUGH = 0.25, 0.5  # of the control's queue; of the requested one, which the control must reach
ONE = 1.0  # what a lock lets pass


def queue_verdict(at_device: float | None, asked_depth: float, control: float | None = None) -> SerialisationCode:
    """`asked_depth`: outstanding I/Os. `control`: the queue that the device reached where nothing held I/Os back."""
    if at_device is None:
        return "not_seen"
    if (control < ENOUGH * asked_depth) if control is not None else (at_device < ENOUGH * ONE):
        return "device_too_fast"
    most = 2 * ONE if control is None else SERIALISED * control
    return "serialised" if at_device <= most else "parallel"
