"""Every rule of the house can fail: each is shown a small tree that breaks it, and one that keeps it."""

from __future__ import annotations

import json
from pathlib import Path

import house_rules
import pytest
import rust_source


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("path", "line", "arrow"),
    [
        ("report/card/card_report.py", "from iocast.observe import stack", "report → observe"),
        ("observe/x.py", "from iocast.load import engine", "observe → load"),
        ("load/x.py", "import iocast.analyse.statistics", "load → analyse"),
        ("diagnose/x.py", "from iocast.report import listing", "diagnose → report"),
        ("forecast/x.py", "from iocast.diagnose import trust", "forecast → diagnose"),
        ("model/run.py", "from iocast.archive import load", "model → archive"),
        ("runner/run_loop.py", "from iocast.commands import card", "runner → commands"),
        ("commands/cmd_card.py", "from iocast import runner", "commands → runner"),
        ("web/app.py", "from iocast.commands import card", "web → commands"),
        ("observe/x.py", "def f():\n    from iocast import load", "observe → load"),
        ("observe/x.py", "from ..load import engine", "observe → load"),
        ("observe/x.py", "from .. import load", "observe → load"),
        ("model/sub/x.py", "from ...jobs import job", "model → jobs"),
        ("jobs/x.py", "import importlib\nimportlib.import_module('iocast.load')", "jobs → load"),
        ("jobs/x.py", "import iocast", "jobs → __init__"),
    ],
)
def test_an_arrow_against_the_map_is_named(tmp_path: Path, path: str, line: str, arrow: str) -> None:
    (complaint,) = house_rules.arrows(tree(tmp_path, {f"src/iocast/{path}": line}))
    assert complaint.startswith(f"src/iocast/{path}:")
    assert arrow in complaint


def test_arrows_along_the_map_are_silent(tmp_path: Path) -> None:
    files = {
        "src/iocast/commands/cmd_card.py": "from iocast import sessions, __version__\n",
        "src/iocast/sessions/measure.py": "from iocast import runner, report\n",
        "src/iocast/runner/run_loop.py": "from iocast.load import engine\nfrom iocast import archive\n",
        "src/iocast/report/card/card_report.py": "from iocast.diagnose import trust\nfrom . import format\n",
        "src/iocast/load/engine.py": "from iocast import _core\nfrom iocast.model.run import Run\n",
    }
    assert house_rules.arrows(tree(tmp_path, files)) == []


def test_a_room_that_is_not_on_the_map_is_named(tmp_path: Path) -> None:
    (complaint,) = house_rules.arrows(tree(tmp_path, {"src/iocast/attic/x.py": ""}))
    assert "`attic` is not a room" in complaint


def test_a_heavy_import_at_the_top_is_named_and_a_late_one_is_not(tmp_path: Path) -> None:
    files = {
        "src/iocast/archive.py": "import duckdb\nimport json\nfrom msgspec import Struct\n",
        "src/iocast/report/page.py": "def page():\n    import duckdb\n",
        "src/iocast/commands/cmd_card.py": "import rich_click\n",
    }
    assert house_rules.heavy_imports(tree(tmp_path, files)) == [
        "src/iocast/archive.py:1: import duckdb inside the function that needs it"
    ]


def test_a_number_that_is_made_beside_the_one_place_is_named(tmp_path: Path) -> None:
    files = {
        "src/iocast/tools/dd.py": "a = float(cell)\nb, c = map(int, cells)\nd = round(number(p, 1, cell, 'x'))\n",
        "src/iocast/tools/kernel/disk_counters.py": "a = int(word)\n",
        "src/iocast/tools/foreign_numbers.py": "a = float(text)\n",
        "src/iocast/report/x.py": "a = int(text)\n",
    }
    first, second = house_rules.foreign_numbers(tree(tmp_path, files))
    assert first.startswith("src/iocast/tools/dd.py:1: float() of foreign text: ")
    assert second.startswith("src/iocast/tools/dd.py:2: int() of foreign text: ")


def python_function(lines: int) -> str:
    return '"""x"""\ndef long():\n' + "    x = 1\n" * (lines - 1)


def rust_function(lines: int) -> str:
    return "//! x\nfn long(a: [u8; 4])\n{\n" + "    let x = '{';\n" * (lines - 3) + "}\n"


