"""The house rules of opinions find what they forbid, and nothing else."""

from __future__ import annotations

from pathlib import Path

import opinion_rules
import pytest

DETECTOR = "src/iocast/diagnose/detectors/limits/slow.py"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("    return () if facts.imported else facts.rows", "2: .imported: take MEASURED_HERE"),
        ("    return row.record.phase.together", "2: .together: take ALONE"),
        ("    return waited_for_a_processor(row)", "2: waited_for_a_processor(): take NOT_SHORT_OF_CPU"),
    ],
)
def test_a_spelled_precondition_is_found(tmp_path: Path, line: str, says: str) -> None:
    (complaint,) = opinion_rules.preconditions(tree(tmp_path, {DETECTOR: f"def _of(row):\n{line}\n"}))
    assert complaint.startswith(f"{DETECTOR}:{says} of diagnose/preconditions.py")


def test_a_detector_declares_what_its_rows_must_be(tmp_path: Path) -> None:
    detect = "def detect(facts):\n    yield from ()\n"
    (complaint,) = opinion_rules.preconditions(tree(tmp_path, {DETECTOR: detect}))
    assert "declares ONLY" in complaint
    assert opinion_rules.preconditions(tree(tmp_path, {DETECTOR: f"ONLY: Only = ()\n{detect}"})) == []


CODES = {"src/iocast/model/codes.py": 'FindingCode = Literal["stalls", "throttle"]\n'}


def test_a_code_stands_in_its_detector_and_in_relations(tmp_path: Path) -> None:
    own = {DETECTOR: 'CODE: FindingCode = "stalls"\n', "src/iocast/diagnose/relations.py": 'ALL = ("stalls",)\n'}
    assert opinion_rules.finding_codes(tree(tmp_path, {**CODES, **own})) == []
    other = {DETECTOR: 'CODE: FindingCode = "stalls"\nRIVALS = ("throttle",)\n'}
    (complaint,) = opinion_rules.finding_codes(tree(tmp_path, other))
    assert complaint == f"{DETECTOR}:2: 'throttle': ask diagnose/relations.py"


def test_a_figure_may_be_called_as_a_code_is(tmp_path: Path) -> None:
    figures = 'found.evidence["stalls"]\nfound.evidence.get("stalls", 0.0)\n'
    assert opinion_rules.finding_codes(tree(tmp_path, {**CODES, "src/iocast/report/x.py": figures})) == []


def test_others_may_ask_a_row(tmp_path: Path) -> None:
    assert opinion_rules.preconditions(tree(tmp_path, {"src/iocast/diagnose/x.py": "facts.imported\n"})) == []
