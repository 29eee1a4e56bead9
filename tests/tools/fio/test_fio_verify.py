"""fio's verify: read as verified phases and phases that read back, written where fio can do the same, or refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from makers.fio_round_trip import assert_fio_takes, assert_same

from iocast.errors import SpecError
from iocast.jobs import parse_fio_job, parse_job
from iocast.model.job import Job
from iocast.tools.fio.fio_writing import fio_text

WRITES = "rw=randwrite\nbs=8k\nsize=64m\nfilename=f\n"


def read(text: str) -> Job:
    return parse_fio_job(text, "job.fio", {})


def roles(job: Job) -> list[tuple[str, bool]]:
    return [(phase.role, phase.verify) for phase in job.phases]


@pytest.mark.parametrize("kind", ["md5", "crc32c", "crc32c-intel", "sha3-256", "xxhash", "meta"])
def test_every_checksum_is_ours(kind: str) -> None:
    job = read(f"[a]\n{WRITES}verify={kind}\n")
    assert roles(job) == [("measure", True), ("verify", False)]
    assert job.notes[-1] == "filename=f is ignored: iocast runs on PATH"


def test_without_do_verify_nothing_is_read_back_and_a_note_says_who_does() -> None:
    job = read(f"[a]\n{WRITES}verify=crc32c\ndo_verify=0\n")
    assert roles(job) == [("measure", True)]
    assert "[a] is not read back; iocast verify RUN does that later" in job.notes


def test_the_runtime_takes_no_reading_back_away() -> None:
    job = read(f"[a]\n{WRITES}verify=crc32c\nruntime=9\ntime_based\n")
    assert roles(job) == [("measure", True), ("verify", False)]
    assert "[a] is read back in full, even after its runtime has ended, where fio reads nothing" in job.notes


def test_the_interval_is_the_block_and_the_warm_up_is_sealed_too() -> None:
    job = read(f"[a]\n{WRITES}verify=crc32c\nverify_interval=4096\nramp_time=1\n")
    assert roles(job) == [("warm", True), ("measure", True), ("verify", False)]
    assert [phase.verify_block_bytes for phase in job.phases] == [4096, 4096, None]


def test_a_section_that_only_reads_reads_back() -> None:
    job = read(f"[a]\n{WRITES}verify=md5\ndo_verify=0\n[b]\nstonewall\n{WRITES}rw=read\nverify=md5\nruntime=5\n")
    assert roles(job) == [("measure", True), ("verify", False)]
    assert any(note.startswith("[b] reads back everything written with verify") for note in job.notes)


def test_reads_of_a_mix_are_reads() -> None:
    (mixed, back) = read(f"[a]\n{WRITES}rw=randrw\nverify=crc32c\n").phases
    assert (mixed.verify, {item.op for item in mixed.workload.mix}, back.role) == (True, {"read", "write"}, "verify")


def test_payloads_that_never_repeat_are_what_fio_makes_of_all() -> None:
    assert roles(read(f"[a]\n{WRITES}verify=md5\nscramble_buffers=0\n"))[0] == ("measure", True)


@pytest.mark.parametrize(
    ("text", "message", "way_out"),
    [
        ("verify=md5\nverify_only", "job.fio:7: verify_only=1: an earlier run is verified", "iocast verify RUN"),
        (
            "verify=md5\nverify_state_load=1",
            "job.fio:7: verify_state_load=1: an earlier run is verified",
            "iocast verify RUN",
        ),
        ("verify=pattern", "job.fio:6: verify=pattern: every sector is sealed", "verify=crc32c"),
        ("verify=null", "job.fio:6: verify=null: it does not really verify", "verify=crc32c"),
        ("verify=md5\nverify_pattern=0xff", "job.fio:7: verify_pattern=0xff: every sector is sealed", "leave it out"),
        ("verify=md5\nverify_backlog=64", "job.fio:7: verify_backlog=64: iocast reads back after the section", ""),
        ("verify=md5\nzero_buffers", "[a] verify with payload: every sector is sealed", ""),
        ("verify=md5\nverify_interval=1000", "job.fio:7: [a] verify_interval is not a multiple of 512", ""),
        ("verify=md5\nverify_interval=16k", "writes of 8192 bytes are not whole multiples of verify_interval", ""),
        ("verify=md5\nbuffer_compress_percentage=50", "[a] verify with compressible", ""),
        ("verify=md5\nrw=read", "has nothing to read back: no earlier phase", ""),
        (f"verify=md5\ndo_verify=0\n[b]\nstonewall\n{WRITES}", "overwrites what", ""),
        (f"verify=md5\n[b]\n{WRITES}bs=4k", "[a] verifies beside other sections", "stonewall"),
    ],
)
def test_what_cannot_be_verified_is_refused(text: str, message: str, way_out: str) -> None:
    with pytest.raises(SpecError) as refused:
        read(f"[a]\n{WRITES}{text}\n")
    assert message in refused.value.message
    assert way_out in refused.value.hint


def toml(*phases: str) -> Job:
    head = 'name = "v"\n[files]\nsize = "64MiB"\n[defaults]\nengine = "uring"\n'
    return parse_job(head + "".join(f"[[phase]]\n{phase}\n" for phase in phases), "v.toml")


PAGES = 'test = "pages"\nwrite = 100\nsize = "8k"\nverify = true\nbytes = "64MiB"\nrepeats = false'
BACK = 'role = "verify"'
READS = 'test = "reads"\nsize = "8k"\nios = 100'


@pytest.mark.parametrize(
    "phases",
    [
        (PAGES, BACK),
        (PAGES, BACK, READS, PAGES, BACK),
        (PAGES,),
        (PAGES.replace('bytes = "64MiB"', 'time = "5s"') + "\nusers = 4",),
        (PAGES + '\nverify_block = "4k"', BACK),
        (READS, PAGES + "\nread = 300", BACK),
        (PAGES + "\ndepth = 16\nsync = \"dsync\"", BACK, PAGES.replace("verify = true\n", "")),
    ],
)  # fmt: skip
def test_verified_phases_go_to_fio_and_back(phases: tuple[str, ...], tmp_path: Path) -> None:
    job = toml(*phases)
    text = fio_text(job)
    assert_same(job, read(text))
    assert_fio_takes(text, tmp_path)


@pytest.mark.parametrize(
    ("phases", "message", "hint"),
    [
        ((PAGES, READS, BACK), "fio reads back only what a section wrote", "after each phase that writes"),
        ((PAGES, PAGES, BACK), "fio reads back only what a section wrote", "after each phase that writes"),
        ((PAGES, BACK, BACK), "fio reads back only what a section wrote", "after each phase that writes"),
        ((PAGES + "\nusers = 2", BACK), "report blocks that other users overwrote as errors", "users = 1"),
        ((PAGES.replace("bytes", 'time = "5s"\nbytes'), BACK), "once a section's runtime is over", "ios or bytes"),
    ],
)
def test_what_fio_would_not_read_back_is_refused(phases: tuple[str, ...], message: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        fio_text(toml(*phases))
    assert message in refused.value.message
    assert 'phase "verify' in refused.value.message
    assert hint in refused.value.hint


@pytest.mark.parametrize(
    ("files", "phase", "message"),
    [
        (
            'layout = "striped"\nstripe = "1MiB"\ncount = 2',
            READS + '\npattern = "sequential"\nusers = 2',
            "fio alternates between files for one user, one kind and one size of I/O",
        ),
        ("", READS.replace("ios = 100", 'until = "steady"'), "fio's steadystate is a different rule"),
        ("", READS.replace("ios = 100", 'burst = 5\nevery = "1s"\ntime = "9s"'), "fio has no bursts"),
        ("", READS + '\nwrite = 1\nread = 0\nsync = "rwf_dsync"', "RWF_DSYNC"),
        ("", READS + '\nengine = "sync"\ndepth = 4', "psync has a queue depth of 1"),
    ],
)
def test_whatever_else_fio_has_no_word_for_is_refused(files: str, phase: str, message: str) -> None:
    text = f'name = "v"\n[files]\nsize = "64MiB"\n{files}\n[[phase]]\n{phase}\n'
    with pytest.raises(SpecError) as refused:
        fio_text(parse_job(text, "v.toml"))
    assert f'phase "{parse_job(text, "v.toml").phases[0].name}": ' in refused.value.message
    assert message in refused.value.message


def test_a_phase_that_cannot_poll_is_refused() -> None:
    text = 'name = "v"\n[defaults]\npolling = "sqpoll"\nengine = "uring"\n'
    job = parse_job(f'{text}[[phase]]\n{READS}\n[[phase]]\n{READS}\nengine = "sync"\n', "v.toml")
    with pytest.raises(SpecError, match="psync cannot poll"):
        fio_text(job)
