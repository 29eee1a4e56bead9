"""The conditions of the matrix, one entry each: what is planted, where it is made, what must be found."""

from __future__ import annotations

import random
from typing import Any, Literal
from zlib import crc32

from making import (
    Place,
    beside,
    file_of,
    image,
    lab,
    lowered,
    own_disk,
    raw,
    scrubbed,
    simulated,
    split,
    squeezed,
    starved,
    throttled,
    zram,
)
from msgspec import Struct
from msgspec.structs import replace

Names = tuple[str, ...]


class Condition(Struct, frozen=True, kw_only=True):
    """A place with something planted. To add one, add an entry below; `make matrix CELLS="--only NAME"` tries it."""

    name: str
    says: str  # what is planted, as the page of the matrix tells it
    where: Literal["sim", "real"]
    place: Place
    finds: Names = ()  # any of these counts; none: the place is clean
    also: Names = ()  # true of the place as well: no false alarm
    job: str = "survey"  # a preset, or a file of `jobs`
    size: str | None = None  # of the work files
    pace: float = 1.0  # of the seconds that the job gives its rows
    given_up: bool = False  # a device of our own making, which may be written to
    refuses: str = ""  # what the tool says where it refuses the place, and is right to
    own_disk: bool = False  # stands on the disk of this machine, which others use too
    target: str = ""  # of a simulated place whose numbers are drawn for each seed: "nvme,tick={}us"
    below: str = ""  # of an image on a lab device whose numbers are: "write_latency={}us fsync=0"
    ranges: tuple[tuple[float, float], ...] = ()  # of its numbers, in their order; low ones as likely as high ones

    def place_of(self, seed: int) -> Place:
        """The place of a seed: where numbers are drawn, others with every seed."""
        if not self.ranges:
            return self.place
        draw = random.Random(f"{self.name} {seed}")
        # Four figures, and no exponent: "11330", not "1.133e+04".
        drawn = [f"{float(f'{low * (high / low) ** draw.random():.4g}'):g}" for low, high in self.ranges]
        if self.below:
            return image(below=self.below.format(*drawn))
        return simulated(f"sim:{self.target.format(*drawn)}")

    def held_out(self, seed: int) -> bool:
        """Whether this cell is kept for the end: every third seed of each condition, which nobody looks at while
        detectors are changed."""
        return (seed + crc32(self.name.encode())) % 3 == 0


def _sim(name: str, says: str, target: str, *finds: str, also: Names = (), job: str = "survey") -> Condition:
    place = simulated(f"sim:{target}")
    return Condition(
        name=name, says=f"`sim:{target}`, {says}", where="sim", place=place, finds=finds, also=also, job=job
    )


def _drawn(
    name: str,
    says: str,
    target: str,
    ranges: tuple[tuple[float, float], ...],
    *finds: str,
    also: Names = (),
    job: str = "survey",
) -> Condition:
    """A simulated place whose numbers are drawn anew with every seed."""
    shown = target.format(*(f"{low:g}..{high:g}" for low, high in ranges))
    made = _sim(name, f"{says}; its numbers are drawn", target, *finds, also=also, job=job)
    return replace(made, says=f"`sim:{shown}`, {says}", target=target, ranges=ranges)


def _real(
    name: str, says: str, place: Place, *finds: str, also: Names = (), job: str = "survey", **more: Any
) -> Condition:
    return Condition(name=name, says=says, where="real", place=place, finds=finds, also=also, job=job, **more)


def _drawn_lab(
    name: str, says: str, below: str, ranges: tuple[tuple[float, float], ...], *finds: str, job: str, also: Names = ()
) -> Condition:
    """ext4 on a loop device over a lab device whose numbers are drawn anew with every seed."""
    shown = below.format(*(f"{low:g}..{high:g}" for low, high in ranges))
    made = _real(name, f"`{shown}`, {says}", image(), *finds, also=also, job=job)
    return replace(made, below=below, ranges=ranges)


