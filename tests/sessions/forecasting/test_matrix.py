"""ORION's matrix on simulated devices with known answers; its files, read back with equal figures."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest
from makers.left_out import long_after
from msgspec.structs import replace

import iocast
from iocast import archive
from iocast.errors import ArchiveError, SpecError, TargetError
from iocast.model.histogram import Histogram, bucket_index
from iocast.model.plan import Concatenated, Striped
from iocast.model.run import PhaseRecord, Run
from iocast.model.workload import Sequential
from iocast.report.matrix.measured_points import orion_result
from iocast.runner import Progress
from iocast.sessions.events import Event, FileWritten
from iocast.sessions.forecasting.matrix import plan_matrix, run_matrix, write_orion_files
from iocast.sessions.listener import Quiet, QuietProgress
from iocast.sessions.requests.matrix import MatrixRequest
from iocast.tools import importers
from iocast.tools.orion.command_line import parse
from iocast.tools.orion.result_writing import Side, hist_text

SAMPLE = """\
ORION VERSION 11.1.0.7.0

Commandline:
-run simple

This maps to this test:
Test: orion
Small IO size: 8 KB
Large IO size: 1024 KB
IO Types: Small Random IOs, Large Random IOs
Simulated Array Type: CONCAT
Write: 0%
Cache Size: Not Entered
Duration for each Data Point: 60 seconds
Small Columns:,      0
Large Columns:,      0,      1,      2
Total Data Points: 8

Name: /dev/vdb  Size: 21474836480
1 FILEs found.

Maximum Large MBPS=1554.54 @ Small=0 and Large=2
Maximum Small IOPS=19019 @ Small=5 and Large=0
Minimum Small Latency=0.26 @ Small=5 and Large=0
"""
# As ORION of 19c prints it (source-vectors V16).
HISTOGRAM = """\
        Latency:                         # of IOs (read)          # of IOs (write)
        0 - 32         us:               0 (  0.00%)              0 (  0.00%)
       32 - 64         us:               1 (  0.00%)              0 (  0.00%)
       64 - 128        us:         1112243 ( 91.12%)              0 (  0.00%)
      128 - 256        us:          102320 ( 99.50%)              0 (  0.00%)
      256 - 512        us:            5434 ( 99.95%)              0 (  0.00%)
      512 - 1024       us:             405 ( 99.98%)              0 (  0.00%)
     1024 - 2048       us:             259 (100.00%)              0 (  0.00%)
     2048 - 4096       us:               2 (100.00%)              0 (  0.00%)
     4096 - 268435456  us:               0 (100.00%)              0 (  0.00%)
