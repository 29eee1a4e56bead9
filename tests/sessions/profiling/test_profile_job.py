"""The job of a profile is one that iocast plans: as TOML, and read back from what fio and vdbench are given."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest
from makers.made_traces import COLUMNS, database_load, random_reads, write_trace
from makers.swapped_rooms import swapping

from iocast.errors import SpecError
from iocast.jobs.fio_job import parse_fio_job
from iocast.jobs.toml.job_reading import parse_job
from iocast.model.workload import Poisson, Sequential, Stepped
from iocast.sessions.profiling import check_likeness as check_module
from iocast.sessions.profiling import profile_job as job_module
from iocast.sessions.profiling.check_likeness import check_likeness
from iocast.sessions.profiling.profile_job import generate_job, language_of
from iocast.sessions.profiling.profile_traces import Profiled, profile_traces
from iocast.sessions.requests.profile import ProfileRequest
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

CALLS = """
COPY (
    SELECT ts::BIGINT AS ts_ns, lat::BIGINT AS lat_ns, NULL::BIGINT AS queue_ns, op::UTINYINT AS op,
        place::BIGINT AS "offset", size::BIGINT AS size, 0::UINTEGER AS target, actor::UINTEGER AS actor,
        0::USMALLINT AS flags, 1::UTINYINT AS layer,
        NULL::SMALLINT AS err, 0::UINTEGER AS source, 0::UINTEGER AS src_line
    FROM (VALUES {values}) AS calls(op, place, size, ts, lat, actor) ORDER BY ts
) TO '{to}' (FORMAT parquet, COMPRESSION zstd)
"""


@pytest.fixture(scope="module")
def profiled(tmp_path_factory: pytest.TempPathFactory) -> Profiled:
    folder = tmp_path_factory.mktemp("made")
    trace = write_trace(folder / "db.csv", database_load())
    return profile_traces(ProfileRequest(traces=(str(trace),), columns=COLUMNS, out=str(folder / "out")))


def test_iocast_reads_its_own_job(profiled: Profiled, tmp_path: Path) -> None:
    made = generate_job(profiled, str(tmp_path / "job.toml"))
    job = parse_job((tmp_path / "job.toml").read_text(), "job.toml")
    assert made.path == str(tmp_path / "job.toml")
    assert [phase.test for phase in job.phases] == ["scan-read-1", "writes", "random"]
    assert {phase.together for phase in job.phases} == {"profile"}
    assert isinstance(job.phases[1].workload.locality, Sequential)
    arrival = job.phases[2].workload.arrival
    assert isinstance(arrival, Poisson)
    assert arrival.rate_per_s == pytest.approx(300, rel=0.05)
    ends = [phase.region_start_bytes + (phase.region_size_bytes or 0) for phase in job.phases]
    assert ends == sorted(ends)
    assert job.file_size is not None
    assert job.file_size.size_bytes == ends[-1]


def test_fio_and_vdbench_jobs_are_read_as_jobs(profiled: Profiled) -> None:
    fio = parse_fio_job(generate_job(profiled, "fio").text, "job.fio")
    assert len(fio.phases) == 3
    vdbench = generate_job(profiled, "vdbench")
    assert parse_vdbench_job(vdbench.text, "job.vdbench").phases
    assert any("lun" in note for note in vdbench.notes)


def _calls(folder: Path, rows: list[str]) -> Profiled:
    """The profile of buffered system calls: op, offset, size, time and latency in ns, session."""
    values = ", ".join(f"({row})" for row in rows)
    to = folder / "calls.parquet"
    duckdb.execute(CALLS.format(values=values, to=to))
    return profile_traces(ProfileRequest(traces=(str(to),), out=str(folder / "out")))


@pytest.mark.long
def test_buffered_calls_keep_their_sizes_and_their_flushes(tmp_path: Path) -> None:
    # Five writes to two flushes; sizes that direct I/O would not take.
    drawn, rows = random.Random(5), []
    for at in range(0, 6000, 10):
        sizes = [(0, 16), (0, 4096), (0, 4096), (1, 4), (1, 4096), (3, 0), (1, 12), (1, 512), (1, 4), (3, 0)]
        for step, (op, size) in enumerate(sizes):
            place = "NULL, NULL" if op == 3 else f"{drawn.randrange(4000) * 4096}, {size}"
            rows.append(f"{op}, {place}, {(at + step) * 100_000}, 80000, 1")
    generate_job(_calls(tmp_path, rows), str(tmp_path / "job.toml"))
    job = parse_job((tmp_path / "job.toml").read_text(), "job.toml")
    (phase,) = job.phases
    load = phase.workload
    assert (load.direct, load.depth, job.engine) == (False, 1, "sync"), "each call is waited for"
    assert {item.size_bytes for item in load.mix if item.op == "write"} == {4, 12, 512, 4096}
    writes = sum(item.weight for item in load.mix if item.op == "write")
    (flushes,) = (item.weight for item in load.mix if item.op == "fdatasync")
    assert writes / flushes == pytest.approx(2.5, rel=0.01)


@pytest.mark.long
def test_sessions_whose_pauses_differ_keep_their_rate_and_their_pauses(tmp_path: Path) -> None:
    """A job of iocast has the pauses themselves, that of fio has random arrivals at the rate."""
    drawn, rows = random.Random(5), []
    for session in range(4):
        at = 0.0
        for _ in range(1500):
            at += drawn.expovariate(1 / 2_000_000)
            rows.append(f"0, {drawn.randrange(4000) * 4096}, 4096, {round(at)}, 300000, {session}")
            at += 300_000
    profiled = _calls(tmp_path, rows)
    generate_job(profiled, str(tmp_path / "job.toml"))
    (phase,) = parse_job((tmp_path / "job.toml").read_text(), "job.toml").phases
    assert isinstance(phase.workload.arrival, Stepped)
    assert phase.workload.arrival.rate_per_s == pytest.approx(4 / 0.0023, rel=0.05)
    assert phase.workload.users == 4
    (other,) = parse_fio_job(generate_job(profiled, "fio").text, "job.fio").phases
    assert isinstance(other.workload.arrival, Poisson)


@pytest.mark.long
def test_a_hot_part_becomes_whole_per_cents_for_fio(tmp_path: Path) -> None:
    drawn, rows = random.Random(5), []
    for at in range(9000):
        block = 0 if at % 2 else drawn.randrange(1, 2000)
        rows.append(f"0, {block * 4096}, 4096, {at * 100_000}, 90000, 1")
    profiled = _calls(tmp_path, rows)
    assert 'pattern = "hotspot"' in generate_job(profiled, "toml").text
    assert parse_fio_job(generate_job(profiled, "fio").text, "job.fio").phases


@pytest.mark.long
def test_fractions_of_a_mix_become_whole_per_cents_for_fio(tmp_path: Path) -> None:
    """A third of reads in two sizes: fio is given what is nearest, and says of each class what it was."""
    drawn, rows, at = random.Random(5), [], 0.0
    for _ in range(6000):
        at += drawn.expovariate(1 / 3_000_000)
        op, size = int(drawn.random() > 1 / 3), drawn.choices((4096, 16384), (0.555, 0.445))[0]
        rows.append(f"{op}, {drawn.randrange(4000) * 16384}, {size}, {round(at)}, 90000, {drawn.randrange(9)}")
    profiled = _calls(tmp_path, rows)
    (exact,) = parse_job(generate_job(profiled, "toml").text, "job.toml").phases
    text = generate_job(profiled, "fio").text
    (phase,) = parse_fio_job(text, "job.fio").phases
    for op in ("read", "write"):
        shares = [
            sum(item.weight for item in each.workload.mix if item.op == op)
            / sum(item.weight for item in each.workload.mix)
            for each in (exact, phase)
        ]
        assert shares[0] == pytest.approx(shares[1], abs=0.01)
    comment = " ".join(line.lstrip("; ") for line in text.splitlines() if line.startswith(";")).partition("rounded")[2]
    for what in ("reads", "writes", "4k reads", "16k reads", "4k writes", "16k writes"):
        assert f" {what} " in comment, comment
    assert "/s instead of " in comment


def test_a_file_of_no_job_is_refused() -> None:
    assert (language_of("a.fio"), language_of("toml")) == ("fio", "toml")
    with pytest.raises(SpecError, match=r"--to a\.txt"):
        language_of("a.txt")


def _check(folder: Path, *sides: object) -> str:
    traces = tuple(str(write_trace(folder / f"{at}.csv", ios)) for at, ios in enumerate(sides))  # type: ignore[arg-type]
    request = ProfileRequest(traces=traces, columns=COLUMNS, out=str(folder / "out"))
    return check_likeness(request).check.verdict


@pytest.mark.long
def test_the_same_load_with_another_seed_is_alike(tmp_path: Path) -> None:
    assert _check(tmp_path, database_load(), database_load(seed=8)) == "alike"


@pytest.mark.long
def test_a_random_load_of_the_same_rate_is_not_alike(tmp_path: Path) -> None:
    assert _check(tmp_path, database_load(), random_reads(24_000, 410)) == "not_alike"


@pytest.mark.long
def test_a_random_original_decides_nothing(tmp_path: Path) -> None:
    assert _check(tmp_path, random_reads(20_000, 400), random_reads(20_000, 400, seed=5)) == "undecided"


def test_few_events_are_no_check(tmp_path: Path) -> None:
    from iocast.errors import AnalysisError

    with pytest.raises(AnalysisError, match="50 I/Os with a time"):
        _check(tmp_path, random_reads(50), random_reads(5000))


def _foreign(at: Path) -> Path:
    """A folder of somebody else, with a file."""
    at.mkdir(0o700)
    (at / "kept").write_text("kept")
    return at


@pytest.mark.long
def test_a_check_leaves_alone_what_takes_the_place_of_its_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The room lies where temporary files do, and not in the profile's folder, which may be somebody else's."""
    rooms = tmp_path / "rooms"
    rooms.mkdir()
    monkeypatch.setenv("TMPDIR", str(rooms))
    swapped = swapping(rooms, "iocast-check-", _foreign(rooms / "theirs"), check_module.halves)
    monkeypatch.setattr(check_module, "halves", swapped)
    assert _check(tmp_path, database_load(), database_load(seed=8)) == "alike"
    (theirs,) = rooms.glob("iocast-check-*")
    assert (theirs / "kept").read_text() == "kept"
    for folder in (tmp_path / "out").iterdir():
        assert sorted(each.name for each in folder.iterdir()) == ["events.parquet", "profile.json"]


def test_a_job_leaves_alone_what_takes_the_place_of_its_room(
    profiled: Profiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    swapped = swapping(tmp_path, "iocast-model-", _foreign(tmp_path / "theirs"), job_module.load_model)
    monkeypatch.setattr(job_module, "load_model", swapped)
    generate_job(profiled, "fio")
    (theirs,) = tmp_path.glob("iocast-model-*")
    assert (theirs / "kept").read_text() == "kept"
