"""A signal becomes a question, and lengths of time are said as one plans with them."""

from __future__ import annotations

import os
import signal

import pytest

from iocast.commands.shell.interrupts import Interrupts
from iocast.commands.shell.plan_lines import about


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.2, "1 s"), (39, "39 s"), (99.4, "99 s"), (1320, "22 min"), (7200, "2.0 h")]
)
def test_about(seconds: float, text: str) -> None:
    assert about(seconds) == text


def test_the_first_signal_is_a_question_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with Interrupts() as interrupts:
        assert (interrupts.stopped(), interrupts.exit_code) == (False, 0)
        os.kill(os.getpid(), signal.SIGTERM)
        assert (interrupts.stopped(), interrupts.exit_code) == (True, 143)
        assert signal.getsignal(signal.SIGINT) == signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
