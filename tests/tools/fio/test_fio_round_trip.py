"""What is written for fio reads back to the same phases, and fio takes it; so does what is written as TOML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers.fio_jobs import ENVIRONMENT, RUN
from makers.fio_round_trip import GIB, assert_fio_takes, assert_same, normal
from makers.left_out import long_after
from msgspec.structs import replace

from iocast.errors import SpecError
from iocast.jobs import load_job, parse_fio_job, parse_job, presets
from iocast.jobs.toml.expansion import expand
from iocast.jobs.toml.job_writing import toml_notes, toml_text
from iocast.model.job import FileSize, Job
from iocast.model.phase_names import unique_names
from iocast.model.plan import Phase
from iocast.model.workload import Dedupable, Sequential, Uniform
from iocast.tools.fio.fio_writing import Whole, fio_text
from iocast.tools.fio.quantities import text_of

ROOT = Path(__file__).parents[3]
JOBS = [*presets(), *map(str, sorted((ROOT / "examples").glob("*.toml")))]


def sized(job: Job) -> Job:
    """The job with files of 16 GiB where it takes multiples of the memory."""
    if job.file_size is not None and job.file_size.size_bytes is None:
        return replace(job, file_size=FileSize(size_bytes=16 * GIB))
    return job


# What fio cannot say of the presets and examples.
CANNOT = {
    "database": "fio cannot end a section with the others",
    "card-standard": "1.5625 IOPS for each user: fio accepts only whole numbers for reads and for writes (users = 25)",
    "card-full": "1.5625 IOPS for each user: fio accepts only whole numbers for reads and for writes (users = 25)",
    "metadata": "fio has no job for operations in a tree of files",
    "until-steady": "until steady: fio's steadystate is a different rule that lets drift pass (give time)",
    "open-loop": "0.3125 IOPS for each user: fio accepts only whole numbers for reads and for writes (users = 20)",
}


@pytest.mark.parametrize("name", long_after(3, JOBS), ids=lambda name: Path(name).stem)
def test_presets_and_examples_go_to_fio_and_back(name: str, tmp_path: Path) -> None:
    job = sized(load_job(name))
    expected = CANNOT.get(Path(name).stem)
    if expected is not None:
        with pytest.raises(SpecError) as refused:
            fio_text(job)
        assert expected in refused.value.message
        if job.tree is not None:
            return
        job = replace(job, phases=tuple(phase for phase in job.phases if phase.name not in refused.value.message))
        if not job.phases:
            return
    text = fio_text(job)
    assert_same(job, parse_fio_job(text, "job.fio", {}))
    assert_fio_takes(text, tmp_path)


@pytest.mark.parametrize("name", JOBS, ids=lambda name: Path(name).stem)
def test_presets_and_examples_go_to_toml_and_back(name: str) -> None:
    job = load_job(name)
    back = parse_job(toml_text(job), "job.toml")
    assert (back.phases, back.file_size, back.file_count, back.engine) == (
        job.phases,
        job.file_size and replace(job.file_size, at_most=False),  # a preset's; a file says how large
        job.file_count,
        job.engine,
    )


def test_phases_that_run_at_once_go_to_fio_and_back(tmp_path: Path) -> None:
    text = """name = "at once"
