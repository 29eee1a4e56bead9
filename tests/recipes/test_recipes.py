"""The recipes of docs/recipes are carried out in a copy of the tree, and what each adds is used."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from makers import command_line
from makers.recipe import RECIPES, ROOT, Copy, Edit, cargo, entered, recipe

from iocast import archive

pytestmark = pytest.mark.long

KINDS = (
    "engine",
    "observer",
    "database",
    "detector",
    "chart",
    "importer",
    "reader",
    "loader",
    "renderer",
    "experiment",
    "verb",
)
READERS_PAGE = "docs/reference/readers.md"
IN_MEMORY = Path("/dev/shm")
NULL_RUN = """\
//! The engine of the recipe does the I/O of a phase.

mod scratch;

use iocast_core::run::perform::run_phase;
use scratch::{Scratch, plan};
use serde_json::json;

#[test]
fn the_loop_runs_on_it() {
    let file = Scratch::new("null");
    let result = run_phase(&plan(&file, "null", json!({})), |_| true).unwrap();
    assert_eq!(result.engine.name, "null");
    assert!(result.ios > 0);
}
"""


LETTERS_READ = """\
//! The reader of the recipe knows a file of its own.

use iocast_core::trace::read_traces::read;
use iocast_core::trace::reader::Options;

#[test]
fn a_table_of_letters_is_read() {
    let path = std::env::temp_dir().join(format!("iocast-letters-{}", std::process::id()));
    std::fs::write(&path, "R 4096 512\\nW 0 512\\nX 1 1\\n").unwrap();
    let report = read(&[path.clone()], &Options::default(), false, &mut |_, _| Ok(())).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((report.files[0].format.as_str(), report.events), ("letter_table", 2));
    assert_eq!(report.files[0].accounted(), 3);
}
"""


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """A copy of the tree that nothing is added to."""
    return Copy.of_tree(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def copy(whole: Copy, tmp_path: Path) -> Copy:
    """A copy for one recipe."""
    return whole.copied(tmp_path / "tree")


def use_engine(copy: Copy) -> None:
    """The core here was built without the engine: it is asked for by name and must be refused, not replaced."""
    job = Path(command_line.small_job(copy.root, direct=False))
    job.write_text(job.read_text().replace("[defaults]", '[defaults]\nengine = "null"'))
    refused = copy.iocast("run", job, copy.place, "--out", copy.root / "runs")
    assert refused.returncode != 0
    assert 'unknown "null"; known are auto, uring, sync, tree_ring, tree_calls, sim' in refused.stderr + refused.stdout


def use_observer(copy: Copy) -> None:
    run = archive.load(str(copy.measured(copy.place)))
    assert "entropy" not in {each.observer for each in run.blind}
    for record in run.measured:
        assert len([sample for sample in record.samples if sample.observer == "entropy"]) >= 2


def use_database(copy: Copy) -> None:
    program = "from iocast import databases; print(databases.connect('duckdb:///no/file').url)"
    assert copy.run("-c", program) == "duckdb:///no/file\n"


def use_detector(copy: Copy) -> None:
    folder = copy.measured("sim:hdd")
    shown = json.loads(copy.iocast("report", folder, "--json").stdout)
    found = [finding for finding in shown["findings"] if finding["code"] == "few_ios"]
    assert len(found) == 2
    assert "few I/Os" in copy.iocast("report", folder).stdout


def use_chart(copy: Copy) -> None:
    page = copy.root / "card.json"
    written = copy.iocast("report", copy.measured("sim:nvme"), "-o", page)
    assert written.returncode == 0, written.stderr
    (chart,) = (chart for chart in json.loads(page.read_text())["charts"].values() if chart["kind"] == "rates")
    assert chart["title"] == "IOPS of each row"


def use_importer(copy: Copy) -> None:
    (copy.root / "dd.txt").write_text(
        "1024+0 records in\n1024+0 records out\n1048576 bytes (1.0 MB, 1.0 MiB) copied, 0.5 s, 2.1 MB/s\n"
    )
    done = copy.iocast("import", "dd.txt", "--out", "runs")
    assert done.returncode == 0, done.stderr
    run = archive.load(str(command_line.run_folder(copy.root / "runs")))
    assert run.source is not None
    assert (run.source.tool, run.measured[0].measurement.ios) == ("dd", 1024)


def use_reader(copy: Copy) -> None:
    """The core here was built without the reader: what it says stands in the docs, and `cargo test` runs its test."""
    assert "## letter_table\n\na letter, an offset and a size a line." in (copy.root / READERS_PAGE).read_text()


def use_loader(copy: Copy) -> None:
    if not os.access(IN_MEMORY, os.W_OK):
        return
    place = IN_MEMORY / f"iocast-recipe-{os.getpid()}"
    place.mkdir()
    try:
        run = archive.load(str(copy.measured(place)))
    finally:
        shutil.rmtree(place)
    if run.plan.target.filesystem == "tmpfs":
        assert {record.plan.engine for record in run.measured} == {"sync"}


def use_renderer(copy: Copy) -> None:
    written = copy.iocast("report", copy.measured("sim:nvme"), "-o", "card.titles")
    assert written.returncode == 0, written.stderr
    assert "Results" in (copy.root / "card.titles").read_text().splitlines()


def use_experiment(copy: Copy) -> None:
    assert "doubled-depth" in copy.iocast("experiment").stdout
    answered = copy.iocast("experiment", "doubled-depth", "sim:hdd", "--no-page", "--out", copy.root / "runs")
    assert answered.returncode == 0, answered.stderr
    assert "Does twice the queue depth give more IOPS?" in answered.stdout + answered.stderr
    assert "twice the depth" in answered.stdout


def use_verb(copy: Copy) -> None:
    assert "convert" in copy.iocast("--help").stdout
    assert copy.iocast("convert", "1MiB").stdout == "1048576\n"


USES: dict[str, Callable[[Copy], None]] = {
    "engine": use_engine,
    "observer": use_observer,
    "database": use_database,
    "detector": use_detector,
    "chart": use_chart,
    "importer": use_importer,
    "reader": use_reader,
    "loader": use_loader,
    "renderer": use_renderer,
    "experiment": use_experiment,
    "verb": use_verb,
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_adds_what_works(copy: Copy, kind: str) -> None:
    plug_in = recipe(kind)
    copy.write(plug_in)
    without_its_line = copy.complaints()
    assert any(line.startswith(f"{plug_in.path}: ") and " not in " in line for line in without_its_line)
    copy.enter(plug_in)
    copy.run("docs/generate.py")
    assert copy.complaints() == []
    changed = [path for path in plug_in.paths if path.endswith(".py")]
    if changed:
        copy.run("-m", "ruff", "check", "--no-cache", *changed)
        copy.run("-m", "ruff", "format", "--no-cache", "--check", *changed)
    if plug_in.test.endswith(".py"):
        copy.run("-m", "pytest", "-p", "no:cacheprovider", "-q", plug_in.test)
    USES[kind](copy)


def test_the_tree_without_additions_is_silent(whole: Copy) -> None:
    assert whole.complaints() == []


def test_there_is_a_recipe_for_each_kind_and_no_other() -> None:
    recipes = {path.stem: path.read_text() for path in RECIPES.glob("*.md")}
    assert set(recipes) == set(KINDS)
    assert all(text.startswith((f"# Adding a {kind}\n", f"# Adding an {kind}\n")) for kind, text in recipes.items())
    contributing = (ROOT / "CONTRIBUTING.md").read_text()
    assert all(f"(docs/recipes/{kind}.md)" in contributing for kind in KINDS)


@pytest.mark.slow
def test_an_engine_and_a_reader_are_compiled_and_used(whole: Copy) -> None:
    """Both in one build, of the packages that `make test` has built: all that is not ours is taken from there."""
    found = cargo()
    if found is None:
        pytest.skip("cargo is not installed")
    target = ROOT / "target"
    shutil.rmtree(target / "recipes", ignore_errors=True)
    copy = whole.copied(target / "recipes")  # always there: cargo would keep what it builds of each other place
    for kind in ("engine", "reader"):
        plug_in = recipe(kind)
        copy.write(plug_in)
        copy.enter(plug_in)
    (copy.root / "crates/iocast-core/tests/null.rs").write_text(NULL_RUN)
    (copy.root / "crates/iocast-core/tests/letter_table.rs").write_text(LETTERS_READ)
    env = {**os.environ, "CARGO_TARGET_DIR": str(target), "CARGO_INCREMENTAL": "0", "PYO3_PYTHON": sys.executable}
    packages = ["--locked", "--workspace", "--exclude", "iocast-python"]
    tests = ["test", *packages, "--lib", "--test", "null", "--test", "letter_table"]
    # The arithmetic of profiles takes as long as all others together, and knows of no engine and no format.
    said = []
    for command in (["fmt", "--package", "iocast-core", "--check"], [*tests, "--", "--skip", "profile::"]):
        done = subprocess.run([found, *command], cwd=copy.root, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        said += [line for line in done.stdout.splitlines() if line.startswith("test ") and line.endswith(" ... ok")]
    for name in ("engine::null::", "letter_table::", "the_loop_runs_on_it", "a_table_of_letters_is_read"):
        assert any(name in line for line in said), f"no test of {name} ran"


@pytest.mark.parametrize(
    ("where", "anchor", "expected"),
    [
        ("among", "LIST", ["a,", "b,", "c,"]),
        ("at the front of", "LIST", ["b,", "a,", "c,"]),
        ("at the end of", "LIST", ["a,", "c,", "b,"]),
        ("above", "c,", ["a,", "b,", "c,"]),
        ("below", "c,", ["a,", "c,", "b,"]),
    ],
)
def test_a_line_goes_where_the_recipe_says(where: str, anchor: str, expected: list[str]) -> None:
    text = entered("LIST = (\n    a,\n    c,\n)\n", Edit("x.py", "b,", where, anchor))
    assert [line.strip() for line in text.splitlines()[1:-1]] == expected


def test_a_place_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AssertionError, match="stands there 0 times"):
        entered("LIST = ()\n", Edit("x.py", "b,", "at the end of", "OTHER"))
