"""The floor that a network puts under every I/O: planted, and not told of devices that are merely slow."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import pytest
from makers import card_runs, planted
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.analyse.facts import Facts
from iocast.diagnose.detectors.limits import round_trip
from iocast.model.run import PhaseRecord, Run
from iocast.model.target import Target
from iocast.model.workload import MixItem, Workload

SURVEY = (resources.files("iocast.jobs") / "presets" / "survey.toml").read_text(encoding="utf-8")
US = 1_000


@pytest.mark.parametrize(
    "target", long_after(1, ["sim:hdd", "sim:nvme", "sim:cloud-volume", "sim:hdd,link=117MB/s:200us"])
)
def test_where_the_storage_takes_longer_than_the_way_nothing_is_told(target: str, tmp_path: Path) -> None:
    run = planted.measured(target, SURVEY, tmp_path)
    assert round_trip.CODE not in planted.suspected(run)


NFS = Target(path="/mnt/db", kind="directory", filesystem="nfs4", direct=True)


def _writes(least_us: float) -> PhaseRecord:
    times = card_runs.histogram((least_us * US, 200), (2 * least_us * US, 800))
    did = card_runs.measurement((card_runs.part("write", 8192, times),))
    return card_runs.record("randwrite 8k", Workload(mix=(MixItem("write", 8192),)), did)


def _reads(least_us: float, usual_us: float) -> PhaseRecord:
    return card_runs.reads(times=card_runs.histogram((least_us * US, 200), (usual_us * US, 800)))


def _run(*rows: PhaseRecord, target: Target = NFS) -> Run:
    return card_runs.run(*rows, target=target)


def test_reads_and_writes_must_share_it_and_half_of_the_reads_be_near_it() -> None:
    (found,) = round_trip.detect(Facts(_run(_reads(300, 350), _writes(320))))
    assert found.says == (
        "Reads took at least 300 µs, writes at least 320 µs: most of a read at 1x1 (p50 350 µs) is the network round"
        " trip and the least time that the other side needs."
    )
    assert "at most 3,333 IOPS" in found.remedy
    assert (
        list(round_trip.detect(Facts(_run(_reads(300, 350), _writes(500))))) == []
    )  # something else sets the one or the other
    assert list(round_trip.detect(Facts(_run(_reads(300, 900), _writes(320))))) == []  # the storage takes longer
    assert list(round_trip.detect(Facts(_run(_reads(300, 350))))) == []  # of reads alone nobody knows


def test_only_a_network_has_a_way_there_and_back() -> None:
    rows = (_reads(300, 350), _writes(320))
    assert list(round_trip.detect(Facts(_run(*rows, target=card_runs.TARGET)))) == []
    nbd = replace(card_runs.TARGET, layers=(replace(card_runs.VDA, name="nbd0", kind="nbd"),))
    assert len(list(round_trip.detect(Facts(_run(*rows, target=nbd))))) == 1
