"""The memory that a process may still take: the least of the machine and of all control groups above it."""

from __future__ import annotations

from pathlib import Path

from iocast.observe.memory_left import MemoryLeft, memory_left, memory_limit_bytes

GIB = 1 << 30


def machine(root: Path, cgroup: str = "0::/\n") -> None:
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/self/cgroup").write_text(cgroup)
    (root / "proc/meminfo").write_text("MemTotal:       8388608 kB\nMemAvailable:   4194304 kB\n")


def group(folder: Path, **files: object) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name.replace("__", ".")).write_text(f"{value}\n")
    return folder


def test_without_a_limit_it_is_the_machine(tmp_path: Path) -> None:
    machine(tmp_path, "0::/db\n")
    group(tmp_path / "sys/fs/cgroup/db", memory__max="max", memory__current=GIB)
    assert memory_left(str(tmp_path)) == MemoryLeft(4 * GIB, "this machine")
    assert memory_limit_bytes(str(tmp_path)) is None


def test_a_group_above_that_allows_less(tmp_path: Path) -> None:
    machine(tmp_path, "0::/outer/inner\n")
    outer = group(tmp_path / "sys/fs/cgroup/outer", memory__max=2 * GIB, memory__current=GIB)
    group(outer / "inner", memory__max=3 * GIB, memory__current=0)
    assert memory_left(str(tmp_path)) == MemoryLeft(GIB, f"its control group {outer}")
    assert memory_limit_bytes(str(tmp_path)) == 2 * GIB


def test_page_cache_is_given_back(tmp_path: Path) -> None:
    machine(tmp_path, "0::/db\n")
    folder = group(tmp_path / "sys/fs/cgroup/db", memory__max=2 * GIB, memory__current=2 * GIB)
    (folder / "memory.stat").write_text(f"anon 1\ninactive_file {GIB}\nactive_file 5\n")
    assert memory_left(str(tmp_path)) == MemoryLeft(GIB + 5, f"its control group {folder}")


def test_version_one_and_both_versions_side_by_side(tmp_path: Path) -> None:
    machine(tmp_path, "4:memory:/db\n0::/\n")
    folder = group(tmp_path / "sys/fs/cgroup/memory/db", memory__limit_in_bytes=GIB, memory__usage_in_bytes=7)
    group(tmp_path / "sys/fs/cgroup/memory", memory__limit_in_bytes=9223372036854771712, memory__usage_in_bytes=7)
    group(tmp_path / "sys/fs/cgroup/unified")
    assert memory_left(str(tmp_path)) == MemoryLeft(GIB - 7, f"its control group {folder}")
    assert memory_limit_bytes(str(tmp_path)) == GIB


def test_where_nothing_is_said_it_is_unknown(tmp_path: Path) -> None:
    assert memory_left(str(tmp_path)) is None
