"""iocast model LAW: the tables of queues, disks, volumes and rules of thumb, without a measurement."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import rich_click as click

from iocast.commands.shell.options import filing, presenting
from iocast.commands.shell.showing import Into, deliver_report

if TYPE_CHECKING:
    from iocast.model.report import Report

KOLK_SIZES = "4kB,8kB,16kB,32kB,64kB"
KOLK_RATES = "135,105,75,45"

Asked = Callable[..., Any]


@click.group()
def model() -> None:
    """Print what a law says of disks, queues, volumes and mixes: `iocast model mm1 --service 7.2ms --rate 135,75`.

    Without options each prints the table of the document that it comes from, and notes where that document is wrong.
    """


def _law(name: str) -> Callable[[Asked], Asked]:
    """A law as a command: its function makes the report, which is shown as asked."""
    from functools import wraps

    def made(about: Asked) -> Asked:
        own = about.__dict__.pop("__click_params__", [])  # in help before those of all laws

        @wraps(about)
        def shown(*args: Any, into: Into | None, form: str, **asked: Any) -> int:
            report: Report = about(*args, **asked)
            deliver_report(report, form, into)
            return 0

        whole: Any = filing(presenting(shown))
        whole.__click_params__.extend(own)
        command: Asked = model.command(name)(whole)
        return command

    return made


def _option(name: str, default: str | None, says: str, metavar: str) -> Callable[[Asked], Asked]:
    return click.option(name, default=default, show_default=default is not None, metavar=metavar, help=says)


SERVICE = _option("--service", "7.2ms", "Time of one I/O alone.", "TIME")
RATE = _option("--rate", KOLK_RATES, "Arrivals a second.", "RATE,...")
SERVERS = click.option(
    "--servers", type=click.IntRange(1, 10_000), metavar="NUMBER", default=8, show_default=True, help="Servers."
)
SIZES = _option("--size", KOLK_SIZES, "I/O sizes: 4kB is 4000 bytes, 4k is 4096.", "SIZE,...")


@_law("disk")
@_option("--rpm", None, "Revolutions a minute; default 7200, 10000 and 15000.", "RPM,...")
@_option("--seek", "5ms", "Average seek.", "TIME")
@_option("--seek-from", "2ms", "Shortest seek of the band.", "TIME")
@_option("--seek-to", "8ms", "Longest seek of the band.", "TIME")
@_option("--transfer", "40MB/s", "Transfer rate.", "RATE")
@SIZES
@_option("--controller", "0s", "Overhead of the controller.", "TIME")
@click.option(
    "--disks", type=click.IntRange(1, 1_000_000), metavar="NUMBER", help="Disks, with --iops: what they do together."
)
@_option("--iops", None, "IOPS of one disk, with --disks.", "RATE")
def disk(disks: int | None, iops: str | None, **asked: str) -> Report:
    """Service time of a spinning disk: seek, half a rotation, transfer."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.disks_together(disks, iops) if disks or iops else model_laws.disk(**asked)


@_law("controller")
@_option("--overhead", "0.3ms", "Time of one I/O without its transfer.", "TIME")
@_option("--bus", "160MB/s", "Bus rate.", "RATE")
@SIZES
def controller(**asked: str) -> Report:
    """IOPS and bus utilisation of a controller."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.controller(**asked)


@_law("raid")
@_option("--iops", "1000", "I/Os a second of the database.", "RATE")
@_option("--read", "70%", "Share of reads.", "PERCENT")
@click.option(
    "--data-disks",
    type=click.IntRange(1, 1000),
    metavar="NUMBER",
    default=4,
    show_default=True,
    help="Data disks of a stripe.",
)
@_option("--level", "0,1,10,5,6", "RAID levels.", "LEVEL,...")
def raid(data_disks: int, **asked: str) -> Report:
    """What small random I/O costs the disks of a RAID set."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.raid(data_disks, **asked)


