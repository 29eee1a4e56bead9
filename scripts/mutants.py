"""Changes the mathematics of the study in small ways, one at a time, and lists the changes that no unit test notices.

    python scripts/mutants.py [PATTERN ...]    e.g. '*.steady.*': only those; the results of others are kept

mutmut makes the changes, in a copy of the tree under `target/mutants`. It leaves out every decorated function, and half
of this code is properties; in the copy `@property def f` therefore reads `def f ... f = property(f)`. The test of
coverage simulates for many seconds and needs `bench`: it is left out.
"""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPY = ROOT / "target" / "mutants" / "tree"
MUTATED = (
    "src/iocast/analyse",
    "src/iocast/diagnose/grades",
    "src/iocast/diagnose/trust",
    "src/iocast/forecast",
    "src/iocast/model/histogram.py",
)
TESTS = ("tests/analyse", "tests/diagnose/grades", "tests/diagnose/trust", "tests/forecast", "tests/model")
CONFIGURATION = """
[tool.mutmut]
source_paths = ["src"]
only_mutate = [{mutated}]
pytest_add_cli_args_test_selection = [{tests}]
pytest_add_cli_args = ["-p", "no:cacheprovider", "--ignore=tests/analyse/test_interval_coverage.py"]
timeout_constant = 5.0
use_git_change_detection = false
"""
# Added to the copy's tests/conftest.py: the same examples each time, and no search for the smallest that fails.
SETTINGS = """
from hypothesis import Phase, settings

settings.register_profile("mutants", derandomize=True, deadline=None, phases=(Phase.explicit, Phase.generate))
settings.load_profile("mutants")
"""


def undecorated(source: str) -> str:
    """The same module with every decorator of a function written as a call below it."""
    lines, below = source.split("\n"), list[tuple[int, str]]()
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef) or not node.decorator_list or node.col_offset > 4:
            continue
        names = [ast.unparse(each) for each in node.decorator_list]
        if names in (["classmethod"], ["staticmethod"]):
            continue  # mutmut knows these
        for each in node.decorator_list:
            for at in range(each.lineno - 1, each.end_lineno or each.lineno):
                lines[at] = ""
        call = "".join(f"{name}(" for name in names) + node.name + ")" * len(names)
        below.append((node.end_lineno or node.lineno, f"{' ' * node.col_offset}{node.name} = {call}"))
    for at, line in sorted(below, reverse=True):
        lines.insert(at, line)
    return "\n".join(lines)


def mutated(path: str) -> bool:
    """Whether a file of the tree is one whose changes are tried."""
    return path.endswith(".py") and any(path == each or path.startswith(f"{each}/") for each in MUTATED)


def copy() -> None:
    """Brings the copy up to date; what did not change keeps its date, and mutmut its results."""
    wanted = {
        path.relative_to(ROOT): path
        for folder in ("src", "tests")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    for old in [path for folder in ("src", "tests") for path in (COPY / folder).rglob("*.py")]:
        if old.relative_to(COPY) not in wanted:
            old.unlink()
    for name, path in wanted.items():
        content = path.read_bytes()
        if mutated(str(name)):
            content = undecorated(content.decode()).encode()
        elif name == Path("tests/conftest.py"):
            content += SETTINGS.encode()
        target = COPY / name
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            # mutmut never refreshes what it only copied.
            (COPY / "mutants" / name).unlink(missing_ok=True)
    patterns = [each if each.endswith(".py") else f"{each}/*.py" for each in MUTATED]
    quoted = [", ".join(f'"{each}"' for each in names) for names in (patterns, TESTS)]
    settings = (ROOT / "pyproject.toml").read_text() + CONFIGURATION.format(mutated=quoted[0], tests=quoted[1])
    (COPY / "pyproject.toml").write_text(settings)


def run(patterns: list[str]) -> None:
    """Tries every change that was not tried before, or those that match, one process at a time."""
    # By its name and not as a module: it forks, and must be imported once.
    program = str(Path(sys.executable).parent / "mutmut")
    subprocess.run([program, "run", "--max-children", "1", *patterns], cwd=COPY, check=True)


def summary() -> None:
    """Every change that was noticed by no test, as a difference; then for each module what became of its changes."""
    from mutmut.mutation.data import SourceFileMutationData
    from mutmut.mutation.diff_apply import get_diff_for_mutant
    from mutmut.stats import status_by_exit_code

    os.chdir(COPY)
    table = []
    for path in sorted(path.relative_to(COPY) for path in (COPY / "src").rglob("*.py")):
        if not mutated(str(path)):
            continue
        data = SourceFileMutationData(path=path)
        data.load()
        states = {name: status_by_exit_code[code] for name, code in data.exit_code_by_key.items()}
        for name, state in states.items():
            if state in ("survived", "no tests"):
                print(f"{name}: {state}\n{get_diff_for_mutant(name, path=path)}")
        if states:
            counts = Counter(states.values())
            row = ", ".join(f"{counts[state]} {state}" for state in sorted(counts))
            table.append(f"{path!s:45} {len(states):5}: {row}")
    print("\n".join(table))


if __name__ == "__main__":
    if not shutil.which(str(Path(sys.executable).parent / "mutmut")):
        sys.exit("error: mutmut is not installed beside this Python\nhint: run make mutants, which installs it")
    COPY.mkdir(parents=True, exist_ok=True)
    copy()
    run(sys.argv[1:])
    summary()
