"""Parameter files of the kinds that the manual of vdbench shows, in our own words: each is run as its rows say."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.tools.vdbench.vdbench_reading import parse_vdbench_job

# (what it shows, the file, its rows)
EXAMPLES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "one run of random reads at a rate",
        "sd=sd1,lun=/dev/x,size=4m\nwd=wd1,sd=sd1,xfersize=4k,rdpct=100\nrd=run1,wd=wd1,iorate=100,elapsed=10\n",
        ("run1 @100/s",),
    ),
    (
        "two storages, each with a workload of its own",
        "sd=sd1,lun=/dev/x,size=64m\nsd=sd2,lun=/dev/y,size=64m\nwd=wd1,sd=sd1,xfersize=4k,rdpct=80\n"
        "wd=wd2,sd=sd2,xfersize=8k,rdpct=0\nrd=run1,wd=wd*,iorate=200,elapsed=10\n",
        ("run1 @200/s wd1", "run1 @200/s wd2"),
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
        "rd=rd1,fwd=fwd1,fwdrate=max,elapsed=5,foroperations=(create,open,getattr,setattr,close,delete)\n",
        tuple(f"rd1 operation={each} max" for each in ("create", "open", "getattr", "setattr", "close", "delete")),
    ),
    (
        "operations of one run at the same time",
        "fsd=fsd1,anchor=/mnt/x,depth=1,width=1,files=100,size=4k\nfwd=fwd1,fsd=fsd1,operation=read,threads=4\n"
        "rd=rd1,fwd=fwd1,fwdrate=100,elapsed=5,operations=(create,getattr,delete,read)\n",
        ("rd1 @100/s",),
    ),
    (
        "two trees of different shapes at once",
        "fsd=fsd1,anchor=/mnt/a,depth=1,width=1,files=9,size=64k\nfsd=fsd2,anchor=/mnt/b,depth=1,width=2,files=8,size=8k\n"
        "fwd=fwd1,fsd=fsd*,operation=read,threads=8\nrd=rd1,fwd=fwd1,fwdrate=max,format=yes,elapsed=5\n",
        ("rd1 format fsd1", "rd1 format fsd2", "rd1 max fsd1", "rd1 max fsd2"),
    ),
    (
        "loops over trees",
        "fsd=fsd1,anchor=/mnt/x,depth=1,width=1,files=9,size=64k\nfwd=fwd1,fsd=fsd1,operation=read\n"
        "rd=rd1,fwd=fwd1,fwdrate=max,fordepth=(1-3,1)\n",
        ("rd1 depth=1 max", "rd1 depth=2 max", "rd1 depth=3 max"),
    ),
    (
        "many storage definitions in one line, and short words",
        "sd=sd,lun=/mnt/x/file%04d,count=(1,3),size=20m\nwd=wd1,sd=sd*,seekpct=seq,readp=0,xf=8k\n"
        "rd=run1,wd=wd*,ior=max,el=10,thread=12\n",
        ("run1 max",),
    ),
    (
        "sequential streams",
        "sd=sd1,lun=/mnt/x/file,size=64m\nwd=wd1,sd=sd1,seekpct=0,xfersize=64k,streams=4\n"
        "rd=run1,wd=wd1,iorate=max,elapsed=10,forthreads=(4,16)\n",
        ("run1 threads=4 max", "run1 threads=16 max"),
    ),
    (
        "what is below eof is not read",
        "sd=sd1,lun=/mnt/x/file,size=64m\nwd=wd1,sd=sd1\nrd=run1,wd=wd1,iorate=max,elapsed=10\neof\nrd=run2,nothing\n",
        ("run1 max",),
    ),
    (
        "random I/O, some to each file, a flat tree",
        "fsd=fsd1,anchor=/mnt/x,depth=1,width=1,files=50,size=1m,totalsize=50m\n"
        "fwd=fwd1,fsd=fsd1,operation=write,xfersize=8k,fileio=random,fileselect=random,stopafter=16,threads=4\n"
        "rd=rd1,fwd=fwd1,fwdrate=(100,max),format=restart,elapsed=5,interval=1\n",
        ("rd1 @100/s", "rd1 max"),
    ),
    (
        "several workloads of a tree share a rate",
        "fsd=fsd1,anchor=/mnt/x,depth=1,width=2,files=10,size=64k\nfwd=default,fsd=fsd1,xfersize=8k,fileio=random\n"
        "fwd=reads,operation=read,threads=4,skew=70\nfwd=writes,operation=write,threads=2,skew=30\n"
        "rd=rd1,fwd=*,fwdrate=(100-300,100),elapsed=5\n",
        ("rd1 @100/s", "rd1 @200/s", "rd1 @300/s"),
    ),
)


TREE = "fsd=fsd1,anchor=/a,depth=1,width=1,files=9,size=64k\n"
READS = "fwd=fwd1,fsd=fsd1,operation=read\n"
STORAGE = "sd=sd1,lun=/dev/x,size=4m\n"
# (what the manual shows and iocast does not run, the file, the line, what is said, a word of the way out)
REFUSED: tuple[tuple[str, str, int, str, str], ...] = (
    (
        "two trees of different shapes in one place",
        f"{TREE}fsd=fsd2,anchor=/a,depth=1,width=1,files=8,size=64k\n{READS}rd=r,fwd=fwd1,fwdrate=max\n",
        2,
        "fsd=fsd2 has the anchor of fsd=fsd1 and is another tree",
        "an anchor= of its own",
    ),
    (
        "storage beside a tree",
        f"{STORAGE}{TREE}{READS}rd=r,fwd=fwd1,fwdrate=max\n",
        1,
        "sd=sd1 beside fsd=fsd1",
        "each",
    ),
    ("a hot band", f"{STORAGE}wd=w,sd=sd1,hotband=(10,20)\nrd=r,wd=w,iorate=max\n", 2, "hotband=(10,20)", "hotspot"),
    ("streams at random", f"{STORAGE}wd=w,sd=sd1,streams=4\nrd=r,wd=w,iorate=max\n", 2, "streams=4", "seekpct=0"),
    ("repeats", f"loop=3\n{STORAGE}wd=w,sd=sd1\nrd=r,wd=w,iorate=max\n", 1, "loop=3", "iocast repeat"),
    ("data patterns", f"pattern=/p\n{STORAGE}wd=w,sd=sd1\nrd=r,wd=w,iorate=max\n", 1, "pattern=/p", "compratio="),
    ("sets of duplicates", f"dedupsets=5%\n{STORAGE}wd=w,sd=sd1\nrd=r,wd=w,iorate=max\n", 1, "dedupsets=5%", "dedup"),
    ("a trace", f"showlba=yes\n{STORAGE}wd=w,sd=sd1\nrd=r,wd=w,iorate=max\n", 1, "showlba=yes", "iocast capture"),
    ("cache hits", f"{STORAGE}wd=w,sd=sd1,rhpct=50\nrd=r,wd=w,iorate=max\n", 2, "rhpct=50", "hotspot"),
    ("other hosts", f"hd=host2,system=h\n{STORAGE}wd=w,sd=sd1\nrd=r,wd=w,iorate=max\n", 1, "hd=host2", "one host"),
    (
        "a copy between trees",
        f"{TREE}fwd=c,fsd=fsd1,operation=copy,target=fsd2\nrd=r,fwd=c,fwdrate=max\n",
        2,
        "target=fsd2",
        "copy",
    ),
    ("a working set", f"{TREE}{READS}rd=r,fwd=fwd1,fwdrate=max,forwss=(1m,2m)\n", 3, "forwss=(1m,2m)", "tree smaller"),
    (
        "data validation",
        f"validate=yes\n{STORAGE}wd=w,sd=sd1\nrd=r,wd=w,iorate=max\n",
        1,
        "validate=yes",
        "verify = true",
    ),
)


@pytest.mark.parametrize(("shows", "text", "line", "said", "way_out"), REFUSED, ids=[shows for shows, *_ in REFUSED])
def test_what_is_not_run_is_refused_by_name_and_line_with_the_way_out(
    shows: str, text: str, line: int, said: str, way_out: str
) -> None:
    with pytest.raises(SpecError) as refused:
        parse_vdbench_job(text, "example.vdb")
    told = f"{refused.value.message}\n{refused.value.hint}"
    assert told.startswith(f"example.vdb:{line}: "), shows
    assert said in told
    assert way_out in told


@pytest.mark.parametrize(("shows", "text", "rows"), EXAMPLES, ids=[shows for shows, _, _ in EXAMPLES])
def test_an_example_runs_as_its_rows_say(shows: str, text: str, rows: tuple[str, ...]) -> None:
    made = parse_vdbench_job(text, "example.vdb")
    assert tuple(phase.name for phase in made.phases if phase.role == "measure") == rows, shows
    assert (made.tree is not None) is text.startswith("fsd")
