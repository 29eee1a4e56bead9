"""Loaders: the target decides which one, and each honours ticks and stop rules in its own time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from makers.work_files import MIB, lay, phase, plan
from msgspec.structs import replace

from iocast import load
from iocast.errors import LoadError
from iocast.jobs import parse_target
from iocast.load import PlannedGroup
from iocast.load.loaders import disk, loader_of, simulator
from iocast.model.plan import Length, Plan, WorkFiles
from iocast.model.run import SteadyEnd
from iocast.model.target import Target

SECOND_NS = 1_000_000_000


class After:
    """A stop rule: enough after so many nanoseconds; remembers what it was asked."""

    end = SteadyEnd(rule="b3", reached=True, judged=1)

    def __init__(self, at_ns: int) -> None:
        self._at_ns = at_ns
        self.asked: list[tuple[int, int, int]] = []

    def enough(self, elapsed_ns: int, ios: int, response_ns: int) -> bool:
        self.asked.append((elapsed_ns, ios, response_ns))
        return elapsed_ns >= self._at_ns


def simulated(text: str = "sim:nvme,service=constant:1ms,servers=1", seconds: float = 5.0) -> Plan:
    phases = (replace(phase(seconds=seconds), name="reads"),)
    return Plan(name="tests", target=parse_target(text), phases=phases, files=WorkFiles(1, 1 << 30), engine="sim")


def measure(
    loader: load.Loader, made: Plan, rule: After | None = None, on_tick: Any = lambda *_: True
) -> load.Measured:
    files = loader.lay_out().files
    told = loader.phase_plan(made.phases[0], files, 1)
    (measured,) = loader.measure(PlannedGroup((told,), rule), on_tick)
    return measured


@pytest.mark.parametrize(("kind", "module"), [("sim", simulator), ("directory", disk), ("file", disk), ("block", disk)])
def test_the_target_decides(kind: Any, module: Any) -> None:
    target = Target(path="x", kind=kind)
    assert [each.takes(target) for each in load.LOADERS].count(True) == 1
    assert module.takes(target)
    assert isinstance(loader_of(replace(simulated(), target=target)), module.Loader)


def test_a_target_of_nobody_is_refused_with_the_way_out() -> None:
    with pytest.raises(LoadError, match="no loader supports a target of kind unknown") as refused:
        loader_of(replace(simulated(), target=Target(path="fio", kind="unknown")))
    assert "directory" in refused.value.hint


def test_a_loader_of_ones_own_is_one_more_line(monkeypatch: pytest.MonkeyPatch) -> None:
    class Sketch:
        Loader = simulator.Loader

        @staticmethod
        def takes(target: Target) -> bool:
            return target.path.startswith("null:")

    monkeypatch.setattr("iocast.load.loaders.LOADERS", (Sketch, *load.LOADERS))
    made = replace(simulated(), target=replace(simulated().target, path="null:", kind="unknown"))
    assert measure(loader_of(made), made).measurement.ios > 0


def test_virtual_time_ends_exactly_where_it_was_enough() -> None:
    made = simulated()
    rule = After(2 * SECOND_NS)
    whole, short = measure(loader_of(made), made), measure(loader_of(made), made, rule)
    assert [at for at, *_ in rule.asked] == [SECOND_NS, 2 * SECOND_NS]
    assert [ios for _, ios, _ in rule.asked] == pytest.approx([1000, 2000], abs=10)
    assert all(response_ns >= ios * 1_000_000 for _, ios, response_ns in rule.asked)
    assert (whole.plan.length.seconds, short.plan.length.seconds) == (5.0, 2.0)
    assert short.measurement.ios == pytest.approx(whole.measurement.ios * 2 / 5, abs=3)


def test_the_simulated_device_learns_once_what_was_run_twice() -> None:
    """The device must be as it was before the phase, or the second pass would find blocks that were written."""
    target = "sim:nvme,service=constant:1ms,servers=1,bandwidth=none,size=2MiB,unit=64KiB,first_write=3ms"
    made = simulated(target, seconds=4.0)
    writes = replace(phase("write"), length=Length(seconds=4.0))
    made = replace(made, phases=(writes,))
    ended, planned = measure(loader_of(made), made, After(2 * SECOND_NS)), replace(writes, length=Length(seconds=2.0))
    plain = replace(made, phases=(planned,))
    assert ended.measurement.classes == measure(loader_of(plain), plain).measurement.classes


def test_real_time_ends_well_where_it_was_enough(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, phase(seconds=60.0))
    lay(made)
    rule = After(1)
    measured = measure(loader_of(made), made, rule)
    assert measured.measurement.stopped == "finished"
    assert measured.plan.length.seconds == 60.0
    assert rule.asked


def test_whoever_stops_comes_before_the_stop_rule(tmp_path: Path) -> None:
    made = plan(tmp_path, 2 * MIB, 1, phase(seconds=60.0))
    lay(made)
    rule = After(0)
    stopped = measure(loader_of(made), made, rule, lambda *_: False)
    assert (stopped.measurement.stopped, rule.asked) == ("interrupted", [])


def test_only_the_disk_takes_time_of_this_machine(tmp_path: Path) -> None:
    assert loader_of(plan(tmp_path)).real_time
    assert not loader_of(simulated()).real_time
    assert loader_of(plan(tmp_path)).step_ns == SECOND_NS
    assert loader_of(replace(simulated(), interval_ns=5_000_000)).step_ns == 5_000_000
