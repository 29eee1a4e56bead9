"""Presets, examples, guide and schema are what they say: the 22 rows of fio.sh, the minutes of the cards."""

from __future__ import annotations

import itertools
import json
import re
import tomllib
import typing
from pathlib import Path

import pytest

from iocast.errors import TargetError
from iocast.jobs import load_job, parse_target, plan, presets, simulated_presets
from iocast.jobs.simulated.device_options import OPTIONS
from iocast.jobs.simulated.law_text import LAWS
from iocast.jobs.toml import job_tables
from iocast.jobs.toml.field_checks import fields_of, takes
from iocast.jobs.toml.job_schema import job_schema, schema_text
from iocast.model.workload import Poisson, Sequential, Uniform

ROOT = Path(__file__).parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
GUIDE = (ROOT / "docs/guide/job-files.md").read_text(encoding="utf-8")
DEVICES = (ROOT / "docs/reference/simulated-devices.md").read_text(encoding="utf-8")
GIB = 1 << 30

# test, KiB, users: what fio.sh runs by default, in the order of its loops.
FIO_SH = [
    ("randread", 8, 1),
    ("randread", 8, 8),
    ("randread", 8, 16),
    ("randread", 8, 32),
    ("randread", 8, 64),
    ("write", 1, 1),
    ("write", 1, 4),
    ("write", 1, 16),
    ("write", 8, 1),
    ("write", 8, 4),
    ("write", 8, 16),
    ("write", 128, 1),
    ("write", 128, 4),
    ("write", 128, 16),
    ("read", 8, 1),
    ("read", 32, 1),
    ("read", 128, 1),
    ("read", 1024, 1),
    ("read", 1024, 8),
    ("read", 1024, 16),
    ("read", 1024, 32),
    ("read", 1024, 64),
]