[files]
size = "1GiB"
[defaults]
time = "9s"
size = "8k"
[[phase]]
test = "before"
[[phase]]
test = "lookups"
together = "db"
users = 4
[[phase]]
test = "log"
together = "db"
engine = "sync"
write = 100
pattern = "sequential"
fdatasync_every = 1
[[phase]]
test = "after"
write = 100
"""
    job = parse_job(text, "job.toml")
    written = fio_text(job)
    assert written.count("stonewall=1") == 3
    assert "fdatasync=1" in written
    assert "ioengine=psync" in written
    assert_same(job, parse_fio_job(written, "job.fio", {}))
    assert_fio_takes(written, tmp_path)
    assert parse_job(toml_text(job), "back.toml").phases == job.phases


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ('together = "db"\nfollows = true', "fio cannot end a section with the others"),
        ('burst = 5\nevery = "1s"\ntime = "1s"', "fio has no bursts"),
    ],
)
def test_what_fio_has_no_word_for(more: str, why: str) -> None:
    other = '[[phase]]\nsize = "8k"\ntime = "1s"\ntogether = "db"\n'
    with pytest.raises(SpecError) as refused:
        fio_text(parse_job(f'name = "j"\n{other}[[phase]]\nsize = "4k"\n{more}\n', "job.toml"))
    assert why in refused.value.message


def test_a_multiple_of_the_memory_is_refused_with_the_way_out() -> None:
    with pytest.raises(SpecError) as refused:
        fio_text(load_job("card-full"))
    assert refused.value.message == "its file size is a multiple of RAM, which fio cannot express"
    assert refused.value.hint == "give --size"


# What was read from fio but is not written for it again: users with a file each, a reading back that comes later.
ONE_WAY = ("own_files", "verify_later")


@pytest.mark.parametrize("name", long_after(3, RUN))
def test_fio_job_files_are_written_as_they_were_read(name: str, tmp_path: Path) -> None:
    text = (Path(__file__).parent / "files" / f"{name}.fio").read_text(encoding="utf-8")
    job = parse_fio_job(text, name, ENVIRONMENT)
    if name in ONE_WAY:
        with pytest.raises(SpecError):
            fio_text(job)
        return
    written = fio_text(job)
    assert_same(job, parse_fio_job(written, "job.fio", {}))
    assert_fio_takes(written, tmp_path)


SIZES = st.sampled_from(["512", "4k", "8k", "16k", "128k", "1M"])
PERCENT = st.integers(1, 99)


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    """The fields of a [[phase]] that fio can do."""
    ops = draw(st.sampled_from([("read",), ("write",), ("read", "write")]))
    share = draw(PERCENT)
    weights = {ops[0]: 100} if len(ops) == 1 else {"read": share, "write": 100 - share}
    split = draw(PERCENT)
    sizes = draw(st.lists(SIZES, min_size=1, max_size=2, unique=True))
    size: Any = sizes[0] if len(sizes) == 1 else {sizes[0]: split, sizes[1]: 100 - split}
    given: dict[str, Any] = {"test": draw(st.sampled_from(["a", "scan", "b.2"])), **weights, "size": size}
    given |= {"users": draw(st.sampled_from([1, 2, 4, 7])), "depth": draw(st.sampled_from([1, 2, 32]))}
    given["direct"] = draw(st.booleans())
    given["pattern"] = draw(st.sampled_from(["random", "sequential", "zipf", "hotspot", "stride"]))
    match given["pattern"]:
        case "zipf":
            given["theta"] = draw(st.sampled_from([0.5, 0.99, 1.2]))
        case "hotspot":
            given |= {"space_percent": draw(PERCENT), "access_percent": draw(PERCENT)}
        case "stride":
            given |= {"stride": draw(st.sampled_from(["2M", "4M"])), "users": 1, "size": sizes[0]}
        case "sequential" if len(sizes) == 1 and given["users"] > 1 and draw(st.booleans()):
            given["start"] = "own_offset"
    if "write" in weights:
        given |= {"sync": draw(st.sampled_from(["none", "sync", "dsync"])), "fsync_every": draw(st.integers(0, 9))}
        given |= draw(st.sampled_from([{"payload": "zeros"}, {"payload": "repeated"}, {"compressible": "37%"}, {}]))
    given |= draw(_when(given["users"], len(sizes) == 1 and len(ops) == 1))
    if draw(st.booleans()) and given.get("start") != "own_offset":
        given["region"] = {"start": draw(st.sampled_from(["0", "1M", "1G"])), "size": "1G"}
    if draw(st.integers(0, 3)) == 0:
        given["role"] = "warm"
    return given


@st.composite
def _when(draw: st.DrawFn, users: int, simple: bool) -> dict[str, Any]:
    """Arrival and length."""
    given: dict[str, Any] = {}
    if simple and draw(st.booleans()):
        given = {
            "rate": f"{draw(st.integers(1, 500)) * users}/s",
            "arrival": draw(st.sampled_from(["constant", "poisson"])),
        }
    elif draw(st.booleans()):
        given = {"think": f"{draw(st.integers(1, 5000))}us", "depth": 1}
    kind = draw(st.sampled_from(["time", "ios", "bytes", "time and bytes", "time and ios"]))
    if "time" in kind:
        given["time"] = draw(st.sampled_from(["500ms", "10s", "2m"]))
    if "ios" in kind:
        given["ios"] = users * draw(st.integers(1, 10_000))
    if "bytes" in kind:
        given["bytes"] = users * 1024 * draw(st.integers(1024, 10_000))
    return given


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Jobs of one to four phases on one file, with all that fio knows."""
    phases: list[Phase] = []
    for given_fields in draw(st.lists(fields(), min_size=1, max_size=4)):
        (phase,) = expand(given_fields)
        load = phase.workload
        several = len({item.size_bytes for item in load.mix}) > 1
        match load.locality:
            case Uniform():
                load = replace(load, locality=Uniform(repeats=draw(st.booleans())))
            case Sequential() if not several:
                load = replace(load, locality=replace(load.locality, backwards=draw(st.booleans())))
        if load.writes and draw(st.integers(0, 4)) == 0:
            load = replace(load, payload=Dedupable(percent=float(draw(PERCENT))))
        phases.append(replace(phase, workload=load))
    return Job(name="generated", phases=unique_names(tuple(phases)), file_size=FileSize(size_bytes=3 * GIB))


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(jobs())
def test_generated_jobs_go_to_fio_and_back(job: Job) -> None:
    assert_same(job, parse_fio_job(fio_text(job), "job.fio", {}))


