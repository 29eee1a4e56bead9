"""The rules of the house: each takes the root of a tree and returns what breaks it, one line an offence."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import rust_source
import shown_rules

FILE_LINES = 600
FUNCTION_LINES = 70
RATCHET = Path("tests/house_ratchet.json")
BANNED_NAMES = {"utils", "util", "helpers", "helper", "common", "manager", "support"}

# Who may import whom: the map of ARCHITECTURE.md.
_LEAVES = {"errors", "starting", "units", "text", "metrics", "_core"}
_HALL = _LEAVES | {"model", "tools", "archive"}
_WORKSHOP = {"jobs", "load", "databases", "observe"}
_STUDY = {"analyse", "diagnose", "forecast", "results", "report"}
_INSIDE = _HALL | _WORKSHOP | _STUDY | {"runner"}
DOORS = {"commands", "top", "web"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "_core": set(),
    "metrics": set(),
    "starting": {"errors"},
    "units": {"errors"},
    "text": {"errors", "units"},
    "model": _LEAVES,
    "tools": _LEAVES | {"model"},
    "archive": _LEAVES | {"model"},
    **dict.fromkeys(_WORKSHOP, _HALL),
    "runner": _HALL | _WORKSHOP,
    "hosts": _HALL | _WORKSHOP | {"runner"},
    "analyse": _HALL,
    "diagnose": _HALL | {"analyse"},
    "forecast": _HALL | {"analyse"},
    "results": _HALL | {"analyse", "diagnose", "forecast"},
    "report": _HALL | {"analyse", "diagnose", "forecast", "results"},
    "sessions": _INSIDE | {"hosts"},
    **dict.fromkeys(DOORS, _INSIDE | {"sessions"}),
    "commands": _HALL | {"report", "sessions", "top", "web"},  # the front door opens the others
    "__init__": _INSIDE | {"sessions"},
    "__main__": _INSIDE | DOORS,
}

_IMPORTERS = {"import_module", "__import__"}
_DESCRIPTION = re.compile(r"model\.simulated_device|jobs\.simulated|target\.simulated\b")
_WALL_CLOCK = re.compile(r"\btime\.time(?:_ns)?\b|\bdatetime\.(?:now|utcnow|today)\b")

# The list of each kind of plug-in, and the name that shows that a module is meant to be one.
PLUG_INS = {
    "observe": ("OBSERVERS", "OVERHEAD"),
    "observe/live": ("LIVE_OBSERVERS", "OVERHEAD"),
    "load/loaders": ("LOADERS", "takes"),
    "diagnose/detectors": ("DETECTORS", "detect"),
    "diagnose/experiments/named": ("TRIALS", "judge"),
    "report/charts": ("CHARTS", "draw"),
    "report/renderers": ("RENDERERS", "render"),
    "tools": ("IMPORTERS", "sniff"),
    "databases": ("DATABASES", "connect"),
}

# Written in two parts, so that this file does not break its own rule.
_HOSTS = ["pypi" + ".org", "pythonhosted" + ".org", "crates" + ".io", "npmjs" + ".com", "debian" + ".org"]
_ADDRESS = re.compile(
    "|".join(re.escape(host) for host in _HOSTS)
    + r"|--(?:extra-)?index-url\s+\S*:|(?<![\w.~-])/(?:work|root|tmp|home/\w+)/\w"
    + r"|~/\.mirror"
)


def _sources(root: Path, folder: str, suffix: str) -> Iterator[tuple[str, str]]:
    """Path (relative) and text of every file of a folder, in order."""
    for path in sorted((root / folder).rglob(f"*{suffix}")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")


def _python(root: Path) -> Iterator[tuple[str, str]]:
    for folder in ("src", "tests", "bench", "docs", "scripts"):
        yield from _sources(root, folder, ".py")


def _room(path: str) -> str:
    """src/iocast/model/run.py is in the room `model`, src/iocast/metrics.py is the room `metrics`."""
    return path.removeprefix("src/iocast/").split("/")[0].removesuffix(".py").removesuffix(".pyi")


def _package(path: str) -> list[str]:
    """The dotted package that a relative import in `path` starts from."""
    return path.removeprefix("src/").split("/")[:-1]


class Module(NamedTuple):
    """What the rules ask of a Python file."""

    imports: tuple[tuple[int, str], ...]  # line and dotted module of each one anywhere, imports by name included
    top_imports: tuple[tuple[int, str], ...]
    functions: tuple[tuple[str, int], ...]  # name and lines
    defined: frozenset[str]
    speech: tuple[tuple[int, str], ...]  # line and what only a door may do
    private: tuple[tuple[int, str, str], ...]  # line, module and name of each `module._name`
    conversions: tuple[tuple[int, str], ...]  # line and name of each int(x), float(x), map(int, x)
    documented: bool


@functools.cache
def _module(path: str, text: str) -> Module:
    """A file is parsed once for all rules, and in a copy of the tree only where it differs."""
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    return Module(
        imports=tuple(_imports(path, nodes)),
        top_imports=tuple(_imports(path, top)),
        functions=tuple(_functions(nodes)),
        defined=frozenset(_defined(tree)),
        speech=tuple((getattr(node, "lineno", 0), said) for node in nodes if (said := _says(node))),
        private=tuple(_private_names(nodes)),
        conversions=tuple(_conversions(nodes)),
        documented=bool(ast.get_docstring(tree)),
    )


def _imports(path: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        match node:
            case ast.Import():
                yield from ((node.lineno, alias.name) for alias in node.names)
            case ast.ImportFrom():
                base = _package(path)[: len(_package(path)) - node.level + 1] if node.level else []
                origin = ".".join([*base, *([node.module] if node.module else [])])
                yield from ((node.lineno, f"{origin}.{alias.name}") for alias in node.names)
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in _IMPORTERS:
                named = node.args[0] if node.args else None
                if isinstance(named, ast.Constant) and isinstance(named.value, str):
                    yield node.lineno, named.value


def _functions(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, (node.end_lineno or node.lineno) - node.lineno + 1


def _private_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str, str]]:
    for node in nodes:
        match node:
            case ast.Attribute(value=ast.Name(id=module), attr=name) if name.startswith("_"):
                if not name.startswith("__"):
                    yield node.lineno, module, name


def _conversions(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="int" | "float" as name)):
                yield node.lineno, name
            case ast.Call(func=ast.Name(id="map"), args=[ast.Name(id="int" | "float" as name), *_]):
                yield node.lineno, name


def arrows(root: Path) -> list[str]:
    """Imports against the map, function-level ones included."""
    bad = []
    for path, text in _sources(root, "src/iocast", ".py"):
        room = _room(path)
        if room not in MAY_IMPORT:
            bad.append(f"{path}: `{room}` is not a room of the house (ARCHITECTURE.md, tests/house_rules.py)")
            continue
        for line, module in _module(path, text).imports:
            parts = module.split(".")
            if parts[0] != "iocast" or parts[1:] == ["__version__"]:
                continue
            target = parts[1] if len(parts) > 1 else "__init__"
            if target != room and target not in MAY_IMPORT[room]:
                bad.append(f"{path}:{line}: {room} → {target} is against the map ({module})")
    return bad


def heavy_imports(root: Path) -> list[str]:
    """Rooms other than doors import only light modules at the top: start-up time counts."""
    light = set(sys.stdlib_module_names) | {"msgspec", "markupsafe", "iocast"}
    bad = []
    for path, text in _sources(root, "src/iocast", ".py"):
        if _room(path) in DOORS | {"__main__"}:
            continue
        for line, module in _module(path, text).top_imports:
            if module.split(".")[0] not in light:
                bad.append(f"{path}:{line}: import {module} inside the function that needs it")
    return bad


def sizes(root: Path) -> dict[str, int]:
    """Lines of every file and function that is over its limit, by `path` and `path::function`."""
    measured = [(path, len(text.splitlines()), _module(path, text).functions) for path, text in _python(root)]
    for path, text in _sources(root, "crates", ".rs"):
        measured.append((path, rust_source.line_count(text), tuple(rust_source.functions(text))))
    over = {path: lines for path, lines, _ in measured if lines > FILE_LINES}
    for path, _, functions in measured:
        for name, lines in functions:
            if lines > FUNCTION_LINES:
                over[f"{path}::{name}"] = max(lines, over.get(f"{path}::{name}", 0))
    return over


def too_long(root: Path) -> list[str]:
    """Sizes against the limits and the ratchet: a recorded size may shrink, never grow."""
    file = root / RATCHET
    ratchet: dict[str, int] = json.loads(file.read_text()) if file.exists() else {}
    over = sizes(root)
    bad = []
    for what, lines in over.items():
        limit = FUNCTION_LINES if "::" in what else FILE_LINES
        if lines > ratchet.get(what, limit):
            bad.append(f"{what}: {lines} lines, at most {ratchet.get(what, limit)} are allowed")
    for what, recorded in ratchet.items():
        if over.get(what, 0) < recorded:
            now = over.get(what)
            bad.append(f"{what}: it shrank: {f'write {now}' if now else 'remove its line'} in {RATCHET}")
    return bad


def private_imports(root: Path) -> list[str]:
    """No `_name` of another file is imported, or reached through its module; `_core` is a room of its own."""
    bad = []
    for path, text in _sources(root, "src/iocast", ".py"):
        file = _module(path, text)
        modules = {module.rpartition(".")[2] for _, module in file.imports if module.startswith("iocast.")} - {"self"}
        for line, module in file.imports:
            leaf = module.rpartition(".")[2]
            if module.startswith("iocast.") and leaf.startswith("_") and leaf != "_core" and not leaf.endswith("__"):
                bad.append(f"{path}:{line}: {module} is private to its file")
        for line, module, name in file.private:
            if module in modules:
                bad.append(f"{path}:{line}: {module}.{name} is private to its file")
    return bad


def _file_arrows(root: Path) -> dict[str, set[str]]:
    """Which files each file imports anywhere: inside of functions and for the type checker, too."""
    arrows: dict[str, set[str]] = {}
    for path, text in _sources(root, "src/iocast", ".py"):
        own = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        arrows.setdefault(own, set())
        for _, module in _module(path, text).imports:
            found = module
            while found.startswith("iocast") and not _is_module(root, found):
                found = found.rpartition(".")[0]
            if found.startswith("iocast.") and found != own:
                arrows[own].add(found)
    return arrows


def _is_module(root: Path, dotted: str) -> bool:
    place = root / "src" / dotted.replace(".", "/")
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def circles(root: Path) -> list[str]:
    """No file imports itself through others."""
    arrows, done, bad = _file_arrows(root), set[str](), []

    def visit(name: str, way: list[str]) -> None:
        if name in way:
            bad.append(" → ".join([*way[way.index(name) :], name]))
        elif name not in done:
            for other in sorted(arrows.get(name, ())):
                visit(other, [*way, name])
            done.add(name)

    for name in arrows:
        visit(name, [])
    return bad


def doors_in_tests(root: Path) -> list[str]:
    """Tests use sessions; only the makers open the command line, and only by its one entry."""
    bad = []
    for path, text in _sources(root, "tests", ".py"):
        if path.startswith(("tests/makers/", "tests/commands/", "tests/top/", "tests/web/", "tests/browser/")):
            continue
        for line, module in _module(path, text).imports:
            if module.split(".")[:1] == ["iocast"] and module.split(".")[1:2] and module.split(".")[1] in DOORS:
                bad.append(f"{path}:{line}: {module} is a door")
    return bad


def _says(node: ast.AST) -> str:
    """What a node does that only a door may do: "print", "sys.exit", ... or ""."""
    match node:
        case ast.Call(func=ast.Name(id="print" | "exit" | "quit" as name)):
            return name
        case ast.Attribute(value=ast.Name(id="sys"), attr="exit" | "stdout" | "stderr" as name):
            return f"sys.{name}"
        case ast.Attribute(value=ast.Name(id="os"), attr="_exit"):
            return "os._exit"
        case ast.Raise(exc=ast.Name(id="SystemExit") | ast.Call(func=ast.Name(id="SystemExit"))):
            return "SystemExit"
    return ""


def speech(root: Path) -> list[str]:
    """No print outside doors and renderers, no exit outside doors; nothing of the kind in Rust."""
    bad = []
    for path, text in _sources(root, "src/iocast", ".py"):
        if _room(path) in DOORS | {"__main__"}:
            continue
        file = _module(path, text)
        renderer = path.startswith("src/iocast/report/renderers/") and "render" in file.defined
        for line, said in file.speech:
            if not (renderer and said in {"print", "sys.stdout"}):
                bad.append(f"{path}:{line}: {said} belongs to a door")
    for path, text in _sources(root, "crates", ".rs"):
        if "/src/" in path:
            bad += [f"{path}:{line}: {said} belongs to a door" for line, said in rust_source.speech(text)]
    return bad


# Where files are made and written by path, and why that is right there. All else goes through archive/writing.
WRITERS = {
    "archive/writing/": "the one room for what iocast keeps",
    "load/": "work files: marked, and opened once (decision 33)",
    "databases/postgresql/own_": "a server of our own, in a marked folder of its own",
    "sessions/database/fsync_anchor.py": "the file of pg_test_fsync",
    "observe/target/direct.py": "asks what the target can do",
    "web/page_process.py": "a setting of the kernel",
    "commands/shell/streams.py": "the streams of the process",
}
_MAKING = {"mkdir", "makedirs", "write_text", "write_bytes", "touch", "symlink", "symlink_to", "hardlink_to", "mkstemp"}
_OPENED_TO_WRITE = re.compile(r"O_(WRONLY|RDWR|CREAT|APPEND|TRUNC|TMPFILE)")
_TEMPORARY = re.compile(r"\s*(import|from) tempfile\b")
_OF_OS = {"rename", "replace", "link", "mkfifo", "truncate"}
_MAY_MAKE = re.compile(rf"\bopen\b|\b(os|shutil)\.\w|\b({'|'.join(_MAKING)})\b")  # others need not be parsed


def outputs(root: Path) -> list[str]:
    """One room makes files, folders and names; nothing else opens anything to write to it."""
    bad = []
    for path, text in _sources(root, "src/iocast", ".py"):
        if _MAY_MAKE.search(text) and not path.removeprefix("src/iocast/").startswith(tuple(WRITERS)):
            calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and _makes(node)]
            bad += [f"{path}:{call.lineno}: {_makes(call)} belongs to archive/writing" for call in calls]
        rooms = [number for number, line in enumerate(text.splitlines(), 1) if _TEMPORARY.match(line)]
        bad += [f"{path}:{number}: tempfile removes by path: take temporary_room" for number in rooms]
    return bad


def _makes(call: ast.Call) -> str:
    """How a call makes or writes a file by path; "" where it does not."""
    match call.func:
        case ast.Attribute(value=ast.Name(id="os"), attr="open"):
            return "os.open to write" if _OPENED_TO_WRITE.search(ast.unparse(call)) else ""
        case ast.Attribute(value=ast.Name(id="os" | "shutil" as module), attr=name) if name in _OF_OS | {"copyfile"}:
            return f"{module}.{name}"
        case ast.Attribute(attr=name) if name in _MAKING:
            return name
        case ast.Attribute(attr="open") | ast.Name(id="open"):
            words = (*call.args, *(key.value for key in call.keywords if key.arg == "mode"))
            modes = [word.value for word in words if isinstance(word, ast.Constant)]
            written = any(re.fullmatch(r"[rbt]*[wax+][wax+bt]*", str(mode)) for mode in modes)
            return "open to write" if written else ""
    return ""


def _lines(root: Path, where: str, pattern: re.Pattern[str], says: str) -> list[str]:
    """Lines of Python with a pattern, in the paths that an expression names."""
    files = (each for each in _sources(root, "src/iocast", ".py") if re.match(f"src/iocast/{where}", each[0]))
    lines = ((path, number, line) for path, text in files for number, line in enumerate(text.splitlines(), 1))
    return [f"{path}:{number}: {says}" for path, number, line in lines if pattern.search(line)]


def wall_clock(root: Path) -> list[str]:
    """Times come from the core, where setting the clock moves none; only folders are named by the wall."""
    return _lines(root, "(?!archive/)", _WALL_CLOCK, "somebody may set the clock; use `unix_ns` of the core")


def cells(root: Path) -> list[str]:
    """A shown column is a field of a result, or of a chart's points; charts draw typed marks, which know nothing."""
    drawn = (each for room in ("charts", "plot") for each in _sources(root, f"src/iocast/report/{room}", ".py"))
    return shown_rules.poured(_sources(root, "src/iocast", ".py")) + shown_rules.grammar(drawn)