def _clean(name: str, says: str, place: Place, **more: Any) -> Condition:
    """The whole survey at two fifths of its time: long enough for every detector, short enough for five seeds."""
    return _real(name, says, place, pace=0.4, **more)


def _lab(time: str, servers: int, jitter: str) -> Place:
    return image(below=f"read_latency={time} write_latency={time} servers={servers} jitter={jitter}")


CACHE, READ_AHEAD, TIERS, FIRST_WRITE = "cache_in_the_storage", "read_ahead", "tier_migration", "first_write_penalty"
ELIDED, REDUCED, CREDITS = "elided_reads", "compression_or_deduplication", "burst_credits"
SLC, STROKE = "write_cliff", "short_stroke"
STEP = "rate_step"
SHARED, LINK, MERGED, SPLIT = "shared_drives", "link_limit", "consolidation", "splitting"
MAINTENANCE, SERIALISED, PEAKS, THROTTLE = "maintenance", "serialised_direct_io", "several_peaks", "throttle"
TICK, RETROGRADE, STALLS, PAGE_CACHE = "coarse_clock", "retrograde_scaling", "stalls", "page_cache"
SLOW_REGION, FRESH = "slow_region", "fresh_writes"
POLLUTED, ROUND_TRIP, GENERATOR, SHALLOW = "cache_pollution", "round_trip_floor", "generator_bound", "too_few_in_flight"
HOLES = "has holes"  # in the words of the refusal
# A thread: a process of its own would leave the group in which it is ended.
OTHERS = (
    "fio --thread --name=other --directory={} --size=64M --rw=randrw --bs=8k --direct=1 --iodepth=16 --ioengine=libaio"
    " --time_based --runtime=1 --output=/dev/null; sleep 2"
)
OF_MEMORY = (GENERATOR, SHALLOW)  # the processor is what sets the pace of a memory, and I/Os end as they are submitted
LIMITS = (THROTTLE, LINK)  # from outside a cap on bytes is the same whether a wire or a rule sets it

