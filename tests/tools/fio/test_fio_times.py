"""Operations of one fio job that ran for unlike times are rows of their own; counts that fio 2.1 does not state."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from iocast.model.run import PhaseRecord, Run
from iocast.tools import importers
from iocast.tools.consistency import parts_of_mean


def of(path: Path) -> Run:
    (run,) = importers.read((str(path),))
    return run


def rate(record: PhaseRecord) -> float:
    return record.measurement.rate_per_s


@pytest.mark.parametrize("kind", ["json", "txt"])
def test_what_a_job_wrote_and_then_verified_are_two_rows(fixtures: Path, kind: str) -> None:
    """8,192 writes in 147 ms, read back in 1,195 ms: it was one mix of 13,710 IOPS."""
    write, verify = of(fixtures / f"fio_verify.{kind}").phases
    assert (write.phase.name, write.phase.test) == ("v", "randwrite")
    assert (verify.phase.name, verify.phase.test) == ("v verify", "verify")
    assert rate(write) == pytest.approx(55_727.891156)
    assert rate(verify) == pytest.approx(6855.230126)
    assert [each.op for each in (*write.measurement.classes, *verify.measurement.classes)] == ["write", "read"]
    assert (write.plan.users, write.plan.depth) == (1, 1)
    assert not {"users", "depth"} & {*write.unstated}
    assert "depth" in verify.unstated


def test_operations_of_unlike_times_have_their_own_rates(fixtures: Path, tmp_path: Path) -> None:
    """As group_reporting sums up readers of 2 s and writers of 1 s."""
    document = json.loads((fixtures / "fio_averaged.json").read_text())
    (job,) = document["jobs"]
    job["write"]["runtime"] = job["read"]["runtime"] // 2
    (tmp_path / "group.json").write_text(json.dumps(document, indent=1))
    rows = of(tmp_path / "group.json").phases
    for record, op in zip(rows, ("read", "write"), strict=True):
        assert rate(record) == pytest.approx(job[op]["total_ios"] * 1000 / job[op]["runtime"])


def of_fio_2_1(io_kib: int, iops: int, runtime_ms: int) -> dict[str, Any]:
    """One direction as fio 2.1.4 writes it: no total_ios, and unused percentiles under one name."""
    spread = {"min": 0, "max": 1684, "mean": 11.34, "stddev": 31.27}
    percentile = {"50.000000": 8, "99.000000": 68, "0.00": 0}
    return {
        "io_bytes": io_kib,
        "bw": io_kib * 1000 // runtime_ms if runtime_ms else 0,
        "iops": iops,
        "runtime": runtime_ms,
        "slat": {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0},
        "clat": spread | {"percentile": percentile},
        "lat": spread,
    }


@pytest.mark.parametrize(("iops", "ios", "size"), [(1638, 16_384, 8192), (1700, 17_000, 0)])
def test_the_json_of_fio_2_1_states_no_number_of_ios(tmp_path: Path, iops: int, ios: int, size: int) -> None:
    job = {"jobname": "a", "groupid": 0, "error": 0, "read": of_fio_2_1(131_072, iops, 10_000)}
    job |= {op: of_fio_2_1(0, 0, 0) for op in ("write", "trim")}
    (tmp_path / "old.json").write_text(json.dumps({"fio version": "fio-2.1.4", "jobs": [job]}))
    (record,) = of(tmp_path / "old.json").phases
    (part,) = record.measurement.classes
    assert (part.ios, part.bytes, part.size_bytes) == (ios, 1 << 27, size)
    assert ("ios" in record.unstated) == (not size)
    assert part.service.quantile_ns(0.99) == 68_000


def test_a_later_run_of_the_same_job_is_no_state_of_it(fixtures: Path, tmp_path: Path) -> None:
    """It did a little more than the first: that was left out."""
    first = json.loads((fixtures / "fio_logged.json").read_text())
    again = json.loads((fixtures / "fio_logged.json").read_text())
    elapsed_ms = 1000 * first["jobs"][0]["elapsed"]
    again["timestamp_ms"] = first["timestamp_ms"] + elapsed_ms + 200
    again["jobs"][0]["read"]["total_ios"] += 1
    (tmp_path / "both.json").write_text("\n".join(json.dumps(each, indent=1) for each in (first, again)))
    assert len(of(tmp_path / "both.json").phases) == 2


RAMPED = (461_185.0, 35_760_468.0, 39_100_000.0)  # ramp_time: slat is that of other I/Os than clat and lat are
WHOLE = (7_653_797.0, 71_175_337.0, 78_829_134.0)


@pytest.mark.parametrize(
    ("means", "wrong"),
    [
        (WHOLE, False),
        (RAMPED, False),
        ((0.0, 900.0, 2100.0), False),  # no factor makes them add up
        ((WHOLE[0] * 1e3, *WHOLE[1:]), True),
        ((WHOLE[0], WHOLE[1] * 1e3, WHOLE[2]), True),
        ((*WHOLE[:2], WHOLE[2] / 1e3), True),
        ((*WHOLE[:2], WHOLE[2] * 1e6), True),
    ],
)
def test_means_that_a_unit_explains_are_named(means: tuple[float, float, float], wrong: bool) -> None:
    """They need not add up otherwise: 195 of 7,600 real documents were said to be in a wrong unit."""
    assert len([*parts_of_mean("a, read", *means)]) == wrong
