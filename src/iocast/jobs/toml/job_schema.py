"""The JSON Schema of job files, for editors that check and complete while one types."""

from __future__ import annotations

from typing import Any

import msgspec

from iocast.jobs.toml.job_tables import JobFile


def job_schema() -> dict[str, Any]:
    """JSON Schema of a job file, with descriptions; docs/reference/job.schema.json is its copy."""
    (shape,), definitions = msgspec.json.schema_components([JobFile], ref_template="#/definitions/{name}")
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        **shape,
        "definitions": {name: definitions[name] for name in sorted(definitions)},
    }


def schema_text() -> str:
    """The schema as it is kept in docs/reference/job.schema.json."""
    return msgspec.json.format(msgspec.json.encode(job_schema()), indent=2).decode() + "\n"
