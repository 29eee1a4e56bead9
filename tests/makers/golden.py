"""Sentences as golden files: what a test is told, under its name, in one file for each file of tests.

IOCAST_UPDATE_GOLDEN=1 writes them anew; what changed is then read in the diff.
"""

from __future__ import annotations

import os
from pathlib import Path

HERE = Path(__file__).parents[1]
FOLDER = HERE / "golden/sentences"
UPDATE = "IOCAST_UPDATE_GOLDEN" in os.environ
_HEAD = "# "


class Golden:
    """The sentences of one test, in the order in which it is told them."""

    def __init__(self, test_file: Path, test: str) -> None:
        self.file = FOLDER / test_file.relative_to(HERE).with_suffix(".txt")
        self.test, self.said = test, list[str]()

    def __call__(self, sentence: str) -> None:
        """The next sentence is as it was."""
        assert "\n" not in sentence
        self.said.append(sentence)
        if not UPDATE:
            known = _sections(self.file).get(self.test, [])
            assert sentence == (known[len(self.said) - 1 :] or [""])[0], f"IOCAST_UPDATE_GOLDEN=1 writes {self.file}"

    def close(self) -> None:
        """No sentence is left that the test is not told any more."""
        sections = _sections(self.file)
        if UPDATE and self.said:
            sections[self.test] = self.said
            self.file.parent.mkdir(parents=True, exist_ok=True)
            parts = ("\n".join([_HEAD + name, *sections[name]]) for name in sorted(sections))
            self.file.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
        assert self.said == _sections(self.file).get(self.test, [])


def _sections(file: Path) -> dict[str, list[str]]:
    """The sentences of each test."""
    found: dict[str, list[str]] = {}
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
        if line.startswith(_HEAD):
            sentences = found.setdefault(line.removeprefix(_HEAD), [])
        elif line:
            sentences.append(line)
    return found
