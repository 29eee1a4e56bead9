"""What the house rules read of Rust source: small trees that break each rule, and our own, which keeps them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
import rust_source

from iocast.jobs.toml.engine_field import Engine
from iocast.model.plan import EngineName

ROOT = Path(__file__).resolve().parents[1]
PLUG_INS = [rust_source.engines, rust_source.trace_readers]
RULES = [rust_source.circles, *PLUG_INS]


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def crate(root: Path, files: dict[str, str]) -> Path:
    return tree(root, {f"crates/c/src/{name}": text for name, text in files.items()})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_crates_keep_the_rule(rule: Callable[[Path], list[str]]) -> None:
    assert "\n".join(rule(ROOT)) == ""


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use crate::b::Thing;", "use crate::a::Other;"),
        ("use super::b::Thing;", "use super::a::Other;"),
        ("use crate::{b::{Thing, More}, x};", "use super::a;"),
        ("fn f() { crate::b::run(); }", "fn f() -> super::a::Other { todo!() }"),
        ("use crate::b as other;", "pub use crate::a::*;"),
        ("use crate::b::{self};", "use crate::{\n    a::{\n        Other,\n    },\n};"),
    ],
)
def test_two_files_that_use_each_other_are_a_circle(tmp_path: Path, a: str, b: str) -> None:
    root = crate(tmp_path, {"lib.rs": "mod a;\nmod b;\n", "a.rs": a, "b.rs": b})
    (said,) = rust_source.circles(root)
    assert said.startswith("crates/c/src/a.rs: a circle of 2 files")
    assert "crates/c/src/a.rs → crates/c/src/b.rs" in said


def test_a_circle_by_way_of_others_is_told_once_with_its_arrows(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod room;\nuse a::A;\n",
        "a.rs": "use crate::room::b::B;",
        "room.rs": "pub mod b;\npub mod c;\n",
        "room/b.rs": "use super::c::C;",
        "room/c.rs": "use super::super::a::A;",
    }
    (said,) = rust_source.circles(crate(tmp_path, files))
    assert "a circle of 3 files" in said
    assert "crates/c/src/room/c.rs → crates/c/src/a.rs" in said
    assert "lib.rs" not in said


def test_a_room_that_shows_what_its_files_hold_may_not_be_used_by_them(tmp_path: Path) -> None:
    uses_room = {"lib.rs": "pub mod room;", "room.rs": "mod b;\npub use b::B;", "room/b.rs": "use super::Trait;"}
    assert "a circle of 2 files" in rust_source.circles(crate(tmp_path, uses_room))[0]
    declares = {"lib.rs": "pub mod room;", "room.rs": "pub mod b;\npub trait T {}", "room/b.rs": "use super::T;"}
    assert rust_source.circles(crate(tmp_path, declares)) == []


def test_tests_comments_texts_and_other_crates_make_no_circle(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a;\nmod b;\n",
        "a.rs": "use crate::b::B;\n",
        "b.rs": '// crate::a::A\nuse other::a::A;\nconst S: &str = "crate::a::A";\n'
        "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
        "b_tests.rs": "use crate::a::A;",
    }
    assert rust_source.circles(crate(tmp_path, files)) == []


CORE = "crates/iocast-core"
TABLE = 'engines! {\n    // name\n    "null",  Threads::PerUser,  super::null::NullEngine::new;\n}\n'
ENGINE = "//! Null.\nimpl Engine for NullEngine {}\n"
TEST = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn f() {}\n}\n"


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("engine/null.rs", "null.rs: it is in engine/table.rs and is not there"),
        ("engine/table.rs", "null.rs: an engine that is not in engine/table.rs"),
        ("test", "null.rs: it has no test"),
        ("docs", "null.rs: docs/reference/engines.md has no section for it (run: make docs)"),
    ],
)
def test_an_engine_is_a_file_a_line_a_test_and_a_section(tmp_path: Path, missing: str, said: str) -> None:
    files = {
        f"{CORE}/src/engine/null.rs": ENGINE + ("" if missing == "test" else TEST),
        f"{CORE}/src/engine/table.rs": TABLE,
        "docs/reference/engines.md": "# Engines\n" + ("" if missing == "docs" else "\n## null\n"),
    }
    whole = {name: text for name, text in files.items() if not name.endswith(missing)}
    assert rust_source.engines(tree(tmp_path, whole)) == [f"{CORE}/src/engine/{said}"]


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("list", "FORMAT is not in format_list.rs"),
        ("sample", "it has no test"),
        ("docs", "docs/reference/readers.md has no section for it (run: make docs)"),
        ("", None),
    ],
)
def test_a_reader_is_in_its_list_has_a_test_and_a_doc_line(tmp_path: Path, missing: str, said: str | None) -> None:
    file = f"{CORE}/src/trace/readers/tables/lines.rs"
    whole = {
        file: 'pub const FORMAT: Format = Format {\n    name: "lines",\n    says: "lines",\n};\n',
        f"{CORE}/src/trace/format_list.rs": "" if missing == "list" else "    lines::FORMAT,\n",
        f"{CORE}/tests/traces.rs": "" if missing == "sample" else 'sample("lines")',
        "docs/reference/readers.md": "" if missing == "docs" else "## lines\n",
    }
    assert rust_source.trace_readers(tree(tmp_path, whole)) == ([f"{file}: {said}"] if said else [])


def test_python_knows_the_engines_of_the_table() -> None:
    names = rust_source.engine_names(ROOT)
    assert get_args(EngineName) == ("auto", *names)
    of_jobs = get_args(get_args(Engine)[0])
    assert set(of_jobs) <= set(get_args(EngineName)), "what a job file may ask for"
