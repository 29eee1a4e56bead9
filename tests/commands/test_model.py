"""`iocast model`: the tables as people see them, JSON, files, and refusals with the way out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import compare, iocast


def test_one_queue_prints_what_kolk_should_have(tmp_path: Path) -> None:
    shown = iocast("model", "mm1", "--service", "7.2ms", "--rate", "135,105,75,45", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    for figure in ("257.1", "29.5", "15.7", "10.7", "Kolk prints 240.0 ms at 135/s"):
        assert figure in shown.stdout
    compare("model_mm1.txt", shown.stdout)


def test_a_disk(tmp_path: Path) -> None:
    shown = iocast("model", "disk", "--rpm", "15000", cwd=tmp_path)
    assert " 2.000  4.000  10.0 " in shown.stdout
    compare("model_disk.txt", shown.stdout)


def test_json_has_the_figures(tmp_path: Path) -> None:
    told = json.loads(iocast("model", "mm1", "--service", "8.6ms", "--rate", "135,105", "--json", cwd=tmp_path).stdout)
    assert (told["kind"], told["schema_version"]) == ("model", 2)
    assert told["law"]["name"] == "mm1"
    saturated, stable = told["law"]["queues"][0]["rates"]
    assert (saturated["stable"], saturated["stable_below_per_s"]) == (False, pytest.approx(116.279, abs=1e-3))
    assert stable["response_ns"] == pytest.approx(88.660e6, rel=1e-4)


def test_overload_alone_is_refused_with_the_stable_limit(tmp_path: Path) -> None:
    refused = iocast("model", "mm1", "--service", "8.6ms", "--rate", "135", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "not possible: 135 I/Os a second saturate what does 116.3 at most" in refused.stderr
    assert "hint: stay below 116.3/s, better at 60%: 69.77/s" in refused.stderr


def test_a_file_and_help(tmp_path: Path) -> None:
    assert iocast("model", "controller", "-o", "c.md", cwd=tmp_path).returncode == 0
    assert "57.14%" in (tmp_path / "c.md").read_text("utf-8")
    laws = iocast("model", "--help", cwd=tmp_path).stdout
    for law in ("disk", "controller", "raid", "stroke", "mm1", "mmc", "mg1", "ggc", "mva", "usl", "bucket", "volume"):
        assert law in laws
    assert iocast("model", "mm2", cwd=tmp_path).returncode == 2
