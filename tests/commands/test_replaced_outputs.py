"""Every verb that writes a file a person named: what iocast did not make stays, and its own is replaced."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder
from makers.left_out import long_after

from iocast.archive.writing.named_outputs import check_output, put_output
from iocast.errors import ArchiveError
from iocast.sessions.events import Event, PageFailed, PageWritten
from iocast.sessions.listener import Quiet
from iocast.sessions.run_card import leave_page, open_card

TRACE = "".join(f"1281663720030{at:05},host,0,{op},4096,4096,100\n" for at, op in enumerate(("Read", "Write") * 20))
# What comes before -o; the first that measures would leave a run folder.
VERBS = {
    "report": ("report", "run"),
    "runs": ("runs", "iocast-runs"),
    "compare": ("compare", "run", "run"),
    "repeat": ("repeat", "2", "card-quick", "sim:nvme", "--time", "1ms", "--out", "new"),
    "ab": ("ab", "card-quick", "sim:nvme", "sim:hdd", "--rounds", "2", "--time", "1ms", "--out", "new"),
    "forecast": ("forecast", "--on", "run", "--iops", "100"),
    "size": ("size", "--iops", "1000", "--capacity", "2TB"),
    "model": ("model", "raid"),
    "profile": ("profile", "trace.csv", "--input-format", "msr", "--out", "new"),
    "job": ("profile", "trace.csv", "--input-format", "msr", "--out", "new"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of one run of a simulated device."""
    place = tmp_path_factory.mktemp("runs")
    assert iocast("card", "sim:nvme", "--time", "10ms", cwd=place).returncode == 0
    return run_folder(place / "iocast-runs")


@pytest.fixture
def place(run: Path, tmp_path: Path) -> Path:
    """Where the verbs work."""
    shutil.copytree(run, tmp_path / "run")
    shutil.copytree(run, tmp_path / "iocast-runs" / "a-run")
    (tmp_path / "trace.csv").write_text(TRACE)
    return tmp_path


def _written(verb: str) -> tuple[str, str]:
    return ("--to", "job.toml") if verb == "job" else ("-o", "made.csv")


@pytest.mark.parametrize("verb", VERBS)
def test_a_file_of_somebody_else_is_refused_before_any_work(verb: str, place: Path) -> None:
    option, name = _written(verb)
    (place / name).write_text("mine\n")
    done = iocast(*VERBS[verb], option, name, cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"error: {name} exists, and iocast did not make it (5 bytes, last change ")
    assert f"hint: name another file with {option}, or add --force to replace this one" in done.stderr
    assert (place / name).read_text() == "mine\n"
    assert not (place / "new").exists()


@pytest.mark.parametrize("verb", VERBS)
def test_a_link_is_refused_with_force_too(verb: str, place: Path) -> None:
    option, name = _written(verb)
    (place / "other").write_text("mine\n")
    (place / name).symlink_to("other")
    done = iocast(*VERBS[verb], option, name, "--force", cwd=place)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {name} is a symbolic link, and iocast does not write through links")
    assert (place / "other").read_text() == "mine\n"
    assert not (place / "new").exists()


@pytest.mark.parametrize("verb", long_after(1, ["report", "compare", "model", "size", "job"]))
def test_force_replaces_it_and_then_it_is_ours(verb: str, place: Path) -> None:
    option, name = _written(verb)
    (place / name).write_text("mine\n")
    for force in (("--force",), ()):
        done = iocast(*VERBS[verb], option, name, *force, cwd=place)
        assert done.returncode == 0, done.stderr
    assert (place / name).read_text() != "mine\n"
    assert not [each for each in os.listdir(place) if each.endswith(".new")]


@pytest.mark.skipif(os.geteuid() != 0, reason="gives a file to another user")
def test_a_page_of_another_user_is_not_ours_whatever_its_attributes_say(place: Path) -> None:
    """Its owner may have written the digest as well as the page."""
    for _ in range(2):
        assert iocast("report", "run", "-o", "made.html", cwd=place).returncode == 0
    os.chown(place / "made.html", 65534, 65534)
    before = (place / "made.html").stat()
    done = iocast("report", "run", "-o", "made.html", cwd=place)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: made.html belongs to another user")
    assert (place / "made.html").stat() == before
    assert iocast("report", "run", "-o", "made.html", "--force", cwd=place).returncode == 0