def black_boxes(root: Path) -> list[str]:
    """What a simulated device is told to do is no evidence: the study judges it by what was measured, as a real one."""
    study = "(analyse|diagnose|forecast|results)/"
    return _lines(root, study, _DESCRIPTION, "the study reads the description of a simulated device")


# What the kernel prints, and numbers of a job file that were refused where they were read, or are of our plans.
_WITHIN_BOUNDS = re.compile(
    "foreign_numbers|kernel/disk_counters|conf_reading|orion/matrix_job|fio/fio_(mix|sections|settings|writing)"
    "|vdbench/vdbench_(keys|trees|values)"
)


def foreign_numbers(root: Path) -> list[str]:
    """Text of other tools becomes numbers in one file, which knows their bounds."""
    bad = []
    for path, text in _sources(root, "src/iocast/tools", ".py"):
        if _WITHIN_BOUNDS.fullmatch(path.removeprefix("src/iocast/tools/").removesuffix(".py")):
            continue
        told = "of foreign text: take number or whole of tools/foreign_numbers.py"
        bad += [f"{path}:{line}: {name}() {told}" for line, name in _module(path, text).conversions]
    return bad


def names(root: Path) -> list[str]:
    """No drawer for odds and ends."""
    files = [path for path, _ in _python(root)] + [path for path, _ in _sources(root, "crates", ".rs")]
    return [
        f"{path}: a module called `{part}` says nothing; name it after what it holds"
        for path in files
        for part in Path(path).with_suffix("").parts
        if part in BANNED_NAMES
    ]