# Where reads of what the survey never wrote would be elided, nothing else about reads is true either.
SIMULATED = (
    _drawn(
        "array cache",
        "a cache that holds about half of the data",
        "hdd,size=1GiB,cache={}MB:{}us",
        ((400, 600), (100, 300)),
        CACHE,
        also=(POLLUTED,),
    ),
    _sim("array cache, hits at random", "three of five reads hit", "cached-array", CACHE, PEAKS, also=LIMITS),
    _drawn(
        "cache before flash",
        "a cache that holds about half of the data",
        "sata-ssd,size=1GiB,cache={}MB:{}us",
        ((400, 600), (5, 15)),
        CACHE,
        also=(POLLUTED,),
    ),
    _drawn("read-ahead of a disk", "windows of 1 MiB", "hdd,read_ahead=1MiB:{}us", ((50, 200),), READ_AHEAD),
    _drawn("read-ahead of flash", "windows of 1 MiB", "sata-ssd,read_ahead=1MiB:{}us", ((8, 25),), READ_AHEAD),
    _drawn(
        "tier by access", "moves at the third access", "hdd,tier=100GiB:{}us:3", ((100, 400),), TIERS, also=(CACHE,)
    ),
    _sim("tier by access, flash", "moves at the third access", "sata-ssd,tier=100GiB:20us:3", TIERS, also=(CACHE,)),
    _drawn("first write of a disk", "thin space", "hdd,first_write={}ms", ((12, 40),), FIRST_WRITE),
    _drawn("first write of flash", "thin space", "nvme,first_write={}ms", ((0.5, 3),), FIRST_WRITE),
    _sim("holes on a disk", "what was never written is not read", "hdd,holes=20us", ELIDED),
    _sim("holes on flash", "what was never written is not read", "sata-ssd,holes=10us", ELIDED),
    _sim("zeros are not kept", "a hole is left instead", "sata-ssd,zeros=10us", REDUCED, ELIDED),
    _sim("compression", "zero bytes are not stored", "sata-ssd,compress=on", REDUCED),
    _sim("deduplication", "repeated blocks are not stored", "sata-ssd,dedupe=on", REDUCED),
    _drawn(
        "burst credits",
        "spent after 15 s or so",
        "nvme,iops={}/s,credits={}/s:60000",
        ((2500, 4000), (200, 500)),
        CREDITS,
        also=LIMITS,
    ),
    _drawn(
        "byte credits",
        "spent after a GiB",
        "nvme,byte_credits={}MB/s:1GiB",
        ((25, 60),),
        CREDITS,
        also=(*LIMITS, SLC),
    ),
    _drawn(
        "SLC cache",
        "some GiB at full speed",
        "qlc-ssd,slc={}GB:{}MB/s:50MB/s",
        ((3, 5), (120, 250)),
        SLC,
        also=LIMITS,
    ),
    _sim(
        "full write cache",
        "2 GiB at full speed",
        "hdd,bandwidth=800MB/s,cache=64MiB:200us,write_back=on,dirty=2GiB:100MB/s",
        SLC,
        CACHE,
        also=(POLLUTED,),
    ),
    _drawn(
        "others on the disk", "bursts of 1 s in 4", "hdd,noise={}/s:1s/4s", ((50, 80),), SHARED, also=(PEAKS, STALLS)
    ),
    _sim("others on flash", "bursts of 1 s in 4", "sata-ssd,noise=60000/s:1s/4s", SHARED, also=(PEAKS, STALLS)),
    _sim("gigabit link", "117 MB/s", "nfs-filer", LINK, THROTTLE, also=(CACHE, READ_AHEAD)),
    _drawn("ten-gigabit link", "1170 MB/s", "nvme,link=1170MB/s:{}us", ((30, 100),), LINK, THROTTLE),
    _sim("cap on I/Os", "5000 a second", "nvme,iops=5000/s", THROTTLE),
    _sim("cap on I/Os of a slower drive", "2000 a second", "sata-ssd,iops=2000/s", THROTTLE),
    _sim("cap on bytes", "100 MB/s", "nvme,throughput=100MB/s", THROTTLE, LINK),
    _drawn(
        "maintenance of a disk",
        "slower for 70 s",
        "hdd,slow=60s..130s:{}",
        ((2, 4),),
        MAINTENANCE,
        job="long",
    ),
    _drawn(
        "slow for a part of a quick card",
        "rows of 3 s, of which one begins quick and ends slow",
        "nvme,slow={}s..30s:{}",
        ((4, 5), (2.5, 4)),
        STEP,
        MAINTENANCE,
        also=(PEAKS, LINK),
        job="card-quick",
    ),
    _drawn(
        "credits that writes spend",
        "spent by commits or random writes of a quick card",
        "nvme,iops={}/s,credits={}/s:52000",
        ((2400, 2600), (250, 350)),
        CREDITS,
        also=(*LIMITS, PEAKS, STEP),
        job="card-quick",
    ),
    _sim("maintenance of flash", "a third as fast for 70 s", "sata-ssd,slow=60s..130s:3", MAINTENANCE, job="long"),
    _sim("one write at a time", "a lock", "nvme,serialised=writes", SERIALISED, job="curves"),
    _sim("one write at a time, SATA", "a lock", "sata-ssd,serialised=writes", SERIALISED, job="curves"),
    _sim("retrograde", "crosstalk", "nvme,servers=1024,bandwidth=none,usl=0.02:0.002", RETROGRADE, job="curves"),
    _sim("two peaks", "one in ten takes 6 ms", "sata-ssd,service=bimodal:90%:400us:6ms", PEAKS, also=(CACHE,)),
    _sim("coarse clock", "ends at whole milliseconds", "nvme,tick=1ms", TICK, also=(THROTTLE, SERIALISED)),
    _sim("stalls", "1 s of every 5", "sata-ssd,stall=1s/5s", STALLS, also=(SHARED, PEAKS)),
)

