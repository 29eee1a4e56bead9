"""A release says what it is made of, and has its version in one place; the whole is made by `make release`."""

from __future__ import annotations

import base64
import csv
import datetime
import gzip
import hashlib
import io
import json
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from makers.scripts import script

import iocast

ROOT = Path(__file__).resolve().parents[1]
DAY = datetime.date(2026, 11, 28)


release = script("release")
parts = script("parts")
packages = script("packages")


def test_the_version_is_that_of_the_core() -> None:
    assert iocast.__version__ == tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def test_a_wheel_can_be_built_of_the_sources(tmp_path: Path) -> None:
    """They have what is installed beside the program, and lock the crates that are in them, and no others."""
    made = release.build_sources(tmp_path, 1_700_000_000)
    with tarfile.open(made) as tar:
        tar.extractall(tmp_path, filter="data")
    tree = tmp_path / made.name.removesuffix(".tar.gz")
    wanted = [path for path in (ROOT / "docs/installed").rglob("*") if path.is_file()]
    assert len(wanted) > 30
    assert [path for path in wanted if not (tree / path.relative_to(ROOT)).is_file()] == []
    for name in ("LICENSE", "pyproject.toml", "src/iocast/py.typed"):
        assert (tree / name).read_bytes() == (ROOT / name).read_bytes()
    locked = [
        {(each["name"], each["version"]) for each in tomllib.loads((at / "Cargo.lock").read_text())["package"]}
        for at in (tree, ROOT)
    ]
    assert locked[0] < locked[1], "no other version, and none that is not needed"
    asked = ["cargo", "metadata", "--locked", "--format-version", "1"]
    told = subprocess.run(asked, cwd=tree, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def test_a_version_is_set_in_one_place() -> None:
    cargo = (ROOT / "Cargo.toml").read_text()
    changed = release.with_version(cargo, "1.2.3-rc.4")
    assert tomllib.loads(changed)["workspace"]["package"]["version"] == "1.2.3-rc.4"
    differ = [line for line in changed.splitlines() if line not in cargo.splitlines()]
    assert differ == ['version = "1.2.3-rc.4"']


@pytest.mark.parametrize(("version", "shown"), [("1.0.0", "1.0.0"), ("1.0.0rc1", "1.0.0~rc1"), ("2.1.0b3", "2.1.0~b3")])
def test_a_package_of_a_candidate_lies_before_that_of_the_release(version: str, shown: str) -> None:
    """The sign ~ sorts before the end: without it the release would not replace its candidate."""
    assert packages.package_version(version) == shown


@pytest.mark.parametrize("version", ["1.2", "v1.2.3", "1.2.3rc1", "1.2.3-rc1", "", '1.2.3"\n'])
def test_what_is_no_version_is_refused(version: str) -> None:
    with pytest.raises(release.Refused, match=r"write 1\.2\.3 or 1\.2\.3-rc\.1"):
        release.with_version('[workspace.package]\nversion = "0.1.0"\n', version)


def test_the_section_of_the_changelog_is_closed_below_an_empty_one() -> None:
    changes = "# Changelog\n\n## Unreleased\n\n- `card`: is quick.\n\n## 0.1.0 · 2026-01-01\n\n- It is there.\n"
    assert release.closed(changes, "1.0.0", DAY) == (
        "# Changelog\n\n## Unreleased\n\n## 1.0.0 · 2026-11-28\n\n- `card`: is quick.\n\n"
        "## 0.1.0 · 2026-01-01\n\n- It is there.\n"
    )


@pytest.mark.parametrize("changes", ["# Changelog\n", "## Unreleased\n\n## 0.1.0 · 2026-01-01\n\n- It is there.\n"])
def test_a_changelog_that_says_nothing_is_refused(changes: str) -> None:
    with pytest.raises(release.Refused, match="says nothing under ## Unreleased"):
        release.closed(changes, "1.0.0", DAY)


def test_a_wheel_with_another_core_says_so_in_its_record(tmp_path: Path) -> None:
    old, new = tmp_path / "old.whl", tmp_path / "new.whl"
    with zipfile.ZipFile(old, "w") as wheel:
        wheel.writestr(release.CORE, b"with debug lines")
        wheel.writestr("iocast/text.py", b"text")
        wheel.writestr(
            "iocast-1.dist-info/RECORD",
            f"{release.CORE},sha256=old,16\niocast/text.py,sha256=kept,4\niocast-1.dist-info/RECORD,,\n",
        )
    release.rewrite_wheel(old, new, {release.CORE: b"stripped"})
    with zipfile.ZipFile(new) as wheel:
        assert wheel.read(release.CORE) == b"stripped"
        assert wheel.read("iocast/text.py") == b"text"
        rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read("iocast-1.dist-info/RECORD").decode()))}
    hashed = base64.urlsafe_b64encode(hashlib.sha256(b"stripped").digest()).rstrip(b"=").decode()
    assert rows == {
        release.CORE: [f"sha256={hashed}", "8"],
        "iocast/text.py": ["sha256=kept", "4"],
        "iocast-1.dist-info/RECORD": ["", ""],
    }


def test_an_archive_differs_in_names_and_contents_only(tmp_path: Path) -> None:
    files = {"x/install.sh": b"#!/bin/sh\n", "x/wheels/a.whl": b"a"}
    for name, order in (("one.tar.gz", files), ("two.tar.gz", dict(reversed(files.items())))):
        release.pack(tmp_path / name, order, 1_700_000_000)
    assert (tmp_path / "one.tar.gz").read_bytes() == (tmp_path / "two.tar.gz").read_bytes()
    with gzip.open(tmp_path / "one.tar.gz") as packed, tarfile.open(fileobj=packed) as tar:
        assert {item.name: (item.mode, item.uid, item.mtime) for item in tar} == {
            "x/install.sh": (0o755, 0, 1_700_000_000),
            "x/wheels/a.whl": (0o644, 0, 1_700_000_000),
        }


def test_the_offline_archive_needs_no_builder() -> None:
    lock = (ROOT / "requirements.lock").read_text()
    needed = release.without(lock, parts.BUILD_ONLY)
    assert "maturin==" in lock
    assert "maturin" not in needed
    assert "duckdb==" in needed
    assert "#" not in needed
    blocks = [line for line in needed.splitlines() if "==" in line]
    assert len(blocks) == len([line for line in lock.splitlines() if "==" in line and line[0].isalpha()]) - 1
    assert needed.count("--hash=sha256:") > len(blocks)


def test_every_part_has_a_licence_and_is_in_the_bill() -> None:
    listed = parts.parts_of(ROOT)
    names = {part.name for part in listed}
    assert {"parquet", "io-uring", "zstd-sys", "duckdb", "click", "msgspec"} <= names
    assert not names & {"maturin", "proptest", "tempfile", "pytest", "iocast-core"}
    assert [part.name for part in listed if not part.licence] == []
    bill = json.loads(parts.bill(listed, "1.0.0", 1_700_000_000))
    assert bill["metadata"]["timestamp"] == "2023-11-14T22:13:20Z"
    assert [each["purl"] for each in bill["components"]] == [part.url for part in listed]
    assert parts.bill(listed, "1.0.0", 1_700_000_000) == parts.bill(parts.parts_of(ROOT), "1.0.0", 1_700_000_000)
    people = parts.licences(listed, "1.0.0")
    assert "LGPL-3.0-only\n    psycopg" in people
    assert "not stated" not in people