def docstrings(root: Path) -> list[str]:
    """The first line of every module says the one thing it does."""
    python = [path for path, text in _python(root) if text[:3] != '"""' or not _module(path, text).documented]
    rust = [path for path, text in _sources(root, "crates", ".rs") if not text.startswith("//!")]
    return [f"{path}: does not start with a docstring, or a //! line" for path in (*python, *rust)]


def _defined(tree: ast.Module) -> set[str]:
    """Names given at the top of a module, or at the top of its classes."""
    found: set[str] = set()
    for node in [*tree.body, *(n for c in tree.body if isinstance(c, ast.ClassDef) for n in c.body)]:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
                found.add(name)
            case ast.Assign(targets=targets):
                found.update(target.id for target in targets if isinstance(target, ast.Name))
    return found


def _module_file(root: Path, dotted: str) -> str:
    """The dotted module of a file that `dotted` names, or names something in; "" when there is none."""
    while dotted and not (root / "src" / f"{dotted.replace('.', '/')}.py").exists():
        dotted = dotted.rpartition(".")[0]
    return dotted


def listed(root: Path, room: str) -> list[str]:
    """The modules (dotted) that a room's plug-in list names, by import or by string, in working order."""
    package, name = f"iocast.{room.replace('/', '.')}.", PLUG_INS[room][0]
    found: dict[str, None] = {}
    for path, text in _sources(root, f"src/iocast/{room}", ".py"):
        if name not in text:
            continue
        imports = _module(path, text).imports
        origin = {module.split(".")[-1]: module for _, module in imports if module.startswith(package)}
        for node in ast.parse(text).body:
            targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
            if not any(isinstance(target, ast.Name) and target.id == name for target in targets):
                continue
            for part in ast.walk(getattr(node, "value", None) or ast.Pass()):
                named = origin.get(part.id, "") if isinstance(part, ast.Name) else ""
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    named = part.value.split(":")[0]
                if named.startswith(package) and (module := _module_file(root, named)):
                    found[module] = None
    return list(found)


