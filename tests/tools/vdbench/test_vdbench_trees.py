"""vdbench's file system definitions and workloads: the tree, what each operation is, loops, rates, skew and format."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.errors import SpecError
from iocast.model.job import Job
from iocast.model.plan import Length
from iocast.model.tree import TreeSize
from iocast.model.workload import Closed, Constant, MixItem, Op, Poisson, Sequential, Uniform
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

FSD = "fsd=fsd1,anchor=/mnt/a,depth=2,width=3,files=10,size=64k\n"
FWD = "fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=2\n"
RD = "rd=rd1,fwd=fwd1,fwdrate=max,elapsed=5\n"


def job(text: str) -> Job:
    return parse_vdbench_job(text, "t.vdb")


def refusal(text: str) -> str:
    with pytest.raises(SpecError) as refused:
        job(text)
    return f"{refused.value.message}\n{refused.value.hint}"


@pytest.mark.parametrize(
    ("fsd", "directories", "files", "mib"),
    [("depth=1,width=1,files=1000,size=128k", 1, 1000, 125.0), ("depth=5,width=5,files=2", 3905, 6250, 0.0)],
)
def test_the_published_trees(fsd: str, directories: int, files: int, mib: float) -> None:
    made = job(f"fsd=f,anchor=/a,{fsd}\nfwd=w,fsd=f,operation=getattr\nrd=r,fwd=w,fwdrate=max,elapsed=1\n")
    assert made.tree is not None
    assert (made.tree.directories, made.tree.files_each) == (directories, files)
    assert made.tree.files_each * made.tree.mean_bytes / (1 << 20) == mib
    assert any(f"{files:,} files" in note for note in made.notes)


@given(depth=st.integers(1, 5), width=st.integers(1, 6), files=st.integers(1, 50), everywhere=st.booleans())
def test_directories_and_files_are_counted_as_vdbench_does(
    depth: int, width: int, files: int, everywhere: bool
) -> None:
    where = "all" if everywhere else "bottom"
    made = job(
        f"fsd=f,anchor=/a,depth={depth},width={width},files={files},distribution={where}\n"
        "fwd=w,fsd=f,operation=getattr\nrd=r,fwd=w,fwdrate=max,elapsed=1\n"
    )
    levels = [width**level for level in range(1, depth + 1)]
    assert made.tree is not None
    assert made.tree.directories == sum(levels)
    assert made.tree.files_each == files * (sum(levels) if everywhere else levels[-1])


def test_a_run_is_a_phase_in_the_tree() -> None:
    made = job(FSD + FWD + RD)
    (phase,) = made.phases
    load = phase.workload
    assert load.mix == (MixItem("read", 4096, 100.0),)
    assert (load.users, load.depth, load.select, load.arrival) == (2, 1, "random", Closed())
    assert isinstance(load.locality, Sequential)
    assert phase.length == Length(seconds=5.0)
    assert made.tree is not None
    assert made.tree.sizes == (TreeSize(65536, 100.0),)
    assert "anchor=/mnt/a is not used: the tree is made in PATH" in made.notes


@pytest.mark.parametrize(
    ("operation", "op"),
    [
        ("mkdir", "mkdir"),
        ("create", "create"),
        ("delete", "unlink"),
        ("open", "open"),
        ("close", "close"),
        ("getattr", "stat"),
        ("setattr", "setattr"),
        ("access", "access"),
    ],
)
def test_every_operation_on_names_is_one_of_the_core(operation: str, op: Op) -> None:
    (phase,) = job(FSD + f"fwd=fwd1,fsd=fsd1,operation={operation},threads=3\n" + RD).phases
    assert phase.workload.mix == (MixItem(op, 0, 100.0),)
    assert phase.from_nothing is (operation == "create")


def test_rmdir_has_directories_to_remove() -> None:
    made, removed = job(FSD + "fwd=fwd1,fsd=fsd1,operation=rmdir\n" + RD).phases
    assert (made.role, [item.op for item in made.workload.mix]) == ("warm", ["mkdir"])
    assert removed.as_it_is


def test_reads_and_writes_of_several_sizes() -> None:
    fwd = "fwd=fwd1,fsd=fsd1,rdpct=75,xfersize=(4k,50,64k,50),fileio=random,openflags=(o_direct,o_dsync)\n"
    (phase,) = job(FSD + fwd + RD).phases
    assert phase.workload.mix == (
        MixItem("read", 4096, 37.5),
        MixItem("read", 65536, 37.5),
        MixItem("write", 4096, 12.5),
        MixItem("write", 65536, 12.5),
    )
    assert (phase.workload.direct, phase.workload.sync) == (True, "dsync")
    assert isinstance(phase.workload.locality, Uniform)


@pytest.mark.parametrize(
    ("fwd", "rd", "ios"),
    [
        ("stopafter=100", "", 100),
        ("", ",stopafter=7", 7),
        ("stopafter=25%", "", 4),
        ("stopafter=1%", "", 1),
        ("", "", None),
    ],
)
def test_a_file_has_its_turn_for_so_many_reads(fwd: str, rd: str, ios: int | None) -> None:
    line = FWD.strip() + (f",{fwd}" if fwd else "") + "\n"
    (phase,) = job(FSD + line + RD.strip() + rd + "\n").phases
    assert phase.workload.stop_after == ios


def test_a_part_of_files_of_several_sizes_is_refused() -> None:
    sizes = FSD.replace("size=64k", "sizes=(4k,50,64k,50)")
    said = refusal(sizes + FWD.strip() + ",stopafter=10%\n" + RD)
    assert "stopafter=10%: a percentage of files, reads or writes of several sizes" in said
    assert said.startswith("t.vdb:2: ")


def test_an_end_by_bytes_is_a_tree_that_has_them_or_is_refused_with_the_files_that_have() -> None:
    enough = job(FSD.strip() + ",totalsize=1g\n" + FWD + RD)
    assert enough.tree is not None
    assert enough.tree.files == 10
    said = refusal(FSD.strip() + ",totalsize=3m\n" + FWD + RD)
    assert "totalsize=3m: the tree has 5.6 MiB: directories without files are not made" in said
    assert "files=5 has 2.8 MiB" in said


def test_workloads_of_one_run_are_one_mix_by_their_skew() -> None:
    text = (
        FSD + "fwd=default,fsd=fsd1,threads=2,fileselect=random\nfwd=a,operation=getattr,skew=60\n"
        "fwd=b,operation=open\nfwd=c,operation=setattr,skew=10\nrd=rd1,fwd=(a,b,c),fwdrate=1000,elapsed=5\n"
    )
    (phase,) = job(text).phases
    assert {item.op: item.weight for item in phase.workload.mix} == {"stat": 60.0, "open": 30.0, "setattr": 10.0}
    assert (phase.workload.users, phase.workload.arrival) == (6, Poisson(1000.0))
    assert "the skew of its workloads adds up to 130" in refusal(text.replace("skew=10", "skew=70"))


def test_loops_over_operations_threads_and_rates() -> None:
    rd = "rd=rd1,fwd=fwd1,fwdrate=(100,200),foroperations=(getattr,open),forthreads=(1,4),elapsed=2,distribution=d\n"
    phases = job(FSD + FWD + rd).phases
    assert [phase.name for phase in phases[:3]] == [
        "rd1 operation=getattr threads=1 @100/s",
        "rd1 operation=getattr threads=1 @200/s",
        "rd1 operation=getattr threads=4 @100/s",
    ]
    assert len(phases) == 8
    assert phases[0].workload.arrival == Constant(100.0)
    assert [phase.workload.mix[0].op for phase in phases[::4]] == ["stat", "open"]


def test_a_curve_is_shares_of_the_maximum() -> None:
    made = job(FSD + FWD + "rd=rd1,fwd=fwd1,fwdrate=curve,curve=(50,90),elapsed=2,stopcurve=5\n")
    assert [phase.name for phase in made.phases] == ["rd1 max", "rd1 50% of max", "rd1 90% of max"]
    assert {share.percent for share in made.shares.values()} == {50.0, 90.0}
    assert {share.of for share in made.shares.values()} == {"rd1 max"}
    warmed = job(FSD + FWD + "rd=rd1,fwd=fwd1,fwdrate=50%,elapsed=2,warmup=1\n")
    assert set(warmed.shares) == {"rd1 50% of max warm", "rd1 50% of max"}


@pytest.mark.parametrize(
    ("given", "rows"),
    [
        ("yes", ["rd1 format", "rd1 max"]),
        ("only", ["rd1 format"]),
        ("(yes,only)", ["rd1 format"]),
        ("(clean,only)", ["rd1 clean"]),
        ("clean", ["rd1 clean"]),
        ("restart", ["rd1 max"]),
        ("no", ["rd1 max"]),
    ],
)
def test_format_makes_or_removes_the_files_first(given: str, rows: list[str]) -> None:
    made = job(FSD + FWD + RD.replace("elapsed", f"format={given},elapsed"))
    assert [phase.name for phase in made.phases] == rows
    first = made.phases[0]
    if rows[0] != "rd1 max":
        assert (first.from_nothing, first.length.ios) == (given in ("yes", "only", "(yes,only)"), 90)
    assert ("not measured" in " ".join(made.notes)) is (given in ("restart", "no"))


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (FSD.replace("depth=2,", "") + FWD + RD, 1, "depth is missing"),
        (FSD + "fsd=fsd2,anchor=/mnt/a,depth=1,width=1,files=1\n" + FWD + RD, 2, "the anchor of fsd=fsd1"),
        (FSD + FWD.replace("=read", "=copy") + RD, 2, '"copy" is not an operation that is run'),
        (FSD + FWD.replace("operation=read,", "") + RD, 2, "operation is missing"),
        (FSD + FWD.replace("threads=2", "stopafter=half") + RD, 2, "stopafter=half"),
        (FSD + FWD.replace("random", "poisson") + RD, 2, "fileselect=poisson: not supported"),
        (FSD + FWD.replace("fileio=sequential", "fileio=(seq,delete)") + RD, 2, "fileio=(seq,delete): not supported"),
        (FSD + FWD + RD.replace("fwdrate=max,", ""), 3, "fwdrate is missing"),
        (FSD + FWD + RD.replace("elapsed", "forwss=(1m,2m),elapsed"), 3, "a part of the tree"),
        (FSD + FWD + RD.replace("elapsed", "format=once,elapsed"), 3, "format=once: once: not supported"),
        (FSD + FWD + RD.replace("elapsed", "iorate=5,elapsed"), 3, "iorate=5"),
        (FSD + FWD + RD.replace("fwd=fwd1", "fwd=fwd2"), 3, 'no fwd= called "fwd2"'),
        (FSD + "sd=sd1,lun=/a,size=1m\n" + FWD + RD, 2, "vdbench has one of them in a file"),
        (FSD + RD, 1, "it has no fwd="),
    ],
)
def test_what_does_not_run_is_refused_with_its_line(text: str, line: int, says: str) -> None:
    said = refusal(text)
    assert f"t.vdb:{line}: " in said
    assert says in said


def test_definitions_of_one_anchor_are_one_tree() -> None:
    made = job(FSD + FSD.replace("fsd1", "fsd2") + FWD.replace("fsd=fsd1", "fsd=fsd*") + RD)
    assert "file system definitions with one anchor are one tree" in made.notes
    assert math.isclose(made.tree.mean_bytes if made.tree else 0, 65536)
    assert [phase.tree for phase in made.phases] == [None]


SECOND = "fsd=fsd2,anchor=/mnt/b,depth=1,width=1,files=7,size=8k\n"


def test_several_trees_of_one_run_are_worked_in_at_once_with_the_threads_and_the_rate_split() -> None:
    made = job(FSD + SECOND + FWD.replace("fsd=fsd1", "fsd=*") + RD.replace("max", "300"))
    assert [phase.name for phase in made.phases] == ["rd1 @300/s fsd1", "rd1 @300/s fsd2"]
    assert {phase.together for phase in made.phases} == {"rd1 @300/s measure"}
    assert [phase.workload.users for phase in made.phases] == [1, 1]
    assert [phase.workload.arrival for phase in made.phases] == [Poisson(150.0), Poisson(150.0)]
    second = made.phases[1].tree
    assert second is not None
    assert (second.name, second.files, made.phases[0].tree) == ("2", 7, None)
    assert "anchor=/mnt/a, /mnt/b is not used: the trees are made beside each other in PATH" in made.notes


def test_each_run_works_in_the_trees_that_it_names() -> None:
    other = "fwd=fwd2,fsd=fsd2,operation=getattr\n"
    runs = RD + "rd=rd2,fwd=fwd2,fwdrate=max,format=yes,elapsed=5\nrd=rd3,fwd=*,fwdrate=max,format=clean\n"
    made = job(FSD + SECOND + FWD + other + runs)
    assert [(phase.name, phase.tree.name if phase.tree else "") for phase in made.phases] == [
        ("rd1 max", ""),
        ("rd2 format", "2"),
        ("rd2 max", "2"),
        ("rd3 clean fsd1", ""),
        ("rd3 clean fsd2", "2"),
    ]
    assert made.phases[1].length.ios == 7


def test_shares_of_a_maximum_in_several_trees_are_refused() -> None:
    said = refusal(FSD + SECOND + FWD.replace("fsd=fsd1", "fsd=*") + RD.replace("max", "curve"))
    assert "t.vdb:4: fwdrate=curve: shares of a maximum, in several trees" in said
    skewed = FWD.strip().replace("fsd=fsd1", "fsd=*") + ",skew=100\n"
    assert "an unknown rate" in refusal(FSD + SECOND + skewed + RD)


def test_loops_over_trees_make_each_shape_and_format_it() -> None:
    rd = "rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=2,forfiles=(10,20),forthreads=(1,2)\n"
    made = job(FSD + FWD + rd)
    assert [phase.name for phase in made.phases] == [
        "rd1 files=10 threads=1 format",
        "rd1 files=10 threads=1 max",
        "rd1 files=10 threads=2 max",
        "rd1 files=20 threads=1 format",
        "rd1 files=20 threads=1 max",
        "rd1 files=20 threads=2 max",
    ]
    assert [phase.length.ios for phase in made.phases if phase.length.ios] == [90, 180]
    assert [phase.tree.files if phase.tree else None for phase in made.phases] == [None] * 3 + [20] * 3
    assert any("each other shape is made in place of the one before" in note for note in made.notes)
    sizes = job(FSD + FWD + "rd=rd1,fwd=fwd1,fwdrate=max,forsizes=(8k,64k)\n")
    assert [phase.name for phase in sizes.phases] == ["rd1 sizes=8k max", "rd1 sizes=64k max"]


def test_operations_of_a_run_are_made_at_once_with_its_threads() -> None:
    rd = "rd=rd1,fwd=fwd1,fwdrate=max,elapsed=2,operations=(create,getattr,delete)\n"
    (phase,) = job(FSD + FWD.replace("threads=2", "threads=6") + rd).phases
    assert {item.op for item in phase.workload.mix} == {"create", "stat", "unlink"}
    assert (phase.workload.users, phase.name) == (6, "rd1 max")
