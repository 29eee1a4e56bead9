"""The words for a simulated device name every option that is on, and only those."""

from __future__ import annotations

import pytest

from iocast.jobs import parse_target, simulated_presets
from iocast.jobs.simulated.device_options import OPTIONS
from iocast.report.card.simulated_device_text import describe

# Options that change nothing a reader must know when they stand alone, or that need another one first.
FIRST = {
    "write_back": "hit=20%:1ms,write_back=off,",
    "scan_resistant": "cache=1GiB:1ms,",
    "dirty": "hit=20%:1ms,write_back=on,",
    "errno": "errors=1%,",
    "io_unit": "iops=7/s,",
    "reduce_to": "compress=on,reduce_to=50%,",
    "unit": "first_write=1ms,unit=1MiB,",
}
# A report of what the device is like says its size elsewhere.
UNSAID = {"size"}


def words(text: str) -> str:
    device = parse_target(text).simulated
    assert device is not None
    return describe(device)


def test_a_disk() -> None:
    assert words("sim:hdd") == "It has 1 server, service time of a disk arm at 7,200 rpm, 150 MB/s, fsync 8.3 ms"


@pytest.mark.parametrize("name", [name for name in OPTIONS if name not in UNSAID])
def test_every_option_that_is_on_is_named(name: str) -> None:
    first = FIRST.get(name, "")
    form = OPTIONS[name].form.replace("same|", "").split("|")[0].replace("LAW", "gamma:3ms:2")
    form = {"bandwidth": "1GB/s", "fsync": "9ms", "errno": "ENOSPC"}.get(name, form)
    alone = words(f"sim:hdd,{first}".rstrip(","))
    changed = (
        words(f"sim:hdd,{first}{name}={form}")
        if name not in first
        else words(f"sim:hdd,{first.split(',')[0]},{name}={form}")
    )
    assert changed != alone


@pytest.mark.parametrize("name", simulated_presets())
def test_presets_read_as_one_sentence(name: str) -> None:
    said = words(name)
    assert said.startswith("It has ")
    assert "None" not in said
    assert not said.endswith(".")


def test_what_is_on_is_said_with_its_figures() -> None:
    said = words("sim:nvme,credits=300/s:5.4M,link=117MB/s:200us,tier=1GiB:200us:3,errors=1/5000,errno=ENOSPC")
    assert "a link of 117 MB/s each way, 200 µs round trip" in said
    assert "a baseline of 300 IOPS and 5.40M of burst credits" in said
    assert "a fast tier of 1.0 GiB (200 µs), filled after 3 accesses" in said
    assert said.endswith("ENOSPC at each 5,000th I/O")