def _tested_modules(root: Path) -> set[str]:
    """Every iocast module that some test imports, itself or a name from it."""
    seen: set[str] = set()
    for path, text in _sources(root, "tests", ".py"):
        for _, module in _module(path, text).imports:
            seen |= {module, module.rpartition(".")[0]}
    return seen


def _mentioned(word: str, text: str) -> bool:
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", text) is not None


def _documented(name: str, docs: str) -> bool:
    """A heading with the name, or the name as code; a word in passing is not enough."""
    return re.search(rf"^#+ .*(?<![\w-]){name}(?![\w-])|`{name}`", docs, re.MULTILINE) is not None


def plug_ins(root: Path) -> list[str]:
    """A plug-in is one file, one list line, one test and one line in the docs."""
    tested = _tested_modules(root)
    docs = "\n".join(text for path, text in _sources(root, "docs", ".md") if not path.startswith("docs/recipes/"))
    bad = []
    for room, (name, mark) in PLUG_INS.items():
        in_list = listed(root, room)
        with_own_list = tuple(f"src/iocast/{other}/" for other in PLUG_INS if other.startswith(f"{room}/"))
        for path, text in _sources(root, f"src/iocast/{room}", ".py"):
            if path.startswith(with_own_list):
                continue
            module = path.removeprefix("src/").removesuffix(".py").replace("/", ".")
            defined = _module(path, text).defined - ({mark} if Path(path).stem == "__init__" else set())
            if mark in defined and name not in defined and module not in in_list:
                bad.append(f"{path}: has {mark} but is not in {room}.{name}")
        for module in in_list:
            path = f"src/{module.replace('.', '/')}.py"
            if module not in tested:
                bad.append(f"{path}: no test imports it")
            if not _documented(Path(path).stem, docs):
                bad.append(f"{path}: no line in docs/ names it (run: make docs)")
    return bad + verbs(root) + rust_source.engines(root) + rust_source.trace_readers(root)


