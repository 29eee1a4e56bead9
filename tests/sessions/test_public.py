"""The public API: each function on simulated devices, quiet, typed, and told to a listener that is handed in."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from makers.recording import Recording

import iocast
from iocast import archive
from iocast.errors import LoadError, SpecError
from iocast.sessions.card import Card
from iocast.sessions.import_results import import_results
from iocast.sessions.inquire import diagnose
from iocast.sessions.requests.diagnose import DiagnoseRequest
from iocast.sessions.requests.run_options import RunOptions

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def disk(tmp_path: Path) -> Card:
    return iocast.card("sim:hdd", time="200ms", out=str(tmp_path / "disk"))


def test_a_card_is_measured_and_opened_again(disk: Card, capfd: pytest.CaptureFixture[str]) -> None:
    again = iocast.open(disk.folder)
    assert (again.grade, again.trust, len(again.run.measured)) == (disk.grade, disk.trust, 12)
    assert again.report().verdict == disk.report().verdict
    assert iocast.examine(disk) == iocast.examine(disk.run) == iocast.examine(disk.folder)
    (page,) = disk.write(Path(disk.folder) / "card.md")
    assert "sim:hdd" in page.read_text("utf-8")
    assert capfd.readouterr() == ("", "")


@pytest.mark.long
class Frame(HTMLParser):
    """The title and the document of the one frame of a cell."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag == "iframe"
        self.shown = dict(attrs)


def test_a_notebook_shows_the_page(disk: Card) -> None:
    """In a frame, so that neither style reaches the other; the charts are in it."""
    for result in (disk, iocast.compare(disk.folder, disk.folder), iocast.size(capacity="2TB", iops=3000)):
        frame = Frame()
        frame.feed(result._repr_html_())
        report = result.report(charts=True)
        document = frame.shown["srcdoc"] or ""
        assert frame.shown["title"] == report.title
        assert document.startswith("<!doctype html>")
        assert document.count("<svg") >= sum(len(section.charts) for section in report.sections)


def test_a_job_is_run_and_compared(tmp_path: Path) -> None:
    disk = iocast.card("sim:hdd", time="5s", out=str(tmp_path / "disk"))
    flash = iocast.run("card-quick", "sim:nvme", time="5s", seed=2, out=str(tmp_path / "flash"))
    assert {phase.length.seconds for phase in flash.run.plan.phases} == {5.0}
    made = iocast.compare(disk, flash.folder)
    ((side, pairs),) = made.pairs()
    assert (len(pairs), side.runs[0].plan.seed) == (12, 2)
    assert "high (better)" in made.report().verdict


@pytest.mark.long
def test_a_run_is_diagnosed_and_a_listener_hears_it(tmp_path: Path) -> None:
    listener = Recording()
    card = iocast.run("survey", "sim:hdd,cache=256MiB:200us", out=str(tmp_path), listener=listener)
    assert listener.names == ["Planned", "CardReady"]
    after = iocast.diagnose(card, listener=listener)
    assert after.diagnosis is not None
    tested = [step.finding for step in after.diagnosis.steps]
    assert tested
    assert listener.names.count("Decided") >= len(tested)
    assert listener.names[-2:] == ["Diagnosed", "CardReady"]
    assert "hypothesis" in listener.said


@pytest.mark.long
def test_whatever_makes_a_run_keeps_its_trust_for_lists_of_runs(tmp_path: Path) -> None:
    asked = DiagnoseRequest(path="sim:nvme", job="card-quick", options=RunOptions(out=str(tmp_path)))
    diagnosed = diagnose(asked, Recording())
    assert diagnosed is not None
    made = [
        diagnosed.folder,
        iocast.experiment("payload", "sim:nvme", time="50ms", out=str(tmp_path)).folder,
    ]
    results = Path(__file__).parents[1] / "tools" / "fixtures" / "crystaldiskmark.txt"
    made += [card.folder for card in import_results([str(results)], str(tmp_path), Recording())]
    lines = [archive.read_summary(folder) for folder in made]
    assert [line.trust for line in lines] == [iocast.open(folder).trust for folder in made]
    assert all(line.trust and line.verdict for line in lines)


def test_an_experiment_answers(tmp_path: Path) -> None:
    listener = Recording()
    found = iocast.experiment("payload", "sim:nvme", time="50ms", out=str(tmp_path), listener=listener)
    assert found.answer == "rejected"
    assert listener.names == ["TrialBegun", "TrialPlanned", "Planned", "AnswerReady"]
    assert found.card().run.plan.experiment == "payload"


class Impatient(Recording):
    """Stops at the first question."""

    def working(self):  # type: ignore[no-untyped-def]
        from contextlib import nullcontext

        return nullcontext(lambda: True)


def test_what_cannot_be_done_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="time 0s: the duration must be above 0"):
        iocast.card("sim:hdd", time="0s", out=str(tmp_path))
    with pytest.raises(SpecError, match="two runs"):
        iocast.compare(str(tmp_path))
    listener = Impatient()
    with pytest.raises(LoadError, match="nothing was measured"):
        iocast.card("sim:hdd", out=str(tmp_path / "runs"), listener=listener)
    assert "stopped: no row was finished" in listener.said
    assert list(tmp_path.glob("runs/*")) == []


def test_all_names_are_functions_whatever_was_imported() -> None:
    """A room of the house bears the name of one of them."""
    importlib.import_module("iocast.diagnose.examination")
    assert all(inspect.isfunction(getattr(iocast, name)) for name in iocast.__all__)
    tree = ast.parse(Path(iocast.__file__).read_text("utf-8"))
    functions = {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}
    assert functions == {*iocast.__all__, "__getattr__"}  # of the version


def test_the_import_is_light() -> None:
    code = "import sys, iocast; print(sorted(m for m in sys.modules if m.startswith(('iocast', 'msgspec', 'click'))))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['iocast', 'iocast.diagnose', 'iocast.forecast']"


@pytest.mark.long
@pytest.mark.parametrize("example", sorted((ROOT / "examples/python").glob("*.py")), ids=lambda path: path.stem)
def test_the_examples_run(example: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, example, tmp_path / "runs"], capture_output=True, text=True, check=False)
    # When Python ends DuckDB's binding may list what is left of it, by the moments at which garbage was collected.
    own, _, _ = done.stderr.partition("nanobind: leaked ")
    assert (done.returncode, own) == (0, "")
    assert len(list((tmp_path / "runs").iterdir())) == 2
    assert "p99" in done.stdout


def test_a_matrix_is_measured(tmp_path: Path) -> None:
    line = "-run advanced -matrix point -num_small 2 -num_large 1 -duration 1"
    card = iocast.matrix(line, "sim:nvme", out=str(tmp_path / "runs"), files=str(tmp_path / "files"))
    assert [record.plan.depth for record in card.run.measured] == [2, 1]
    assert len(list((tmp_path / "files").iterdir())) == 6
    for wrong in ("-run simpel", "-run 'simple"):
        with pytest.raises(SpecError):
            iocast.matrix(wrong, "sim:nvme")