"""
FOUR_SERVERS = "sim:nvme,service=constant:1ms,servers=4"


def request(line: str, *paths: str, out: Path, **more: object) -> MatrixRequest:
    return MatrixRequest(settings=parse(shlex.split(line)), paths=paths, out=str(out), **more)  # type: ignore[arg-type]


def measured(line: str, path: str, tmp_path: Path) -> Run:
    return run_matrix(request(line, path, out=tmp_path), Quiet()).run


def written(run: Run, directory: Path) -> dict[str, str]:
    paths = write_orion_files(run, str(directory), Quiet())
    return {path.name.rpartition("_")[2]: path.read_text() for path in paths}


def test_a_point_is_what_little_says(tmp_path: Path) -> None:
    """N = IOPS x latency within 5 % at every point, and four servers of 1 ms give 1000 IOPS each."""
    result = orion_result(measured("-run simple -duration 10", FOUR_SERVERS, tmp_path))
    assert len(result.points) == 7  # the origin has no I/O
    for at in result.points:
        for side, outstanding in ((at.small, at.point.small), (at.large, at.point.large)):
            if side is not None:
                assert side.per_s * side.mean_us / 1e6 == pytest.approx(outstanding, rel=0.05)
        if at.small is not None:
            assert at.small.per_s == pytest.approx(1000 * min(at.point.small, 4), rel=0.01)


@pytest.mark.parametrize(
    "line",
    long_after(
        1,
        [
            "-run simple -duration 5",
            "-run normal -duration 2",
            "-run oltp -duration 1",
            "-run dss -duration 1",
            "-run advanced -matrix max -num_small 2 -num_large 2 -write 30 -duration 5",
        ],
    ),
)
def test_what_is_written_reads_back_with_equal_figures(line: str, tmp_path: Path) -> None:
    run = measured(line, "sim:nvme", tmp_path / "runs")
    written(run, tmp_path / "files")
    (back,) = importers.read((str(tmp_path / "files"),))
    result = orion_result(run)
    assert len(back.phases) == len(result.points)
    by_name = {record.phase.name: record for record in back.phases}
    for at in result.points:
        parts = [f"{kind} 1x{n}" for kind, n in (("small", at.point.small), ("large", at.point.large)) if n]
        record = by_name[f"sim:nvme {' and '.join(parts)}"]
        for side, size in ((at.small, 8 << 10), (at.large, 1 << 20)):
            if side is None:
                continue
            classes = [each for each in record.measurement.classes if each.size_bytes == size]
            seconds = record.measurement.elapsed_ns / 1e9
            rate = sum(each.ios for each in classes) / seconds
            # Rates of small I/Os are whole numbers, throughput has two decimals.
            assert rate == pytest.approx(side.per_s, abs=0.51 + 1 / seconds if size == 8 << 10 else 0.02 + 2 / seconds)
            if len(classes) == 1 and size == 8 << 10:
                assert classes[0].service.mean_ns / 1e3 == pytest.approx(side.mean_us, abs=0.001)
            for each in classes:
                assert each.service.coarse is not None
                assert each.service.coarse.whole == side.times[each.op].total  # the counts of the histogram


@pytest.mark.long
def test_the_summary_has_the_lines_of_orion(tmp_path: Path) -> None:
    """Line by line as a summary of ORION 11.1; the lowest latency has a unit and a histogram, as from 11.2 on."""
    run = measured("-run simple", "sim:nvme,size=20GiB", tmp_path)
    text = written(run, tmp_path / "files")["summary.txt"]
    lines, sample = text.splitlines(), SAMPLE.splitlines()
    assert lines[0].startswith("ORION VERSION iocast-")
    assert lines[1:18] == sample[1:18]
    assert lines[18] == "Name: sim:nvme,size=20GiB  Size: 21474836480"
    assert lines[19:21] == sample[19:21]
    results = [line.partition("=")[0] + line.partition("@")[1] for line in sample[21:24]]
    assert [line.partition("=")[0] + line.partition("@")[1] for line in lines if line.startswith("M")] == results
    assert "usecs @ Small=" in next(line for line in lines if line.startswith("Minimum"))
    head = lines.index(HISTOGRAM.splitlines()[0])
    assert lines[head - 1].startswith("Small Read / Write Latency Histogram @ Small=")


def test_a_histogram_has_the_layout_of_orion(tmp_path: Path) -> None:
    """The counts of a public output of 19c come out as it printed them."""
    counts = {40: 1, 100: 1_112_243, 200: 102_320, 400: 5_434, 800: 405, 1500: 259, 3000: 2}  # at so many us
    index = tuple(bucket_index(us * 1000) for us in counts)
    times = Histogram(index, tuple(counts.values()), 1, 1.0, 40_000, 3_000_000)
    result = orion_result(measured("-run advanced -matrix point -num_small 1 -num_large 0", "sim:nvme", tmp_path))
    at = replace(result.points[0], small=Side(1.0, 1.0, {"read": times}))
    text = hist_text(replace(result, points=(at,)))
    assert text.endswith(f"Latency Histogram for small IOs @ Small=1 and Large=0\n{HISTOGRAM}")


def test_the_matrices_have_the_heads_of_orion(tmp_path: Path) -> None:
    texts = written(measured("-run simple -duration 1", "sim:nvme", tmp_path), tmp_path / "files")
    cells = {name: texts[name].splitlines()[3:] for name in ("iops.csv", "lat.csv", "mbps.csv")}
    assert cells["iops.csv"][0] == cells["lat.csv"][0] == "Large/Small, 1, 2, 3, 4, 5"
    assert [line.split(",")[0] for line in cells["iops.csv"]] == ["Large/Small", "0"]
    assert cells["mbps.csv"][0] == "Large/Small, 0"
    assert [line.split(",")[0] for line in cells["mbps.csv"][1:]] == ["1", "2"]


def test_small_and_large_ios_of_a_point_run_together(tmp_path: Path) -> None:
    run = measured("-run advanced -matrix point -num_small 3 -num_large 2 -duration 2", "sim:nvme", tmp_path)
    small, large = run.measured
    assert small.measurement.started_unix_ns == large.measurement.started_unix_ns
    assert run.beside(small) == (small, large)
    assert (small.plan.depth, large.plan.depth) == (3, 2)


def test_streams_are_users_and_the_cache_is_warmed_before_each_of_their_points(tmp_path: Path) -> None:
    line = "-run advanced -matrix col -num_small 0 -type seq -num_streamIO 3 -cache_size 16 -duration 1"
    run = measured(line, "sim:nvme", tmp_path)
    assert [record.phase.role for record in run.phases] == ["warm", "measure"] * 2
    assert [record.measurement.bytes for record in run.phases if record.phase.role == "warm"] == [16 << 20] * 2
    assert [(record.plan.users, record.plan.depth) for record in run.measured] == [(1, 3), (2, 3)]
    assert all(isinstance(record.plan.locality, Sequential) for record in run.measured)
    without = plan_matrix(request(line.replace("-cache_size 16", "-cache_size 0"), "sim:nvme", out=tmp_path))
    assert [phase.role for phase in without.plan.phases] == ["measure"] * 2
    usual = plan_matrix(request(line.replace("-cache_size 16 ", ""), "sim:nvme", out=tmp_path))
    assert [phase.length.seconds for phase in usual.plan.phases if phase.role == "warm"] == [120.0, 120.0]


def test_work_files_are_a_concatenation_or_a_stripe(tmp_path: Path) -> None:
    options = {"luns": 4, "out": tmp_path}
    plain = plan_matrix(request("-run simple", str(tmp_path), **options))  # type: ignore[arg-type]
    assert (plain.plan.files.count, plain.plan.files.stripe_bytes) == (4, 0)
    assert len(plain.points) == 29  # the disks are the files where no number is given
    striped = plan_matrix(request("-run advanced -simulate raid0 -stripe 2048", str(tmp_path), **options))  # type: ignore[arg-type]
    assert striped.plan.files.stripe_bytes == 2 << 20


def files(tmp_path: Path, *sizes: int) -> tuple[str, ...]:
    paths = []
    for number, size_bytes in enumerate(sizes):
        path = tmp_path / f"lun{number}.dat"
        path.write_bytes(b"\1" * size_bytes)
        paths.append(str(path))
    return tuple(paths)


@pytest.mark.device
@pytest.mark.parametrize(("array", "layout"), long_after(1, [("concat", Concatenated()), ("raid0", Striped(1 << 20))]))
def test_several_files_are_read_as_one_volume(array: str, layout: object, tmp_path: Path) -> None:
    """A short run with real I/O: every file is read."""
    paths = files(tmp_path, 4 << 20, 8 << 20)
    line = f"-run advanced -matrix point -num_small 2 -num_large 1 -simulate {array} -duration 1"
    run = run_matrix(request(line, *paths, out=tmp_path / "runs"), Quiet()).run
    small, _ = run.measured
    assert small.plan.layout == layout
    assert [region.path for region in small.plan.files] == list(paths)
    assert run.plan.target.size_bytes == 12 << 20
    assert not small.measurement.errors
    result = orion_result(run)
    assert [volume.size_bytes for volume in result.volumes] == [4 << 20, 8 << 20]
    assert result.settings.disks == 2


def test_the_paths_are_those_of_the_lun_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = files(tmp_path, 2 << 20, 2 << 20)
    (tmp_path / "mytest.lun").write_text("\n".join(paths) + "\n")
    monkeypatch.chdir(tmp_path)
    proposed = plan_matrix(request("-run simple -testname mytest", out=tmp_path))
    assert [member.path for member in proposed.plan.target.members] == list(paths)
    with pytest.raises(SpecError, match=r"there is no orion\.lun here"):
        plan_matrix(request("-run simple", out=tmp_path))


def test_what_iocast_did_not_make_is_never_written_to(tmp_path: Path) -> None:
    paths = files(tmp_path, 2 << 20, 2 << 20)
    line = "-run advanced -matrix point -num_small 1 -num_large 0 -write 50"
    for given in (paths, paths[:1]):
        with pytest.raises(TargetError, match="would overwrite"):
            run_matrix(request(line, *given, out=tmp_path / "runs"), Quiet())
    assert Path(paths[0]).read_bytes() == b"\1" * (2 << 20)


@pytest.mark.parametrize(
    ("paths", "says"),
    [
        (("sim:nvme", "sim:hdd"), "a simulated device"),
        ((".", "missing.dat"), "is a directory"),
        (("missing.dat", "."), "does not exist"),
        ((".", "."), "given twice"),
    ],
)
def test_what_cannot_go_together_is_refused(
    paths: tuple[str, ...], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((TargetError, SpecError), match=says):
        plan_matrix(request("-run simple", *paths, out=tmp_path))


def test_luns_are_for_directories(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="--luns 2 is for a directory"):
        plan_matrix(request("-run simple", "sim:nvme", out=tmp_path, luns=2))


class Heard(Quiet):
    def __init__(self) -> None:
        self.events: list[Event] = []

    def tell(self, event: Event) -> None:
        self.events.append(event)


def test_the_folder_alone_gives_the_same_files(tmp_path: Path) -> None:
    heard = Heard()
    asked = request("-run simple -duration 1", "sim:nvme", out=tmp_path / "runs", files=str(tmp_path / "first"))
    card = run_matrix(asked, heard).card
    assert card is not None
    assert sum(isinstance(event, FileWritten) for event in heard.events) == 6
    again = archive.load(card.folder)
    for path in write_orion_files(again, str(tmp_path / "second"), Quiet()):
        assert path.read_text() == (tmp_path / "first" / path.name).read_text()


@pytest.mark.long
def test_a_run_of_another_verb_has_no_orion_files(tmp_path: Path) -> None:
    card = iocast.run("card-quick", "sim:nvme", time="1s", out=str(tmp_path))
    with pytest.raises(ArchiveError, match="has no matrix"):
        write_orion_files(card.run, str(tmp_path / "files"), Quiet())


def test_a_stopped_run_leaves_blanks(tmp_path: Path) -> None:
    """Points that were not measured are blank in the matrices, and the importer leaves them out."""
    run = measured("-run advanced -matrix max -num_small 2 -num_large 1 -duration 1", "sim:nvme", tmp_path / "runs")
    cut = replace(run, phases=tuple(each for each in run.phases if "small=2 large=1" not in each.phase.name))
    texts = written(cut, tmp_path / "files")
    assert texts["iops.csv"].splitlines()[-1].split(", ")[::2] == ["1", "-"]
    (back,) = importers.read((str(tmp_path / "files"),))
    assert len(back.phases) == 4


def test_a_row_that_was_cut_short_is_no_point(tmp_path: Path) -> None:
    run = measured("-run simple -duration 1", "sim:nvme", tmp_path / "runs")
    last = run.phases[-1]
    cut = replace(last, measurement=replace(last.measurement, stopped="interrupted"))
    texts = written(replace(run, phases=(*run.phases[:-1], cut)), tmp_path / "files")
    assert texts["mbps.csv"].splitlines()[-1] == "2, -"
    assert "Large=2:" not in texts["trace.txt"]


class StopsBeforeTheEnd(Quiet):
    """Asks to stop as soon as the second row begins."""

    def __init__(self) -> None:
        self.begun = 0

    def working(self) -> AbstractContextManager[Callable[[], bool]]:
        return nullcontext(lambda: self.begun > 0)

    def progress(self, stopping: Callable[[], bool]) -> Progress:
        counting = QuietProgress()

        def end(record: PhaseRecord) -> None:
            self.begun += 1

        counting.end = end  # type: ignore[method-assign]
        return counting


def test_a_run_that_is_stopped_leaves_the_files_of_what_was_measured(tmp_path: Path) -> None:
    asked = request("-run simple -duration 1", "sim:nvme", out=tmp_path / "runs", files=str(tmp_path / "files"))
    done = run_matrix(asked, StopsBeforeTheEnd())
    assert done.run.status == "interrupted"
    (iops,) = (tmp_path / "files").glob("*_iops.csv")
    assert iops.read_text().splitlines()[-1].split(", ")[2:] == ["-"] * 4
