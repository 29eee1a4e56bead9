"""Job files become phases: lists multiply as written, defaults are inherited, names say what ran."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iocast.jobs import parse_job, phases
from iocast.model.job import FileSize
from iocast.model.plan import Length, Phase
from iocast.model.workload import (
    Closed,
    Compressible,
    Constant,
    Dedupable,
    Hotspot,
    MixItem,
    Poisson,
    Repeated,
    Sequential,
    Stride,
    Uniform,
    Unique,
    Workload,
    Zeros,
    Zipf,
)


def job_phases(text: str, defaults: str = "") -> tuple[Phase, ...]:
    return phases(parse_job(f'name = "j"\n[defaults]\n{defaults}\n[[phase]]\n{text}\n', "job.toml"))


def one(text: str, defaults: str = "") -> Phase:
    (phase,) = job_phases(text, defaults)
    return phase


def names(text: str, defaults: str = "") -> list[str]:
    return [phase.name for phase in job_phases(text, defaults)]


def test_the_least_that_is_a_phase() -> None:
    assert one('size = "8k"\ntime = "10s"') == Phase(
        name="randread 8k 1x1",
        test="randread",
        workload=Workload(
            mix=(MixItem("read", 8192, 100.0),),
            locality=Uniform(),
            arrival=Closed(0),
            users=1,
            depth=1,
            direct=True,
            sync="none",
            fsync_every=0,
            payload=Unique(),
        ),
        length=Length(seconds=10.0),
        role="measure",
        region_start_bytes=0,
        region_size_bytes=None,
    )


def test_every_field_arrives() -> None:
    phase = one(
        'test = "all"\nrole = "warm"\nread = 70\nwrite = 30\nfsync = 2\nfdatasync = 1\nsize = "0016k"\n'
        'pattern = "hotspot"\nspace_percent = 5\naccess_percent = 95\nusers = 3\ndepth = 4\ndirect = false\n'
        'sync = "dsync"\nfsync_every = 9\ncompressible = "40%"\nrate = "30/min"\narrival = "constant"\n'
        'time = "1500ms"\nios = 77\nbytes = "1GB"\nregion = {start = "1M", size = "1GiB"}'
    )
    assert phase == Phase(
        name="all 16k 3x4 fsync/9 @0.5/s warm",
        test="all",
        workload=Workload(
            mix=(
                MixItem("read", 16384, 70.0),
                MixItem("write", 16384, 30.0),
                MixItem("fsync", 0, 2.0),
                MixItem("fdatasync", 0, 1.0),
            ),
            locality=Hotspot(5.0, 95.0),
            arrival=Constant(0.5),
            users=3,
            depth=4,
            direct=False,
            sync="dsync",
            fsync_every=9,
            payload=Compressible(40.0),
        ),
        length=Length(seconds=1.5, ios=77, bytes=10**9),
        role="warm",
        region_start_bytes=1 << 20,
        region_size_bytes=1 << 30,
    )


@pytest.mark.parametrize(
    ("fields", "locality"),
    [
        ('pattern = "sequential"', Sequential("own_region")),
        ('pattern = "sequential"\nstart = "own_offset"', Sequential("own_offset")),
        ('pattern = "sequential"\nstart = "same"', Sequential("same")),
        ('pattern = "sequential"\nbackwards = true', Sequential(backwards=True)),
        ('pattern = "sequential"\nbackwards = true\nstart = "own_offset"', Sequential("own_offset", backwards=True)),
        ('pattern = "sequential"\nbackwards = false', Sequential()),
        ('pattern = "random"', Uniform()),
        ('pattern = "random"\nrepeats = false', Uniform(repeats=False)),
        ("repeats = false", Uniform(repeats=False)),
        ("repeats = true", Uniform()),
        ('pattern = "zipf"', Zipf(0.99)),
        ('pattern = "zipf"\ntheta = 1', Zipf(1.0)),
        ('pattern = "hotspot"', Hotspot(20.0, 80.0)),
        ('pattern = "stride"\nstride = "1M"', Stride(1 << 20)),
    ],
)
def test_patterns(fields: str, locality: object) -> None:
    assert one(f'{fields}\nsize = "8k"\ntime = "1s"').workload.locality == locality


@pytest.mark.parametrize(
    ("fields", "arrival"),
    [
        ("", Closed(0)),
        ('think = "1ms"', Closed(1_000_000)),
        ('rate = "500/s"', Poisson(500.0)),
        ('rate = "500/s"\narrival = "poisson"', Poisson(500.0)),
        ('rate = "500/s"\narrival = "constant"', Constant(500.0)),
    ],
)
def test_arrivals(fields: str, arrival: object) -> None:
    assert one(f'{fields}\nsize = "8k"\ntime = "1s"').workload.arrival == arrival


@pytest.mark.parametrize(
    ("fields", "payload"),
    [
        ('payload = "unique"', Unique()),
        ('payload = "zeros"', Zeros()),
        ('payload = "repeated"', Repeated()),
        ('compressible = "12.5%"', Compressible(12.5)),
        ('dedupable = "40%"', Dedupable(40.0)),
    ],
)
def test_payloads(fields: str, payload: object) -> None:
    assert one(f'write = 1\n{fields}\nsize = "8k"\ntime = "1s"').workload.payload == payload


@pytest.mark.parametrize("sync", ["none", "sync", "dsync", "rwf_dsync"])
def test_how_writes_are_made_durable(sync: str) -> None:
    assert one(f'write = 1\nsync = "{sync}"\nsize = "8k"\ntime = "1s"').workload.sync == sync


@pytest.mark.parametrize(
    ("fields", "mix"),
    [
        ("size = 4096\nread = 1", [MixItem("read", 4096, 1.0)]),
        ('size = "8k"\nread = 70\nwrite = 30', [MixItem("read", 8192, 70.0), MixItem("write", 8192, 30.0)]),
        ('size = "8k"\nread = 0\nwrite = 30', [MixItem("write", 8192, 30.0)]),
        (
            'size = {"4k" = 60, "64k" = 40}\nread = 70\nwrite = 30',
            [
                MixItem("read", 4096, 42.0),
                MixItem("read", 65536, 28.0),
                MixItem("write", 4096, 18.0),
                MixItem("write", 65536, 12.0),
            ],
        ),
        ('size = {"4k" = 1, "4096" = 1, "8k" = 0}', [MixItem("read", 4096, 100.0)]),
        (
            'mix = [{op = "read", size = "8k", weight = 7}, {op = "write", size = "16k"}, {op = "fsync"}]',
            [MixItem("read", 8192, 7.0), MixItem("write", 16384, 1.0), MixItem("fsync", 0, 1.0)],
        ),
    ],
)
def test_mixes(fields: str, mix: list[MixItem]) -> None:
    assert list(one(f'{fields}\ntime = "1s"').workload.mix) == mix


def test_the_list_written_first_varies_slowest() -> None:
    rest = '\ntime = "1s"\ntest = "t"'
    assert names('size = ["8k", "1M"]\nusers = [1, 4]' + rest) == ["t 8k 1x1", "t 8k 4x1", "t 1M 1x1", "t 1M 4x1"]
    assert names('users = [1, 4]\nsize = ["8k", "1M"]' + rest) == ["t 8k 1x1", "t 1M 1x1", "t 8k 4x1", "t 1M 4x1"]
    assert names('depth = [2, 1]\nrate = ["5/s", "6/s"]\nsize = "8k"' + rest) == [
        "t 8k 1x2 @5/s",
        "t 8k 1x2 @6/s",
        "t 8k 1x1 @5/s",
        "t 8k 1x1 @6/s",
    ]


def test_inherited_lists_come_after_own_ones() -> None:
    assert names('users = [1, 4]\ntest = "t"', 'size = ["8k", "1M"]\ntime = "1s"') == [
        "t 8k 1x1",
        "t 1M 1x1",
        "t 8k 4x1",
        "t 1M 4x1",
    ]


@given(st.lists(st.integers(1, 99), min_size=1, max_size=6), st.lists(st.integers(1, 99), min_size=1, max_size=6))
def test_every_pair_once_and_every_name_unique(users: list[int], depths: list[int]) -> None:
    made = job_phases(f'users = {users}\ndepth = {depths}\nsize = "8k"\ntime = "1s"')
    assert [(p.workload.users, p.workload.depth) for p in made] == [(u, d) for u in users for d in depths]
    assert len({phase.name for phase in made}) == len(made)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ('size = "8k"', "randread 8k 1x1"),
        ('size = "1000"\ndirect = false', "randread 1kB 1x1"),
        ('size = "512"\nwrite = 1\npattern = "sequential"', "write 512 1x1"),
        ('size = "8k"\nread = 1\nwrite = 1\npattern = "zipf"', "zipfrw 8k 1x1"),
        ('size = "8k"\npattern = "hotspot"\nusers = 4\ndepth = 2', "hotread 8k 4x2"),
        ('size = {"64k" = 1, "4k" = 1}', "randread 4k+64k 1x1"),
        ('size = {"4k" = 1, "8k" = 1, "16k" = 1, "32k" = 1}', "randread 4k..32k 1x1"),
        ('size = "8k"\nrate = "2.5k/s"', "randread 8k 1x1 @2500/s"),
        ('size = "8k"\nrole = "warm"', "randread 8k 1x1 warm"),
        ('size = "8k"\npattern = "sequential"\nbackwards = true', "backread 8k 1x1"),
        ('size = "8k"\nread = 1\nwrite = 1\npattern = "sequential"\nbackwards = true', "backrw 8k 1x1"),
        ('size = "8k"\nrepeats = false', "randread 8k 1x1"),
        ('size = "8k"\nwrite = 1\nsync = "rwf_dsync"\ndedupable = "40%"', "randwrite 8k 1x1"),
    ],
)
def test_names(fields: str, name: str) -> None:
    assert names(f'{fields}\ntime = "1s"') == [name]


def test_equal_names_are_numbered() -> None:
    two = 'time = "1s"\nsize = ["8k", "8192", "8KiB"]'
    assert names(two) == ["randread 8k 1x1", "randread 8k 1x1 #2", "randread 8k 1x1 #3"]


@pytest.mark.parametrize(
    ("phases", "expected"),
    [
        (["", "repeats = false"], ["t 8k 1x1", "t 8k 1x1 no-repeats"]),
        (
            ['pattern = "sequential"\nbackwards = true', 'pattern = "sequential"'],
            ["t 8k 1x1 backwards", "t 8k 1x1"],
        ),
        (
            ['write = 1\nsync = "dsync"', 'write = 1\nsync = "rwf_dsync"', "write = 1"],
            ["t 8k 1x1 dsync", "t 8k 1x1 rwf_dsync", "t 8k 1x1"],
        ),
        # What all of them have is not said; what is still the same is numbered.
        (
            ['write = 1\nsync = "dsync"\ndedupable = "40%"', 'write = 1\nsync = "dsync"\ndedupable = "12.5%"'],
            ["t 8k 1x1 dedupable 40%", "t 8k 1x1 dedupable 12.5%"],
        ),
        (
            ['write = 1\npayload = "zeros"', 'write = 1\npayload = "repeated"', 'write = 1\ncompressible = "5%"'],
            ["t 8k 1x1 zeros", "t 8k 1x1 repeated", "t 8k 1x1 compressible 5%"],
        ),
        (
            ["", "direct = false", 'direct = false\npattern = "zipf"', 'pattern = "zipf"'],
            ["t 8k 1x1", "t 8k 1x1 buffered", "t 8k 1x1 buffered #2", "t 8k 1x1 #2"],
        ),
        (["", "repeats = false\nusers = 2"], ["t 8k 1x1", "t 8k 2x1"]),
    ],
)
def test_names_that_clash_say_what_differs(phases: list[str], expected: list[str]) -> None:
    tables = "\n[[phase]]\n".join(f'test = "t"\n{phase}' for phase in phases)
    assert names(tables, 'size = "8k"\ntime = "1s"') == expected


@pytest.mark.parametrize(
    ("own", "defaults", "expected"),
    [
        ("read = 1", "read = 70\nwrite = 30", {"mix": (MixItem("read", 8192, 1.0),)}),
        ("", 'write = 1\nsync = "dsync"\npayload = "zeros"', {"sync": "dsync", "payload": Zeros()}),
        ("read = 1", 'write = 1\nsync = "dsync"\nfsync_every = 3', {"sync": "none", "fsync_every": 0}),
        ('think = "1us"', 'rate = "5/s"\narrival = "constant"', {"arrival": Closed(1000)}),
        ('rate = "6/s"', 'rate = "5/s"\narrival = "constant"', {"arrival": Constant(6.0)}),
        ('rate = "6/s"', 'think = "1ms"', {"arrival": Poisson(6.0)}),
        ('pattern = "random"', 'pattern = "zipf"\ntheta = 2.0', {"locality": Uniform()}),
        ('pattern = "random"', 'pattern = "sequential"\nbackwards = true', {"locality": Uniform()}),
        ('pattern = "sequential"', "repeats = false", {"locality": Sequential()}),
        ("repeats = true", "repeats = false", {"locality": Uniform()}),
        ("backwards = true", 'pattern = "sequential"', {"locality": Sequential(backwards=True)}),
        ('write = 1\nsync = "rwf_dsync"', 'sync = "dsync"', {"sync": "rwf_dsync"}),
        ("", 'sync = "rwf_dsync"\ndedupable = "40%"', {"sync": "none", "payload": Unique()}),
        ('write = 1\ndedupable = "40%"', 'payload = "zeros"', {"payload": Dedupable(40.0)}),
        ('write = 1\ndedupable = "40%"', 'compressible = "5%"', {"payload": Dedupable(40.0)}),
        ('write = 1\ncompressible = "5%"', 'dedupable = "40%"', {"payload": Compressible(5.0)}),
        ("theta = 1.5", 'pattern = "zipf"\ntheta = 2.0', {"locality": Zipf(1.5)}),
        ('write = 1\npayload = "zeros"', 'compressible = "5%"', {"payload": Zeros()}),
        ('write = 1\ncompressible = "5%"', 'payload = "zeros"', {"payload": Compressible(5.0)}),
        ('size = "4k"', 'mix = [{op = "write", size = "8k"}]', {"mix": (MixItem("read", 4096, 100.0),)}),
    ],
)
def test_inheritance(own: str, defaults: str, expected: dict[str, Any]) -> None:
    size = "" if "size" in own else 'size = "8k"\n' if "mix" not in defaults else ""
    phase = one(f'{own}\n{size}time = "1s"', defaults)
    assert {name: getattr(phase.workload, name) for name in expected} == expected


def test_a_length_replaces_the_inherited_one() -> None:
    assert one('size = "8k"\nios = 9', 'time = "1s"').length == Length(ios=9)
    assert one('size = "8k"\nios = 9\ntime = "2s"', 'time = "1s"').length == Length(seconds=2.0, ios=9)


def test_the_job_itself() -> None:
    text = (
        'name = "j"\ndescription = "d"\n[files]\ncount = 3\nsize = "2xRAM"\n'
        '[defaults]\nengine = "sync"\n[[phase]]\nsize = "8k"\ntime = "1s"\n'
    )
    job = parse_job(text, "job.toml")
    assert (job.name, job.description, job.engine, job.source, job.text) == (
        "j",
        "d",
        "sync",
        "job.toml",
        text,
    )
    assert (job.file_count, job.file_size) == (3, FileSize(memory_multiple=2.0))
    small = parse_job(text.replace("2xRAM", "0.5 x ram"), "job.toml")
    assert small.file_size == FileSize(memory_multiple=0.5)
    plain = parse_job(text.replace("2xRAM", "2GiB"), "job.toml")
    assert plain.file_size == FileSize(size_bytes=2 << 30)
