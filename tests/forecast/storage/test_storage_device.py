"""Devices: those of the library say where they come from, files are read strictly, figures follow the data sheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SpecError
from iocast.forecast.storage.storage_device import built_in, built_in_devices, read_device

FILE = """\
medium = "ssd"
source = "a data sheet"
checked = 2026-11-01
capacity = "1.92TB"
block = "4k"
read_latency = "90us"
write_latency = "30us"
read_iops = 300000
write_iops = 60000
read_rate = "3GB/s"
write_rate = "1.5GB/s"
price = 400
"""


def test_every_built_in_device_has_a_source_and_a_date() -> None:
    assert set(built_in_devices()) >= {"hdd-15k", "sata-ssd", "nvme", "gp3", "io2"}
    for name, device in built_in_devices().items():
        assert device.source, name
        assert device.checked.year >= 2026, name
        assert 0 < device.pool(0.7, 8192).mean_s < 0.02, name


def test_a_disk_is_seek_rotation_and_transfer() -> None:
    kolk = built_in("hdd-15k").pool(1.0, 8000)
    assert kolk.servers == 1
    assert built_in("hdd-15k").pool(1.0, 32 << 10).mean_s == pytest.approx(0.005 + 0.002 + 32768 / 40e6)
    assert built_in("hdd-15k").pool(1.0, 32 << 10).iops == pytest.approx(1 / (0.007 + 32768 / 40e6))


def test_larger_ios_take_their_bytes() -> None:
    ssd = built_in("sata-ssd")
    assert ssd.pool(1.0, 8192).iops == 48000
    assert ssd.pool(1.0, 1 << 20).iops == pytest.approx(500e6 / (1 << 20), rel=0.02)
    assert ssd.pool(0.0, 8192).iops == 21000
    assert ssd.pool(0.5, 8192).iops == pytest.approx(2 / (1 / 48000 + 1 / 21000))


def test_the_slower_side_sets_the_response_time() -> None:
    assert built_in("sata-ssd").pool(0.5, 8192).slowest_s == 110e-6
    assert built_in("sata-ssd").pool(0.0, 8192).slowest_s == 52e-6


def test_a_device_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(FILE)
    mine = read_device(tmp_path / "mine.toml")
    assert (mine.name, mine.capacity_bytes, mine.prices.each) == ("mine", 1.92e12, 400)
    assert (mine.reads.iops, mine.writes.bytes_per_s) == (300_000, 1.5e9)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('block = "4k"', "", 'mine.toml: medium = "ssd" needs "block"'),
        ('block = "4k"', 'blok = "4k"', "mine.toml: unknown field `blok`"),
        ('block = "4k"', 'block = "4k"\nrpm = 7200', '"rpm" is not a field of medium = "ssd"'),
        ('"90us"', '"90"', "the unit is missing"),
        ('"90us"', '"0s"', '"read_latency" is not above 0'),
        ("read_iops = 300000", "read_iops = -1", '"read_iops" is not above 0'),
        ("price = 400", "price = -4", "price is negative"),
        ('medium = "ssd"', 'medium = "tape"', "mine.toml:"),
        ('source = "a data sheet"', "", "mine.toml: missing field `source`"),
        ('medium = "ssd"', 'medium = "ssd', "mine.toml:"),
    ],
)
def test_a_wrong_file_says_which_field(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(FILE.replace(old, new))
    with pytest.raises(SpecError) as refused:
        read_device(file)
    assert says in refused.value.message
    assert refused.value.hint


def test_what_is_not_known_names_what_is(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match='"floppy" is unknown') as refused:
        built_in("floppy")
    assert "sata-ssd" in refused.value.hint
    with pytest.raises(SpecError, match="cannot read"):
        read_device(tmp_path / "none.toml")
