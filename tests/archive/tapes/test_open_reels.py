"""A reel while it is recorded: a line for each moment, of which nothing that was written is lost."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from makers.live_moments import BEGAN_NS, SECOND_NS
from makers.recorded_tapes import reel_of, written_reel

from iocast.archive.file_names import SAMPLES
from iocast.archive.tapes.open_reel import OpenReel
from iocast.archive.tapes.reels import reel_samples
from iocast.archive.tapes.unfinished_reels import ReelNote
from iocast.archive.writing.held_folder import open_folder
from iocast.errors import ArchiveError
from iocast.model.live.moment import Moment, moment_of, moments_of
from iocast.model.run import Sample

NAMES = st.tuples(
    st.sampled_from(["processes", "diskstats", "calls_by_file"]),
    st.sampled_from(["", "1|sh", "2|sh", "3|ü\u2028|x", 'read|/a "b"\\c\n']),
    st.sampled_from(["reads", "rchar", "run_ns"]),
)
VALUES = st.one_of(st.integers(0, 3).map(float), st.floats(allow_nan=False, allow_infinity=False))
SAMPLES_OF_A_MOMENT = st.lists(st.tuples(NAMES, VALUES, st.integers(-(10**9), 10**9)), max_size=12)


def _moments(lists: list[list[tuple[tuple[str, str, str], float, int]]]) -> list[Moment]:
    times = [BEGAN_NS + at * SECOND_NS for at in range(len(lists))]
    return [
        moment_of(time_ns, [Sample(time_ns + since, *name, value) for name, value, since in each], at)
        for at, (time_ns, each) in enumerate(zip(times, lists, strict=True))
    ]


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.lists(SAMPLES_OF_A_MOMENT, min_size=1, max_size=6))
def test_what_was_written_comes_back_sample_by_sample(
    tmp_path_factory: pytest.TempPathFactory, lists: list[list[tuple[tuple[str, str, str], float, int]]]
) -> None:
    """Subjects come, go, come again, change their order, and have a counter twice in one moment."""
    moments = _moments(lists)
    folder = written_reel(tmp_path_factory.mktemp("reel"), moments)
    assert list(moments_of(reel_samples(folder))) == moments


@pytest.mark.long
@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.long)])
def test_a_reel_that_was_cut_at_any_byte_has_all_moments_before(tmp_path: Path, step: int) -> None:
    moments = _moments([[(("processes", f"{at}|sh", "rchar"), at * 1.5, 0)] for at in range(4)])
    folder = written_reel(tmp_path, moments)
    file = folder / SAMPLES / "000.jsonl"
    whole = file.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")][1:]  # the first line says what the reel is
    for length in sorted({*range(0, len(whole) + 1, step), *ends}):
        file.write_bytes(whole[:length])
        expected = moments[: sum(end <= length for end in ends)]
        assert list(moments_of(reel_samples(folder))) == expected, length


def test_counters_that_stand_still_take_no_room(tmp_path: Path) -> None:
    subjects = [f"{pid}|postgres" for pid in range(1000)]

    def moment(at: int, moved: int) -> Moment:
        time_ns = BEGAN_NS + at * SECOND_NS
        values = [10.0 + (at if number < moved else 0) for number in range(len(subjects))]
        pairs = zip(subjects, values, strict=True)
        samples = [Sample(time_ns, "processes", subject, "rchar", value) for subject, value in pairs]
        return moment_of(time_ns, samples, at)

    moments = [moment(0, 0), moment(1, 0), moment(2, 1000)]
    lines = (written_reel(tmp_path, moments) / SAMPLES / "000.jsonl").read_bytes().splitlines()[1:]
    assert len(lines[1]) < 100 < len(lines[2]) < len(lines[0]) / 3


def test_what_is_no_number_is_left_out(tmp_path: Path) -> None:
    """A table that has one would be refused as a whole."""
    time_ns = BEGAN_NS
    samples = [Sample(time_ns, "x", "", name, value) for name, value in (("a", 1.0), ("b", math.nan), ("c", math.inf))]
    folder = written_reel(tmp_path, [moment_of(time_ns, samples, 0)])
    assert [each.metric for each in reel_samples(folder)] == ["tick", "a"]


def test_a_damaged_line_names_the_file(tmp_path: Path) -> None:
    folder = written_reel(tmp_path, _moments([[], []]))
    file = folder / SAMPLES / "000.jsonl"
    file.write_bytes(file.read_bytes().replace(b'{"at":', b'{"at":x', 1))
    with pytest.raises(ArchiveError, match=r"000\.jsonl cannot be read: a line is no moment"):
        list(reel_samples(folder))


def test_another_file_of_its_name_gets_nothing(tmp_path: Path) -> None:
    moments = _moments([[], []])
    reel = reel_of(tmp_path, moments[:1])
    file, other = tmp_path / SAMPLES / "000.jsonl", tmp_path / "other"
    file.rename(tmp_path / "moved")
    other.write_text("mine")
    file.symlink_to(other)
    with pytest.raises(ArchiveError, match="is not the file that was begun"):
        reel.add(moments[1])
    assert other.read_text() == "mine"


def test_what_is_no_file_in_the_place_of_a_new_reel_is_refused(tmp_path: Path) -> None:
    (tmp_path / SAMPLES / "000.jsonl").mkdir(parents=True)
    with pytest.raises(ArchiveError, match="is a directory"):
        reel_of(tmp_path, [])


def test_a_link_in_the_place_of_a_new_reel_is_not_followed(tmp_path: Path) -> None:
    victim, rooms = tmp_path / "victim", tmp_path / "run" / SAMPLES
    victim.write_text("mine")
    rooms.mkdir(parents=True)
    (rooms / "000.jsonl").symlink_to(victim)
    with pytest.raises(ArchiveError, match=r"000\.jsonl is a symbolic link"):
        OpenReel(open_folder(tmp_path / "run"), 0, reel_of(tmp_path / "run2", []).phase, ReelNote())
    assert (rooms / "000.jsonl").is_symlink()
    assert victim.read_text() == "mine"
