"""What fio's job files mean here: inheritance, numbers, users and their files, places, lengths, notes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from iocast.errors import SpecError
from iocast.jobs import load_job, parse_fio_job
from iocast.jobs.toml.job_writing import toml_text
from iocast.model.job import FileSize, Job
from iocast.model.plan import Length, Phase
from iocast.model.workload import (
    Closed,
    Compressible,
    Constant,
    Dedupable,
    Poisson,
    Repeated,
    Sequential,
    Uniform,
    Unique,
    Zeros,
    Zipf,
)
from iocast.tools.fio.fio_keys import KNOWN, NOTED, READ, REFUSED, SILENT
from iocast.tools.fio.fio_writing import fio_text
from iocast.tools.fio.job_options import ALIASES

MIB, GIB = 1 << 20, 1 << 30
TIMED = "runtime=60\ntime_based\n"


def read(text: str, **environment: str) -> Job:
    return parse_fio_job(text, "job.fio", environment)


def one(settings: str) -> Phase:
    (phase,) = read(f"[a]\n{settings}").phases
    return phase


def test_the_least_that_is_a_job() -> None:
    phase = one("size=1m\n")
    load = phase.workload
    assert (phase.name, phase.test, phase.role) == ("a 4k 1x1", "a", "measure")
    assert [(item.op, item.size_bytes) for item in load.mix] == [("read", 4096)]
    assert (load.locality, load.arrival, load.direct, load.sync) == (Sequential(), Closed(), False, "none")
    assert phase.length == Length(bytes=MIB)
    assert (phase.region_start_bytes, phase.region_size_bytes) == (0, MIB)
    assert read("[a]\nsize=1m\n").engine == "sync"


def test_global_sections_count_for_what_follows_and_sections_win() -> None:
    job = read(
        "[global]\nsize=1m\nbs=8k ; eight\nstonewall\n[a]\n[b]\nbs=16k # sixteen\n"
        "[global]\nrw=randread\nnorandommap\n[c]\n; a comment\n# another\n[d]\nrw=write\n"
    )
    assert [phase.name for phase in job.phases] == ["a 8k 1x1", "b 16k 1x1", "c 8k 1x1", "d 8k 1x1"]
    assert [type(phase.workload.locality) for phase in job.phases] == [Sequential, Sequential, Uniform, Sequential]


def test_names_come_from_sections() -> None:
    text = f"[global]\nbs=8k\nrw=randread\nsize=1g\nstonewall\n{TIMED}"
    job = read(f"{text}[randread 8k 4x1]\nfilename=f\nnumjobs=4\n[4k: reads!]\n[x]\nname=other\n[x]\nname=other\n")
    assert [phase.test for phase in job.phases] == ["randread", "4k-reads", "other", "other"]
    assert [phase.name for phase in job.phases] == [
        "randread 8k 4x1",
        "4k-reads 8k 1x1",
        "other 8k 1x1",
        "other 8k 1x1 #2",
    ]


def test_the_environment_is_filled_in() -> None:
    job = read("[a]\nsize=${SIZE}m\nbs=${BS}\n", SIZE="2", BS="8k")
    assert job.phases[0].length == Length(bytes=2 * MIB)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [("8192", 8192), ("0008k", 8192), ("8K", 8192), ("8kb", 8192), ("8kB", 8192), ("8ki", 8192), ("0x2000", 8192)],
)
def test_sizes_are_powers_of_1024(text: str, size_bytes: int) -> None:
    assert one(f"bs={text}\nsize=1g\n").workload.mix[0].size_bytes == size_bytes


def test_with_kb_base_1000_they_are_not() -> None:
    assert one("bs=4\nkb_base=1000\nsize=1m\n").region_size_bytes == 1_000_000
    assert one("kb_base=1000\nsize=1MiB\n").region_size_bytes == MIB


def mix(phase: Phase) -> dict[tuple[str, int], float]:
    return {(item.op, item.size_bytes): item.weight for item in phase.workload.mix}


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("rw=randrw", {("read", 4096): 50, ("write", 4096): 50}),
        ("rw=rw\nrwmixread=70", {("read", 4096): 70, ("write", 4096): 30}),
        ("rw=rw\nrwmixwrite=70", {("read", 4096): 30, ("write", 4096): 70}),
        ("rw=rw\nrwmixwrite=10\nrwmixread=60", {("read", 4096): 60, ("write", 4096): 40}),
        ("rw=rw\nrwmixread=60\nrwmixwrite=10", {("read", 4096): 90, ("write", 4096): 10}),
        ("rw=rw\nbs=8k,16k", {("read", 8192): 50, ("write", 16384): 50}),
        ("rw=rw\nbsrange=4k-4k,16k-16k", {("read", 4096): 50, ("write", 16384): 50}),
        ("rw=rw\nbs=,16k", {("read", 4096): 50, ("write", 16384): 50}),
        ("rw=read\nbssplit=4k/50:8k/:16k/", {("read", 4096): 50, ("read", 8192): 25, ("read", 16384): 25}),
        ("rw=rw\nbssplit=4k/100,8k/100", {("read", 4096): 50, ("write", 8192): 50}),
        ("rw=rw\nrate_iops=700,300", {("read", 4096): 70, ("write", 4096): 30}),
    ],
)
def test_reads_writes_and_sizes(settings: str, expected: dict[tuple[str, int], float]) -> None:
    assert mix(one(f"size=1g\n{settings}\n")) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "arrival"),
    [
        ("rate_iops=100", Constant(100.0)),
        ("rate_iops=100\nnumjobs=4", Constant(400.0)),
        ("rate_iops=100\nrate_process=poisson", Poisson(100.0)),
        ("rate=1m\nbs=8k", Constant(128.0)),
        ("rate=1m\nbssplit=4k/50:12k/50", Constant(128.0)),
        # fio takes every I/O for one of the smallest size: a linear rate of 1000 makes 500 of twice that size.
        ("rate_iops=1000\nbssplit=4k/50:12k/50", Constant(500.0)),
        ("rate_iops=1000\nrate_process=poisson\nbssplit=4k/50:12k/50", Poisson(1000.0)),
        ("rw=randrw\nrate_iops=100", Constant(200.0)),
        ("rate_iops=0", Closed()),
        ("thinktime=500", Closed(think_ns=500_000)),
        ("thinktime=2ms", Closed(think_ns=2_000_000)),
    ],
)
def test_when_ios_come(settings: str, arrival: Any) -> None:
    phase = one(f"rw=randread\nsize=1g\nfilename=f\n{TIMED}{settings}\n")
    assert phase.workload.arrival == arrival


@pytest.mark.parametrize(
    ("settings", "payload"),
    [
        ("", Unique()),
        ("refill_buffers=1", Unique()),
        ("scramble_buffers=0", Repeated()),
        ("scramble_buffers=0\nrefill_buffers", Unique()),
        ("zero_buffers", Zeros()),
        ("buffer_compress_percentage=30", Compressible(30.0)),
        ("buffer_compress_percentage=100", Zeros()),
        ("dedupe_percentage=30", Dedupable(30.0)),
        ("dedupe_percentage=100", Repeated()),
    ],
)
def test_what_is_written(settings: str, payload: Any) -> None:
    assert one(f"rw=write\nsize=1g\n{settings}\n").workload.payload == payload


@pytest.mark.parametrize(
    ("settings", "length"),
    [
        ("size=1m", Length(bytes=MIB)),
        ("size=1m\nloops=3", Length(bytes=3 * MIB)),
        ("size=1m\nio_size=4m", Length(bytes=4 * MIB)),
        ("size=1m\nio_size=50%", Length(bytes=MIB // 2)),
        ("size=1m\nruntime=60", Length(seconds=60.0, bytes=MIB)),
        ("size=1m\nruntime=1m\ntime_based", Length(seconds=60.0)),
        ("size=1m\nnumber_ios=10", Length(ios=10)),  # ten I/Os of 4 KiB cannot move more
        ("size=1m\nnumber_ios=1000", Length(ios=1000, bytes=MIB)),
        ("size=1m\nnumber_ios=10\nruntime=5\ntime_based", Length(seconds=5.0)),
        ("io_size=40k\nsize=1m\nnumber_ios=10", Length(ios=10)),
        ("runtime=500ms", Length(seconds=0.5)),
        ("filesize=2m", Length(bytes=2 * MIB)),
        ("filesize=2m\nsize=1m", Length(bytes=MIB)),
        ("filesize=2m\nsize=25%", Length(bytes=MIB // 2)),
    ],
)
def test_how_long(settings: str, length: Length) -> None:
    assert one(f"{settings}\n").length == length


@pytest.mark.parametrize(
    ("settings", "region"),
    [
        ("size=1g", (0, GIB)),
        ("size=1g\noffset=1m", (MIB, GIB)),
        ("size=100%", (0, None)),
        ("filesize=1g", (0, GIB)),
        ("filesize=1g\nsize=100%", (0, None)),
        ("filesize=1g\noffset=256m", (256 * MIB, 768 * MIB)),
        ("filesize=1g\nsize=1m", (0, GIB)),  # fio: size limits what is moved, not where
        ("filesize=1g\nsize=50%", (0, GIB // 2)),
        ("filesize=1g\noffset=25%", (256 * MIB, 768 * MIB)),
        ("filename=a:b\nsize=1g\nfile_service_type=sequential", (0, GIB // 2)),
    ],
)
def test_which_part(settings: str, region: tuple[int, int | None]) -> None:
    phase = one(f"{TIMED}{settings}\n")
    assert (phase.region_start_bytes, phase.region_size_bytes) == region


@pytest.mark.parametrize(
    ("text", "users", "files", "locality"),
    [
        ("[a]\nnumjobs=4", 4, 4, Sequential()),
        ("[a]\n[b]\n[c]\n", 3, 3, Sequential()),
        ("[a]\nfilename=x\n[b]\nfilename=y\n", 2, 2, Sequential()),
        ("[a]\nnumjobs=4\nfilename=x\noffset_increment=1g", 4, 1, Sequential()),
        ("[a]\nfilename=x\n[b]\nfilename=x\noffset=1g\n[c]\nfilename=x\noffset=2g\n", 3, 1, Sequential()),
        ("[a]\nfilename=x\nnumjobs=8\nrw=randread\nnorandommap", 8, 1, Uniform()),
        ("[a]\nnumjobs=8\nrw=randread", 8, 8, Uniform(repeats=False)),
        ("[a]\nfilename=x:y\nrw=randread\nrandom_distribution=zipf\n", 1, 2, Zipf(1.1)),
    ],
)
def test_users_and_their_files(text: str, users: int, files: int, locality: Any) -> None:
    job = read(f"[global]\nsize=1g\n{TIMED}{text}\n")
    (phase,) = job.phases
    assert (phase.workload.users, job.file_count, phase.workload.locality) == (users, files, locality)


def test_sections_without_filename_have_files_of_their_own() -> None:
    """As fio 3.33 makes them: two.0.0, two.1.0 and log.0.0, each of its own size."""
    job = read(f"[global]\n{TIMED}[two]\nrw=randread\nnumjobs=2\nsize=1g\n[log]\nrw=write\nsize=1m\n")
    assert job.file_names == ("two.0.0", "two.1.0", "log.0.0")
    assert job.file_sizes == (GIB, GIB, MIB)
    assert [phase.on_files for phase in job.phases] == [(0, 1), (2,)]


def test_a_name_that_sections_share_is_one_file() -> None:
    job = read(f"[global]\nsize=1g\n{TIMED}stonewall\n[a]\nfilename=x\n[b]\nfilename=y:x\nrw=randread\nsize=4g\n[c]\n")
    assert job.file_names == ("x", "y", "c.0.0")
    assert (job.file_sizes, job.file_size) == ((2 * GIB, 2 * GIB, GIB), FileSize(size_bytes=2 * GIB))
    assert [phase.on_files for phase in job.phases] == [(0,), (1, 0), (2,)]


def test_sections_that_do_the_same_keep_the_names_of_their_files() -> None:
    job = read(f"[global]\nsize=1g\n{TIMED}[a]\nfilename=x\n[b]\nfilename=y\n[c]\nstonewall\nfilename=y\nrw=randread\n")
    assert job.file_names == ("x", "y")
    assert [phase.on_files for phase in job.phases] == [(), (1,)]
    assert read(f"[global]\nsize=1g\n{TIMED}[a]\n[b]\n").file_names == ("a.0.0", "b.0.0")


def test_a_size_that_is_given_takes_the_place_of_that_of_the_job() -> None:
    text = f"[a]\nsize=128m\n{TIMED}[b]\nstonewall\nfilename=x:y\nsize=1g\n[c]\nstonewall\nsize=50%\nfilesize=2g\n"
    job = parse_fio_job(text, "job.fio", {}, 64 * MIB)
    assert (job.file_size, job.file_sizes) == (FileSize(size_bytes=64 * MIB), ())
    assert [phase.region_size_bytes for phase in job.phases] == [64 * MIB, 64 * MIB, 32 * MIB]
    assert "size=128m, size=1g, filesize=2g: each file has 64.0 MiB instead, as --size says" in job.notes


def test_ramp_time_is_a_phase_that_warms() -> None:
    warm, measured = read(f"[a]\nsize=1g\nramp_time=10\n{TIMED}").phases
    assert (warm.role, warm.length, warm.name) == ("warm", Length(seconds=10.0), "a 4k 1x1 warm")
    assert (measured.role, measured.length) == ("measure", Length(seconds=60.0))
    assert warm.workload == measured.workload
    assert read(f"[a]\nsize=1g\nstats=0\n{TIMED}").phases[0].role == "warm"


def test_engines() -> None:
    text = "[global]\nsize=1g\nstonewall\n"
    assert read(f"{text}[a]\nioengine=libaio\niodepth=8\n").engine == "uring"
    job = read(f"{text}[a]\nioengine=pvsync2\niodepth=8\n")
    assert (job.engine, job.phases[0].workload.depth) == ("sync", 1)
    assert job.notes == ("[a] iodepth=8 with ioengine=pvsync2: queue depth is 1, as in fio",)
    both = read(f"{text}[a]\nioengine=psync\n[b]\nioengine=io_uring\n")
    assert both.engine == "uring"
    assert (both.notes, [phase.engine for phase in both.phases]) == ((), ["sync", None])


def test_sections_without_stonewall_run_at_once() -> None:
    job = read(
        "[global]\nsize=1g\ndirect=1\nruntime=9\ntime_based\nioengine=libaio\nfilename=x\n"
        "[before]\nrw=randread\n[data]\nstonewall\nrw=randread\nbs=8k\n[more]\nrw=randread\nbs=8k\n"
        "[redo]\nioengine=sync\nrw=write\nfdatasync=1\n[after]\nstonewall\nrw=randwrite\n"
    )
    assert [(phase.test, phase.together, phase.engine) for phase in job.phases] == [
        ("before", "", None),
        ("data", "group 2", None),
        ("redo", "group 2", "sync"),
        ("after", "", None),
    ]
    data, redo = job.phases[1:3]
    assert data.workload.users == 2, "sections that do the same are one with the users of both"
    assert (redo.workload.fsync_every, redo.workload.fsync_op) == (1, "fdatasync")


def test_ramp_times_of_sections_that_run_at_once_are_one_group_before() -> None:
    text = "[global]\nsize=1g\nruntime=9\ntime_based\nramp_time=3\n[a]\nrw=randread\n[b]\nrw=randwrite\n"
    phases = read(text).phases
    assert [(phase.role, phase.together) for phase in phases] == [
        ("warm", "group 1 warm"),
        ("warm", "group 1 warm"),
        ("measure", "group 1"),
        ("measure", "group 1"),
    ]


def test_polling() -> None:
    text = "[global]\nsize=1g\nstonewall\nioengine=io_uring\ndirect=1\n"
    assert read(f"{text}[a]\nsqthread_poll=1\n").polling == "sqpoll"
    assert read(f"{text}[a]\nhipri\n").polling == "iopoll"
    mixed = read(f"{text}[a]\nhipri\n[b]\n")
    assert (mixed.polling, mixed.notes) == ("none", ("only some of its sections poll; iocast polls in none",))
    with pytest.raises(SpecError, match="only io_uring polls"):
        read("[a]\nsize=1g\nioengine=psync\nhipri\n")
    with pytest.raises(SpecError, match="one polling mode at a time"):
        read(f"{text}[a]\nhipri\nsqthread_poll\n")


def test_buffered_and_direct_the_last_counts() -> None:
    assert one("size=1g\nbuffered=0\n").workload.direct
    assert not one("size=1g\ndirect=1\nbuffered=1\n").workload.direct
    assert one("size=1g\nbuffered=1\ndirect=1\n").workload.direct


def test_notes_say_what_does_nothing() -> None:
    job = read(
        f"[a]\nsize=1g\n{TIMED}filename=f\ndirectory=/mnt/x\nwrite_lat_log=l\nlog_avg_msec=100\n"
        "exitall=0\nend_fsync=1\ngroup_reporting\nthread\n"
    )
    assert job.notes == (
        "line 7: write_lat_log, log_avg_msec have no effect: the run folder keeps histograms for "
        "every second of every phase",
        "line 10: end_fsync has no effect: iocast does not flush after a phase",
        "filename=f is ignored: iocast runs on PATH",
    )
    assert job.directory == "/mnt/x"


def test_inert_values_are_not_refused() -> None:
    one("size=1g\nverify=0\nzonemode=none\nlatency_target=0\npercentage_random=100\nfdatasync=0\nprio=0\n")


def test_each_key_is_read_or_silent_or_noted_or_refused() -> None:
    kinds: list[set[str]] = [set(READ), set(SILENT), set(NOTED), set(REFUSED)]
    for number, kind in enumerate(kinds):
        for other in kinds[number + 1 :]:
            assert kind & other == set()
    assert set(ALIASES.values()) <= KNOWN
    assert set(ALIASES) & set().union(*kinds) == set()


def test_fio_files_are_known_by_their_name_or_by_what_they_say(tmp_path: Path) -> None:
    text = "; mine\n[global]\nsize=1m\n[a]\n"
    for name in ("x.fio", "x.ini", "x.job", "x"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        job = load_job(str(path))
        assert (job.name, job.text, job.source) == ("x", text, str(path))
    (tmp_path / "y").write_text('[files]\nsize = "1G"\n', encoding="utf-8")
    with pytest.raises(SpecError, match="name is missing"):
        load_job(str(tmp_path / "y"))


KEYS = st.sampled_from(sorted(KNOWN))
VALUES = st.sampled_from(
    [*("0", "1", "4k", "10%", "100%", "read", "randrw", "-1", "", "zipf:1.2", "a:b", "8k,16k", "60", "1g"), "é", "%"]
)


@pytest.mark.long
@given(st.lists(st.tuples(KEYS, VALUES) | st.just(("[x]", "")) | st.tuples(st.text(), st.text())))
@example([("numjobs", "4"), ("offset_increment", "10%"), ("rw", "randrw"), ("size", "10%")])
def test_any_text_is_read_or_refused(lines: list[tuple[str, str]]) -> None:
    text = "[a]\n" + "".join(f"{key}={value}\n" if value else f"{key}\n" for key, value in lines)
    said, phases = "", 0
    try:
        phases = len(read(text).phases)
    except SpecError as error:
        said = error.message
    assert bool(phases) != said.startswith("job.fio")


SLIDE = """filesize=12800m
filename=/dev/rdsk/c1t1d0p0:/dev/rdsk/c1t2d0p0
runtime=120
rw=read
bs=0008k
numjobs=1
"""


def test_the_job_file_of_the_slides_goes_over_its_two_devices_in_turn(tmp_path: Path) -> None:
    """Without the head of a section, as the slide has it; fio itself wants one."""
    (tmp_path / "config_file").write_text(SLIDE)
    job = load_job(str(tmp_path / "config_file"))
    (phase,) = job.phases
    assert (phase.name, phase.length) == ("job 8k 1x1", Length(seconds=120.0, bytes=2 * 12800 * MIB))
    assert (job.file_count, job.file_size, job.stripe_bytes) == (2, FileSize(size_bytes=12800 * MIB), 8192)
    assert "fio itself refuses such a file" in job.notes[0]
    assert "its 2 devices become 2 work files in PATH" in job.notes[1]
    for text in (fio_text(job), toml_text(job)):
        (tmp_path / "again").write_text(text)
        again = load_job(str(tmp_path / "again"))
        assert (again.phases[0].workload, again.file_count, again.stripe_bytes) == (phase.workload, 2, 8192)


@pytest.mark.parametrize(
    ("kind", "stripe_bytes"), [("", 8192), ("roundrobin", 8192), ("roundrobin:3", 24576), ("sequential", 0)]
)
def test_how_long_each_file_has_its_turn(kind: str, stripe_bytes: int) -> None:
    """As fio 3.33 does: roundrobin:3 reads a0 a1 a2 b0 b1 b2 a3, written down by its --write_iolog."""
    says = f"file_service_type={kind}\n" if kind else ""
    job = read(f"[a]\nfilename=a:b\nsize=1g\nrw=read\nbs=8k\n{says}")
    assert (job.file_count, job.stripe_bytes) == (2, stripe_bytes)
    assert parse_fio_job(fio_text(job), "job.fio", {}).stripe_bytes == stripe_bytes