REAL = (
    _real(
        "page cache",
        "reads and writes of ext4 without direct I/O",
        own_disk(),
        PAGE_CACHE,
        also=(GENERATOR,),
        job="buffered",
    ),
    _real(
        "loop device with a cache",
        "ext4 on a loop device without direct I/O",
        image(direct=False),
        "cached_although_direct_was_claimed",
        "device_counters_stood_still",
        also=("faster_than_memory", *OF_MEMORY),
        job="reads",
        own_disk=True,
    ),
    _real("sparse file", "a file with nothing in it", file_of("sparse"), ELIDED, job="reads", refuses=HOLES),
    _real(
        "unwritten file",
        "a file that is allocated and not written",
        file_of("unwritten"),
        ELIDED,
        job="reads",
        refuses=HOLES,
    ),
    _real(
        "thin space",
        "a loop device over a file that is allocated as it is written",
        raw("sparse"),
        ELIDED,
        also=(FIRST_WRITE, "cached_although_direct_was_claimed"),  # which says "or was never stored"
        job="ground",
        given_up=True,
        own_disk=True,
    ),
    _real("zram", "ext4 on a zram device", zram(), "memory_device", also=(REDUCED, *OF_MEMORY), job="reads"),
    _real(
        "zeros in zram",
        "which keeps no pages of zeros",
        zram(),
        REDUCED,
        also=("memory_device", *OF_MEMORY),
        job="payload",
    ),
    # btrfs with compress-force is none: it compresses neither direct I/O nor files whose space was allocated before.
    _real(
        "throttle of a cgroup",
        "500 reads a second by blkio",
        throttled("read_iops 500", image()),
        THROTTLE,
        also=(STALLS,),
        job="reads",
        own_disk=True,
    ),
    _real(
        "throttle of a cgroup, bytes",
        "50 MB/s of reads by blkio",
        throttled("read_bps 50000000", image()),
        THROTTLE,
        also=(STALLS,),
        job="large",
        own_disk=True,
    ),
    _real(
        "throttle of a cgroup that is lowered",
        "3000 reads a second by blkio, 500 after 7 s",
        lowered("read_iops 3000", 500, 7, image(below="read_latency=500us write_latency=500us servers=8")),
        THROTTLE,
        also=(STALLS,),
        job="steady",
    ),
    _real(
        "lab: cap on I/Os",
        "a lab device of 0.5 to 2.5 ms that lets 200 in a second",
        image(below="read_latency=500us jitter=2ms iops=200/s"),
        THROTTLE,
        job="reads",
    ),
    _real(
        "lab: cache",
        "half of the blocks in 200 us",
        lab("read_latency=5ms", "hit=50%:200us"),
        CACHE,
        PEAKS,
        job="reads",
    ),
    _real(
        "lab: remembers",
        "reads of 64 KiB after the first in 200 us",
        lab("read_latency=2ms", "tier=200us"),
        CACHE,
        TIERS,
        job="few",
    ),
    _real(
        "lab: first write",
        "20 ms more",
        raw(below="write_latency=300us first_write=20ms"),
        FIRST_WRITE,
        job="first",
        given_up=True,
    ),
    _real(
        "lab: two peaks",
        "one in ten takes 20 ms",
        lab("read_latency=1ms", "tail=10%:20ms"),
        PEAKS,
        CACHE,
        STALLS,
        job="reads",
    ),
    _real(
        "lab: stalls",
        "1 s of every 5",
        lab("read_latency=1ms", "stall=1s/5s"),
        STALLS,
        also=(SHARED, PEAKS),
        job="steady",
    ),
    _real(
        "small requests",
        "a loop device that takes 64 KiB at most",
        split(64, image()),
        SPLIT,
        job="large",
        own_disk=True,
    ),
    _real(
        "merged: asynchronous",
        "4 KiB sequential, depth 32, on ext4",
        image(),
        MERGED,
        # The eight I/Os of a merged request end together, and one thread, which the loop device's workers keep from its
        # CPU, submits them again one by one: fewer than 32 are outstanding. Counted, and true.
        also=(SHALLOW,),
        job="merged",
        own_disk=True,
    ),
    _real(
        "scrub",
        "btrfs on a lab device, scrubbed all the time",
        scrubbed(image("btrfs", below="read_latency=500us servers=4")),
        MAINTENANCE,
        also=(SHARED,),
        job="steady",
    ),
    _real(
        "others on the same device",
        "fio reads and writes for 1 s in 3",
        beside(OTHERS, image(below="read_latency=500us write_latency=500us servers=2")),
        SHARED,
        job="steady",
    ),
)

