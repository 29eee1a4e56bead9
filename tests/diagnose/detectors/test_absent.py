"""A generator that did not run: told apart from a device that stood still, and said instead of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from makers import card_runs

from iocast import load
from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.interference import stalls
from iocast.diagnose.detectors.measurement import absent
from iocast.diagnose.trust import components
from iocast.model.measurement import Absence, Generator, SlowIo
from iocast.model.plan import FileRegion, Length, PhasePlan
from iocast.model.run import PhaseRecord, Sample
from iocast.model.service_laws import ConstantLaw
from iocast.model.simulated_device import SimulatedDevice, SimulatedStall
from iocast.model.workload import Closed, MixItem, Uniform, Unique, Workload

replace = msgspec.structs.replace
MS_NS = 1_000_000
SECOND_NS = 1_000_000_000


def away(*spans: tuple[int, int], at_ms: int = 1000, took_ms: int = 1000) -> PhaseRecord:
    """A row with one slow I/O, and a generator that was away for spans of ms."""
    slow = SlowIo(at_ms * MS_NS, "read", 0, 0, 8192, took_ms * MS_NS, took_ms * MS_NS)
    times = card_runs.histogram((240_000, 40_000), (took_ms * MS_NS, 1))
    absences = tuple(Absence(start * MS_NS, length * MS_NS, "stopped") for start, length in spans)
    return card_runs.reads(times=times, slow=(slow,), generator=Generator(threads=1, absences=absences))


def names(record: PhaseRecord) -> list[str]:
    run = card_runs.run(record)
    return [found.code for detector in (absent, stalls) for found in detector.detect(Facts(run))]


def test_without_absence_it_is_the_storage() -> None:
    assert names(away()) == ["stalls"]


def test_the_generator_is_named_in_place_of_the_storage() -> None:
    record = away((1080, 930))
    assert names(record) == ["generator_did_not_run"]
    (found,) = absent.detect(Facts(card_runs.run(record)))
    assert found.says.startswith("This machine, not the storage, stalled: the test did not run for 930 ms at t=1.1 s")


def test_a_short_absence_explains_no_long_stall() -> None:
    assert names(away((1100, 60))) == ["stalls"]


def test_two_absences_make_two_sentences_and_another_stall_stays_one() -> None:
    assert names(away((5000, 400))) == ["generator_did_not_run", "stalls"]
    spans = absent.absences(Facts(card_runs.run()).row(away((100, 100), (150, 100), (400, 20))))
    assert spans == [(100 * MS_NS, 250 * MS_NS), (400 * MS_NS, 420 * MS_NS)]


def _of_threads(threads: int, *spans: tuple[int, int]) -> PhaseRecord:
    record = away(*spans)
    made = replace(record.measurement.generator, threads=threads)
    return replace(record, measurement=replace(record.measurement, generator=made))


def test_absences_of_single_threads_in_turn_are_no_long_one_of_the_test() -> None:
    """Sixteen of 140 ms, each begun before the last one ended: the other threads went on."""
    record = _of_threads(64, *((725 + 135 * at, 140) for at in range(16)))
    found, stalled = (list(detector.detect(Facts(card_runs.run(record)))) for detector in (absent, stalls))
    assert ": a thread of the test did not run for 140 ms at t=725 ms, " in found[0].says
    assert max(span.end_ns - span.start_ns for span in found[0].spans) == 140 * MS_NS
    assert [each.code for each in stalled] == ["stalls"], "short ones in turn explain no I/O of a second"


def test_where_all_threads_were_away_the_test_was_for_as_long_as_they_all_were() -> None:
    (found,) = absent.detect(Facts(card_runs.run(_of_threads(2, (1000, 950), (1020, 960), (1010, 950)))))
    assert ": the test did not run for 930 ms at t=1 s;" in found.says


def test_waiting_for_a_processor_spoils_the_load_and_steal_is_named() -> None:
    record = card_runs.reads()
    queued = Generator(threads=1, queued_ns=record.measurement.service().sum_ns // 3)
    times = {"user_ns": 50, "system_ns": 50, "idle_ns": 800, "iowait_ns": 0, "steal_ns": 100}
    cpu = tuple(Sample(at, "cpu", "", name, float(at * value)) for at in (0, 1) for name, value in times.items())
    record = replace(record, measurement=replace(record.measurement, generator=queued), samples=cpu)
    part = components.load_achieved(Facts(card_runs.run(record)).row(record))
    assert part.grade == "C"
    assert "33% of the time of its I/Os" in part.reason
    assert "the hypervisor stole 10% of all CPU time" in part.reason


def test_arrivals_that_were_never_submitted_are_reported() -> None:
    record = card_runs.paced()
    record = replace(record, measurement=replace(record.measurement, asked_rate_per_s=5000.0, unsent_arrivals=21_200))
    part = components.load_achieved(Facts(card_runs.run(record)).row(record))
    assert part.reason.endswith(" IOPS; 21,200 arrivals due but never submitted.")
    assert part.reason.startswith("58% of the requested load was achieved: ")


PLAN = PhasePlan(
    name="p",
    role="measure",
    engine="sync",
    files=(FileRegion("", 0, 1 << 20),),
    mix=(MixItem("read", 4096),),
    locality=Uniform(),
    arrival=Closed(),
    users=2,
    depth=1,
    direct=False,
    sync="none",
    fsync_every=0,
    payload=Unique(),
    length=Length(seconds=60.0),
    interval_ns=SECOND_NS,
    seed=1,
)

# It says that it has begun, and measures until it is told that it is enough: a slow machine changes no outcome.
MEASURE = """
import select, sys, msgspec
from iocast import load
from iocast.model.plan import PhasePlan
plan = msgspec.json.decode(sys.stdin.readline(), type=PhasePlan)
told = []
def on_tick(*_):
    if not told:
        told.append(print("begun", flush=True))
    return "enough" if select.select([sys.stdin], [], [], 0)[0] else True
