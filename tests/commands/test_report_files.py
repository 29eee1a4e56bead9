"""Files of a report: the page that `card` leaves in the run folder, and what `report -o` writes by its suffix."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from makers.command_line import iocast, run_folder
from makers.left_out import long_after


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A place with one run of the simulated disk, its page left in its folder."""
    place = tmp_path_factory.mktemp("runs")
    done = iocast("card", "sim:hdd", "--time", "1s", "--page", cwd=place)
    assert done.returncode == 0, done.stderr
    folder = run_folder(place / "iocast-runs")
    assert f"report: iocast-runs/{folder.name}/report.html" in done.stderr.splitlines()
    return place


def test_show_finds_the_run_that_report_is_given(runs: Path) -> None:
    folder = run_folder(runs / "iocast-runs")
    shown, again = iocast("show", "last", cwd=runs), iocast("report", folder, cwd=runs)
    assert (shown.returncode, again.returncode) == (0, 0)
    assert "sim:hdd" in shown.stdout
    assert shown.stdout.splitlines()[:10] == again.stdout.splitlines()[:10]


def test_a_card_leaves_its_page(runs: Path) -> None:
    folder = run_folder(runs / "iocast-runs")
    page = (folder / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "sim:hdd" in page
    assert sorted(path.name for path in folder.iterdir()) == ["intervals", "report.html", "run.json", "summary.json"]


def test_no_page_when_none_is_wanted(tmp_path: Path) -> None:
    done = iocast("card", "sim:nvme", "--time", "10ms", "--no-page", cwd=tmp_path)
    assert "report:" not in done.stderr
    assert not (run_folder(tmp_path / "iocast-runs") / "report.html").exists()


@pytest.mark.parametrize(
    ("name", "start"),
    long_after(
        2,
        [
            ("card.html", "<!doctype html>"),
            ("card.HTM", "<!doctype html>"),
            ("card.md", "# card quick · sim:hdd\n"),
            ("card.json", "{\n"),
            ("card.csv", "phase,op,test,users,depth,"),
            ("card.txt", "card quick · sim:hdd\n"),
        ],
    ),
)
def test_the_suffix_says_the_form(runs: Path, tmp_path: Path, name: str, start: str) -> None:
    done = iocast("report", run_folder(runs / "iocast-runs"), "-o", name, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"wrote {name}\n")
    assert (tmp_path / name).read_text().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_ticket_has_the_head_alone(runs: Path, tmp_path: Path) -> None:
    folder = run_folder(runs / "iocast-runs")
    done = iocast("report", folder, "--brief", "-o", "ticket.md", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    ticket = (tmp_path / "ticket.md").read_text()
    assert len(ticket.splitlines()) <= 25
    assert ticket.startswith("# card quick · sim:hdd\n")
    assert "**Random 8k read: " in ticket
    assert "**Bottleneck:**" in ticket
    assert "## Results" not in ticket
    printed = iocast("report", folder, "--brief", cwd=tmp_path)
    assert len(printed.stdout.splitlines()) <= 25
    refused = iocast("report", folder, "--brief", "--format", "csv", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_a_json_file_has_the_charts(runs: Path, tmp_path: Path) -> None:
    iocast("report", run_folder(runs / "iocast-runs"), "-o", "card.json", cwd=tmp_path)
    charts = json.loads((tmp_path / "card.json").read_text())["charts"]
    assert charts["randread-8k-load-curve"]["kind"] == "load_curve"
    assert [row["users"] for row in charts["randread-8k-load-curve"]["tables"]["loads"]] == [1, 8, 32, 4]
    assert charts["randread-8k-heat"]["tables"]["moments"][0]["p50_ns"] > 1e6


@pytest.mark.parametrize(("suffix", "magic"), long_after(1, [("png", b"\x89PNG"), ("svg", b"<svg ")]))
def test_a_picture_for_each_chart(runs: Path, tmp_path: Path, suffix: str, magic: bytes) -> None:
    folder = run_folder(runs / "iocast-runs")
    done = iocast("report", folder, "-o", f"card.{suffix}", "--theme", "dark", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    files = sorted(tmp_path.iterdir())
    assert {"card-overview", "card-randread-8k-latency", "card-randread-8k-heat"} <= {file.stem for file in files}
    assert [line.removeprefix("wrote ") for line in sorted(done.stderr.splitlines())] == [file.name for file in files]
    assert all(file.read_bytes().startswith(magic) for file in files)


@pytest.mark.parametrize("into", [(), ("-o", "card.html")])
def test_colours_of_what_is_no_picture_are_refused(runs: Path, tmp_path: Path, into: tuple[str, ...]) -> None:
    done = iocast("report", run_folder(runs / "iocast-runs"), *into, "--theme", "dark", cwd=tmp_path)
    assert done.returncode == 2
    assert "--theme applies to .png and .svg only" in done.stderr
    assert "-o card.png --theme dark" in done.stderr
    assert not list(tmp_path.iterdir())


def test_several_folders_get_a_file_each(runs: Path, tmp_path: Path) -> None:
    folder = run_folder(runs / "iocast-runs")
    other = tmp_path / "other"
    other.mkdir()
    (other / "run.json").write_bytes((folder / "run.json").read_bytes())
    done = iocast("report", folder, other, "-o", "card.csv", cwd=tmp_path)
    assert done.stderr == f"wrote card-{folder.name}.csv\nwrote card-other.csv\n"
    assert (tmp_path / f"card-{folder.name}.csv").read_text() == (tmp_path / "card-other.csv").read_text()


def test_folders_of_one_name_get_a_file_each(runs: Path, tmp_path: Path) -> None:
    folder = Path(run_folder(runs / "iocast-runs"))
    for place in ("a", "b"):
        shutil.copytree(folder, tmp_path / place / "same")
    done = iocast("report", "a/same", "b/same", "-o", "card.csv", cwd=tmp_path)
    assert done.stderr == "wrote card-same.csv\nwrote card-same-2.csv\n"


def test_a_service_level_has_no_place_on_the_scale_of_2012(runs: Path, tmp_path: Path) -> None:
    folder = run_folder(runs / "iocast-runs")
    done = iocast("report", folder, "--scale", "hailey2012", "--slo", "p99<5ms", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --slo does not work with --scale hailey2012, which has no service levels")


def test_an_unknown_suffix_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    done = iocast("report", "nowhere", "-o", "card.pdf", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: -o card.pdf: unknown suffix; known are .html, ")


def test_a_place_that_cannot_be_written_is_named(runs: Path, tmp_path: Path) -> None:
    done = iocast("report", run_folder(runs / "iocast-runs"), "-o", "no/such/card.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("error: cannot write no/such/card.csv: No such file or directory")


@pytest.mark.long
def test_a_page_that_fails_does_not_spoil_the_measurement(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "from iocast.errors import IocastError\nfrom iocast.report.renderers import html\n"
        "def fail(*_, **__): raise IocastError('no page today', 'tomorrow')\nhtml.render = fail\n"
    )
    done = iocast("card", "sim:nvme", "--time", "10ms", "--page", cwd=tmp_path, PYTHONPATH=_with(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "note: report.html not written: no page today" in done.stderr
    assert "Bottleneck" in done.stdout


@pytest.mark.long
def test_a_png_without_a_font_is_an_error_and_the_page_is_not(tmp_path: Path) -> None:
    """Where no font is installed, words of a PNG would be missing; a page and an SVG have those of their reader."""
    fonts = tmp_path / "fonts.conf"  # as FONTCONFIG_FILE of resvg it hides all fonts that are installed
    fonts.write_text(f"<fontconfig><dir>{tmp_path / 'none'}</dir></fontconfig>")
    (tmp_path / "none").mkdir()
    hidden = str(fonts)
    done = iocast("card", "sim:nvme", "--time", "10ms", "--page", "--out", "runs", cwd=tmp_path, FONTCONFIG_FILE=hidden)
    assert done.returncode == 0, done.stderr
    assert "<svg" in (run_folder(tmp_path / "runs") / "report.html").read_text()
    done = iocast("report", run_folder(tmp_path / "runs"), "-o", "card.png", cwd=tmp_path, FONTCONFIG_FILE=hidden)
    assert done.returncode != 0
    assert [line for line in done.stderr.splitlines() if line] == [
        "error: No sans-serif font is installed, so a PNG would have no words",
        "hint: install one, for example fonts-liberation, or write the charts as SVG: -o card.svg",
    ]
    assert not [*tmp_path.glob("card*.png")]


def _with(place: Path) -> str:
    import os

    return os.pathsep.join(filter(None, (str(place), os.environ.get("PYTHONPATH", ""))))


@pytest.mark.parametrize("verb", [("card",), ("run", "card-quick")])
def test_a_card_goes_into_the_file_that_is_named(verb: tuple[str, ...], tmp_path: Path) -> None:
    """The README said `-o card.json` of cards, and `card` had no such option."""
    done = iocast(*verb, "sim:nvme", "--time", "10ms", "--no-page", "-o", "card.html", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "wrote card.html" in done.stderr.splitlines()
    page = (tmp_path / "card.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<svg" in page
    refused = iocast(*verb, "sim:nvme", "-o", "card.pdf", cwd=tmp_path)
    assert refused.returncode == 2
    assert "unknown suffix" in refused.stderr
    assert len([*(tmp_path / "iocast-runs").iterdir()]) == 1  # refused before anything was measured