# Detectors that came later.
FURTHER = (
    _sim("log writes in the cache", "a cache of a quarter", "hdd,cache=256MiB:200us", POLLUTED, also=(CACHE,)),
    _sim("backup in the cache of flash", "a cache of a quarter", "sata-ssd,cache=256MiB:10us", POLLUTED, also=(CACHE,)),
    _sim("far away", "2 ms there and back", "nvme,link=1170MB/s:2ms", ROUND_TRIP, also=LIMITS),
    _sim("small part of a disk", "a GiB of a TiB", "hdd", STROKE, job="stroke"),
    _sim("small part of a fast disk", "15000 rpm", "hdd,service=disk:15000:0.5ms:5ms", STROKE, job="stroke"),
    _sim(
        "users that end before others",
        "three of four read what a cache holds",
        "sata-ssd,bandwidth=none,cache=1GiB:10us",
        SHALLOW,
        also=(CACHE, PEAKS),
        job="uneven",
    ),
    _real(
        "backup in the page cache",
        "reads and writes without direct I/O, in 400 MiB of memory",
        squeezed(400, image()),
        POLLUTED,
        also=(PAGE_CACHE, PEAKS, STALLS, GENERATOR),
        job="polluted",
        own_disk=True,
    ),
    _real(
        "generator without a processor",
        "a twentieth of one for sixteen users",
        starved(5, image()),
        GENERATOR,
        also=(STALLS, PEAKS, THROTTLE),
        job="crowd",
        own_disk=True,
    ),
)

# What the trials of version 0.1 found missing, and other numbers for what was tuned on one.
DRAWN = (
    _drawn("ticks of any length", "a timer", "nvme,tick={}us", ((150, 900),), TICK, also=(THROTTLE, SERIALISED)),
    _drawn(
        "ticks of a disk", "a timer far below a read", "hdd,tick={}us", ((900, 3000),), TICK, also=(STROKE, THROTTLE)
    ),
    _drawn(
        "short stalls",
        "tens of milliseconds, by a clock",
        "sata-ssd,stall={}ms/{}ms",
        ((25, 90), (600, 1500)),
        STALLS,
        also=(SHARED, PEAKS),
        job="steady",
    ),
    _drawn(
        "long stalls",
        "seconds, by a clock",
        "sata-ssd,stall={}s/{}s",
        ((0.5, 2), (4, 6)),
        STALLS,
        also=(SHARED, PEAKS),
        job="steady",
    ),
    _drawn(
        "a tier that fills within a row",
        "each block moves at its third access",
        "sata-ssd,size=512MiB,service=lognormal:{}ms:0.2,tier=100GiB:{}ms:3,servers=1",
        ((15, 25), (3, 7)),
        TIERS,
        also=(CACHE, PEAKS, *LIMITS),
        job="ramp",
    ),
    _drawn("cap on I/Os, drawn", "a cap", "nvme,iops={}/s", ((1500, 12000),), THROTTLE),
    _drawn("cap on bytes, drawn", "a cap", "nvme,throughput={}MB/s", ((40, 110),), THROTTLE, LINK),
    _drawn(
        "split I/Os of a volume with credits",
        "each I/O costs two",
        "nvme,iops={}/s,credits={}/s:60000,max_io=4KiB",
        ((2500, 4000), (200, 500)),
        CREDITS,
        also=(*LIMITS, PEAKS),
    ),
    _drawn(
        "two peaks, drawn",
        "one in ten is slower",
        "sata-ssd,service=bimodal:90%:{}us:{}ms",
        ((250, 450), (4, 9)),
        PEAKS,
        also=(CACHE, POLLUTED),
    ),
    _real(
        "misaligned",
        "ext4 on a loop device that starts at 31.5 KiB of a lab device",
        image(below="read_latency=500us", start_bytes=32_256),
        "misaligned",
        also=(SPLIT, PEAKS),
        job="reads",
    ),
    _drawn_lab(
        "bad blocks",
        "ext4 on a loop device over a lab device of which a few megabytes take long",
        "read_latency=300us write_latency=300us jitter=30us bad={}MiB..700MiB:{}ms",
        ((600, 696), (20, 100)),
        SLOW_REGION,
        job="survey",
    ),
    _drawn_lab(
        "slow zone",
        "ext4 on a loop device over a lab device whose later part is slower",
        "read_latency=1ms write_latency=1ms jitter=100us zone={}MiB:{}ms",
        ((600, 900), (3, 8)),
        SLOW_REGION,
        job="survey",
    ),
    _drawn_lab(
        "reads of fresh writes",
        "ext4 on a loop device over a lab device that reads what was written last more slowly",
        "read_latency=2ms write_latency=1ms jitter=100us fresh={}MiB:{}ms",
        ((48, 96), (8, 20)),
        FRESH,
        job="survey",
    ),
    _drawn_lab(
        "free flushes",
        "ext4 on a loop device over a lab device that completes a flush in next to no time",
        "write_latency={}us fsync={}us",
        ((1000, 4000), (1, 40)),
        "flushes_cost_nothing",
        also=(MERGED,),
        job="commits",
    ),
)