@pytest.mark.long
@settings(max_examples=15, deadline=None)
@given(job=jobs())
def test_fio_takes_generated_jobs(job: Job, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert_fio_takes(fio_text(job), tmp_path_factory.mktemp("fio"))


@pytest.mark.long
@settings(max_examples=200, deadline=None)
@given(jobs(), st.booleans())
def test_generated_jobs_go_to_toml_and_back(job: Job, each: bool) -> None:
    if each:
        durable = [
            replace(phase.workload, sync="rwf_dsync" if phase.workload.writes else "none") for phase in job.phases
        ]
        phases = [replace(phase, workload=load) for phase, load in zip(job.phases, durable, strict=True)]
        job = replace(job, phases=unique_names(phases))
    back = parse_job(toml_text(job), "job.toml").phases
    assert [normal(phase, 3 * GIB) for phase in back] == [normal(phase, 3 * GIB) for phase in job.phases]


@pytest.mark.parametrize(
    "fields",
    [
        'pattern = "sequential"\nbackwards = true\n',
        'pattern = "sequential"\nstart = "own_offset"\nbackwards = true\n',
        'pattern = "random"\nrepeats = false\n',
        'pattern = "random"\nsync = "rwf_dsync"\n',
        'pattern = "random"\ndedupable = "40%"\n',
        'pattern = "random"\ncompressible = "12.5%"\n',
    ],
)
def test_words_of_job_files_are_written_as_they_are_read(fields: str) -> None:
    job = parse_job(f'name = "j"\n[[phase]]\nwrite = 1\nsize = "8k"\ntime = "1s"\n{fields}', "job.toml")
    text = toml_text(job)
    assert all(line in text.splitlines() for line in fields.splitlines())
    assert parse_job(text, "job.toml").phases == job.phases


def test_single_durable_writes_are_refused_for_fio() -> None:
    job = parse_job('name = "j"\n[[phase]]\nwrite = 1\nsync = "rwf_dsync"\nsize = "8k"\ntime = "1s"\n', "job.toml")
    with pytest.raises(SpecError) as refused:
        fio_text(job)
    assert refused.value.message == (
        'fio cannot do this job: phase "randwrite 8k 1x1": fio cannot set RWF_DSYNC (sync = "dsync")'
    )


def test_what_a_job_in_toml_lacks_is_said() -> None:
    job = parse_job('name = "j"\n[[phase]]\nsize = "8k"\ntime = "1s"\n', "job.toml")
    assert toml_notes(job) == ["the job sets no file size: a directory needs [files] with size, or --size"]
    assert toml_notes(replace(job, file_size=FileSize(size_bytes=GIB))) == []


@given(st.integers(1, 1 << 50))
def test_sizes_are_written_as_fio_reads_them(size_bytes: int) -> None:
    back = parse_fio_job(f"[a]\nsize={text_of(size_bytes)}\nbs=1\nruntime=1\ntime_based\n", "job.fio", {})
    assert back.phases[0].region_size_bytes == size_bytes


MIX = """name = "mix"
files = {{ size = "1GiB" }}

[[phase]]
test = "mixed"
mix = [{mix}]
time = "1s"
"""


def mix_of(*shares: tuple[str, str, float]) -> Job:
    items = ", ".join(f'{{op = "{op}", size = "{size}", weight = {weight}}}' for op, size, weight in shares)
    return parse_job(MIX.format(mix=items), "mix.toml")


def test_shares_that_are_not_whole_are_rounded_where_that_is_allowed() -> None:
    """Up or down, so that they still add up to 100; a class of less than half a per cent may go."""
    job = mix_of(("read", "4k", 33.4), ("read", "8k", 33.3), ("read", "64k", 33.1), ("read", "1m", 0.2))
    with pytest.raises(SpecError, match=r"the share of 4k reads is 33\.4 %: fio accepts only whole per cents"):
        fio_text(job)
    text = fio_text(job, rounds=True)
    assert "bssplit=4k/34:8k/33:64k/33\n" in text
    assert (
        "\n; rounded for fio: 4k reads 34% instead of 33.4%, 8k reads 33% instead of 33.3%, 64k reads 33%\n"
        ";   instead of 33.1%, 1m reads 0% instead of 0.2%\n[mixed"
    ) in text
    assert {item.weight for item in parse_fio_job(text, "job.fio", {}).phases[0].workload.mix} == {33, 34}


def test_rounding_that_makes_another_mix_is_refused() -> None:
    job = mix_of(*(("read", f"{size}k", 1.0) for size in range(4, 84, 4)), *(("read", f"{k}k", 0.4) for k in (88, 92)))
    fio_text(mix_of(*(("read", f"{size}k", 1.0) for size in range(4, 84, 4))), rounds=True)
    with pytest.raises(SpecError, match=r"whole per cents would give \d\.\d % of the I/Os another size .--to job.toml"):
        fio_text(job, rounds=True)


@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=8))
def test_rounded_shares_are_near_and_whole(weights: list[float]) -> None:
    total = sum(weights)
    shares = {str(number): 100 * weight / total for number, weight in enumerate(weights)}
    rounded = Whole(rounds=True)
    whole = rounded.per_cents(shares)
    assert sum(whole.values()) == 100
    assert all(abs(whole[what] - share) < 1 for what, share in shares.items())
    assert len(rounded.remarks) == sum(abs(whole[what] - share) >= 1e-9 for what, share in shares.items())
