"""Rust source without comments, texts and test modules: its functions, what it prints, which file uses which."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_TEXT = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | (?<!\w)[bc]?r(\#*)".*?"\1
      | (?<!\w)[bc]?"(?:\\.|[^"\\])*"
      | '(?:\\[^\n]*?|[^'\\])'
    """,
    re.DOTALL | re.VERBOSE,
)
_TEST_MODULE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+\w+\s*\{")
_FUNCTION = re.compile(r"\bfn\s+(\w+)")
_SPEECH = re.compile(r"\b(e?println!|e?print!|dbg!|process::exit)")


def _blank(text: str) -> str:
    """Spaces of the same shape."""
    return re.sub(r"[^\n]", " ", text)


def _closing(code: str, opening: int) -> int:
    """The place right after the brace that closes the one at `opening`."""
    depth = 0
    for place in range(opening, len(code)):
        depth += {"{": 1, "}": -1}.get(code[place], 0)
        if depth == 0:
            return place + 1
    return len(code)


def code(text: str) -> str:
    """Code alone, every line where it was."""
    bare = _TEXT.sub(lambda found: _blank(found[0]), text)
    for found in reversed(list(_TEST_MODULE.finditer(bare))):
        end = _closing(bare, found.end() - 1)
        bare = bare[: found.start()] + _blank(bare[found.start() : end]) + bare[end:]
    return bare


def line_count(text: str) -> int:
    """Lines of a file without its test modules (comments count)."""
    bare = _TEXT.sub(lambda found: _blank(found[0]), text)
    inside = 0
    for found in _TEST_MODULE.finditer(bare):
        inside += bare.count("\n", found.start(), _closing(bare, found.end() - 1)) + 1
    return len(text.splitlines()) - inside


def functions(text: str) -> Iterator[tuple[str, int]]:
    """Name and lines, signature included, of every function that has a body."""
    bare = code(text)
    for found in _FUNCTION.finditer(bare):
        depth = 0
        for place in range(found.end(), len(bare)):
            depth += {"(": 1, "[": 1, ")": -1, "]": -1}.get(bare[place], 0)
            if depth == 0 and bare[place] in ";{":
                break
        else:
            continue
        if bare[place] == "{":
            yield found[1], bare.count("\n", found.start(), _closing(bare, place)) + 1


def speech(text: str) -> Iterator[tuple[int, str]]:
    """Line and word of everything that prints or ends the process."""
    bare = code(text)
    for found in _SPEECH.finditer(bare):
        yield bare.count("\n", 0, found.start()) + 1, found[1]


_USE = re.compile(r"\buse\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:$])(?:r#)?(\w+)((?:\s*::\s*\w+)+)")
_CHILD = re.compile(r"\bmod\s+(\w+)\s*;")


def _sources(root: Path) -> Iterator[Path]:
    """The source files of all crates, those of tests alone left out."""
    for path in sorted((root / "crates").glob("*/src/**/*.rs")):
        if not path.stem.endswith("_tests"):
            yield path


def _flat(tree: str) -> Iterator[list[str]]:
    """The paths of a `use`: `a::{b, c::{self, d}}` is `a::b`, `a::c` and `a::c::d`."""
    head, opened, rest = tree.partition("{")
    start = [part for part in re.split(r"\s*::\s*", head.partition(" as ")[0].strip()) if part not in ("", "*")]
    if not opened:
        yield start[:-1] if start[-1:] == ["self"] and len(start) > 1 else start
        return
    depth, piece = 0, ""
    for letter in rest[: rest.rindex("}")] + ",":
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            for path in _flat(piece) if piece.strip() else ():
                yield start + ([] if path == ["self"] else path)
            piece = ""
        else:
            piece += letter


def _mentions(bare: str) -> Iterator[list[str]]:
    """Every path in a file that may lead to another module, those of its `use` lines first."""
    for found in _USE.finditer(bare):
        yield from _flat(found[1])
    for found in _PATH.finditer(_USE.sub(lambda used: _blank(used[0]), bare)):
        yield [found[1], *re.findall(r"\w+", found[2])]


def _resolved(module: tuple[str, ...], path: list[str], children: set[str]) -> tuple[str, ...] | None:
    """A path from the root of the crate; None when it leads out of the crate."""
    match path:
        case ["crate", *rest]:
            return tuple(rest)
        case ["self", *rest]:
            return (*module, *rest)
        case ["super", *rest]:
            up = module[:-1]
            while rest[:1] == ["super"]:
                up, rest = up[:-1], rest[1:]
            return (*up, *rest)
        case [first, *_] if first in children:
            return (*module, *path)
    return None


def uses(root: Path) -> dict[str, set[str]]:
    """For each source file, the files of its crate that its paths name; to declare a module is not to use it."""
    graph: dict[str, set[str]] = {}
    for crate in sorted({path.relative_to(root).parts[1] for path in _sources(root)}):
        source = root / "crates" / crate / "src"
        files: dict[tuple[str, ...], Path] = {}
        for path in _sources(root):
            if path.is_relative_to(source):
                parts = path.relative_to(source).with_suffix("").parts
                files[() if parts in (("lib",), ("main",)) else parts] = path
        for module, path in files.items():
            bare = code(path.read_text(encoding="utf-8"))
            seen = graph.setdefault(path.relative_to(root).as_posix(), set())
            for mention in _mentions(bare):
                target = _resolved(module, mention, set(_CHILD.findall(bare)))
                while target and target not in files:
                    target = target[:-1]
                if target is not None and target != module and target in files:
                    seen.add(files[target].relative_to(root).as_posix())
    return graph


def circles(root: Path) -> list[str]:
    """Files of a crate that use each other, directly or by way of others: one line for each group of them."""
    graph = uses(root)

    def reached(start: str) -> set[str]:
        seen: set[str] = set()
        ahead = list(graph[start])
        while ahead:
            if (file := ahead.pop()) not in seen:
                seen.add(file)
                ahead += graph[file]
        return seen

    reach = {file: reached(file) for file in graph}
    bad, told = [], set()
    for file in graph:
        group = sorted(other for other in reach[file] if file in reach[other])
        if file not in told and group:
            told |= set(group)
            arrows = [f"{a} → {b}" for a in group for b in sorted(graph[a] & set(group))]
            bad.append(f"{file}: a circle of {len(group)} files: {', '.join(arrows)}")
    return bad


_ENGINE_LINE = re.compile(r'^    "(\w+)",', re.MULTILINE)
_IS_ENGINE = re.compile(r"\bimpl\s+Engine\s+for\b")


def engine_names(root: Path) -> list[str]:
    """The engines of the core's table, in its order."""
    table = root / "crates/iocast-core/src/engine/table.rs"
    return _ENGINE_LINE.findall(table.read_text(encoding="utf-8")) if table.exists() else []


def engines(root: Path) -> list[str]:
    """An engine is one file, one line of the table, one test and one section in docs/reference/engines.md."""
    core, names = root / "crates/iocast-core", engine_names(root)
    tests = "\n".join(path.read_text(encoding="utf-8") for path in sorted((core / "tests").rglob("*.rs")))
    page = root / "docs/reference/engines.md"
    told = re.findall(r"^## (\w+)$", page.read_text(encoding="utf-8") if page.exists() else "", re.MULTILINE)
    bad = [
        f"{path.relative_to(root)}: an engine that is not in engine/table.rs"
        for path in sorted((core / "src/engine").glob("*.rs"))
        if path.stem not in names and _IS_ENGINE.search(code(path.read_text(encoding="utf-8")))
    ]
    for name in names:
        path = core / f"src/engine/{name}.rs"
        shown = path.relative_to(root)
        if not path.exists():
            bad.append(f"{shown}: it is in engine/table.rs and is not there")
        elif "#[test]" not in path.read_text(encoding="utf-8") and f'"{name}"' not in tests:
            bad.append(f"{shown}: it has no test")
        if name not in told:
            bad.append(f"{shown}: docs/reference/engines.md has no section for it (run: make docs)")
    return bad


_FORMAT = re.compile(r'\bpub const (\w+): Format = Format \{\s+name: "(\w+)"')


def trace_readers(root: Path) -> list[str]:
    """A reader of traces is one file, one line of the list, one test or sample, one section in docs/reference."""
    core = root / "crates/iocast-core"
    listing, page = core / "src/trace/format_list.rs", root / "docs/reference/readers.md"
    if not listing.exists():
        return []
    listed = set(re.findall(r"^ +(?:\w+::)*(\w+::\w+),$", listing.read_text(encoding="utf-8"), re.MULTILINE))
    told = re.findall(r"^## (\w+)$", page.read_text(encoding="utf-8") if page.exists() else "", re.MULTILINE)
    tests = "\n".join(path.read_text(encoding="utf-8") for path in sorted((core / "tests").rglob("*.rs")))
    bad = []
    for path in sorted((core / "src/trace/readers").rglob("*.rs")):
        text, shown = path.read_text(encoding="utf-8"), path.relative_to(root)
        for constant, name in _FORMAT.findall(text):
            if f"{path.stem}::{constant}" not in listed:
                bad.append(f"{shown}: {constant} is not in format_list.rs")
            if "#[test]" not in text and f'"{name}"' not in tests:
                bad.append(f"{shown}: it has no test")
            if name not in told:
                bad.append(f"{shown}: docs/reference/readers.md has no section for it (run: make docs)")
    return bad