@pytest.mark.parametrize(
    ("path", "text", "lines"),
    [
        ("src/iocast/a.py", "x = 1\n" * 601, 601),
        ("src/iocast/a.py::long", python_function(71), 71),
        ("crates/c/src/a.rs", "// x\n" * 601, 601),
        ("crates/c/src/a.rs::long", rust_function(71), 71),
    ],
)
def test_one_line_too_many_is_named(tmp_path: Path, path: str, text: str, lines: int) -> None:
    root = tree(tmp_path, {path.split("::")[0]: text})
    assert house_rules.sizes(root) == {path: lines}
    assert house_rules.too_long(root)[0].startswith(f"{path}: {lines} lines, at most {lines - 1}")


@pytest.mark.parametrize("text", [python_function(70), "x = 1\n" * 400])
def test_python_at_the_limit_is_silent(tmp_path: Path, text: str) -> None:
    assert house_rules.too_long(tree(tmp_path, {"src/iocast/a.py": text})) == []


def test_rust_at_the_limit_is_silent_and_its_test_module_is_free(tmp_path: Path) -> None:
    tests = "#[cfg(test)]\nmod tests {\n    fn long() {\n" + "        x();\n" * 500 + "    }\n}\n"
    root = tree(tmp_path, {"crates/c/src/a.rs": rust_function(70) + tests})
    assert house_rules.too_long(root) == []


@pytest.mark.parametrize(
    ("recorded", "complaint"),
    [(71, "72 lines, at most 71 are allowed"), (72, ""), (73, "it shrank: write 72")],
)
def test_the_ratchet_only_goes_down(tmp_path: Path, recorded: int, complaint: str) -> None:
    what = "src/iocast/a.py::long"
    files = {"src/iocast/a.py": python_function(72), "tests/house_ratchet.json": json.dumps({what: recorded})}
    found = house_rules.too_long(tree(tmp_path, files))
    assert [complaint in line for line in found] == ([True] if complaint else [])


def test_a_ratchet_line_that_is_no_longer_needed_is_named(tmp_path: Path) -> None:
    files = {"src/iocast/a.py": "", "tests/house_ratchet.json": '{"src/iocast/a.py": 500}'}
    assert "remove its line" in house_rules.too_long(tree(tmp_path, files))[0]


def test_rust_functions_are_measured_past_braces_in_texts_and_comments() -> None:
    text = """
impl<'a> Reader<'a> {
    fn first(&'a self) -> char { // }
        let _ = ("}", r#"}" }"#, '}', b'}', "\\\\"); /* } */
        '\\''
    }
    fn declared(&self);
    pub fn second<T>(x: [u8; 2]) -> T
    where
        T: Default,
    { T::default() }
}
"""
    assert list(rust_source.functions(text)) == [("first", 4), ("second", 4)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("src/iocast/load/x.py", "print('x')"),
        ("src/iocast/load/x.py", "import sys\nsys.exit(1)"),
        ("src/iocast/load/x.py", "raise SystemExit(2)"),
        ("src/iocast/load/x.py", "import os\nos._exit(1)"),
        ("src/iocast/load/x.py", "import sys\nsys.stderr.write('x')"),
        ("src/iocast/report/renderers/html.py", "def render(report, out):\n    exit(1)"),
        ("src/iocast/report/words.py", "print('x')"),
        ("crates/c/src/x.rs", 'fn f() { println!("x") }'),
        ("crates/c/src/x.rs", "fn f() { std::process::exit(1) }"),
    ],
)
def test_speech_outside_a_door_is_named(tmp_path: Path, path: str, text: str) -> None:
    (complaint,) = house_rules.speech(tree(tmp_path, {path: text}))
    assert complaint.startswith(path)


@pytest.mark.parametrize(
    "line",
    [
        "Path('x').write_bytes(b'')",
        "os.open(path, os.O_RDWR | os.O_NOFOLLOW)",
        "os.replace(one, other)",
        "shutil.copyfile(one, other)",
        "path.open('ab', buffering=0)",
        "open(path, mode='w')",
        "folder.mkdir()",
    ],
)
def test_what_writes_by_path_is_named(tmp_path: Path, line: str) -> None:
    (complaint,) = house_rules.outputs(tree(tmp_path, {"src/iocast/sessions/x.py": line}))
    assert complaint.endswith("belongs to archive/writing")


