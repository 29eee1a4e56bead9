"""Pressure totals: the text of PSI, and the reasons for being blind."""

from __future__ import annotations

import pytest

from iocast.model.target import Target
from iocast.observe import Watch, pressure
from iocast.observe.counter_file import CounterFile
from iocast.observe.observer import BlindError

TARGET = Target(path="/", kind="directory")


def test_totals_become_nanoseconds() -> None:
    text = (
        "some avg10=0.63 avg60=0.31 avg300=0.22 total=5260607\nfull avg10=0.30 avg60=0.17 avg300=0.19 total=4984685\n"
    )
    assert pressure.parse_pressure(text) == {"some_ns": 5_260_607_000, "full_ns": 4_984_685_000}


def test_older_kernels_have_no_full_for_the_processor() -> None:
    assert pressure.parse_pressure("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n") == {"some_ns": 7000}


def test_this_machine_counts_upwards_or_says_why_not() -> None:
    with Watch(TARGET, (), (pressure,)) as watch:
        first, last = watch.sample(), watch.sample()
    if watch.blind:
        pytest.skip(watch.blind[0].why)
    assert {sample.subject for sample in first} == {"cpu", "memory", "io"}
    assert all(after.value >= before.value for before, after in zip(first, last, strict=True))


@pytest.mark.parametrize(("number", "says"), [(2, "no PSI"), (95, "switched off"), (13, "denied")])
def test_blind_with_its_reason(monkeypatch: pytest.MonkeyPatch, number: int, says: str) -> None:
    def refuse(path: str) -> CounterFile:
        raise OSError(number, "Permission denied", path)

    monkeypatch.setattr(pressure, "CounterFile", refuse)
    with pytest.raises(BlindError, match=says):
        pressure.Observer(TARGET, ()).__enter__()