print(msgspec.json.encode(load.measure(plan, on_tick)[0]).decode(), flush=True)
"""


def _record(plan: PhasePlan, did: card_runs.Measurement) -> PhaseRecord:
    return card_runs.record("p", Workload(mix=plan.mix, users=plan.users), did, ())


@pytest.mark.long
def test_a_process_that_is_stopped_for_a_second(tmp_path: Path) -> None:
    """On a real file, from another process: SIGSTOP, a second, SIGCONT."""
    file = tmp_path / "data"
    file.write_bytes(os.urandom(1 << 20))
    for engine in ("sync", "uring"):
        plan = replace(PLAN, engine=engine, files=(FileRegion(str(file), 0, 1 << 20),))
        record = _record(plan, _stopped_for_a_second(plan))
        found = list(absent.detect(Facts(card_runs.run(record))))
        assert [each.code for each in found] == ["generator_did_not_run"], engine
        assert found[0].evidence["absent_ns"] >= 0.8 * SECOND_NS
        assert not list(stalls.detect(Facts(card_runs.run(record)))), "nobody blames the storage"


def _stopped_for_a_second(plan: PhasePlan) -> card_runs.Measurement:
    process = subprocess.Popen(
        [sys.executable, "-c", MEASURE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        print(msgspec.json.encode(plan).decode(), file=process.stdin, flush=True)
        assert process.stdout.readline() == "begun\n"
        _pause(0.3)
        try:
            process.send_signal(signal.SIGSTOP)
            _pause(1.0)
        finally:
            process.send_signal(signal.SIGCONT)
        _pause(0.3)
        process.stdin.close()
        did = msgspec.json.decode(process.stdout.read(), type=card_runs.Measurement)
    assert process.returncode == 0
    return did


def _pause(seconds: float) -> None:
    import time

    time.sleep(seconds)


def test_a_simulated_device_that_stalls_is_the_devices_own() -> None:
    device = SimulatedDevice(
        size_bytes=1 << 20,
        service=ConstantLaw(100_000),
        servers=4,
        stall=SimulatedStall(every_ns=5 * SECOND_NS, for_ns=SECOND_NS),
    )
    plan = replace(PLAN, engine="sim", length=Length(seconds=12.0), simulated=device)
    record = _record(plan, load.measure(plan, lambda *_: True)[0])
    assert names(record) == ["stalls"]
