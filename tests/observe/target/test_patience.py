"""A question that is never answered is given up."""

from __future__ import annotations

import threading

from iocast.observe.target.patience import within


def test_an_answer_comes_back_and_silence_does_not_hang() -> None:
    never = threading.Event()
    assert within(30.0, lambda: 7) == 7
    assert within(0.01, never.wait) is None
    never.set()