def test_of_several_runs_none_is_written_where_one_is_refused(place: Path) -> None:
    shutil.copytree(place / "run", place / "zz")
    (place / "card-zz.csv").write_text("mine\n")
    done = iocast("report", "run", "zz", "-o", "card.csv", cwd=place)
    assert done.stderr.startswith("error: card-zz.csv exists, and iocast did not make it")
    assert not (place / "card-run.csv").exists()


def test_of_several_pictures_none_is_written_where_one_is_refused(place: Path) -> None:
    (place / "card-overview.svg").write_text("mine\n")
    done = iocast("report", "run", "-o", "card.svg", cwd=place)
    assert done.stderr.startswith("error: card-overview.svg exists, and iocast did not make it")
    assert [each.name for each in place.glob("card-*")] == ["card-overview.svg"]


@pytest.mark.long
def test_orions_files_are_kept_apart_from_those_of_somebody_else(place: Path) -> None:
    asked = ("matrix", "sim:nvme", "--run", "simple", "--duration", "1", "--no-page", "--files", "orion")
    done = iocast(*asked, cwd=place)
    assert done.returncode == 0, done.stderr
    (folder,) = (each for each in (place / "iocast-runs").iterdir() if each.name != "a-run")
    again = iocast("report", folder, "--files", "orion", cwd=place)
    assert again.returncode == 0, again.stderr
    summary = next((place / "orion").glob("*_summary.txt"))
    summary.write_text("mine\n")
    for file in (place / "orion").iterdir():
        if file != summary:
            file.unlink()
    refused = iocast("report", folder, "--files", "orion", cwd=place)
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: orion/{summary.name} was changed after iocast wrote it")
    assert os.listdir(place / "orion") == [summary.name]
    assert iocast("report", folder, "--files", "orion", "--force", cwd=place).returncode == 0


def test_a_capture_replaces_nothing_not_even_a_link_that_leads_nowhere(place: Path) -> None:
    (place / "trace.parquet").symlink_to("nothing")
    for asked in (("--pid", "1"), ("--iostat", "--seconds", "1")):
        done = iocast("capture", *asked, "-o", "trace.parquet", cwd=place)
        assert done.returncode == 2
        assert done.stderr.startswith("error: trace.parquet exists")
    assert not (place / "nothing").exists()


class Told(Quiet):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.events: list[object] = []

    def tell(self, event: Event) -> None:
        """Keeps it."""
        self.events.append(event)


def test_the_page_of_a_run_is_replaced_but_no_page_of_somebody_and_no_link_in_its_place(place: Path) -> None:
    page, other, told = place / "run" / "report.html", place / "other", Told()
    card = open_card(str(place / "run"))
    report = card.report()
    for _ in range(2):
        leave_page(card, report, told)
        assert page.read_text().startswith("<!doctype html>")
    page.unlink()
    page.write_text("a page of mine")
    leave_page(card, report, told)
    assert page.read_text() == "a page of mine"
    page.unlink()
    other.write_text("mine\n")
    page.symlink_to(other)
    leave_page(card, report, told)
    assert [type(event) for event in told.events] == [PageWritten, PageWritten, PageFailed, PageFailed]
    assert other.read_text() == "mine\n"


@pytest.mark.parametrize("name", ["run.json", "summary.json"])
def test_a_document_of_a_run_is_replaced_by_no_output(run: Path, name: str, tmp_path: Path) -> None:
    document = run / name
    kept = document.read_bytes()
    shutil.copytree(run, copied := tmp_path / "copied")
    for each in (document, copied / name):
        with pytest.raises(ArchiveError, match="is part of what iocast keeps of a run"):
            check_output(each)
    assert document.read_bytes() == kept
    mine = run / "mine.json"
    for _ in range(2):
        put_output(mine, b"{}")
