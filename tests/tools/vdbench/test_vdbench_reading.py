"""vdbench parameter files (source-systems G2): what runs, what is noted, and what is refused with file and line."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SpecError
from iocast.jobs.library import load_job
from iocast.model.job import FileSize, Job
from iocast.model.plan import Length
from iocast.model.workload import (
    Closed,
    Compressible,
    Constant,
    Dedupable,
    MixItem,
    Poisson,
    Sequential,
    Uniform,
    Unique,
)
from iocast.tools.vdbench.parameter_file import looks_like_vdbench
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

SD = "sd=sd1,lun=/dev/sdb,size=1g,threads=4,openflags=o_direct\n"
WD = "wd=wd1,sd=sd1,xfersize=4k,rdpct=100\n"


def job(text: str) -> Job:
    return parse_vdbench_job(text, "t.vdb")


def refusal(text: str) -> str:
    with pytest.raises(SpecError) as refused:
        job(text)
    return f"{refused.value.message}\n{refused.value.hint}"


def test_the_quick_test() -> None:
    (phase,) = job(
        "* comment\n# another\n/ a third\nsd=sd1,lun=/mnt/quick,size=40m\nwd=wd1,sd=sd1,xfersize=1K,rdpct=50\n"
        "rd=run1,wd=wd1,iorate=100,elapsed=5,interval=1\n"
    ).phases
    assert phase.workload.mix == (MixItem("read", 1024, 50.0), MixItem("write", 1024, 50.0))
    assert phase.workload.arrival == Poisson(100.0)  # vdbench: exponential unless it says otherwise
    assert (phase.workload.users, phase.workload.depth) == (8, 1)  # vdbench's 8 threads
    assert (phase.length, phase.workload.locality) == (Length(seconds=5.0), Uniform())
    assert not phase.workload.direct


def test_defaults_wildcards_and_continued_lines() -> None:
    made = job(
        "sd=default,threads=2,size=64m,openflags=(o_direct,o_dsync)\nsd=sd1,lun=/mnt/a\n"
        "sd=sd2,lun=/mnt/b,\n   threads=2\n"
        "wd=default,xfersize=(4k,60,8k,40),rdpct=70\nwd=mix,sd=sd*\nrd=default,elapsed=10,warmup=3\n"
        'rd=r1,wd=mix,iorate=max,\n  pause=5\nrd=r2,wd="mix",iorate=(100-300,100),distribution=deterministic\n'
    )
    assert [phase.name for phase in made.phases if phase.role == "measure"] == [
        "r1 max",
        "r2 @100/s",
        "r2 @200/s",
        "r2 @300/s",
    ]
    warm, first = made.phases[:2]
    assert (warm.role, warm.length.seconds, first.length.seconds) == ("warm", 3.0, 10.0)
    load = first.workload
    assert {(item.op, item.size_bytes): item.weight for item in load.mix} == {
        ("read", 4096): 42.0,
        ("read", 8192): 28.0,
        ("write", 4096): 18.0,
        ("write", 8192): 12.0,
    }
    assert (load.users, load.direct, load.sync) == (4, True, "dsync")  # 2 threads on each of 2 storage definitions
    assert made.phases[-1].workload.arrival == Constant(300.0)
    assert (made.file_count, made.file_size) == (2, FileSize(size_bytes=64 << 20))
    assert any("pause has no effect" in note for note in made.notes)
    assert any("lun=/mnt/a, /mnt/b is not used" in note for note in made.notes)


def test_loops_run_through_all_combinations() -> None:
    made = job(SD + WD + "rd=r,wd=wd1,iorate=max,forxfersize=(4k,8k),forthreads=(1-4,d),forrdpct=(0,100),elapsed=1\n")
    assert len(made.phases) == 2 * 3 * 2
    assert made.phases[0].name == "r xfersize=4k threads=1 rdpct=0 max"
    assert [phase.workload.users for phase in made.phases[:6]] == [1, 1, 2, 2, 4, 4]
    assert {item.op for item in made.phases[0].workload.mix} == {"write"}


def test_a_curve_is_a_maximum_and_shares_of_it() -> None:
    made = job(SD + WD + "rd=r,wd=wd1,iorate=curve,elapsed=1\n")
    names = [f"r {percent}% of max" for percent in (10, 50, 70, 80, 90, 100)]
    assert [phase.name for phase in made.phases] == ["r max", *names]
    assert made.phases[0].workload.arrival == Closed()
    assert [(made.shares[name].of, made.shares[name].percent) for name in names[:2]] == [
        ("r max", 10.0),
        ("r max", 50.0),
    ]
    own = job(SD + WD + "rd=r,wd=wd1,iorate=curve,curve=(10-30,10),stopcurve=2.5,distribution=deterministic\n")
    assert [share.percent for share in own.shares.values()] == [10.0, 20.0, 30.0]
    assert {(share.even, share.stop_above_ns) for share in own.shares.values()} == {(True, 2_500_000)}
    assert [phase.name for phase in job(SD + WD + "rd=r,wd=wd1,iorate=(max,50%)\n").phases] == ["r max", "r 50% of max"]
    assert [phase.name for phase in job(SD + WD + "rd=r,wd=wd1,iorate=50%\n").phases] == ["r max", "r 50% of max"]


TWO = "wd=a,sd=sd1,xfersize=8k,rdpct=100,skew=75\nwd=b,sd=sd1,xfersize=64k,rdpct=0\n"


def test_workloads_that_differ_in_sizes_are_one_mix() -> None:
    (phase,) = job(SD + TWO + "rd=r,wd=(a,b),iorate=max\n").phases
    assert phase.workload.mix == (MixItem("read", 8192, 75.0), MixItem("write", 65536, 25.0))


def test_workloads_that_differ_in_more_run_side_by_side_at_their_share() -> None:
    other = TWO.replace("rdpct=0", "rdpct=0,seekpct=0")
    first, second = job(SD + other + "rd=r,wd=*,iorate=400\n").phases
    assert first.together == second.together != ""
    assert (first.workload.arrival, second.workload.arrival) == (Poisson(300.0), Poisson(100.0))
    assert isinstance(second.workload.locality, Sequential)
    assert "a, b differ in more than their share" in refusal(SD + other + "rd=r,wd=*,iorate=max\n")


def test_a_workload_on_a_part_of_the_storage_works_on_those_files() -> None:
    text = SD + "sd=sd2,size=1g,threads=4\nwd=one,sd=sd1\nwd=two,sd=sd2\nwd=both,sd=*\n"
    made = job(text + "rd=r1,wd=(one,two),iorate=200\nrd=r2,wd=both,iorate=max\n")
    assert [(phase.name, phase.on_files) for phase in made.phases] == [
        ("r1 @200/s one", (0,)),
        ("r1 @200/s two", (1,)),
        ("r2 max", ()),
    ]
    assert made.file_count == 2


def test_streams_are_sequences_of_their_own_shared_by_threads() -> None:
    rd = "rd=r,wd=wd1,iorate=max,forthreads=(4,9)\n"
    even, more = job(SD + "wd=wd1,sd=sd1,seekpct=0,xfersize=64k,streams=4\n" + rd).phases
    assert (even.workload.users, even.workload.depth) == (4, 1)
    assert (more.workload.users, more.workload.depth) == (4, 3)
    assert even.workload.locality == Sequential(start="own_region")


def test_a_keyword_is_known_by_its_first_letters_and_reads_by_what_is_written() -> None:
    (phase,) = job(SD + "wd=wd1,sd=sd1,xf=8k,wrpct=30,seek=seq\nrd=r,wd=wd1,ior=max,el=7,thr=3\n").phases
    assert phase.workload.mix == (MixItem("read", 8192, 70.0), MixItem("write", 8192, 30.0))
    assert (phase.workload.users, phase.length) == (3, Length(seconds=7.0))


def test_numbered_storage() -> None:
    made = job("sd=sd,lun=/mnt/f%03d,count=(2,3),size=1g\nwd=wd1,sd=sd*\n" + RD)
    assert made.file_count == 3
    assert any("lun=/mnt/f002, /mnt/f003, /mnt/f004 is not used" in note for note in made.notes)


def test_a_range_is_a_part_of_each_storage() -> None:
    (phase,) = job(SD + "wd=w,sd=sd1,range=(25,50)\nrd=r,wd=w,iorate=max\n").phases
    assert (phase.region_start_bytes, phase.region_size_bytes) == (256 << 20, 256 << 20)
    (phase,) = job(SD + "wd=w,sd=sd1,range=(1m,3m)\nrd=r,wd=w,iorate=max\n").phases
    assert (phase.region_start_bytes, phase.region_size_bytes) == (1 << 20, 2 << 20)


def test_a_run_without_workload_and_with_data_as_its_end() -> None:
    (phase,) = job(
        SD + "rd=fill,sd=*,rdpct=0,seekpct=0,xfersize=256k,iorate=max,elapsed=2h,maxdata=1g,threads=1\n"
    ).phases
    assert phase.length == Length(seconds=7200.0, bytes=1 << 30)
    assert phase.workload.mix == (MixItem("write", 262144, 100.0),)


RD = "rd=r,wd=wd1,iorate=max\n"


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (SD + WD.strip() + ",rhpct=50\n" + RD, 2, "cache hits cannot be asked for"),
        (SD + WD.strip() + ",hotband=(10,20)\n" + RD, 2, "hotband=(10,20)"),
        (SD + WD.strip() + ",rdptc=50\n" + RD, 2, 'unknown parameter "rdptc" of wd=; did you mean "rdpct"?'),
        (SD + WD.strip() + ",rdpct=50,rdpct=60\n" + RD, 2, "rdpct is given twice"),
        (SD + WD + "rd=r,wd=wd2,iorate=max\n", 3, 'no wd= called "wd2"; did you mean "wd1"?'),
        (SD + WD + "rd=r,wd=wd1\n", 3, "iorate is missing"),
        (SD + WD + "rd=r,wd=wd1,iorate=fast\n", 3, '"fast" is not a rate'),
        (SD + WD + "rd=r,wd=wd1,iorate=max,distribution=uniform\n", 3, "uniform is not supported"),
        (SD + WD + "rd=r,wd=wd1,iorate=max,elapsed=soon\n", 3, "elapsed=soon"),
        (SD + WD + "rd=r,wd=wd1,iorate=max elapsed=3\n", 3, "a comma is missing"),
        (SD + WD + "rd=r,wd=wd1,iorate=(1,2\n", 3, "the parentheses do not match"),
        (SD + WD + "rd=r,wd=wd1,iorate=max,endcmd=x\n", 3, "commands: not supported"),
        (SD + "wd=wd1,sd=sd1,seekpct=50\n" + RD, 2, "only 0 (sequential) and 100 (random)"),
        (SD + "wd=wd1,sd=sd1,xfersize=(4k,50,8k,40)\n" + RD, 2, "the shares add up to 90"),
        (SD + "wd=wd1,sd=sd1,xfersize=(4k,8k,4k)\n" + RD, 2, "random sizes are not supported"),
        (SD + "wd=wd1,sd=sd1,rdpct=(0,100)\n" + RD, 2, "loop over them: forrdpct=(0,100)"),
        ("compratio=0.5\n" + SD + WD + RD, 1, '"0.5" is not a ratio from 1 on'),
        ("compratio=2\ndedupratio=2\n" + SD + WD + RD, 2, "data that shrink and repeat are not written"),
        ("dedupratio=2\ndedupunit=128k\n" + SD + WD + RD, 2, "blocks of 4 KiB repeat here"),
        (SD + WD.strip() + ",compratio=2\n" + RD, 2, "give compratio= above all definitions"),
        ("hd=host2,system=db2\n" + SD + WD + RD, 1, "hd=host2: not supported"),
        (SD + "sd=sd2,size=2g\n" + WD + RD, 2, "different sizes"),
        (SD + "wd=wd1,sd=sd1,xf=4k,xfersize=8k\n" + RD, 2, "xfersize is given twice"),
        (SD.replace("sd1,", "sd1,count=(1,9999),") + WD + RD, 1, "count=(1,9999)"),
        (SD + "wd=wd1,sd=sd1,seekpct=eof\n" + RD, 2, "maxdata="),
        (SD + SD + WD + RD, 2, "sd=sd1 is defined in line 1 too"),
        (SD + WD + RD + "data_errors=1\n", 4, "a general parameter below a definition"),
        (WD + RD, 1, "it has no sd="),
        ("fwd=w,fsd=f,operation=mkdir\n", 1, "it has no fsd="),
    ],
)
def test_what_does_not_run_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    said = refusal(text)
    assert f"t.vdb:{line}: " in said
    assert says in said
    assert said.strip().count("\n") or "(" in said  # a way out


def test_all_problems_are_told_together() -> None:
    said = refusal(SD + WD.strip() + ",rhpct=50,whpct=5\nrd=r,wd=wd1,iorate=max,hotband=(1,2)\n")
    assert "t.vdb has 3 problems" in said


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        (SD, True),
        ("* only a comment\n\nrd=r,wd=w\n", True),
        ("hd=default,jvms=2\nsd=sd1,lun=/dev/sdb\n", True),
        ('name = "job"\n[[phase]]\ntest = "randread"\n', False),
        ("[global]\nrw=randread\n", False),
        ("", False),
    ],
)
def test_a_file_is_known_by_its_definitions(text: str, is_one: bool) -> None:
    assert looks_like_vdbench(text) is is_one


def test_a_file_of_any_name_is_read(tmp_path: Path) -> None:
    path = tmp_path / "parmfile"
    path.write_text(SD + WD + RD)
    assert load_job(str(path)).language == "vdbench"


def test_data_that_shrink_or_repeat_by_a_ratio() -> None:
    write = "wd=wd1,sd=sd1,xfersize=4k,rdpct=0\n"
    assert job("compratio=4\n" + SD + write + RD).phases[0].workload.payload == Compressible(75.0)
    assert job("dedupratio=2:1\ndedupunit=4k\n" + SD + write + RD).phases[0].workload.payload == Dedupable(50.0)
    assert job("compratio=4\n" + SD + WD + RD).phases[0].workload.payload == Unique(), "reads write nothing"
    looped = job(SD + write + RD.strip() + ",forcompratio=(1,2)\n").phases
    assert [phase.workload.payload for phase in looped] == [Unique(), Compressible(50.0)]
