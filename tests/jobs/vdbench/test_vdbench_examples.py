"""Parameter files of the kinds that the manual of vdbench shows, in our own words: each is run as its rows say."""

from __future__ import annotations

import pytest

from iocast.jobs.vdbench.vdbench_reading import parse_vdbench_job

# (what it shows, the file, its rows)
EXAMPLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "one run of random reads at a rate",
        "sd=sd1,lun=/dev/x,size=4m\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=100,elapsed=10\n",
        ("run1 @100/s",),
    ),
    (
        "two runs, two workloads, one storage",
        "sd=sd1,lun=/dev/x,size=64m,openflags=o_direct\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100\n"
        "wd=wd2,sd=sd1,xfersize=8k,rdpct=0,seekpct=seq\n"
        "rd=run1,wd=wd1,iorate=200,elapsed=10\nrd=run2,wd=wd2,iorate=max,elapsed=10\n",
        ("run1 @200/s", "run2 max"),
    ),
    (
        "sizes that double, read shares in steps",
        "sd=sd1,lun=/dev/x,size=64m\nwd=wd1,sd=sd1\n"
        "rd=run1,wd=wd1,iorate=max,elapsed=5,forxfersize=(1k-4k,d),forrdpct=(0-100,50)\n",
        tuple(f"run1 xfersize={size} rdpct={share} max" for size in ("1k", "2k", "4k") for share in (0, 50, 100)),
    ),
    (
        "a curve, and its maximum",
        "sd=sd1,lun=/dev/x,size=64m\nwd=wd1,sd=sd1,rdpct=60\n"
        "rd=run1,wd=wd1,iorate=curve,curve=(25,75),elapsed=5,warmup=2\n",
        ("run1 max", "run1 25% of max", "run1 75% of max"),
    ),
    (
        "a mix of sizes with skew",
        "sd=sd1,lun=/dev/x,size=64m\nwd=default,sd=sd1,rdpct=80\nwd=small,xfersize=4k,skew=70\nwd=large,xfersize=64k,skew=30\n"
        "rd=run1,wd=(small,large),iorate=max,elapsed=5\n",
        ("run1 max",),
    ),
    (
        "a tree is formatted, then read at random",
        "fsd=fsd1,anchor=/mnt/x,depth=1,width=1,files=100,size=128k\n"
        "fwd=fwd1,fsd=fsd1,operation=read,xfersize=4k,fileio=sequential,fileselect=random,threads=2\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=10,interval=1\n",
        ("rd1 format", "rd1 max"),
    ),
    (
        "a tree is only formatted",
        "fsd=fsd1,anchor=/mnt/x,depth=2,width=2,files=50,sizes=(4k,50,32k,50),distribution=all\n"
        "fwd=fwd1,fsd=fsd1,operation=read\nrd=rd1,fwd=fwd1,fwdrate=max,format=only,elapsed=10\n",
        ("rd1 format",),
    ),
    (
        "all operations on names, one after the other",
        "fsd=fsd1,anchor=/mnt/x,depth=2,width=4,files=20,size=4k\nfwd=fwd1,fsd=fsd1,operation=getattr,threads=8\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,elapsed=5,operations=(create,open,getattr,setattr,close,delete)\n",
        tuple(f"rd1 operation={each} max" for each in ("create", "open", "getattr", "setattr", "close", "delete")),
    ),
    (
        "several workloads of a tree share a rate",
        "fsd=fsd1,anchor=/mnt/x,depth=1,width=2,files=10,size=64k\nfwd=default,fsd=fsd1,xfersize=8k,fileio=random\n"
        "fwd=reads,operation=read,threads=4,skew=70\nfwd=writes,operation=write,threads=2,skew=30\n"
        "rd=rd1,fwd=*,fwdrate=(100-300,100),elapsed=5\n",
        ("rd1 @100/s", "rd1 @200/s", "rd1 @300/s"),
    ),
)


@pytest.mark.parametrize(("shows", "text", "rows"), EXAMPLES, ids=[shows for shows, _, _ in EXAMPLES])
def test_an_example_runs_as_its_rows_say(shows: str, text: str, rows: tuple[str, ...]) -> None:
    made = parse_vdbench_job(text, "example.vdb")
    assert tuple(phase.name for phase in made.phases if phase.role == "measure") == rows, shows
    assert (made.tree is not None) is text.startswith("fsd")
