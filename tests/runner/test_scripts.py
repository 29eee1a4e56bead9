"""Scripts: fixed lists, ladders and scripts of one's own run by the same loop, on a simulated device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from iocast import load, runner
from iocast.diagnose.experiments.design import judge, plan_of
from iocast.jobs import parse_target
from iocast.model.experiment import Arm, Decision, Experiment
from iocast.model.plan import Length, Phase, Plan, WorkFiles
from iocast.model.script import Done, FixedList, Group, Script
from iocast.model.workload import MixItem, Workload
from iocast.runner.scripts.rising_load import Ladder

GIB = 1 << 30
FOUR_AT_ONCE = "sim:nvme,service=constant:1ms,servers=4,bandwidth=none"


class Told:
    """A progress that remembers where each group stood."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []

    def begin(self, phase: Phase, number: int, total: int, seconds_left: float | None) -> None:
        self.places.append((number, total))

    def tick(self, *_: object) -> None: ...
    def end(self, *_: object) -> None: ...
    def close(self) -> None: ...


def rung(depth: int, op: str = "read", **changes: Any) -> Phase:
    item = MixItem(op, 8192)  # type: ignore[arg-type]
    workload = Workload(mix=(item,), depth=depth)
    return Phase(name=f"{op} {depth}x1", test=op, workload=workload, length=Length(seconds=1.0), **changes)


def plan(*phases: Phase, target: str = FOUR_AT_ONCE) -> Plan:
    return Plan(name="tests", target=parse_target(target), phases=phases, files=WorkFiles(1, GIB), engine="sim", seed=7)


def perform(made: Plan, out: Path, script: Script | None, told: Told | None = None) -> runner.Performed:
    return runner.run(runner.Work(made, load.lay_out(made), str(out), script=script), told or Told(), lambda: False)


def test_a_ladder_ends_one_rung_after_throughput_stopped_growing(tmp_path: Path) -> None:
    made, told = plan(*(rung(depth) for depth in (1, 2, 4, 8, 16, 32))), Told()
    done = perform(made, tmp_path, Ladder(made.groups), told)
    assert (done.run.status, done.error) == ("done", None)
    assert [record.phase.name for record in done.run.phases] == ["read 1x1", "read 2x1", "read 4x1", "read 8x1"]
    rates = [record.measurement.rate_per_s for record in done.run.phases]
    assert rates == pytest.approx([1000, 2000, 4000, 4000], rel=0.01)
    assert done.run.plan.phases == tuple(record.phase for record in done.run.phases), "what was asked, and no more"
    assert told.places == [(0, 6), (1, 6), (2, 6), (3, 6)]


def test_a_ladder_that_always_pays_is_climbed_to_its_top(tmp_path: Path) -> None:
    made = plan(*(rung(depth) for depth in (1, 2, 4)))
    done = perform(made, tmp_path, Ladder(made.groups))
    assert len(done.run.phases) == 3
    assert done.run.plan == made


def test_a_fixed_list_is_what_a_plan_without_a_script_runs(tmp_path: Path) -> None:
    made = plan(rung(1), rung(2, together="pair"), rung(4, together="pair"), rung(8))
    scripted, plain = (perform(made, tmp_path, script).run for script in (FixedList(made.groups), None))
    assert [[r.phase, r.plan, r.measurement.classes] for r in scripted.phases] == [
        [r.phase, r.plan, r.measurement.classes] for r in plain.phases
    ]
    assert scripted.plan == plain.plan == made


class Bisection(Script):
    """The depth that just reaches a rate: each step halves what is left, so nobody knows the steps beforehand."""

    def __init__(self, rate_per_s: float, most: int) -> None:
        self._rate_per_s, self._most = rate_per_s, most

    def next(self, done: Done) -> Group | None:
        low, high = 0, self._most
        for (record,) in done:
            depth = record.phase.workload.depth
            reached = record.measurement.rate_per_s >= self._rate_per_s
            low, high = (low, depth) if reached else (depth, high)
        return Group((rung((low + high) // 2),)) if high - low > 1 else None


def test_a_script_of_ones_own_needs_no_word_in_the_loop(tmp_path: Path) -> None:
    told = Told()
    done = perform(plan(), tmp_path, Bisection(2500, most=16), told)
    assert [record.phase.workload.depth for record in done.run.phases] == [8, 4, 2, 3]
    assert (done.run.status, done.run.plan.phases) == ("done", tuple(record.phase for record in done.run.phases))
    assert told.places == [(0, 1), (1, 2), (2, 3), (3, 4)], "a script that says no more is one group ahead"
    assert len({record.plan.seed for record in done.run.phases}) == 4


class UntilDecided(Script):
    """Rounds of an experiment until its verdict stands."""

    def __init__(self, experiment: Experiment, made: Plan, each: int) -> None:
        self._experiment, self._plan, self._each = experiment, made, each
        self._rounds = FixedList(made.groups)

    def next(self, done: Done) -> Group | None:
        if done and len(done) % self._each == 0:
            run = empty_run(self._plan, tuple(record for group in done for record in group))
            if judge(self._experiment, run).verdict != "undecided":
                return None
        return self._rounds.next(done)


def empty_run(made: Plan, records: Any) -> Any:
    from iocast.model.run import Host, Run

    host = Host(name="", kernel="", cpus=1, cpu_model="", memory_bytes=0)
    return Run(plan=made, host=host, started_unix_ns=0, status="running", phases=records)


def test_an_experiment_can_end_when_it_is_decided(tmp_path: Path) -> None:
    decision = Decision(statistic="rate", first="one", other="two", limit=1.5, direction="above")
    arms = [Arm(name=name, workload=rung(depth).workload, seconds=0.5) for name, depth in (("one", 1), ("two", 2))]
    experiment = Experiment(question="?", arms=tuple(arms), decision=decision, rounds=20)
    target = parse_target("sim:nvme,service=lognormal:1ms:0.3,servers=4")
    made = plan_of("x", experiment, target, WorkFiles(1, GIB))
    run = perform(made, tmp_path, UntilDecided(experiment, made, each=2)).run
    assert [record.phase.test for record in run.phases][:4] == ["one", "two", "two", "one"]
    assert 4 <= len(run.phases) < 40
    assert judge(experiment, run).verdict == "confirmed"


class Writing(Script):
    def next(self, done: Done) -> Group | None:
        return Group((rung(1, "write"),))


def test_a_script_does_not_write_what_the_plan_does_not_say(tmp_path: Path) -> None:
    done = perform(plan(rung(1)), tmp_path, Writing())
    assert done.error is not None
    assert 'requests "write 1x1"' in done.error.message
    assert (done.run.phases, done.folder) == ((), None)


def test_a_script_may_end_before_it_began(tmp_path: Path) -> None:
    done = perform(replace(plan(), phases=()), tmp_path, FixedList(()))
    assert (done.run.status, done.run.phases, done.folder) == ("done", (), None)