def verbs(root: Path) -> list[str]:
    """A verb is one file, one line of VERBS, one test that runs it and one section in docs/reference/commands.md."""
    door, page = root / "src/iocast/commands/__init__.py", root / "docs/reference/commands.md"
    text = door.read_text(encoding="utf-8") if door.exists() else ""
    in_list = re.findall(r'^    "([\w-]+)": ', text.partition("VERBS = {")[2].partition("\n}")[0], re.MULTILINE)
    told = re.findall(r"^## iocast ([\w-]+)$", page.read_text(encoding="utf-8") if page.exists() else "", re.MULTILINE)
    tests = "\n".join(text for _, text in _sources(root, "tests", ".py"))
    files = {
        path.stem.removeprefix("cmd_").replace("_", "-"): path
        for path in (root / "src/iocast/commands").rglob("cmd_*.py")
    }
    bad = []
    for name in sorted({*files, *in_list}):
        path = f"src/iocast/commands/cmd_{name.replace('-', '_')}.py"
        path = str(files[name].relative_to(root)) if name in files else path
        if name not in in_list:
            bad.append(f"{path}: a verb that is not in commands.VERBS")
        if name not in files:
            bad.append(f"{path}: it is in commands.VERBS and is not there")
        if f'"{name}"' not in tests:
            bad.append(f"{path}: no test runs it")
        if name not in told:
            bad.append(f"{path}: docs/reference/commands.md has no section for it (run: make docs)")
    return bad