@_law("stroke")
@_option("--disk", "sata", "Fitted coefficients: sata (7,200 rpm) or sas (10,000 rpm).", "sata|sas")
@_option("--part", "0.1%,10%,100%", "Shares of the disk that are used.", "PERCENT,...")
@_option("--size", "8k", "I/O size.", "SIZE")
@_option("--transfer", None, "Transfer rate; overrides --disk.", "RATE")
@_option("--settle", None, "Shortest seek; overrides --disk.", "TIME")
@_option("--full", None, "What a seek over the whole disk takes more; overrides --disk.", "TIME")
@_option("--rpm", None, "Revolutions a minute; overrides --disk.", "RPM")
def stroke(**asked: Any) -> Report:
    """Service time when only a part of a disk is used."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.stroke(**asked)


@_law("zones")
@click.option(
    "--reads", type=click.IntRange(1), metavar="NUMBER", default=1000, show_default=True, help="Reads of each process."
)
@click.option(
    "--processes",
    type=click.IntRange(1),
    metavar="NUMBER",
    default=2,
    show_default=True,
    help="Processes at the same time.",
)
@_option("--elapsed", "11.5s,17.5s,32.5s", "Elapsed time of each test.", "TIME,...")
@_option("--inner", "0.71", "Speed of the inside over that of the outside.", "RATIO")
def zones(**asked: Any) -> Report:
    """Tests in zones of a disk: outside, inside, both at the same time."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.zone_times(**asked)


@_law("mm1")
@_option("--service", None, "Time of one I/O alone; default 7.2ms, and 8.6ms without --rate.", "TIME,...")
@RATE
@_option("--limit", None, "Mean response time: up to which rate it holds.", "TIME")
def mm1(**asked: Any) -> Report:
    """One server and random arrivals: the hockey stick."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.mm1(**asked)


@_law("mmc")
@SERVICE
@SERVERS
@_option("--rate", "400,700,900,1000", "Arrivals a second.", "RATE,...")
def mmc(servers: int, **asked: str) -> Report:
    """Servers that share one queue."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.mmc(servers, **asked)


@_law("mg1")
@SERVICE
@RATE
@_option("--cv2", "0", "Squared coefficient of variation of the service time: 0 constant, 1 random.", "NUMBER")
def mg1(**asked: str) -> Report:
    """One server whose service time varies more, or less, than at random."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.mg1(**asked)


@_law("ggc")
@SERVICE
@SERVERS
@_option("--rate", "400,700,900,1000", "Arrivals a second.", "RATE,...")
@_option("--arrival-cv2", "1", "Squared coefficient of variation between arrivals: 1 random, more: bursts.", "NUMBER")
@_option("--service-cv2", "1", "The same of the service time.", "NUMBER")
def ggc(servers: int, **asked: str) -> Report:
    """Several servers, bursts, a long tail."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.ggc(servers, **asked)


@_law("percentiles")
@SERVICE
@click.option(
    "--servers", type=click.IntRange(1, 10_000), metavar="NUMBER", default=1, show_default=True, help="Servers."
)
@_option("--rate", "105,83.333,75,45", "Arrivals a second.", "RATE,...")
@_option("--percentile", "50,90,95,99,99.9", "Percentiles.", "PERCENT,...")
def percentiles(servers: int, **asked: str) -> Report:
    """Percentiles of the response time of servers that share one queue."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.percentiles(servers, **asked)


@_law("samples")
@_option("--percentile", "50,95,99,99.9,99.99", "Percentiles.", "PERCENT,...")
@_option("--rate", "1000", "I/Os a second of the row.", "RATE")
def samples(**asked: str) -> Report:
    """How many I/Os a percentile needs, and how long a row must be for that."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.samples(**asked)


@_law("knees")
@SERVICE
@_option("--servers", "1,2,4,8,16,32,64", "Sizes of the pool.", "NUMBER,...")
@_option("--multiple", "2.5", "Mean response over the service time.", "NUMBER")
def knees(**asked: str) -> Report:
    """How far a pool may be loaded: the rule of 60%, and what becomes of it."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.knees(**asked)


@_law("mva")
@_option("--demand", "5ms,2ms", "Time of a request at each station.", "TIME,...")
@_option("--users", "1,2,4,8,16", "Numbers of users.", "NUMBER,...")
@_option("--think", "0s", "Think time.", "TIME")
@_option("--servers", None, "Servers of each station.", "NUMBER,...")
@click.option("--approximate", is_flag=True, help="Bard and Schweitzer, for many users.")
def mva(approximate: bool, **asked: Any) -> Report:
    """Closed queues: what numbers of users get of several stations."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.mva(approximate=approximate, **asked)


