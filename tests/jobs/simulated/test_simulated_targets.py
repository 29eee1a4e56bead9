"""Simulated targets: the presets, every option, and every refusal."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_target, simulated_presets
from iocast.jobs.simulated import device_options
from iocast.model.service_laws import (
    BimodalLaw,
    ConstantLaw,
    DiskLaw,
    ExponentialLaw,
    GammaLaw,
    LognormalLaw,
    QuantilePoint,
    TableLaw,
    UniformLaw,
)
from iocast.model.simulated_device import (
    SimulatedCache,
    SimulatedDevice,
    SimulatedDrift,
    SimulatedErrors,
    SimulatedLimit,
    SimulatedLink,
    SimulatedNoise,
    SimulatedReadAhead,
    SimulatedReduction,
    SimulatedScaling,
    SimulatedSlc,
    SimulatedSlow,
    SimulatedStall,
    SimulatedStripe,
    SimulatedThin,
    SimulatedTier,
)

TIB = 1 << 40
OPTIONS = f"options: {', '.join(device_options.OPTIONS)}"
DEVICES = (
    "sim:hdd, sim:sata-ssd, sim:nvme, sim:cached-array, sim:cloud-volume, sim:thin-array, sim:nfs-filer, sim:qlc-ssd"
)
LAWS = (
    "LAW is one of constant:5ms, exponential:5ms, lognormal:80us:0.3, gamma:80us:0.5, uniform:1ms..3ms, "
    "bimodal:90%:400us:6ms, hyper:90%:400us:6ms, table:50%=1ms/99%=4ms/100%=20ms, disk:7200:1ms:13.6ms"
)


def device(text: str) -> SimulatedDevice:
    target = parse_target(text)
    assert target.simulated is not None
    return target.simulated


def test_a_disk() -> None:
    target = parse_target("sim:hdd")
    assert (target.path, target.kind, target.size_bytes, target.direct) == ("sim:hdd", "sim", TIB, True)
    assert target.simulated == SimulatedDevice(
        size_bytes=TIB,
        service=DiskLaw(rpm=7200.0, seek_base_ns=1_007_500, seek_span_ns=13_580_000),
        servers=1,
        bandwidth_bytes_per_s=150_000_000,
        fsync_ns=8_333_333,
    )


def test_the_other_presets() -> None:
    assert list(simulated_presets()) == DEVICES.split(", ")
    for name, servers, bandwidth in [
        ("sata-ssd", 8, 550_000_000),
        ("nvme", 64, 3_500_000_000),
        ("cached-array", 24, 800_000_000),
    ]:
        made = device(f"sim:{name}")
        assert (made.servers, made.bandwidth_bytes_per_s) == (servers, bandwidth)
    assert device("sim:nvme").service == LognormalLaw(80_000, 0.3)
    assert device("sim:cached-array").service == ExponentialLaw(5_000_000)
    assert device("sim:cached-array").cache == SimulatedCache(60.0, 300_000, write_back=True)


def test_all_options_at_once() -> None:
    text = "sim:nvme,servers=4,size=2TiB,stall=1s/5s,errors=1MiB..2MiB,errno=ENOSPC,hit=80%:200us,write_back=on"
    more = ",service=exponential:5ms,write=constant:1ms,bandwidth=200MB/s,fsync=0s"
    assert device(text + more) == SimulatedDevice(
        size_bytes=2 * TIB,
        service=ExponentialLaw(5_000_000),
        write_service=ConstantLaw(1_000_000),
        servers=4,
        bandwidth_bytes_per_s=200_000_000,
        fsync_ns=0,
        cache=SimulatedCache(80.0, 200_000, write_back=True),
        stall=SimulatedStall(every_ns=5_000_000_000, for_ns=1_000_000_000),
        errors=SimulatedErrors(start_bytes=1 << 20, end_bytes=2 << 20, errno=28),
    )
    assert parse_target(text).path == text
    assert parse_target(text).size_bytes == 2 * TIB


@pytest.mark.parametrize(
    ("law", "expected"),
    [
        ("constant:5ms", ConstantLaw(5_000_000)),
        ("exponential:5ms", ExponentialLaw(5_000_000)),
        ("lognormal:80us:0.5", LognormalLaw(80_000, 0.5)),
        ("uniform:0ms..3ms", UniformLaw(0, 3_000_000)),
        ("gamma:5ms:2", GammaLaw(5_000_000, 2.0)),
        ("bimodal:90%:400us:6ms", BimodalLaw(90.0, 400_000, 6_000_000)),
        ("hyper:90%:400us:6ms", BimodalLaw(90.0, 400_000, 6_000_000, exponential=True)),
        ("table:50%=1ms/100%=4ms", TableLaw((QuantilePoint(50.0, 1_000_000), QuantilePoint(100.0, 4_000_000)))),
        ("disk:15000:1ms:5ms", DiskLaw(15000.0, 1_000_000, 5_000_000)),
    ],
)
def test_laws(law: str, expected: object) -> None:
    assert device(f"sim:nvme,service={law}").service == expected
    assert device(f"sim:nvme,service={law}").write_service is None
    assert device(f"sim:hdd,write={law}").write_service == expected


GIB = 1 << 30
ADDED = {
    "stripe=4:64KiB": ("stripe", SimulatedStripe(4, 65536)),
    "max_io=128KiB": ("max_io_bytes", 131_072),
    "fragments=1MiB": ("fragment_bytes", 1 << 20),
    "cache=32GiB:200us": ("cache", SimulatedCache(0.0, 200_000, size_bytes=32 * GIB)),
    "cache=1GiB:1ms,scan_resistant=on": ("cache", SimulatedCache(0.0, 1_000_000, False, GIB, scan_resistant=True)),
    "read_ahead=1MiB:100us": ("read_ahead", SimulatedReadAhead(1 << 20, 100_000)),
    "tier=100GiB:200us:3": ("tier", SimulatedTier(100 * GIB, 200_000, after=3)),
    "tier=100GiB:200us:1h": ("tier", SimulatedTier(100 * GIB, 200_000, period_ns=3_600_000_000_000)),
    "slc=100GiB:160MB/s:50MB/s": ("slc", SimulatedSlc(100 * GIB, 160_000_000, 50_000_000)),
    "unit=1MiB,first_write=3ms": ("thin", SimulatedThin(1 << 20, 3_000_000)),
    "holes=20us,zeros=10us,pool=1GiB": ("thin", SimulatedThin(hole_ns=20_000, zero_ns=10_000, pool_bytes=GIB)),
    "compress=on": ("reduction", SimulatedReduction(compress=True)),
    "dedupe=on,reduce_to=10%": ("reduction", SimulatedReduction(dedupe=True, least_percent=10.0)),
    "iops=3000/s": ("limits", (SimulatedLimit("ios", 3000.0),)),
    "iops=3000/s,credits=300/s:5.4M,io_unit=256KiB": (
        "limits",
        (SimulatedLimit("ios", 3000.0, 0.0, 262_144), SimulatedLimit("ios", 300.0, 5.4e6, 262_144)),
    ),
    "throughput=125MB/s,byte_credits=40MB/s:1TiB": (
        "limits",
        (SimulatedLimit("bytes", 125e6), SimulatedLimit("bytes", 40e6, float(TIB))),
    ),
    "link=117MB/s:200us": ("link", SimulatedLink(117_000_000, 200_000)),
    "serialised=writes": ("serialised", "writes"),
    "slow=60s..120s:3": ("slow", SimulatedSlow(60_000_000_000, 120_000_000_000, 3.0)),
    "drift=2:10m": ("drift", SimulatedDrift(2.0, 600_000_000_000)),
    "noise=200/s": ("noise", SimulatedNoise(200.0)),
    "noise=200/s:1s/10s": ("noise", SimulatedNoise(200.0, 1_000_000_000, 10_000_000_000)),
    "tick=1ms": ("tick_ns", 1_000_000),
    "usl=0.02:0.0005": ("scaling", SimulatedScaling(0.02, 0.0005)),
    "errors=1/5k": ("errors", SimulatedErrors(every=5000)),
}


@pytest.mark.parametrize("options", ADDED)
def test_each_option_changes_one_thing(options: str) -> None:
    field, value = ADDED[options]
    plain, made = device("sim:hdd"), device(f"sim:hdd,{options}")
    changed = [name for name in plain.__struct_fields__ if getattr(plain, name) != getattr(made, name)]
    assert (changed, getattr(made, field)) == ([field], value)


def test_every_option_is_read_as_its_form_says_and_none_turns_it_off() -> None:
    before = {"write_back": "hit=1%:1ms,", "scan_resistant": "cache=1GiB:1ms,", "errno": "errors=1%,"}
    before |= {"dirty": "hit=1%:1ms,write_back=on,", "io_unit": "iops=1/s,"}
    for name, option in device_options.OPTIONS.items():
        for form in option.form.split("|"):
            text = f"sim:hdd,{before.get(name, '')}{name}={form.replace('LAW', 'constant:1ms')}"
            made = device(text)
            if form == "none" and name not in before and name != "bandwidth":
                off = {"first_write", "holes", "zeros", "pool"}
                assert made == device("sim:hdd") or (name in off and made.thin == SimulatedThin()), text


def test_a_cap_given_again_replaces_the_first_of_a_preset() -> None:
    limits = device("sim:cloud-volume,iops=none,credits=900/s:1M").limits
    assert [(limit.counts, limit.rate_per_s, limit.bucket) for limit in limits] == [
        ("bytes", 128 * 1024 * 1024.0, 0.0),
        ("ios", 900.0, 1e6),
    ]


def test_options_can_be_taken_away() -> None:
    assert device("sim:cached-array,hit=none").cache is None
    assert device("sim:cached-array,hit=90%:1ms").cache == SimulatedCache(90.0, 1_000_000, write_back=True)
    assert device("sim:cached-array,write_back=off").cache == SimulatedCache(60.0, 300_000)
    assert device("sim:hdd,bandwidth=none").bandwidth_bytes_per_s == 0
    assert device("sim:nvme,write=same").write_service is None
    assert device("sim:hdd,stall=none").stall is None
    assert device("sim:hdd,errors=none").errors is None
    assert device("sim:hdd,errors=0.1%").errors == SimulatedErrors(percent=0.1)


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("nvme", '"nvme" is not a simulated target', f"for example {DEVICES}"),
        ("sim:", "sim: no device named", f"devices: {DEVICES}"),
        ("sim:nvm", 'sim:nvm: unknown simulated device "nvm"; did you mean "nvme"?', f"devices: {DEVICES}"),
        ("sim:hdd,", "sim:hdd,: an option is missing between or after the commas", OPTIONS),
        ("sim:hdd,server=3", 'sim:hdd,server=3: unknown option "server"; did you mean "servers"?', OPTIONS),
        ("sim:hdd,servers", 'sim:hdd,servers: option "servers" has no value', "written servers=4"),
        ("sim:hdd,fsync=1s,fsync=1s", 'sim:hdd,fsync=1s,fsync=1s: option "fsync" is given twice', ""),
        (
            "sim:hdd,size=8TiB,unit=4KiB",
            "sim:hdd,size=8TiB,unit=4KiB: the device has too many units to track",
            "make unit= at least 64k",
        ),
        (
            "sim:hdd,cache=20000TiB:1ms",
            "sim:hdd,cache=20000TiB:1ms: the cache is too large to track",
            "make cache= smaller",
        ),
        ("sim:hdd,strip=4:64k", 'sim:hdd,strip=4:64k: unknown option "strip"; did you mean "stripe"?', OPTIONS),
        (
            "sim:hdd,size=1MiB,errors=0..2MiB",
            "sim:hdd,size=1MiB,errors=0..2MiB: the errors lie beyond the end of the device",
            "make size= larger",
        ),
    ],
)
def test_refused_targets(text: str, message: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_target(text)
    assert refused.value.message == message
    assert refused.value.hint == hint


@pytest.mark.parametrize(
    ("option", "why", "hint"),
    [
        ("servers=0", "expected a whole number from 1 to 65536", "written servers=4: "),
        ("servers=many", "expected a whole number from 1 to 65536", "written servers=4: "),
        ("size=1k", "a device has at least 1MiB", "written size=1TiB: "),
        ("size=1q", '"1q" is not a size: unknown unit "q"', "written size=1TiB: "),
        ("service=expo:5ms", 'unknown law "expo"', "written service=LAW: "),
        ("service=disc:1:1ms:1ms", 'unknown law "disc"; did you mean "disk"?', "written service=LAW: "),
        ("service=constant:0s", "it must be more than 0", "written service=LAW: "),
        ("service=lognormal:5ms", "expected MEAN:CV", "written service=LAW: "),
        (
            "service=lognormal:5ms:nan",
            'expected a number above 0, up to 100, not "nan"',
            "written service=LAW: ",
        ),
        ("service=uniform:5ms", 'expected two values with ".." between', "written service=LAW: "),
        (
            "service=uniform:5ms..1ms",
            "the first time must not be above the second, and the second not 0",
            "written service=LAW: ",
        ),
        ("service=disk:7200", "expected RPM:BASE:SPAN", "written service=LAW: "),
        ("write=slow", 'unknown law "slow"', "written write=same|LAW: "),
        ("bandwidth=150", '"150" is not a bandwidth: "/s" is missing at the end', "written bandwidth="),
        ("bandwidth=0MB/s", "it must be more than 0", "written bandwidth="),
        ("fsync=8", '"8" is not a time: the unit is missing', "written fsync=8ms: "),
        ("hit=10%", "expected PERCENT:TIME", "written hit=80%:200us|none: "),
        ("hit=101%:1ms", '"101%" is not a percentage: more than 100', "written hit=80%:200us|none: "),
        ("write_back=on", "no cache; give hit= or cache= before it", "written write_back=on|off: "),
        ("write_back=yes", "expected on or off", "written write_back=on|off: "),
        ("stall=5s", 'expected two times with "/" between', "written stall=1s/5s|none: "),
        (
            "stall=5s/1s",
            "a stall must be shorter than its period",
            "written stall=1s/5s|none: ",
        ),
        ("errors=2M..1M", "the range is empty", "written errors=1MiB..2MiB|0.1%|1/5000|none: "),
        ("errors=5", 'expected two values with ".." between', "written errors=1MiB..2MiB|0.1%|1/5000|none: "),
        ("servers=none", "expected a whole number from 1 to 65536", "written servers=4: "),
        ("stripe=4", "expected MEMBERS:SIZE", "written stripe=4:64KiB|none: "),
        ("stripe=0:64k", "expected a whole number from 1 to 4096", "written stripe=4:64KiB|none: "),
        ("max_io=1", "expected at least 512 bytes", "written max_io=128KiB|none: "),
        ("cache=1k:1ms", "it must hold at least one line of 64KiB", "written cache=32GiB:200us|none: "),
        ("dirty=1GiB:1MB/s", "no cache takes writes; give write_back=on before it", "written dirty="),
        ("tier=1k:1ms:3", "a tier has at least 1MiB", "written tier="),
        ("tier=1GiB:1ms:0", "expected a whole number from 1 to 65536", "written tier="),
        ("credits=300/s:many", 'expected a number such as 5400 or 5.4M, not "many"', "written credits="),
        ("iops=0/s", "it must be more than 0", "written iops=3000/s|none: "),
        ("io_unit=256k", "nothing counts I/Os; give iops= or credits= before it", "written io_unit="),
        ("serialised=reads", "expected writes, all or none", "written serialised="),
        ("slow=2s..1s:3", "the time span is empty", "written slow="),
        ("noise=200/s:5s/1s", "a burst must be shorter than its period", "written noise="),
        ("usl=0.1:2", 'expected a number from 0, up to 1, not "2"', "written usl="),
        ("service=table:50%=1ms", "quantiles ascend, and the last is 100%", "written service=LAW: "),
        ("service=table:50%", "expected quantiles such as 50%=1ms/100%=4ms", "written service=LAW: "),
        ("errno=EIO", "no errors; give errors= before it", "written errno=EIO: "),
        ("errno=ENOSPCE", 'unknown errno "ENOSPCE"; did you mean "ENOSPC"?', "written errno=EIO: "),
    ],
)
def test_refused_values(option: str, why: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_target(f"sim:hdd,{option}")
    assert refused.value.message == f"sim:hdd,{option}: {option}: {why}"
    assert refused.value.hint.startswith(hint)
    assert refused.value.hint.endswith(LAWS) == ("LAW" in hint)
