"""compare, repeat and ab on simulated devices, whose differences are known."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from makers.command_line import iocast, small_job

JOB = """
name = "two rows"
[defaults]
time = "1s"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
[[phase]]
test = "randread"
size = "8k"
pattern = "random"
users = 8
"""


@pytest.fixture
def job(tmp_path: Path) -> Path:
    path = tmp_path / "two.toml"
    path.write_text(JOB)
    return path


def _only(folder: Path) -> Path:
    (found,) = folder.iterdir()
    return found


@pytest.mark.long
def test_ab_measures_in_turns_and_tells_which_is_faster(job: Path, tmp_path: Path) -> None:
    done = iocast(
        "ab", str(job), "sim:hdd", "sim:nvme", "--rounds", "3", "--out", str(tmp_path / "o"), "--json", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    (pair,) = json.loads(done.stdout)["pairs"]
    rows = [row for row in pair["rows"] if row["statistic"] == "p50"]
    assert [row["verdict"] for row in rows] == ["different", "different"]
    assert all(row["ratio"] < 0.1 and row["relative"] > 10 for row in rows)
    folder = _only(tmp_path / "o")
    assert {side.name: len(list(side.iterdir())) for side in folder.iterdir()} == {"A": 3, "B": 3}
    rounds = [line for line in done.stderr.splitlines() if line.startswith("round ")]
    assert len(rounds) == 6
    # The same seed draws the same order and the same offsets: compared again, nothing has changed.
    again = iocast("compare", str(folder / "A"), str(folder / "B"), "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["pairs"][0]["rows"] == pair["rows"]


@pytest.mark.long
def test_ab_goes_on_until_it_is_sure(job: Path, tmp_path: Path) -> None:
    """Ten times apart needs few rounds; compared again, the intervals are those that hold whenever one stops."""
    words = ("ab", str(job), "sim:hdd", "sim:nvme", "--rounds", "3", "--until-sure", "12")
    done = iocast(*words, "--out", str(tmp_path / "o"), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (pair,) = json.loads(done.stdout)["pairs"]
    assert {row["verdict"] for row in pair["rows"] if row["statistic"] in ("throughput", "p99")} == {"different"}
    folder = _only(tmp_path / "o")
    rounds = {side.name: len(list(side.iterdir())) for side in folder.iterdir()}
    assert rounds["A"] == rounds["B"]
    assert 3 < rounds["A"] < 12
    assert folder.name.endswith("-until-sure")
    again = iocast("compare", str(folder / "A"), str(folder / "B"), "--json", cwd=tmp_path)
    assert json.loads(again.stdout)["pairs"][0]["rows"] == pair["rows"]
    terminal = iocast("compare", str(folder / "A"), str(folder / "B"), cwd=tmp_path)
    assert "they hold whenever one stops" in " ".join(terminal.stdout.split())


@pytest.mark.long
def test_repeat_goes_on_until_its_figures_are_known(job: Path, tmp_path: Path) -> None:
    """Three runs are too few to stop at; two such groups are compared by intervals that hold whenever one stops."""
    folders = {}
    for path in ("sim:hdd", "sim:nvme"):
        words = ("repeat", "3", str(job), path, "--until-sure", "14", "--out", str(tmp_path / path[4:]))
        done = iocast(*words, "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        folders[path] = _only(tmp_path / path[4:])
        assert folders[path].name.endswith("-until-sure")
        for row in json.loads(done.stdout)["repeats"]:
            assert 3 < row["runs"] <= 14
            assert row["runs"] == len(list(folders[path].iterdir()))
            shares = row["accuracy_share"], row["accuracy_p99_share"]
            assert all(0 <= share <= 0.10 for share in shares if share is not None)
    compared = iocast("compare", *map(str, folders.values()), cwd=tmp_path)
    assert "they hold whenever one stops" in " ".join(compared.stdout.split())


@pytest.mark.long
def test_outcomes_that_fail_are_chosen(job: Path, tmp_path: Path) -> None:
    """A script learns from the exit code whether the storage became slower."""
    for path in ("sim:nvme", "sim:hdd"):
        iocast("repeat", "3", str(job), path, "--out", str(tmp_path / path[4:]), cwd=tmp_path)
    fast, slow = (str(_only(tmp_path / name)) for name in ("nvme", "hdd"))
    codes = {
        (first == fast, fails): iocast("compare", first, other, *fails, cwd=tmp_path).returncode
        for first, other in ((fast, slow), (slow, fast))
        for fails in ((), ("--fail-on", "worse"), ("--fail-on", "undecided,refused"))
    }
    assert codes == {
        (True, ()): 0,
        (True, ("--fail-on", "worse")): 1,
        (True, ("--fail-on", "undecided,refused")): 0,
        (False, ()): 0,
        (False, ("--fail-on", "worse")): 0,
        (False, ("--fail-on", "undecided,refused")): 0,
    }
    single = [str(next(Path(folder).iterdir())) for folder in (fast, slow)]
    assert iocast("compare", *single, "--fail-on", "worse", cwd=tmp_path).returncode == 0, "one run proves nothing"
    assert iocast("compare", *single, "--fail-on", "undecided", cwd=tmp_path).returncode == 1
    wrong = iocast("compare", fast, slow, "--fail-on", "slower", cwd=tmp_path)
    assert (wrong.returncode, "worse, undecided, refused" in wrong.stderr) == (2, True)


def test_a_device_against_itself_is_equivalent(job: Path, tmp_path: Path) -> None:
    done = iocast(
        "ab", str(job), "sim:nvme", "sim:nvme", "--rounds", "5", "--out", str(tmp_path / "o"), "--json", cwd=tmp_path
    )
    rows = json.loads(done.stdout)["pairs"][0]["rows"]
    assert {row["verdict"] for row in rows} == {"equivalent"}
    assert {row["within_tenth"] for row in rows} == {True}


def test_repeat_shows_whether_the_figures_repeat(job: Path, tmp_path: Path) -> None:
    done = iocast("repeat", "3", str(job), "sim:nvme", "--out", str(tmp_path / "o"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Both rows repeat over 3 runs: the coefficient of variation is at most " in " ".join(done.stdout.split())
    runs = [json.loads((folder / "run.json").read_text("utf-8")) for folder in sorted(_only(tmp_path / "o").iterdir())]
    assert [run["plan"]["seed"] for run in runs] == [1, 2, 3], "other offsets each time, or nothing scatters"


def test_single_runs_are_compared_without_a_verdict(job: Path, tmp_path: Path) -> None:
    for name in ("hdd", "nvme"):
        assert iocast("run", str(job), f"sim:{name}", "--out", str(tmp_path / name), cwd=tmp_path).returncode == 0
    done = iocast("compare", str(tmp_path / "hdd"), str(_only(tmp_path / "nvme")), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "inconclusive" in done.stdout
    assert "iocast repeat" not in done.stdout, "one recommendation: rounds of both sides in turn"
    assert "iocast ab JOB TARGET_A TARGET_B" in done.stdout
    assert "sim:hdd" in done.stdout


def test_runs_are_found_and_called_by_their_labels(tmp_path: Path) -> None:
    for label in ("before", "after"):
        done = iocast("card", "sim:nvme", "--time", "1ms", "--page", "--label", label, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    pages = "".join(page.read_text() for page in tmp_path.glob("iocast-runs/*/report.html"))
    assert (pages.count("Tags: before"), pages.count("Tags: after")) == (1, 1)
    done = iocast("compare", "before", "after", cwd=tmp_path)
    assert done.stdout.startswith("Comparison · card quick on sim:nvme · before and after\n"), done.stdout
    assert iocast("show", "after", cwd=tmp_path).returncode == 0
    for label, why in (
        ("two words", "a tag is one word"),
        ("last", "already stands for the newest run"),
        ("", "at most 40 characters"),
    ):
        refused = iocast("card", "sim:nvme", "--label", label, cwd=tmp_path)
        assert (refused.returncode, why in refused.stderr) == (2, True), label
    assert iocast("compare", "before", "later", cwd=tmp_path).stderr.startswith(
        "error: no run in iocast-runs has the tag later or a name that starts so\n"
    )


def test_unlike_rows_are_marked_and_strange_runs_refused(job: Path, tmp_path: Path) -> None:
    iocast("run", str(job), "sim:nvme", "--out", str(tmp_path / "a"), cwd=tmp_path)
    changed = tmp_path / "changed.toml"
    changed.write_text(JOB.replace('pattern = "random"\nusers = 8', 'pattern = "zipf"\nusers = 8'))
    iocast("run", str(changed), "sim:nvme", "--out", str(tmp_path / "b"), cwd=tmp_path)
    done = iocast("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found = {row["phase"]: row["verdict"] for row in json.loads(done.stdout)["pairs"][0]["rows"]}
    assert found["randread 8k 8x1"] == "not_compared"
    assert found["randread 8k 1x1"] != "not_compared"
    other = tmp_path / "other.toml"
    other.write_text(JOB.replace('"randread"', '"something"'))
    iocast("run", str(other), "sim:nvme", "--out", str(tmp_path / "c"), cwd=tmp_path)
    refused = iocast("compare", str(tmp_path / "a"), str(tmp_path / "c"), cwd=tmp_path)
    assert refused.returncode == 2
    assert "no row in common" in refused.stderr


def test_other_lengths_and_rows_without_a_partner_are_told_first(job: Path, tmp_path: Path) -> None:
    """Half a second is not a second, and a row that only one side has is not passed over in silence."""
    iocast("run", str(job), "sim:nvme", "--out", str(tmp_path / "a"), cwd=tmp_path)
    changed = tmp_path / "changed.toml"
    changed.write_text(JOB.replace("users = 8", "users = 4").replace('"1s"', '"500ms"'))
    iocast("run", str(changed), "sim:nvme", "--out", str(tmp_path / "b"), cwd=tmp_path)
    done = iocast("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    differences = json.loads(done.stdout)["pairs"][0]["differences"]
    told = {row["code"]: (row["first"], row["other"]) for row in differences}
    assert told == {
        "length": ("1s", "500ms"),
        "rows_alone": ("randread 8k 8x1", "randread 8k 4x1"),
    }


def test_what_is_no_run_folder_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    refused = iocast("compare", str(tmp_path / "empty"), str(tmp_path / "absent"), cwd=tmp_path)
    assert refused.returncode == 2
    assert "empty contains no run folder" in refused.stderr
    one = iocast("compare", str(tmp_path), cwd=tmp_path)
    assert one.returncode == 2
    assert "at least two folders" in one.stderr
    shutil.rmtree(tmp_path / "empty")


@pytest.mark.long
def test_a_comparison_is_written_in_the_form_of_its_suffix(job: Path, tmp_path: Path) -> None:
    for name in ("hdd", "nvme"):
        assert iocast("run", str(job), f"sim:{name}", "--out", name, cwd=tmp_path).returncode == 0
    for suffix in ("html", "md", "json", "csv", "txt", "png"):
        done = iocast("compare", "hdd", "nvme", "-o", f"c.{suffix}", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert f"wrote c{'-' if suffix == 'png' else '.'}" in done.stderr
    page = (tmp_path / "c.html").read_text("utf-8")
    assert page.count("<figure") == len(list(tmp_path.glob("c-*.png"))) == 4
    assert "sim:nvme over sim:hdd" in page
    assert json.loads((tmp_path / "c.json").read_text("utf-8"))["pairs"][0]["rows"]
    refused = iocast("compare", "hdd", "nvme", "-o", "c.xyz", cwd=tmp_path)
    assert refused.returncode == 2
    assert "unknown suffix" in refused.stderr


@pytest.mark.long
def test_ab_and_repeat_write_files_with_charts_too(job: Path, tmp_path: Path) -> None:
    done = iocast("ab", str(job), "sim:hdd", "sim:nvme", "--rounds", "2", "-o", "ab.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "wrote ab.html" in done.stderr
    assert done.stdout == ""
    assert "sim:nvme over sim:hdd" in (tmp_path / "ab.html").read_text("utf-8")
    done = iocast("repeat", "3", str(job), "sim:nvme", "-o", "again.svg", "--theme", "dark", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in tmp_path.glob("again*")] == ["again-repeats.svg"]


@pytest.mark.parametrize("verb", [("repeat", "2", "job.toml", "sim:hdd"), ("ab", "job.toml", "sim:hdd", "sim:nvme")])
def test_a_form_that_is_none_is_refused_before_anything_is_measured(verb: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "job.toml").write_text(JOB)
    for name, why in (("x.doc", "unknown suffix"), ("x.flatfile", "a flatfile is of one run")):
        refused = iocast(*verb, "-o", name, cwd=tmp_path)
        assert refused.returncode == 2
        assert why in refused.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["job.toml"]


def test_what_was_found_on_one_side_only_is_told(job: Path, tmp_path: Path) -> None:
    """A rate limit, or a stall, may be all of the difference."""
    for name, target in (("a", "sim:nvme"), ("b", "sim:nvme,stall=300ms/900ms")):
        iocast("run", str(job), target, "--out", str(tmp_path / name), cwd=tmp_path)
    done = iocast("compare", str(tmp_path / "a"), str(tmp_path / "b"), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    differences = json.loads(done.stdout)["pairs"][0]["differences"]
    assert [(row["first"], row["other"]) for row in differences if row["code"] == "findings"] == [("none", "stalls")]


def test_a_path_wins_over_a_tag_and_that_is_said(tmp_path: Path) -> None:
    small_job(tmp_path, direct=False)
    for out, label in (("before", "other"), ("iocast-runs", "before")):
        assert iocast("run", "small.toml", "sim:nvme", "--out", out, "--label", label, cwd=tmp_path).returncode == 0
    done = iocast("compare", "before", "before", cwd=tmp_path)
    assert "note: before is a path here and is taken; the run with the tag before is iocast-runs/" in done.stderr
    assert "is a path here" not in iocast("show", "last", cwd=tmp_path).stderr


def test_a_limit_below_the_runs_that_are_made_first_is_refused(job: Path, tmp_path: Path) -> None:
    done = iocast("repeat", "5", str(job), "sim:nvme", "--until-sure", "3", cwd=tmp_path)
    assert (done.returncode, "--until-sure 3 is below the 5 runs" in done.stderr) == (2, True), done.stderr


@pytest.mark.long
def test_repeats_that_do_not_get_there_say_so(job: Path, tmp_path: Path) -> None:
    words = ("repeat", "3", str(job), "sim:hdd", "--until-sure", "3")
    done = iocast(*words, "--out", str(tmp_path / "o"), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "After 3 runs, the limit, some figures are still not known to 10%." in " ".join(done.stdout.split())