@_law("bounds")
@_option("--demand", "5ms,2ms", "Time of a request at each station.", "TIME,...")
@_option("--users", "1,2,4,8,16", "Numbers of users.", "NUMBER,...")
@_option("--think", "0s", "Think time.", "TIME")
def bounds(**asked: str) -> Report:
    """Between what the throughput of closed queues lies."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.bounds(**asked)


@_law("usl")
@_option("--load", "1,2,4,8,16,32", "Numbers of users, or outstanding I/Os.", "NUMBER,...")
@_option("--rate", None, "Measured I/Os a second at each load: the law is fitted.", "RATE,...")
@_option("--gamma", "1000", "I/Os a second of one.", "RATE")
@_option("--alpha", "0.05", "Contention.", "NUMBER")
@_option("--beta", "0.001", "Crosstalk.", "NUMBER")
def usl(**asked: Any) -> Report:
    """The universal scalability law, given or fitted to measured loads."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.usl(**asked)


@_law("bucket")
@_option("--rate", "3000", "Refill a second.", "RATE")
@_option("--bucket", "60000", "Credits of a full bucket.", "NUMBER")
@_option("--demand", "1000:60s,6000:30s,1500:60s", "Rate and time of each stretch.", "RATE:TIME,...")
def bucket(**asked: str) -> Report:
    """A token bucket under a demand that changes."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.bucket(**asked)


@_law("burst")
@_option("--rate", "5000", "Arrivals a second during the burst.", "RATE")
@_option("--after", "1500", "Arrivals a second after it.", "RATE")
@_option("--capacity", "3000", "I/Os a second that the storage does.", "RATE")
@_option("--time", "30s", "Length of the burst.", "TIME")
def burst(**asked: str) -> Report:
    """What a burst above the capacity leaves behind."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.burst(**asked)


@_law("levels")
@SERVICE
@SERVERS
@_option("--level", "400:90%,900:10%", "Rate and share of the time of each level.", "RATE:PERCENT,...")
def levels(servers: int, **asked: str) -> Report:
    """Load that changes slowly: what the average rate hides."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.levels(servers, **asked)


@_law("volume")
@click.argument("kind", required=False)
@_option("--size", "500GiB", "Size of the volume.", "SIZE")
@_option("--iops", "3000", "IOPS asked for.", "RATE")
@_option("--throughput", "125MiB/s", "Throughput asked for.", "RATE")
@_option("--io", "8k", "I/O size.", "SIZE")
def volume(kind: str | None, **asked: str) -> Report:
    """Limits of cloud volumes; with KIND (gp2, gp3, io2, premium-ssd-v2): what one delivers."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.volume(kind, **asked) if kind else model_laws.all_volumes()


@_law("mix")
@_option("--rate", "3000,500", "I/Os a second of each kind.", "RATE,...")
@_option("--capacity", "10000,2000", "What the storage does of each kind alone.", "RATE,...")
def mix(**asked: str) -> Report:
    """What several kinds of I/O use together."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.mix(**asked)


@_law("cache")
@_option("--data", "200GB", "Data that are read at random.", "SIZE")
@_option("--cache", "100GB", "The cache.", "SIZE")
@_option("--hit", "20us", "Time of a read that the cache answers.", "TIME")
@_option("--miss", "7ms", "Time of one that it does not.", "TIME")
def cache(**asked: str) -> Report:
    """How much of random reads a cache answers."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.cache(**asked)


@_law("link")
@_option("--mbps", None, "MB/s that were measured.", "NUMBER")
@_option("--link", None, 'What they came over: "FC 4G", "10 GbE"; `iocast model rules` lists them.', "LINK")
@click.option("--ports", type=click.IntRange(1, 1000), metavar="NUMBER", default=1, show_default=True, help="Links.")
def link(mbps: str | None, link: str | None, ports: int) -> Report:
    """What share of a link measured MB/s are."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.link(mbps, link, ports)


@_law("rules")
def rules() -> Report:
    """Rules of thumb of links and devices, dated."""
    from iocast.sessions.forecasting import model_laws

    return model_laws.rules()
