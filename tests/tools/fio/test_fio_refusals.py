"""What is refused of fio's job files: the words, the line and the way out; and the guide says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_fio_job

TIMED = "runtime=60\ntime_based\n"
GUIDE = (Path(__file__).parents[3] / "docs/guide/fio-job-files.md").read_text(encoding="utf-8")


def refusal(text: str) -> tuple[str, str]:
    with pytest.raises(SpecError) as refused:
        parse_fio_job(text, "job.fio", {})
    return refused.value.message, refused.value.hint


@pytest.mark.parametrize(
    ("settings", "says", "hint"),
    [
        ("size=1.5m", "size=1.5m: 1.5m is not a whole size: fio reads it as 1", "fio's sizes are"),
        ("size=64kib", "size=64kib: 64kib is 64000 bytes to fio, not what it suggests", "write 64k"),
        ("size=8*$mb_memory", "size=8*$mb_memory: 8*$mb_memory would be computed by fio", "write the result"),
        ("size=many", "size=many: many is not a valid size", "fio's sizes are"),
        ("size=120%", "size=120%: 120% is not a percentage", "percentages are whole numbers"),
        ("runtime=2 weeks", "runtime=2 weeks: 2 weeks is not a valid time", "fio's times are"),
        ("runtime=0.5", "runtime=0.5: 0.5 is not a whole time: fio reads it as 0", "fio's times are"),
        ("iodepth=0", "iodepth=0: 0 is out of range", "expected a whole number from 1 to 4096"),
        ("numjobs=5000", "numjobs=5000: 5000 is out of range", "expected a whole number from 1 to 4096"),
        ("direct=true", "direct=true: true is neither 0 nor 1", ""),
        ("bs=2g", "bs=2g: 2g is not a valid I/O size", "an I/O has from 1 byte to 1g"),
        ("bs=1000\ndirect=1", "bs=1000: 1000 is not a multiple of 512 bytes, as direct I/O requires", "direct=0"),
        ("bssplit=4k/60:8k/30", "bssplit=4k/60:8k/30: the shares of 4k/60:8k/30 add up to 90, not to 100", ""),
        ("rw=randraed", 'rw=randraed: not known; did you mean "randread"?', "rw is one of"),
        ("sync=osync", 'sync=osync: not known; did you mean "sync"?', "sync is one of none, 0, sync, 1, dsync"),
        ("ioengine=libaoi", 'ioengine=libaoi: unknown engine; did you mean "libaio"?', "ioengine is one of"),
        ("iodepht=8", 'unknown key "iodepht"; did you mean "iodepth"?', "supported keys: rw, "),
        ("zzz=8", 'unknown key "zzz"', "supported keys: rw, "),
        ("output=x", '"output" is an option of fio\'s command line, not of its job files', "leave it out"),
        ("size=", "size=: it has no value", "give one, or leave size out"),
        ("include more.fio", "include more.fio: include is not supported", "put the lines of more.fio in its place"),
        ("time_based", "time_based=1: needs a runtime", "runtime=60"),
        ("rw=randread\nrandom_distribution=zipf:1", "random_distribution=zipf:1: theta is a number above 0", "for ex"),
        ("rw=read:-4k", "rw=read:-4k: backwards with gaps is not supported", "nearest: rw=read:-8k, backwards"),
        ("rate=1m\nrate_iops=9", "rate_iops=9: it contradicts rate", "keep one"),
        ("rate_iops=9\nthinktime=5", "thinktime=5: it contradicts rate", "keep one"),
        ("rate=9k\nrate_process=poisson", "rate=9k: with poisson, fio runs it at 2 IOPS, not 2.25", "write"),
        ("bsrange=4k-16k", "bsrange=4k-16k: a range of sizes is not supported", "nearest: bssplit=4k/:8k/:16k/"),
        ("startdelay=5", "startdelay=5: phases follow each other without a pause", "leave it out"),
        (
            "percentage_random=50",
            "percentage_random=50: a pattern is either random or sequential, not a mix",
            "two sections",
        ),
    ],
)
def test_what_is_refused(settings: str, says: str, hint: str) -> None:
    sized = "" if settings.startswith(("size", "runtime")) else "size=1g\n"
    text = f"[a]\n{sized}{settings}\n"
    message, way_out = refusal(text)
    found = re.match(r"job\.fio:(\d+): ", message)
    assert found is not None
    assert message[found.end() :].startswith(says)
    assert text.splitlines()[int(found[1]) - 1].partition("=")[0] in says
    assert way_out.startswith(hint)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("size=1m\n[a]\n", "job.fio:1: size=1m: it comes before the first section", "put it below [global]"),
        ("[global]\nsize=1m\n", "job.fio:1: no job in it: it has no section other than [global]", "add one"),
        ("[a\nsize=1m\n", "job.fio:1: [a: not the head of a section", "write [name]"),
        (
            "[a]\nrw=read\n",
            "job.fio:1: [a] has no length: fio would go over the target once, whose size is unknown",
            "give size",
        ),
        (
            f"[a]\nsize=50%\n{TIMED}",
            "job.fio:2: size=50% of a target whose size is unknown here",
            "give it in bytes, or filesize too",
        ),
        ("[a]\nsize=4k\nbs=8k\n", "job.fio:2: [a] 4096 bytes in each file is less than one I/O of 8192", "a larger"),
        (
            "[a]\nsize=1g\nrw=read\nnumjobs=4\nfilename=f\noffset_increment=1m\n",
            "job.fio:6: [a] the parts of its users overlap or leave gaps: size and offset_increment differ",
            "make both the same",
        ),
        (
            "[a]\nsize=1g\nrw=rw\nfilename=f:g\n",
            "job.fio:4: [a] has fio alternate between 2 files with several users, strides, or kinds of I/O",
            "nearest: file_service_type=sequential, one file after the other",
        ),
        (
            "[a]\nsize=1g\nrw=read\nfilename=f:g\nfile_service_type=random\n",
            "job.fio:5: [a] has fio alternate between 2 files in random order",
            "nearest: file_service_type=sequential, one file after the other",
        ),
        (
            "[global]\nsize=1g\nrw=read\nfilename=f:g\n[a]\nbs=8k\n[b]\nstonewall\nbs=1m\n",
            "job.fio:9: [b] alternates between files at other distances than [a]",
            "the same bs and file_service_type in all",
        ),
        (
            f"[a]\nfilename=/dev/sdb\nsize=1g\n{TIMED}[b]\nstonewall\nfilename=/dev/sdc\nsize=1g\n{TIMED}",
            "job.fio:8: filename=/dev/sdc: iocast runs on one target; this file names 2 devices",
            "keep one, or write a job file for each",
        ),
        (
            f"[global]\nsize=1g\n{TIMED}[a]\n[b]\nwait_for=c\n",
            "job.fio:7: wait_for=c: no section above it has that name",
            "name one, or write stonewall",
        ),
    ],
)
def test_what_is_refused_of_whole_files(text: str, message: str, hint: str) -> None:
    said, way_out = refusal(text)
    assert said.startswith(message)
    assert way_out.startswith(hint)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    message, hint = refusal("[global]\nioengin=libaio\nverify=md6\n[a]\nrw=trimread\n[b]\nbs=8q\nsize=1m\n")
    assert message.splitlines() == [
        "job.fio has 4 problems",
        '  job.fio:2: unknown key "ioengin"; did you mean "ioengine"?',
        '  job.fio:3: verify=md6: not known; did you mean "md5"?',
        '  job.fio:5: rw=trimread: not known; did you mean "trimwrite"?',
        "  job.fio:7: bs=8q: 8q is not a valid size",
    ]
    assert hint.startswith("supported keys: rw, ")


def test_an_unset_variable_is_not_taken_for_nothing_as_fio_does() -> None:
    assert refusal("[a]\nsize=${NOWHERE}\n") == (
        "job.fio:2: size=${NOWHERE}: the environment variable NOWHERE is not set",
        "run it as NOWHERE=... iocast run ...",
    )


def test_the_guide_shows_what_is_really_said() -> None:
    (ini,) = re.findall(r"```ini\n(.*?)```", GUIDE, re.DOTALL)
    assert [phase.name for phase in parse_fio_job(ini, "job.fio", {}).phases] == ["lookups 8k 4x16", "scan 1M 1x1"]
    wrong = (
        "[global]\nioengin=libaio\nverify=md6\nsize=1g\nrw=randread\n[a]\nbs=8k\nthinktime=10ms\nthinktime_blocks=8\n"
    )
    assert refusal(wrong)[0] in GUIDE
