"""What is told of copies: the fastest durable way, fallbacks by call and errno, reflinks, caches, damaged copies."""

from __future__ import annotations

from io import StringIO

from makers.copied_files import SIZE, copies, copy, refused

from iocast.model.copy_trials import CopyRun
from iocast.report.copy_report import copy_report
from iocast.report.renderers import json_report, terminal


def _codes(run: CopyRun) -> dict[str, str]:
    report = copy_report(run)
    rows = [
        row for each in report.sections for table in each.tables if table.key == "copy_remarks" for row in table.rows
    ]
    return {str(row.cells["code"]): str(row.cells["says"]) for row in rows}


def _rounds(method: str, real_s: float, **more: object) -> list[object]:
    return [copy(method, real_s + 0.001 * number, number, **more) for number in (1, 2, 3)]  # type: ignore[arg-type]


def test_the_fastest_durable_way_is_the_verdict() -> None:
    run = copies(*_rounds("read_write_block", 2.0), *_rounds("uring_direct", 1.0))  # type: ignore[arg-type]
    said = copy_report(run, "folder").verdict
    assert said.startswith("Fastest median with a cold source: io_uring O_DIRECT 8x1 MiB, 998 MB/s with fsync, 2")
    assert "read/write st_blksize" in said


def test_what_does_not_differ_for_sure_is_said() -> None:
    slow = [copy("read_write_block", real_s, number) for number, real_s in enumerate((1.0, 2.0, 3.0), 1)]
    other = [copy("splice", real_s, number) for number, real_s in enumerate((2.5, 0.9, 1.9), 1)]
    said = copy_report(copies(*slow, *other)).verdict
    assert said.startswith("With a cold source no way differs from read/write st_blksize for sure; best: splice")


def test_a_way_across_file_systems_falls_back() -> None:
    run = copies(
        copy("read_write_block", 1.0),
        refused("copy_file_range", "copy_file_range", 18, "EXDEV"),
        devices=("8:1", "8:2"),
    )
    assert _codes(run) == {"way_refused": "copy_file_range is refused with EXDEV from ext4 to xfs."}
    out = StringIO()
    terminal.render(copy_report(run), out, colour=False, width=120)
    assert "fall back to read and write here: the two file systems are different" in " ".join(out.getvalue().split())


def test_reflinks_and_copies_in_memory_are_named() -> None:
    shared = copies(copy("copy_file_range", 0.001, shared_bytes=SIZE), copy("read_write_block", 1.0))
    assert _codes(shared) == {"reflinked": "100% of the copy shares its blocks with the source: no data was copied."}
    assert "made reflinks, which copy no data" in copy_report(shared).verdict
    assert list(_codes(copies(copy("copy_file_range", 1.0, shared_bytes=0)))) == ["copied_in_kernel"]
    assert _codes(copies(copy("copy_file_range", 1.0, shared_bytes=None))) == {}, "unknown is no fallback"


def test_caches_that_were_not_as_asked_and_holes_are_named() -> None:
    run = copies(
        copy("splice", 1.0, cached_bytes=SIZE),
        copy("splice", 1.0, cache="warm", cached_bytes=SIZE // 2),
        allocated_bytes=SIZE // 4,
    )
    assert list(_codes(run)) == ["not_cold", "not_warm", "sparse_source"]


def test_a_copy_that_differs_is_the_verdict() -> None:
    run = copies(copy("splice", 1.0), copy("splice", 1.0, 2, same=False))
    assert copy_report(run).verdict == "1 copy did not hold what the source holds."


def test_the_document_has_raw_figures() -> None:
    run = copies(copy("splice", 2.0, system_s=0.5), copy("read_write_block", 1.0))
    document = json_report.document(copy_report(run))
    row = next(row for row in document.copies_cold if row.method == "splice")  # type: ignore[union-attr]
    assert (row.real_ns, row.rate_bytes_per_s, row.system_s_per_gb) == (2 * 10**9, 500e6, 0.5)
    assert (row.base, row.time_ratio) == (False, 2.0)
