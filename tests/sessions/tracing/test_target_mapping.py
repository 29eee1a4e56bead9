"""--map: the targets of a trace on files of their own; what does not fit, is unknown or is said twice is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from makers.msr_traces import msr

import iocast
from iocast.errors import IocastError, SourceError, SpecError, TargetError
from iocast.model.measurement import Measurement
from iocast.sessions.listener import Quiet
from iocast.sessions.requests.replay import ReplayRequest
from iocast.sessions.requests.run_options import RunOptions
from iocast.sessions.tracing.replay_trace import replay
from iocast.sessions.tracing.target_mapping import Mapping, needed_bytes

MIB = 1 << 20


def two_disks(folder: Path) -> str:
    """Disk 0 is read up to 4 MiB, disk 1 up to 64 KiB; a folder of both."""
    traces = folder / "traces"
    traces.mkdir()
    msr(traces, [(at * 1.0, "Read", at * 65536, 4096, 0.5) for at in range(64)], "a.csv", disk=0)
    msr(traces, [(at * 1.0, "Read", at % 16 * 4096, 4096, 0.5) for at in range(32)], "b.csv", disk=1)
    return str(traces)


def file_of(folder: Path, name: str, size: int) -> Path:
    path = folder / name
    path.write_bytes(b"7" * size)
    return path


def replayed(trace: str, folder: Path, *mapped: str, **how: Any) -> Measurement:
    request = ReplayRequest(
        trace=trace,
        path=".",
        mapped=mapped,
        buffered=True,
        mode="fast",
        options=RunOptions(out=str(folder / "runs")),
        **how,
    )
    card = replay(request, Quiet()).card
    assert card is not None
    (record,) = card.run.measured
    return record.measurement


def test_the_public_function_takes_a_mapping(tmp_path: Path) -> None:
    large = file_of(tmp_path, "large.dat", 4 * MIB)
    card = iocast.replay(two_disks(tmp_path), mapped={"host,0": str(large)}, mode="fast", out=str(tmp_path / "runs"))
    (record,) = card.run.measured
    assert record.measurement.ios == 64


def test_each_target_goes_to_a_file_of_its_own(tmp_path: Path) -> None:
    trace = two_disks(tmp_path)
    large, small = file_of(tmp_path, "large.dat", 4 * MIB), file_of(tmp_path, "small.dat", 65536)
    did = replayed(trace, tmp_path, f"host,0={large}", f"host,1={small}")
    assert (did.ios, did.error_count) == (96, 0)
    assert did.replay is not None
    assert (did.replay.moved, did.replay.left_out) == (0, {})
    places = {(each.file, each.offset_bytes) for each in did.slow}
    assert all(offset < 65536 for file, offset in places if file == 1)


def test_what_is_mapped_to_a_file_that_is_too_small_is_refused(tmp_path: Path) -> None:
    trace = two_disks(tmp_path)
    large, small = file_of(tmp_path, "large.dat", 4 * MIB), file_of(tmp_path, "small.dat", 65536)
    with pytest.raises(TargetError, match=r"small\.dat reaches to 4,132,864 bytes, it has 65,536"):
        replayed(trace, tmp_path, f"host,0={small}", f"host,1={large}")


def test_what_is_not_mapped_is_left_out(tmp_path: Path) -> None:
    large = file_of(tmp_path, "large.dat", 4 * MIB)
    did = replayed(two_disks(tmp_path), tmp_path, f"host,0={large}")
    assert did.replay is not None
    assert (did.ios, did.replay.left_out) == (64, {"other_target": 32})


def test_several_targets_share_a_file_one_after_the_other(tmp_path: Path) -> None:
    large = file_of(tmp_path, "large.dat", 6 * MIB)
    did = replayed(two_disks(tmp_path), tmp_path, f"host,0={large}", f"host,1={large}")
    assert (did.ios, did.error_count) == (96, 0)
    assert needed_bytes({"a": 5, "b": 7, "c": 9}, Mapping(("x", "y"), {"a": 0, "b": 1, "c": 0})) == [MIB + 9, 7]


@pytest.mark.parametrize(
    ("mapped", "how", "kind", "says"),
    [
        (("hda=FILE",), {}, SourceError, "the trace has no target hda: it has host,0, host,1"),
        (("host,0",), {}, SpecError, "--map host,0 is not OLD=NEW"),
        (("host,0=FILE", "host,0=FILE"), {}, SpecError, "--map has host,0 twice"),
        (("host,0=FILE",), {"targets": ("host,0",)}, SpecError, "--map and --target together"),
        (("host,0=FILE", "host,1=/nowhere/at/all"), {}, TargetError, "/nowhere/at/all does not exist"),
    ],
)
def test_what_makes_no_mapping_is_refused(
    tmp_path: Path, mapped: tuple[str, ...], how: dict[str, Any], kind: type[IocastError], says: str
) -> None:
    file = file_of(tmp_path, "large.dat", 4 * MIB)
    with pytest.raises(kind) as refused:
        replayed(two_disks(tmp_path), tmp_path, *(each.replace("FILE", str(file)) for each in mapped), **how)
    assert says in refused.value.message
    assert refused.value.hint
