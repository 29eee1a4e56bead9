"""Whether a lock holds I/Os back above the device, with a control and without one."""

from __future__ import annotations

import pytest

from iocast.diagnose.limits.device_queue import queue_verdict
from iocast.model.codes import SerialisationCode


@pytest.mark.parametrize(
    ("at_device", "control", "verdict"),
    [
        (None, None, "not_seen"),
        (0.3, None, "device_too_fast"),  # behind a lock it would have one for as long as anything waits
        (1.0, None, "serialised"),
        (2.5, None, "parallel"),
        (1.0, 3.0, "device_too_fast"),  # the control does not reach half of what was asked for
        (0.3, 8.0, "serialised"),
        (2.0, 8.0, "serialised"),
        (2.5, 8.0, "parallel"),
    ],
)
def test_a_lock_lets_one_pass(at_device: float | None, control: float | None, verdict: SerialisationCode) -> None:
    assert queue_verdict(at_device, 8, control) == verdict
