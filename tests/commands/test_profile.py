"""iocast profile: a trace in, a paragraph and tables out, a profile kept."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from makers.command_line import iocast
from makers.trace_samples import MSR


def test_a_trace_is_profiled_and_opened_again(tmp_path: Path) -> None:
    (tmp_path / "hm_1.csv").write_text(MSR)
    done = iocast("profile", "hm_1.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Profile · hm_1.csv\n")
    folder = done.stderr.strip().removeprefix("profile: ")
    assert {each.name for each in (tmp_path / folder).iterdir()} == {"profile.json", "events.parquet"}
    again = iocast("profile", folder, "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["kind"] == "profile"


def test_what_is_no_trace_is_refused_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hello\n")
    done = iocast("profile", "a", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "no trace format" in done.stderr


@pytest.mark.long
def test_a_job_goes_to_stdout_and_two_loads_are_checked(tmp_path: Path) -> None:
    log = "fio version 3 iolog\n0 /a add\n0 /a open\n"
    log += "".join(f"{at * 1000 + at * at % 700} /a write {at * 4096} 4096\n" for at in range(2000))
    (tmp_path / "iolog").write_text(log)
    done = iocast("profile", "iolog", "--to", "toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'pattern = "sequential"' in done.stdout
    checked = iocast("profile", "--check", "iolog", "iolog", "--json", cwd=tmp_path)
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)["verdict"].startswith("Alike: ")


def test_two_profiles_are_compared_and_not_with_a_run(tmp_path: Path) -> None:
    (tmp_path / "hm_1.csv").write_text(MSR)
    folder = iocast("profile", "hm_1.csv", cwd=tmp_path).stderr.strip().removeprefix("profile: ")
    done = iocast("compare", folder, folder, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Same number of I/Os, same operations and sizes" in done.stdout
    (tmp_path / "run").mkdir()
    refused = iocast("compare", folder, "run", cwd=tmp_path)
    assert (refused.returncode, "is not a profile" in refused.stderr) == (2, True)
