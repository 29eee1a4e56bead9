"""Trims in job files of both kinds: what they ask for, how they are written back, what is refused."""

from __future__ import annotations

import pytest

from iocast.errors import SpecError
from iocast.jobs import parse_fio_job, parse_job
from iocast.jobs.toml.job_writing import toml_text
from iocast.model.job import Job
from iocast.model.plan import Phase
from iocast.model.workload import MixItem, Sequential
from iocast.tools.fio.fio_writing import fio_text


def toml(text: str) -> Job:
    return parse_job(f'name = "t"\n[files]\nsize = "1GiB"\n[[phase]]\ntime = "1s"\n{text}', "t.toml")


def fio(text: str) -> Job:
    return parse_fio_job(f"[a]\nsize=1g\nruntime=1\ntime_based\n{text}", "t.fio", {})


def mix(job: Job) -> dict[str, tuple[int, float]]:
    (phase,) = job.phases
    total = sum(item.weight for item in phase.workload.mix)
    return {item.op: (item.size_bytes, round(item.weight / total, 3)) for item in phase.workload.mix}


def only(job: Job) -> Phase:
    (phase,) = job.phases
    return phase


def test_a_trim_has_a_weight_and_a_size() -> None:
    job = toml('trim = 1\nwrite = 3\nsize = "64k"')
    assert mix(job) == {"write": (65536, 0.75), "trim": (65536, 0.25)}
    assert only(job).name == "randwritetrim 64k 1x1"
    assert only(toml('trim = 100\nsize = "1M"\npattern = "sequential"')).name == "trim 1M 1x1"
    sizes = toml('mix = [{op = "trim", size = "1M"}, {op = "read", size = "8k", weight = 9}]')
    assert mix(sizes) == {"trim": (1 << 20, 0.1), "read": (8192, 0.9)}


def test_a_trim_changes_data() -> None:
    load = only(toml('trim = 100\nsize = "1M"')).workload
    assert load.writes
    assert load.trims
    assert not only(toml('write = 100\nsize = "1M"')).workload.trims


def test_what_contradicts_trims_is_refused() -> None:
    for text, message in (
        ('mix = [{op = "trim"}]', "mix has a trim without size"),
        ('trim = 100\nfsync = 1\nsize = "8k"', "fsync without writes"),
        ('trim = 100\npayload = "zeros"\nsize = "8k"', "payload without writes"),
        ('trim = 100\nsize = "1000"', "not a multiple of 512"),
    ):
        with pytest.raises(SpecError, match=message):
            toml(text)


@pytest.mark.parametrize("text", ['trim = 100\nsize = "1M"', 'read = 50\ntrim = 50\nsize = "8k"\npattern = "zipf"',
                                  'mix = [{op = "trim", size = "1M"}, {op = "write", size = "8k"}]'])  # fmt: skip
def test_toml_reads_back(text: str) -> None:
    job = toml(text)
    assert parse_job(toml_text(job), "back.toml").phases == job.phases


def test_fio_trims() -> None:
    assert mix(fio("rw=randtrim\nbs=4k,8k,64k")) == {"trim": (65536, 1.0)}
    assert isinstance(only(fio("rw=trim\nbs=1m")).workload.locality, Sequential)
    both = fio("rw=randtrimwrite\nbs=8k\nnorandommap")
    assert mix(both) == {"trim": (8192, 0.5), "write": (8192, 0.5)}
    assert any("in fio each write follows a trim of its block" in note for note in both.notes)


@pytest.mark.parametrize("text", ["rw=trim\nbs=1m", "rw=randtrim\nbs=64k\nnorandommap",
                                  "rw=randtrimwrite\nbs=8k\nnorandommap", "rw=trimwrite\nbs=8k,8k,64k"])  # fmt: skip
def test_fio_reads_back(text: str) -> None:
    job = fio(text)
    back = only(parse_fio_job(fio_text(job), "back.fio", {}))
    assert sorted(back.workload.mix, key=repr) == sorted(only(job).workload.mix, key=repr)
    assert back.workload.locality == only(job).workload.locality


def test_fio_has_no_word_for_trims_among_reads() -> None:
    with pytest.raises(SpecError, match="fio mixes trims only with an equal share of writes"):
        fio_text(toml('read = 50\ntrim = 50\nsize = "8k"'))


def test_trims_alone_write_nothing_for_fio() -> None:
    text = fio_text(toml('trim = 100\nsize = "64k"'))
    assert "rw=randtrim" in text
    assert "buffers" not in text
    assert only(toml('trim = 100\nsize = "64k"')).workload.mix == (MixItem("trim", 65536, 100.0),)
