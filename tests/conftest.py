"""What all tests stand on: interrupts as in a terminal, modules that stay compiled, the same drawn cases each time."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Iterator

import pytest
from hypothesis import settings
from makers.golden import Golden
from makers.mutations import ANEW

settings.register_profile("iocast", derandomize=not ANEW)
settings.load_profile("iocast")


def pytest_configure() -> None:
    """What a shell starts in the background ignores interrupts, and what nohup starts a hang-up: so would every program
    that a test sends one.

    Tests start `iocast` a thousand times: where nothing compiled is kept, each start would compile all of it.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGQUIT, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Thousands of tests are no garbage: none is looked for among them while they are collected, or later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with a slow test come first: begun last, one would run alone beside a processor that waits."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


def pytest_unconfigure() -> None:
    """At the end all of it is garbage like any other: libraries complain of what outlives them."""
    gc.unfreeze()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Iterator[Golden]:
    """Sentences that are as they were: `golden(sentence)`."""
    kept = Golden(request.path, request.node.name)
    yield kept
    if not request.session.testsfailed:
        kept.close()