def examples(root: Path) -> list[str]:
    """Every example job is run by a test that names it, or that takes all of the folder."""
    texts = [text for path, text in _sources(root, "tests", ".py") if Path(path).name.startswith("test_")]
    if any(re.search(r"[\"'/]examples[\"'/].*glob\(", text) for text in texts):
        return []
    return [
        f"{path}: no test runs it"
        for path, _ in _sources(root, "examples", ".toml")
        if not any(Path(path).name in text for text in texts)
    ]


def tracked(root: Path) -> list[Path]:
    """The files that git knows or would add."""
    command = ["git", "-C", str(root), "ls-files", "-co", "--exclude-standard", "-z"]
    listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [Path(name) for name in listing.split("\0") if name and (root / name).is_file()]


def addresses(root: Path, files: list[Path]) -> list[str]:
    """No registry's address and no path of one machine in a tracked file (Cargo.lock names its one index)."""
    bad = []
    for file in files:
        if file.name in {"Cargo.lock", "LICENSE"}:
            continue
        try:
            text = (root / file).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := _ADDRESS.search(line):
                bad.append(f"{file}:{number}: {found[0]}")
    return bad


def dead_links(root: Path, files: list[Path]) -> list[str]:
    """Links between documents lead somewhere."""
    bad = []
    for file in (file for file in files if file.suffix == ".md"):
        targets = re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", (root / file).read_text(encoding="utf-8"))
        dead = [target for target in targets if not (root / file.parent / target).exists()]
        bad += [f"{file}: dead link to {target}" for target in dead]
    return bad


def unmapped(root: Path) -> list[str]:
    """Every room and crate stands on the map."""
    text = (root / "ARCHITECTURE.md").read_text(encoding="utf-8")
    rooms = [*(root / "src/iocast").iterdir(), *(root / "crates").iterdir()]
    return [
        f"ARCHITECTURE.md: does not name {room.relative_to(root)}"
        for room in sorted(rooms)
        if (room.suffix == ".py" or any(room.rglob("*.py")) or any(room.rglob("*.rs")))
        and not _mentioned(room.stem, text)
    ]
