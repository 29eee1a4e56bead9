"""Result files with bytes, lines and numbers changed at random: an importer reads them, or refuses with SourceError."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from makers.mutations import Mutation, examples, fuzzing, mutated, mutations

from iocast.errors import SourceError
from iocast.tools import importers

HERE = Path(__file__).parent
FOLDERS = (HERE / "fixtures", HERE / "fixtures" / "logs", HERE / "examples")
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.*")) if path.stat().st_size < 40_000]
CASES = [(path.name, path.read_bytes()) for path in FILES]  # the name of a log says what it holds
TOOLS = (
    *("fioparse", "orion", "vdbench", "dstat", "collectl", "diskstats"),
    *("diskspd", "crystaldiskmark", "ioping", "ior", "iozone", "kbench", "mdtest", "sysbench", "pg_test_fsync"),
    *("elbencho", "calibrate_io", "strace", "queue_table"),
    *("ioh", "log2", "vscsi", "oracle_waits", "awr_miner", "ehm", "oracle_iostat", "oracle_event", "capture_spool"),
)
KINDS = {
    "fio JSON": [case for case in CASES if case[0].endswith(".json") and case[0].startswith("fio")],
    "fio text": [case for case in CASES if case[0] in ("fio_both.txt", "fio_client.txt", "fio_unlike.txt")],
    "fio terse": [case for case in CASES if case[0].startswith("fio_terse")],
    "fio logs": [case for case in CASES if case[0].endswith(".log")],
    "iostat": [case for case in CASES if case[0].startswith("iostat")],
    "sar": [case for case in CASES if case[0].startswith("sar")],
    **{tool: [case for case in CASES if case[0].startswith(tool)] for tool in TOOLS},
    "latency records": [case for case in CASES if case[0].startswith("records")],
}

# What earlier draws came to, by kind: the file, what stood there, and what was drawn in its place.
FINDS = {
    "capture_spool": (
        ("capture_spool.txt", b"1795000000", b"1e308"),
        ("capture_spool.txt", b"1795442290", b"1e308"),
        ("capture_spool.txt", b"1795442290", b"9" * 30),
        ("capture_spool.txt", b"19.0.0.0.0", b"0"),  # of a version without any view
        ("capture_spool.txt", b"187.8", b"1e308"),
    ),
    "fio terse": (("fio_terse_v2.txt", b";1003;3;", b";1e-320;3;"),),
    "iozone": (("iozone.txt", b"379304", b"1e-320"),),
}


def test_every_importer_has_a_file_to_begin_with(tmp_path: Path) -> None:
    seen = set()
    for name, content in CASES:
        (tmp_path / name).write_bytes(content)
        seen.add(importers.importer_of(str(tmp_path / name)))
        importers.read((str(tmp_path / name),))
    assert seen == {*importers.IMPORTERS}
    assert all(KINDS.values())


@examples(150)
@pytest.mark.parametrize("kind", KINDS)
def test_only_a_refusal_comes_out(kind: str, examples: int, tmp_path: Path) -> None:
    def attempt(case: tuple[str, bytes], changes: Sequence[Mutation]) -> None:
        name, content = case
        path = tmp_path / name
        path.write_bytes(mutated(content, changes))
        try:
            (run,) = importers.read((str(path),))
        except SourceError:
            return
        for record in run.phases:
            assert record.measurement.elapsed_ns >= 0
            assert all(each.ios >= 0 and each.bytes >= 0 for each in record.measurement.classes)
            assert all(math.isfinite(each.value) for each in record.samples)

    for name, was, drawn in FINDS.get(kind, ()):
        content = dict(CASES)[name]
        assert was in content
        attempt = example(case=(name, content.replace(was, drawn)), changes=[])(attempt)
    fuzzing(examples)(given(case=st.sampled_from(KINDS[kind]), changes=mutations())(attempt))()


@examples(100)
def test_bytes_of_any_kind_are_refused(examples: int, tmp_path: Path) -> None:
    path = tmp_path / "any_lat.1.log"

    @fuzzing(examples)
    @given(content=st.binary(max_size=400))
    def attempt(content: bytes) -> None:
        path.write_bytes(content)
        with pytest.raises(SourceError):
            importers.read((str(path),))

    attempt()
