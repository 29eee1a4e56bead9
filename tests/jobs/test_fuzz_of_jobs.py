"""Job files of ours, fio and vdbench, with bytes, lines and numbers changed at random: a Job, or a SpecError."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers.mutations import Mutation, examples, fuzzing, mutated, mutations

from iocast.errors import SpecError
from iocast.jobs import load_job, phases
from iocast.jobs.toml.job_writing import toml_text
from iocast.tools.fio.fio_writing import fio_text

ROOT = Path(__file__).parents[2]
FILES = {
    "fio": sorted((Path(__file__).parents[1] / "tools/fio/files").glob("*.fio")),
    "vdb": sorted((Path(__file__).parents[1] / "tools/vdbench/files").glob("*.vdb")),
    "toml": [*sorted((ROOT / "examples").glob("*.toml")), *sorted((ROOT / "src/iocast/jobs/presets").glob("*.toml"))],
}


@examples(150)
@pytest.mark.parametrize("language", FILES)
def test_only_a_refusal_comes_out(language: str, examples: int, tmp_path: Path) -> None:
    contents = [path.read_bytes() for path in FILES[language]]
    path = tmp_path / f"job.{language}"

    @fuzzing(examples)
    @given(content=st.sampled_from(contents), changes=mutations())
    def attempt(content: bytes, changes: Sequence[Mutation]) -> None:
        path.write_bytes(mutated(content, changes))
        try:
            job = load_job(str(path))
        except SpecError:
            return
        assert phases(job)
        assert toml_text(job)
        with contextlib.suppress(SpecError):
            fio_text(job)

    attempt()