# Places about which nothing of the sort is true: whatever is confirmed there is a false alarm.
CLEAN = (
    _sim("clean: disk", "as it comes", "hdd", also=(STROKE,)),
    _sim("clean: SATA flash", "as it comes", "sata-ssd"),
    _sim("clean: NVMe flash", "as it comes", "nvme"),
    _sim("clean: striped disks", "eight of them", "hdd,stripe=8:1MiB", also=(STROKE, SPLIT)),
    _sim("clean: fast disk", "15000 rpm", "hdd,service=disk:15000:0.5ms:5ms", also=(STROKE,)),
    _sim("clean: volume", "a cloud volume inside its credits", "cloud-volume", also=LIMITS),
    _sim("clean: array", "disks behind flash that holds all", "nvme,service=lognormal:400us:0.5,servers=32"),
    _sim("clean: durable flash", "slower writes", "sata-ssd,write=lognormal:300us:0.4"),
    _drawn("clean: exponential times", "no valley anywhere", "nvme,service=exponential:{}us", ((60, 400),)),
    _drawn("clean: a wide device", "times that scatter", "sata-ssd,service=lognormal:{}us:1.0", ((150, 600),)),
    _clean("clean: this disk", "a directory of this machine's own disk", own_disk(), own_disk=True),
    _clean("clean: ext4", "ext4 on a loop device", image(), own_disk=True),
    _clean("clean: XFS", "XFS on a loop device", image("xfs"), own_disk=True),
    _clean("clean: btrfs", "btrfs on a loop device", image("btrfs"), own_disk=True),
    _clean("clean: lab, 200 us", "a lab device", _lab("200us", 8, "50us")),
    _clean("clean: lab, 1 ms", "a lab device", _lab("1ms", 8, "200us")),
    _clean("clean: lab, one server", "a lab device", _lab("4ms", 1, "3ms")),
    _drawn_lab(
        "clean: flushes that cost",
        "ext4 on a loop device over a lab device whose flushes take longer than its writes",
        "write_latency={}us fsync={}us",
        ((100, 1000), (1500, 8000)),
        also=(MERGED,),
        job="commits",
    ),
    _clean("clean: lab, its file", "a lab device without a file system", lab("read_latency=500us", "jitter=100us")),
)

CONDITIONS: tuple[Condition, ...] = (*SIMULATED, *REAL, *FURTHER, *DRAWN, *CLEAN)
