"""--conf sets a load, and options beside it override it; what does nothing is said on stderr."""

from __future__ import annotations

from pathlib import Path

from makers.command_line import iocast

CONF = """\
UPDATE_PCT=20
SCALE=80M
WORK_UNIT=8
RUN_TIME=300
REDO_STRESS=LITE
THREADS_PER_SCHEMA=2
LOAD_PARALLEL_DEGREE=4
"""


def test_a_slob_conf_becomes_scripts_and_options_override_it(tmp_path: Path) -> None:
    (tmp_path / "slob.conf").write_text(CONF)
    done = iocast("load-db", "script", "plain", "--conf", "slob.conf", "--tables", "3", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    assert "note: slob.conf: line 7: LOAD_PARALLEL_DEGREE has no effect" in done.stderr
    assert "not tried against a server" in done.stderr.lower()
    run, package = ((tmp_path / "plain" / name).read_text() for name in ("iocast_run.sh", "iocast_package.sql"))
    assert "for sessions in 6; do" in run  # 3 tables, 2 sessions each
    assert "seconds=300\n" in run
    assert package.count("floor((v_done + 1) * 20 / 100)") == 3
    assert package.count("between v_key and v_key + 7") == 6
    options = ["--update-pct", "75", "--sessions", "1,4", "--work-unit", "1"]
    changed = iocast("load-db", "script", "changed", "--conf", "slob.conf", *options, cwd=tmp_path)
    assert changed.returncode == 0
    assert "for sessions in 1 4; do" in (tmp_path / "changed/iocast_run.sh").read_text()
    assert "floor((v_done + 1) * 75 / 100)" in (tmp_path / "changed/iocast_package.sql").read_text()


def test_problems_of_the_file_are_told_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "slob.conf").write_text(CONF.replace("UPDATE_PCT=20", "UPDATE_PCT=60"))
    refused = iocast("load-db", "build", "postgresql:///nowhere", "--conf", "slob.conf", cwd=tmp_path)
    assert refused.returncode == 2
    assert refused.stderr.startswith("error: slob.conf:1: UPDATE_PCT=60: 51 to 99 are refused by SLOB and pgio")
    assert "--update-pct 60" in refused.stderr
    missing = iocast("load-db", "build", "postgresql:///nowhere", cwd=tmp_path)
    assert missing.returncode == 2
    assert "hint: give --size 64GiB, or --conf FILE" in missing.stderr
