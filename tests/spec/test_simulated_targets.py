"""Simulated targets: the presets, every option, and every refusal."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.model.simulated import (
    ConstantLaw,
    DiskLaw,
    ExponentialLaw,
    LognormalLaw,
    SimulatedCache,
    SimulatedDevice,
    SimulatedErrors,
    SimulatedStall,
    UniformLaw,
)
from iocast.spec import parse_target, simulated_presets

TIB = 1 << 40
OPTIONS = "options: size, servers, service, write, bandwidth, fsync, hit, write_back, stall, errors, errno"
DEVICES = "sim:hdd, sim:sata-ssd, sim:nvme, sim:cached-array"
LAWS = "LAW is one of constant:5ms, exponential:5ms, lognormal:80us:0.3, uniform:1ms..3ms, disk:7200:1ms:13.6ms"


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
        ("disk:15000:1ms:5ms", DiskLaw(15000.0, 1_000_000, 5_000_000)),
    ],
)
def test_laws(law: str, expected: object) -> None:
    assert device(f"sim:nvme,service={law}").service == expected
    assert device(f"sim:nvme,service={law}").write_service is None
    assert device(f"sim:hdd,write={law}").write_service == expected


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
        ("sim:", "sim:: which device?", f"devices: {DEVICES}"),
        ("sim:nvm", 'sim:nvm: unknown simulated device "nvm"; did you mean "nvme"?', f"devices: {DEVICES}"),
        ("sim:hdd,", "sim:hdd,: an option is missing between or after the commas", OPTIONS),
        ("sim:hdd,server=3", 'sim:hdd,server=3: unknown option "server"; did you mean "servers"?', OPTIONS),
        ("sim:hdd,servers", 'sim:hdd,servers: option "servers" has no value', "written servers=4"),
        ("sim:hdd,fsync=1s,fsync=1s", 'sim:hdd,fsync=1s,fsync=1s: option "fsync" is given twice', ""),
        (
            "sim:hdd,size=1MiB,errors=0..2MiB",
            "sim:hdd,size=1MiB,errors=0..2MiB: errors lie beyond the end of the device",
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
        ("bandwidth=150", '"150" is not a bandwidth: it does not end with "/s"', "written bandwidth="),
        ("bandwidth=0MB/s", "it must be more than 0", "written bandwidth="),
        ("fsync=8", '"8" is not a time: it has no unit', "written fsync=8ms: "),
        ("hit=10%", "expected PERCENT:TIME", "written hit=80%:200us|none: "),
        ("hit=101%:1ms", '"101%" is not a percentage: it is more than 100', "written hit=80%:200us|none: "),
        ("write_back=on", "there is no cache; give hit= before it", "written write_back=on|off: "),
        ("write_back=yes", "expected on or off", "written write_back=on|off: "),
        ("stall=5s", 'expected two times with "/" between', "written stall=1s/5s|none: "),
        (
            "stall=5s/1s",
            "a stall must be shorter than the time from one to the next",
            "written stall=1s/5s|none: ",
        ),
        ("errors=2M..1M", "the range is empty", "written errors=1MiB..2MiB|0.1%|none: "),
        ("errors=5", 'expected two values with ".." between', "written errors=1MiB..2MiB|0.1%|none: "),
        ("errno=EIO", "there are no errors; give errors= before it", "written errno=EIO: "),
        ("errno=ENOSPCE", 'unknown errno "ENOSPCE"; did you mean "ENOSPC"?', "written errno=EIO: "),
    ],
)
def test_refused_values(option: str, why: str, hint: str) -> None:
    with pytest.raises(SpecError) as refused:
        parse_target(f"sim:hdd,{option}")
    assert refused.value.message == f"sim:hdd,{option}: {option}: {why}"
    assert refused.value.hint.startswith(hint)
    assert refused.value.hint.endswith(LAWS) == ("LAW" in hint)
