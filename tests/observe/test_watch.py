"""Watch: all observers together; a failing one goes blind with its reason and stops nobody."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from iocast.model.run import Blind, Sample
from iocast.model.target import Target
from iocast.observe import OBSERVERS, ObserverModule, Watch, block
from iocast.observe.observer import BlindError
from iocast.observe.target.device_stack import describe

TARGET = Target(path="sim:hdd", kind="sim")
HEADINGS = ("What it is:", "Why it matters:", "Needs:", "Overhead:", "What it cannot see:")


class Acting:
    """An observer that does what the test says; `log` keeps what was asked of it."""

    unseen: tuple[str, ...] = ()

    def __init__(self, entering: Exception | None = None, sampling: Exception | None = None) -> None:
        self.entering, self.sampling = entering, sampling
        self.log: list[str] = []

    def __enter__(self) -> Acting:
        self.log.append("enter")
        if self.entering:
            raise self.entering
        return self

    def sample(self) -> list[Sample]:
        self.log.append("sample")
        if self.sampling:
            raise self.sampling
        return [Sample(1, "acting", "", "n", 1.0)]

    def __exit__(self, *_: object) -> None:
        self.log.append("exit")


def module(name: str, actor: Acting) -> ObserverModule:
    made: Any = SimpleNamespace(NAME=name, NEEDS="", OVERHEAD="", Observer=lambda target, files: actor)
    return cast(ObserverModule, made)


def test_one_that_cannot_begin_does_not_stop_the_others() -> None:
    bad, good = Acting(entering=BlindError("it is dark")), Acting()
    with Watch(TARGET, (), (module("bad", bad), module("good", good))) as watch:
        assert len(watch.sample()) == 1
        assert watch.blind == (Blind("bad", "it is dark"),)
    assert bad.log == ["enter"]
    assert good.log == ["enter", "sample", "exit"]


@pytest.mark.parametrize(
    ("error", "why"), [(BlindError("gone"), "gone"), (ZeroDivisionError("oh"), "ZeroDivisionError: oh")]
)
def test_one_that_fails_is_left_and_not_asked_again(error: Exception, why: str) -> None:
    bad, good = Acting(sampling=error), Acting()
    with Watch(TARGET, (), (module("bad", bad), module("good", good))) as watch:
        assert [len(watch.sample()) for _ in range(3)] == [1, 1, 1]
    assert bad.log == ["enter", "sample", "exit"]
    assert watch.blind == (Blind("bad", why),)


def test_parts_that_cannot_be_seen_are_named_to_the_end_and_after() -> None:
    part = Acting()
    part.unseen = ("dirty bytes: too old a kernel",)
    with Watch(TARGET, (), (module("part", part),)) as watch:
        assert watch.blind == (Blind("part", "dirty bytes: too old a kernel"),)
    assert watch.blind == (Blind("part", "dirty bytes: too old a kernel"),)


def test_a_simulated_target_leaves_the_machine_to_be_seen() -> None:
    with Watch(TARGET, ()) as watch:
        seen = {sample.observer for sample in watch.sample()}
    assert "cpu" in seen
    assert {"diskstats", "pagecache"} <= {blind.observer for blind in watch.blind}


def test_all_of_them_on_this_machine(tmp_path: Path) -> None:
    file = tmp_path / "work"
    file.write_bytes(b"x" * 4096)
    before = len(os.listdir("/proc/self/fd"))
    with Watch(describe(str(tmp_path)), (str(file),)) as watch:
        samples = watch.sample()
        unseen = {blind.observer for blind in watch.blind}
    # Where no limit is set, nothing is there to be at work, and what keeps histograms, read once at the end.
    may_be_silent = {"limits", "maintenance", block.NAME}
    heard = {sample.observer for sample in samples} | unseen | may_be_silent
    assert heard == {module.NAME for module in OBSERVERS}
    assert all(isinstance(sample.value, float) for sample in samples)
    assert len(os.listdir("/proc/self/fd")) == before


def test_every_module_says_what_it_is_and_costs() -> None:
    for observer in OBSERVERS:
        assert observer.NEEDS
        assert "measured" in observer.OVERHEAD
        text = observer.__doc__ or ""
        places = [text.find(heading) for heading in HEADINGS]
        assert -1 not in places, observer.NAME
        assert places == sorted(places)
        assert cast(Any, observer).__name__ == f"iocast.observe.{observer.NAME}"