def test_temporary_folders_that_go_by_path_are_named(tmp_path: Path) -> None:
    (complaint,) = house_rules.outputs(tree(tmp_path, {"src/iocast/sessions/x.py": "import tempfile"}))
    assert complaint.endswith("take temporary_room")


def test_the_room_for_output_writes_and_everybody_reads(tmp_path: Path) -> None:
    reads = "os.open(path, os.O_RDONLY)\nopen(path)\nopen(path, 'rb')\npath.open()\ntext.replace('a', 'w')"
    files = {"src/iocast/archive/writing/x.py": "os.replace(one, other)", "src/iocast/sessions/x.py": reads}
    assert house_rules.outputs(tree(tmp_path, files)) == []


@pytest.mark.parametrize("text", ["at = time.time_ns()", "f(now=time.time)", "datetime.now(UTC)"])
def test_times_of_a_clock_that_may_be_set_are_named(tmp_path: Path, text: str) -> None:
    (complaint,) = house_rules.wall_clock(tree(tmp_path, {"src/iocast/observe/x.py": text}))
    assert complaint.startswith("src/iocast/observe/x.py:1: ")
    kept = {"src/iocast/archive/x.py": text, "src/iocast/load/x.py": "at = unix_ns() + time.monotonic_ns()"}
    assert house_rules.wall_clock(tree(tmp_path / "kept", kept)) == []


def test_a_table_that_is_no_result_is_named(tmp_path: Path) -> None:
    text = "from iocast.model.report import Row, Table\n"
    files = {
        "src/iocast/report/x.py": text,
        "src/iocast/report/charts/x.py": text,
        "src/iocast/report/live/x.py": "def line(cells: dict[str, Cell]) -> str: ...\n",
        "src/iocast/report/renderers/x.py": text,
        "src/iocast/report/result_tables.py": text,
    }
    complaints = house_rules.cells(tree(tmp_path, files))
    named = [complaint.partition(":1: a table of cells")[0] for complaint in complaints]
    assert named == [f"src/iocast/report/{each}x.py" for each in ("charts/", "live/", "")]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("charts/x.py", "layer = {'mark': 'bar', 'rows': rows}", "a dictionary with 'mark'"),
        ("charts/x.py", "dots = [{'x': at, 'c': tone} for at in places]", "a dictionary with 'x'"),
        ("plot/x.py", "Spec = dict[str, Any]", "declare a Struct"),
        ("plot/x.py", "from iocast.model.report import Chart", "knows nothing of what is plotted"),
        ("plot/x.py", "def f():\n    from iocast import text", "knows nothing of what is plotted"),
    ],
)
def test_a_grammar_of_dictionaries_is_named(tmp_path: Path, path: str, text: str, said: str) -> None:
    (complaint,) = house_rules.cells(tree(tmp_path, {f"src/iocast/report/{path}": text}))
    assert complaint.startswith(f"src/iocast/report/{path}:")
    assert said in complaint


def test_typed_marks_and_colours_by_name_are_silent(tmp_path: Path) -> None:
    text = (
        "from iocast.report.plot.marks import Dots\ncolours = {'better': theme.faster}\nmarks = Dots([Point(1, 2)])\n"
    )
    files = {"src/iocast/report/charts/x.py": text, "src/iocast/report/plot/x.py": text}
    assert house_rules.cells(tree(tmp_path, files)) == []


@pytest.mark.parametrize(
    "text",
    ["from iocast.model.simulated_device import SimulatedNoise\n", "noise = row.run.plan.target.simulated.noise\n"],
)
def test_who_reads_what_a_simulated_device_is_told_is_named(tmp_path: Path, text: str) -> None:
    files = {"src/iocast/diagnose/x.py": text, "src/iocast/report/x.py": text}
    (complaint,) = house_rules.black_boxes(tree(tmp_path, files))
    assert complaint.startswith("src/iocast/diagnose/x.py:1: the study reads")


def test_doors_renderers_and_rust_tests_may_speak(tmp_path: Path) -> None:
    files = {
        "src/iocast/__main__.py": "import sys\nsys.exit(0)",
        "src/iocast/commands/cmd_card.py": "print('x')",
        "src/iocast/report/renderers/plain.py": "def render(report, out):\n    print('x')",
        "crates/c/src/x.rs": '// println!\n#[cfg(test)]\nmod tests {\n    fn f() { println!("x") }\n}',
    }
    assert house_rules.speech(tree(tmp_path, files)) == []