def test_hailey_is_the_matrix_of_fio_sh() -> None:
    job = load_job("hailey")
    assert (job.engine, job.file_count) == ("sync", 1)
    assert job.file_size is not None
    assert job.file_size.size_bytes == 64 * GIB
    rows = [(p.test, p.workload.mix[0].size_bytes // 1024, p.workload.users) for p in job.phases]
    assert rows == FIO_SH
    for phase in job.phases:
        load = phase.workload
        assert (phase.length.seconds, phase.role, load.depth, len(load.mix)) == (60.0, "measure", 1, 1)
        assert load.locality == (Uniform() if phase.test == "randread" else Sequential("own_offset"))
        if phase.test == "write":
            assert (load.mix[0].op, load.direct, load.sync) == ("write", False, "sync")
        else:
            assert (load.mix[0].op, load.direct, load.sync) == ("read", True, "none")


def test_the_presets_and_their_descriptions() -> None:
    assert list(presets()) == [
        "card-quick",
        "card-standard",
        "card-full",
        "hailey",
        "database",
        "metadata",
        "survey",
        "virtualisation",
    ]
    for name, description in presets().items():
        job = load_job(name)
        assert (job.name.replace(" ", "-"), job.description, job.source) == (
            name,
            description,
            f"preset {name}",
        )
        assert "\n" not in description
        rows = re.search(r"(\d+) rows", description)
        assert rows is not None
        assert int(rows[1]) == sum(phase.role == "measure" for phase in job.phases)


@pytest.mark.parametrize(
    ("name", "minutes", "row_seconds", "file_bytes"),
    [
        ("card-quick", (0.5, 1), 3.0, 2 * GIB),
        ("card-standard", (12, 15), 30.0, 16 * GIB),
        ("card-full", (100, 120), 300.0, None),
    ],
)
def test_a_card_lasts_as_long_as_it_says(
    name: str, minutes: tuple[float, float], row_seconds: float, file_bytes: int | None
) -> None:
    job = load_job(name)
    assert {phase.length.seconds for phase in job.phases} == {row_seconds}
    assert job.file_size is not None
    assert job.file_size.size_bytes == file_bytes
    assert file_bytes or job.file_size.memory_multiple == 2.0
    fill_seconds = (file_bytes or 128 * GIB) / 500e6
    assert minutes[0] <= (row_seconds * len(job.phases) + fill_seconds) / 60 <= minutes[1]


def test_the_rows_of_the_quick_card() -> None:
    assert [phase.name for phase in load_job("card-quick").phases] == [
        "randread 8k 1x1",
        "randread 8k 8x1",
        "randread 8k 32x1",
        "randread 8k 4x16",
        "read 1M 1x1",
        "read 1M 8x1",
        "scan 128k 1x1",
        "commit 8k 1x1",
        "commit 8k 4x1",
        "randwrite 8k 8x1",
        "mixed 8k 8x1",
        "write 1M 1x1",
    ]


@pytest.mark.parametrize("name", ["card-quick", "card-standard", "card-full"])
def test_a_card_asks_what_databases_ask(name: str) -> None:
    loads = {phase.test: phase.workload for phase in load_job(name).phases}
    paced = set() if name == "card-quick" else {"open"}  # three seconds of a rate that suits a disk say nothing
    assert set(loads) == {"randread", "read", "scan", "commit", "randwrite", "mixed", "write", *paced}
    assert loads["commit"].sync == "dsync"
    assert all(isinstance(loads[test].arrival, Poisson) for test in paced)
    assert [(item.op, item.weight) for item in loads["mixed"].mix] == [("read", 70.0), ("write", 30.0)]
    assert all(load.direct for load in loads.values())


@pytest.mark.parametrize("job", [*presets(), *map(str, EXAMPLES)], ids=lambda job: Path(job).stem)
@pytest.mark.parametrize("device", simulated_presets())
def test_every_preset_and_example_fits_every_simulated_device(job: str, device: str) -> None:
    loaded = load_job(job)
    if any(phase.role == "verify" for phase in loaded.phases):
        with pytest.raises(TargetError, match="stores no data"):
            plan(loaded, parse_target(device), seed=1, memory_bytes=16 * GIB)
        return
    made, omitted = plan(loaded, parse_target(device), seed=1, memory_bytes=16 * GIB)
    assert (made.phases, made.engine, omitted) == (loaded.phases, "sim", [])


def test_there_are_examples_and_they_know_their_schema() -> None:
    assert len(EXAMPLES) >= 5
    for example in EXAMPLES:
        text = example.read_text(encoding="utf-8")
        first, _, rest = text.partition("\n")
        assert (example.parent / first.removeprefix("#:schema ")).resolve() == ROOT / "docs/reference/job.schema.json"
        assert tomllib.loads(rest)["description"]


def test_the_schema_in_the_docs_is_the_schema_of_the_code() -> None:
    kept = (ROOT / "docs/reference/job.schema.json").read_text(encoding="utf-8")
    assert kept == schema_text(), "write iocast.jobs.toml.job_schema.schema_text() to docs/reference/job.schema.json"


def test_the_schema_refuses_unknown_fields_and_explains_known_ones() -> None:
    definitions = job_schema()["definitions"]
    assert set(definitions) >= {"JobFile", "PhaseTable", "DefaultsTable", "FilesTable", "RegionTable"}
    for shape in definitions.values():
        assert shape["additionalProperties"] is False
        assert all(field["description"] for field in shape["properties"].values())
    assert definitions["JobFile"]["required"] == ["name"]
    references = re.findall(r'"#/definitions/(\w+)"', json.dumps(job_schema()))
    assert set(references) <= set(definitions)


@pytest.mark.parametrize(
    "shape",
    [
        job_tables.JobFile,
        job_tables.FilesTable,
        job_tables.TreeTable,
        job_tables.PhaseTable,
        job_tables.DefaultsTable,
        job_tables.RegionTable,
        job_tables.MixTable,
        job_tables.DatabaseTable,
    ],
)
def test_the_guide_has_every_field(shape: typing.Any) -> None:
    for name, field in fields_of(shape).items():
        row = f"| `{name}` | {takes(field)} | {field.type.__metadata__[0].description} |"
        assert row in GUIDE


def test_guide_and_reference_have_every_preset_device_option_and_law() -> None:
    for name, description in presets().items():
        assert f"| `{name}` | {description} |" in GUIDE
    for name, description in simulated_presets().items():
        assert f"| `{name}` | {description} |" in DEVICES
    for name, option in OPTIONS.items():
        assert f"| `{name}={option.form.replace('|', '` or `')}` | {option.says} |" in DEVICES
    for name, (form, *_) in LAWS.items():
        assert f"| `{name}:{form}` |" in DEVICES


def test_the_jobs_in_the_guide_are_valid(tmp_path: Path) -> None:
    blocks = [block for block in re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL) if "[[" in block]
    assert blocks
    for block in blocks:
        path = tmp_path / "job.toml"
        path.write_text(block, encoding="utf-8")
        job = load_job(str(path))
        assert job.phases or job.database


def test_the_survey_lasts_a_minute_and_its_rows_lie_apart_or_alike() -> None:
    job = load_job("survey")
    assert sum(phase.length.seconds or 0 for phase in job.phases) <= 95
    assert job.interval_ns == 250_000_000
    regions = {
        (p.region_start_bytes, p.region_size_bytes)
        for p in job.phases
        if p.region_size_bytes not in (None, GIB) and p.test != "backup"  # which is to push out what others left
    }
    spans = sorted((start, start + size) for start, size in regions if size)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert spans[-1][1] <= GIB


@pytest.mark.parametrize("name", ["job.toml", "job.fio"])
def test_a_byte_order_mark_is_read_over(tmp_path: Path, name: str) -> None:
    text = {
        "job.toml": 'name = "b"\n\n[[phase]]\ntest = "a"\nsize = "8k"\npattern = "random"\ntime = "1s"\n',
        "job.fio": "[a]\nrw=randread\nbs=8k\nsize=16m\nruntime=1\ntime_based\n",
    }[name]
    marked, plain = tmp_path / name, tmp_path / f"plain-{name}"
    marked.write_text("\ufeff" + text, encoding="utf-8")
    plain.write_text(text, encoding="utf-8")
    assert load_job(str(marked)).phases == load_job(str(plain)).phases
