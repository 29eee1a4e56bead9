"""Plans: nothing that exists is written to, everything fits, and what is left out is said."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from iocast.errors import SpecError, TargetError
from iocast.jobs import parse_fio_job, parse_job, parse_target, plan
from iocast.model.job import Job
from iocast.model.permission import permission
from iocast.model.plan import WorkFiles
from iocast.model.target import Layer, Target

GIB = 1 << 30
DIRECTORY = Target(path="/mnt/db", kind="directory")
FILE = Target(path="/mnt/db/users.dbf", kind="file", size_bytes=GIB)
DISK = Target(path="/dev/sdb", kind="block", size_bytes=GIB)
NO_WRITES = "run only the phases that read, or give a directory, where iocast lays out its own files"


def job(*fields: str, files: str = 'size = "1GiB"') -> Job:
    tables = "".join(f"[[phase]]\n{each}\n" for each in fields)
    return parse_job(f'name = "j"\n[files]\n{files}\n[defaults]\nsize = "8k"\ntime = "1s"\n{tables}', "job.toml")


BOTH = job('test = "r"', 'test = "w"\nwrite = 1', 'test = "m"\nread = 1\nwrite = 1')


def test_a_plan_carries_all_that_makes_a_second_run_the_same() -> None:
    made, omitted = plan(BOTH, DIRECTORY, seed=7, memory_bytes=GIB)
    assert (made.name, made.target, made.phases, made.seed, made.job) == (
        "j",
        DIRECTORY,
        BOTH.phases,
        7,
        BOTH.text,
    )
    assert (made.engine, made.files, omitted) == ("auto", WorkFiles(1, GIB), [])


@pytest.mark.parametrize(("target", "what"), [(DISK, "a block device"), (FILE, "a file that iocast did not create")])
def test_nothing_that_exists_is_written_to(target: Target, what: str) -> None:
    with pytest.raises(TargetError) as refused:
        plan(BOTH, target, seed=1, memory_bytes=GIB)
    assert refused.value.message == f'{target.path} is {what}: phase "w 8k 1x1" and 1 more would overwrite it'
    assert refused.value.hint == NO_WRITES


@pytest.mark.parametrize("target", [DISK, FILE])
def test_reads_run_there_and_what_is_left_out_is_said(target: Target) -> None:
    made, omitted = plan(replace(BOTH, fits_target=True), target, seed=1, memory_bytes=GIB)
    assert [phase.name for phase in made.phases] == ["r 8k 1x1"]
    assert omitted == ["w 8k 1x1", "m 8k 1x1"]
    assert made.files == WorkFiles(1, GIB)


def test_own_file_permits_the_file_but_never_a_device() -> None:
    made, omitted = plan(BOTH, FILE, seed=1, memory_bytes=GIB, allowed=permission(FILE, own_file=True))
    assert (len(made.phases), omitted) == (3, [])
    with pytest.raises(TargetError, match="is a block device"):
        plan(BOTH, DISK, seed=1, memory_bytes=GIB, allowed=permission(DISK, own_file=True))


def test_a_file_that_does_not_exist_yet_is_made_as_large_as_the_job_says() -> None:
    made, _ = plan(BOTH, Target(path="/mnt/db/new", kind="file"), seed=1, memory_bytes=GIB)
    assert made.files == WorkFiles(1, GIB)


def test_nothing_left_to_measure() -> None:
    with pytest.raises(SpecError) as refused:
        plan(replace(job("write = 1"), fits_target=True), DISK, seed=1, memory_bytes=GIB)
    assert refused.value.message == (
        'job "j" has nothing to measure: all its phases write, and this target is read-only here'
    )
    with pytest.raises(SpecError) as refused:
        plan(job('role = "warm"'), DISK, seed=1, memory_bytes=GIB)
    assert refused.value.message == 'job "j" has nothing to measure: every phase only warms'


@pytest.mark.parametrize(
    ("files", "memory_bytes", "expected"),
    [
        ('size = "2xRAM"', 16 * GIB, WorkFiles(1, 32 * GIB)),
        ('size = "2xRAM"\ncount = 3', 16 * GIB, WorkFiles(3, 32 * GIB)),
        ('size = "0.5xRAM"', (1 << 24) + 4097, WorkFiles(1, 1 << 23)),
        ('size = "0.1xRAM"', 1000, WorkFiles(1, 1 << 20)),
        ('count = 2\nsize = "3MiB"', GIB, WorkFiles(2, 3 << 20)),
    ],
)
def test_work_files(files: str, memory_bytes: int, expected: WorkFiles) -> None:
    assert plan(job("users = 1", files=files), DIRECTORY, seed=1, memory_bytes=memory_bytes)[0].files == expected


def test_a_directory_needs_a_size() -> None:
    with pytest.raises(SpecError) as refused:
        plan(job("users = 1", files=""), DIRECTORY, seed=1, memory_bytes=GIB)
    assert refused.value.message == 'job "j" does not set the size of the work files in /mnt/db'
    assert refused.value.hint == 'add [files] with size = "2GiB", or size = "2xRAM"'


def test_a_job_of_fio_is_told_so_in_its_own_words() -> None:
    text = "[a]\nrw=randread\nbs=1k\ndirect=1\nruntime=1\ntime_based\n"
    with pytest.raises(SpecError) as refused:
        plan(parse_fio_job(text, "a.fio", {}), DIRECTORY, seed=1, memory_bytes=GIB)
    assert refused.value.message == 'job "a" does not set the size of the work files in /mnt/db'
    assert refused.value.hint == "add size=2g to its sections or to [global], or give --size 2GiB"
    layer = Layer(name="sdb", kind="disk", major=8, minor=16, logical_block_bytes=4096)
    with pytest.raises(TargetError) as small:
        plan(parse_fio_job(text, "a.fio", {}), replace(DISK, layers=(layer,)), seed=1, memory_bytes=GIB)
    assert small.value.message.endswith(
        "is not a multiple of 4k, the logical block size of /dev/sdb, required by direct=1"
    )
    assert small.value.hint == "use multiples of 4k, or direct=0"


def test_files_do_not_matter_elsewhere() -> None:
    for target in (FILE, DISK, parse_target("sim:hdd")):
        made, _ = plan(job("users = 1", files=""), target, seed=1, memory_bytes=GIB)
        assert made.files == WorkFiles(1, target.size_bytes or 0)


def test_the_engine_of_a_simulated_target() -> None:
    made, _ = plan(BOTH, parse_target("sim:nvme"), seed=1, memory_bytes=GIB)
    assert made.engine == "sim"


@pytest.mark.parametrize(
    ("fields", "target", "message"),
    [
        (
            'region = {start = "512MiB", size = "1GiB"}',
            DISK,
            'phase "randread 8k 1x1": its region ends at 1536M, but /dev/sdb holds 1G',
        ),
        (
            'region = {start = "1GiB"}',
            DISK,
            'phase "randread 8k 1x1": its region starts at 1G, but /dev/sdb holds 1G',
        ),
        (
            'region = {size = "2GiB"}',
            DIRECTORY,
            'phase "randread 8k 1x1": its region ends at 2G, but each work file holds 1G',
        ),
        (
            'size = "1M"',
            Target(path="/f", kind="file", size_bytes=4096),
            'phase "randread 1M 1x1": /f is 4k, too small for an I/O of 1M',
        ),
        (
            "users = 1",
            Target(path="/f", kind="file", size_bytes=0),
            'phase "randread 8k 1x1": /f is 0 bytes, too small for an I/O of 8k',
        ),
        (
            "users = 1",
            Target(path="/f", kind="file", size_bytes=3573),
            'phase "randread 8k 1x1": /f is 3573 bytes, too small for an I/O of 8k',
        ),
        (
            "direct = false\nsize = 1025",
            Target(path="/f", kind="file", size_bytes=1),
            'phase "randread 1025 1x1": /f is 1 byte, too small for an I/O of 1025 bytes',
        ),
        (
            'pattern = "sequential"\nusers = 64\nregion = {size = "256k"}',
            DISK,
            'phase "read 8k 64x1": the share of each of 64 users is 4k, too small for an I/O of 8k',
        ),
        (
            'size = "512"',
            Target(
                path="/dev/sdb",
                kind="block",
                size_bytes=GIB,
                layers=(Layer(name="sdb", kind="disk", major=8, minor=16, logical_block_bytes=4096),),
            ),
            'phase "randread 512 1x1": 512 bytes is not a multiple of 4k, the logical block size of /dev/sdb, '
            "required by direct = true",
        ),
    ],
)
def test_what_does_not_fit(fields: str, target: Target, message: str) -> None:
    with pytest.raises(TargetError) as refused:
        plan(job(fields), target, seed=1, memory_bytes=GIB)
    assert refused.value.message == message
    assert refused.value.hint


def test_what_just_fits() -> None:
    last = 'region = {start = "1023MiB", size = "1MiB"}\nsize = "1M"'
    shared = 'pattern = "sequential"\nstart = "own_offset"\nusers = 64\nregion = {size = "256k"}'
    parts = 'pattern = "sequential"\nusers = 32\nregion = {size = "256k"}'
    assert len(plan(job(last, shared, parts), DISK, seed=1, memory_bytes=GIB)[0].phases) == 3