@pytest.mark.parametrize("path", ["src/iocast/utils.py", "src/iocast/load/support/x.py", "crates/c/src/helpers.rs"])
def test_a_drawer_is_named(tmp_path: Path, path: str) -> None:
    assert len(house_rules.names(tree(tmp_path, {path: ""}))) == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [("src/iocast/x.py", "x = 1"), ("src/iocast/x.py", "\n" + '"""late"""'), ("crates/c/src/x.rs", "// x")],
)
def test_a_module_that_does_not_say_what_it_is_is_named(tmp_path: Path, path: str, text: str) -> None:
    assert house_rules.docstrings(tree(tmp_path, {path: text}))[0].startswith(path)


SHORTCUTS = "iocast.diagnose.detectors.shortcuts"
PLUG_IN = {
    "src/iocast/diagnose/detectors/__init__.py": f"from {SHORTCUTS} import cached\nDETECTORS = (cached,)\n",
    "src/iocast/diagnose/detectors/shortcuts/cached.py": "def detect(run): ...\n",
    "tests/test_cached.py": f"from {SHORTCUTS} import cached\n",
    "docs/reference/detectors.md": "## cached\n",
}


def test_a_whole_plug_in_is_silent(tmp_path: Path) -> None:
    root = tree(tmp_path, PLUG_IN)
    assert house_rules.plug_ins(root) == []
    assert house_rules.listed(root, "diagnose/detectors") == ["iocast.diagnose.detectors.shortcuts.cached"]


@pytest.mark.parametrize(
    ("path", "text", "complaint"),
    [
        ("src/iocast/diagnose/detectors/__init__.py", "DETECTORS = ()\n", "not in diagnose/detectors.DETECTORS"),
        (
            "tests/test_cached.py",
            f"from {SHORTCUTS} import cached_pages\n",
            "no test imports it",
        ),
        ("docs/reference/detectors.md", "## cached-pages\n", "no line in docs/"),
        ("docs/reference/detectors.md", "it was cached in passing\n", "no line in docs/"),
    ],
)
def test_a_plug_in_with_a_part_missing_is_named(tmp_path: Path, path: str, text: str, complaint: str) -> None:
    (found,) = house_rules.plug_ins(tree(tmp_path, {**PLUG_IN, path: text}))
    assert complaint in found


def test_a_list_may_name_its_modules_by_text_and_annotate_itself(tmp_path: Path) -> None:
    files = {
        "src/iocast/report/renderers/__init__.py": (
            "RENDERERS: dict = {'html': 'iocast.report.renderers.html_page:render'}\n"
        ),
        "src/iocast/report/renderers/html_page.py": "def render(report, out): ...\n",
    }
    assert house_rules.listed(tree(tmp_path, files), "report/renderers") == ["iocast.report.renderers.html_page"]


def test_an_engine_without_test_or_documentation_is_named(tmp_path: Path) -> None:
    core, docs = "crates/iocast-core", "docs/reference/engines.md"
    table = {f"{core}/src/engine/table.rs": 'engines! {\n    "uring", Threads::PerUser;\n}\n'}
    assert len(house_rules.plug_ins(tree(tmp_path, {f"{core}/src/engine/uring.rs": "//! x\n", **table}))) == 2
    tree(tmp_path, {f"{core}/tests/engines.rs": 'run("uring")', docs: "## uring\n"})
    assert house_rules.plug_ins(tmp_path) == []


def test_an_example_that_no_test_runs_is_named(tmp_path: Path) -> None:
    root = tree(tmp_path, {"examples/a.toml": "", "tests/test_b.py": "'b.toml'"})
    assert house_rules.examples(root) == ["examples/a.toml: no test runs it"]
    tree(tmp_path, {"tests/test_b.py": "sorted((ROOT / 'examples').glob('*.toml'))"})
    assert house_rules.examples(root) == []


