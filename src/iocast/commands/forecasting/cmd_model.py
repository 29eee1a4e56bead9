"""iocast model LAW: the tables of queues, disks, volumes and rules of thumb, without a measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.showing import Into, deliver_report

KOLK_SIZES = "4kB,8kB,16kB,32kB,64kB"
KOLK_RATES = "135,105,75,45"

Asked = Callable[..., Any]


@click.group()
def model() -> None:
    """Print what a law says of disks, queues, volumes and mixes: `iocast model mm1 --service 7.2ms --rate 135,75`.

    Without options each prints the table of the document that it comes from, and notes where that document is wrong.
    """


def _law(name: str, says: str, *asks: Callable[[Asked], Asked]) -> None:
    """A law as a command. What it asks stands in help before what all laws take."""

    def shown(into: Into | None, form: str, **values: Any) -> int:
        from iocast.sessions.forecasting import model_laws

        deliver_report(model_laws.report_of(name, **values), form, into)
        return 0

    shown.__doc__ = says
    whole: Asked = filing(presenting(shown))
    for ask in reversed(asks):
        whole = ask(whole)
    model.command(name)(whole)


def _option(name: str, default: str | None, says: str, metavar: str) -> Callable[[Asked], Asked]:
    return click.option(name, default=default, show_default=default is not None, metavar=metavar, help=says)


def _count(name: str, default: int | None, says: str, most: int | None = None) -> Callable[[Asked], Asked]:
    shown = default is not None
    kind = click.IntRange(1, most)
    return click.option(name, type=kind, default=default, show_default=shown, metavar="NUMBER", help=says)


SERVICE = _option("--service", "7.2ms", "Time of one I/O alone.", "TIME")
RATE = _option("--rate", KOLK_RATES, "Arrivals a second.", "RATE,...")
SERVERS = _count("--servers", 8, "Servers.", 10_000)
SIZES = _option("--size", KOLK_SIZES, "I/O sizes: 4kB is 4000 bytes, 4k is 4096.", "SIZE,...")

_law(
    "disk",
    "Service time of a spinning disk: seek, half a rotation, transfer.",
    _option("--rpm", None, "Revolutions a minute; default 7200, 10000 and 15000.", "RPM,..."),
    _option("--seek", "5ms", "Average seek.", "TIME"),
    _option("--seek-from", "2ms", "Shortest seek of the band.", "TIME"),
    _option("--seek-to", "8ms", "Longest seek of the band.", "TIME"),
    _option("--transfer", "40MB/s", "Transfer rate.", "RATE"),
    SIZES,
    _option("--controller", "0s", "Overhead of the controller.", "TIME"),
    _count("--disks", None, "Disks, with --iops: what they do together.", 1_000_000),
    _option("--iops", None, "IOPS of one disk, with --disks.", "RATE"),
)
_law(
    "controller",
    "IOPS and bus utilisation of a controller.",
    _option("--overhead", "0.3ms", "Time of one I/O without its transfer.", "TIME"),
    _option("--bus", "160MB/s", "Bus rate.", "RATE"),
    SIZES,
)
_law(
    "raid",
    "What small random I/O costs the disks of a RAID set.",
    _option("--iops", "1000", "I/Os a second of the database.", "RATE"),
    _option("--read", "70%", "Share of reads.", "PERCENT"),
    _count("--data-disks", 4, "Data disks of a stripe.", 1000),
    _option("--level", "0,1,10,5,6", "RAID levels.", "LEVEL,..."),
)
_law(
    "stroke",
    "Service time when only a part of a disk is used.",
    _option("--disk", "sata", "Fitted coefficients: sata (7,200 rpm) or sas (10,000 rpm).", "sata|sas"),
    _option("--part", "0.1%,10%,100%", "Shares of the disk that are used.", "PERCENT,..."),
    _option("--size", "8k", "I/O size.", "SIZE"),
    _option("--transfer", None, "Transfer rate; overrides --disk.", "RATE"),
    _option("--settle", None, "Shortest seek; overrides --disk.", "TIME"),
    _option("--full", None, "What a seek over the whole disk takes more; overrides --disk.", "TIME"),
    _option("--rpm", None, "Revolutions a minute; overrides --disk.", "RPM"),
)
_law(
    "zones",
    "Tests in zones of a disk: outside, inside, both at the same time.",
    _count("--reads", 1000, "Reads of each process."),
    _count("--processes", 2, "Processes at the same time."),
    _option("--elapsed", "11.5s,17.5s,32.5s", "Elapsed time of each test.", "TIME,..."),
    _option("--inner", "0.71", "Speed of the inside over that of the outside.", "RATIO"),
)
_law(
    "mm1",
    "One server and random arrivals: the hockey stick.",
    _option("--service", None, "Time of one I/O alone; default 7.2ms, and 8.6ms without --rate.", "TIME,..."),
    RATE,
    _option("--limit", None, "Mean response time: up to which rate it holds.", "TIME"),
)
_law(
    "mmc",
    "Servers that share one queue.",
    SERVICE,
    SERVERS,
    _option("--rate", "400,700,900,1000", "Arrivals a second.", "RATE,..."),
)
_law(
    "mg1",
    "One server whose service time varies more, or less, than at random.",
    SERVICE,
    RATE,
    _option("--cv2", "0", "Squared coefficient of variation of the service time: 0 constant, 1 random.", "NUMBER"),
)
_law(
    "ggc",
    "Several servers, bursts, a long tail.",
    SERVICE,
    SERVERS,
    _option("--rate", "400,700,900,1000", "Arrivals a second.", "RATE,..."),
    _option(
        "--arrival-cv2", "1", "Squared coefficient of variation between arrivals: 1 random, more: bursts.", "NUMBER"
    ),
    _option("--service-cv2", "1", "The same of the service time.", "NUMBER"),
)
_law(
    "percentiles",
    "Percentiles of the response time of servers that share one queue.",
    SERVICE,
    _count("--servers", 1, "Servers.", 10_000),
    _option("--rate", "105,83.333,75,45", "Arrivals a second.", "RATE,..."),
    _option("--percentile", "50,90,95,99,99.9", "Percentiles.", "PERCENT,..."),
)
_law(
    "samples",
    "How many I/Os a percentile needs, and how long a row must be for that.",
    _option("--percentile", "50,95,99,99.9,99.99", "Percentiles.", "PERCENT,..."),
    _option("--rate", "1000", "I/Os a second of the row.", "RATE"),
)
_law(
    "knees",
    "How far a pool may be loaded: the rule of 60%, and what becomes of it.",
    SERVICE,
    _option("--servers", "1,2,4,8,16,32,64", "Sizes of the pool.", "NUMBER,..."),
    _option("--multiple", "2.5", "Mean response over the service time.", "NUMBER"),
)
_law(
    "mva",
    "Closed queues: what numbers of users get of several stations.",
    _option("--demand", "5ms,2ms", "Time of a request at each station.", "TIME,..."),
    _option("--users", "1,2,4,8,16", "Numbers of users.", "NUMBER,..."),
    _option("--think", "0s", "Think time.", "TIME"),
    _option("--servers", None, "Servers of each station.", "NUMBER,..."),
    click.option("--approximate", is_flag=True, help="Bard and Schweitzer, for many users."),
)
_law(
    "bounds",
    "Between what the throughput of closed queues lies.",
    _option("--demand", "5ms,2ms", "Time of a request at each station.", "TIME,..."),
    _option("--users", "1,2,4,8,16", "Numbers of users.", "NUMBER,..."),
    _option("--think", "0s", "Think time.", "TIME"),
)
_law(
    "usl",
    "The universal scalability law, given or fitted to measured loads.",
    _option("--load", "1,2,4,8,16,32", "Numbers of users, or outstanding I/Os.", "NUMBER,..."),
    _option("--rate", None, "Measured I/Os a second at each load: the law is fitted.", "RATE,..."),
    _option("--gamma", "1000", "I/Os a second of one.", "RATE"),
    _option("--alpha", "0.05", "Contention.", "NUMBER"),
    _option("--beta", "0.001", "Crosstalk.", "NUMBER"),
)
_law(
    "bucket",
    "A token bucket under a demand that changes.",
    _option("--rate", "3000", "Refill a second.", "RATE"),
    _option("--bucket", "60000", "Credits of a full bucket.", "NUMBER"),
    _option("--demand", "1000:60s,6000:30s,1500:60s", "Rate and time of each stretch.", "RATE:TIME,..."),
)
_law(
    "burst",
    "What a burst above the capacity leaves behind.",
    _option("--rate", "5000", "Arrivals a second during the burst.", "RATE"),
    _option("--after", "1500", "Arrivals a second after it.", "RATE"),
    _option("--capacity", "3000", "I/Os a second that the storage does.", "RATE"),
    _option("--time", "30s", "Length of the burst.", "TIME"),
)
_law(
    "levels",
    "Load that changes slowly: what the average rate hides.",
    SERVICE,
    SERVERS,
    _option("--level", "400:90%,900:10%", "Rate and share of the time of each level.", "RATE:PERCENT,..."),
)
_law(
    "volume",
    "Limits of cloud volumes; with KIND (gp2, gp3, io2, premium-ssd-v2): what one delivers.",
    click.argument("kind", required=False),
    _option("--size", "500GiB", "Size of the volume.", "SIZE"),
    _option("--iops", "3000", "IOPS asked for.", "RATE"),
    _option("--throughput", "125MiB/s", "Throughput asked for.", "RATE"),
    _option("--io", "8k", "I/O size.", "SIZE"),
)
_law(
    "mix",
    "What several kinds of I/O use together.",
    _option("--rate", "3000,500", "I/Os a second of each kind.", "RATE,..."),
    _option("--capacity", "10000,2000", "What the storage does of each kind alone.", "RATE,..."),
)
_law(
    "cache",
    "How much of random reads a cache answers.",
    _option("--data", "200GB", "Data that are read at random.", "SIZE"),
    _option("--cache", "100GB", "The cache.", "SIZE"),
    _option("--hit", "20us", "Time of a read that the cache answers.", "TIME"),
    _option("--miss", "7ms", "Time of one that it does not.", "TIME"),
)
_law(
    "link",
    "What share of a link measured MB/s are.",
    _option("--mbps", None, "MB/s that were measured.", "NUMBER"),
    _option("--link", None, 'What they came over: "FC 4G", "10 GbE"; `iocast model rules` lists them.', "LINK"),
    _count("--ports", 1, "Links.", 1000),
    _count("--mtu", 1500, "Bytes of a packet of an Ethernet; 9000: jumbo frames.", 65_536),
    _option("--resent", "0%", "Share of TCP segments that were sent again; `iocast watch ioh` counts them.", "SHARE"),
)
_law("rules", "Rules of thumb of links and devices, dated.")