@pytest.mark.parametrize(
    "line",
    [
        "see https://" + "pypi" + ".org/x",
        "path = '/" + "work/main'",
        "cat ~" + "/.mirror/x",
        "--index-url https" + "://example.net",
    ],
)
def test_an_address_in_a_tracked_file_is_named(tmp_path: Path, line: str) -> None:
    tree(tmp_path, {"a.md": f"first\n{line}\n", "Cargo.lock": line})
    (complaint,) = house_rules.addresses(tmp_path, [Path("a.md"), Path("Cargo.lock")])
    assert complaint.startswith("a.md:2:")


def test_words_that_only_look_like_addresses_are_silent(tmp_path: Path) -> None:
    tree(tmp_path, {"a.md": "read/work/think, net/root/x, /mnt/db, /dev/vda, crates/io\n"})
    assert house_rules.addresses(tmp_path, [Path("a.md")]) == []


def test_a_dead_link_is_named(tmp_path: Path) -> None:
    tree(tmp_path, {"docs/a.md": "[b](b.md) [c](../c.md#x) [d](https://example.net) [e](#e)", "c.md": ""})
    assert house_rules.dead_links(tmp_path, [Path("docs/a.md")]) == ["docs/a.md: dead link to b.md"]


def test_a_room_without_a_place_on_the_map_is_named(tmp_path: Path) -> None:
    files = {"ARCHITECTURE.md": "model/ holds", "src/iocast/model/a.py": "", "src/iocast/load/a.py": ""}
    tree(tmp_path, {**files, "crates/iocast-core/src/lib.rs": ""})
    assert house_rules.unmapped(tmp_path) == [
        "ARCHITECTURE.md: does not name crates/iocast-core",
        "ARCHITECTURE.md: does not name src/iocast/load",
    ]


@pytest.mark.parametrize(
    "text",
    ["from iocast.load.b import _hidden\n", "from iocast.load import b\n\nb._hidden()\n"],
    ids=["name", "module"],
)
def test_what_is_private_to_another_file_is_named(tmp_path: Path, text: str) -> None:
    (found,) = house_rules.private_imports(tree(tmp_path, {"src/iocast/load/a.py": text}))
    assert found.startswith("src/iocast/load/a.py:")
    assert "_hidden" in found


def test_a_circle_of_files_is_named_and_a_late_import_closes_one(tmp_path: Path) -> None:
    files = {
        "src/iocast/load/a.py": "from iocast.load import b\n",
        "src/iocast/load/b.py": "from iocast.load.c import x\n",
        "src/iocast/load/c.py": "def x():\n    from iocast.load import a\n",
    }
    circle = ["iocast.load.a → iocast.load.b → iocast.load.c → iocast.load.a"]
    assert house_rules.circles(tree(tmp_path, files)) == circle
    tree(tmp_path, {"src/iocast/load/c.py": "from iocast.load.a import y\nx = 1\n"})
    assert house_rules.circles(tmp_path) == circle
    tree(tmp_path, {"src/iocast/load/c.py": "x = 1\n"})
    assert house_rules.circles(tmp_path) == []


def test_a_test_that_opens_a_door_is_named(tmp_path: Path) -> None:
    files = {"tests/load/test_x.py": "from iocast.commands import x\n", "tests/makers/m.py": "import iocast.commands\n"}
    assert house_rules.doors_in_tests(tree(tmp_path, files)) == ["tests/load/test_x.py:1: iocast.commands.x is a door"]


VERB = {
    "src/iocast/commands/__init__.py": 'VERBS = {\n    "show": "Show the card of a run.",\n}\n',
    "src/iocast/commands/cmd_show.py": '"""iocast show."""\n',
    "tests/commands/test_show.py": 'iocast("show")\n',
    "docs/reference/commands.md": "## iocast show\n",
}


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("", []),
        ("src/iocast/commands/__init__.py", ["a verb that is not in commands.VERBS"]),
        ("src/iocast/commands/cmd_show.py", ["it is in commands.VERBS and is not there"]),
        ("tests/commands/test_show.py", ["no test runs it"]),
        ("docs/reference/commands.md", ["docs/reference/commands.md has no section for it (run: make docs)"]),
    ],
)
def test_a_verb_is_a_file_a_line_a_test_and_a_section(tmp_path: Path, missing: str, said: list[str]) -> None:
    root = tree(tmp_path, {name: text for name, text in VERB.items() if name != missing})
    assert house_rules.plug_ins(root) == [f"src/iocast/commands/cmd_show.py: {each}" for each in said]
