"""The JSON documents of reports: each is the head that all have, and the fields of its result.

Every key is a field's name or a code, and has its unit at its end; numbers are numbers, and null is unknown, or not
of this row. docs/reference/report.schema.json is made from here, and `iocast schema` prints it. A field may be added
within a version; one that goes, or changes its meaning, makes a new version.
"""

from __future__ import annotations

from functools import reduce
from operator import or_
from typing import Any, Literal, get_type_hints

import msgspec
from msgspec import NODEFAULT, Struct

from iocast.model.codes import BadgeCode, ReportCode, SectionCode
from iocast.model.grading import Letter
from iocast.model.results.calibration import CalibrationResult
from iocast.model.results.card import Card, Verified
from iocast.model.results.comparison import Comparison, Repeated
from iocast.model.results.copies import Copies
from iocast.model.results.experiments import ExperimentResult
from iocast.model.results.fleet import Fleet
from iocast.model.results.forecast import ForecastResult
from iocast.model.results.laws.model import Model
from iocast.model.results.listing import Listing
from iocast.model.results.profiles import Likeness, ProfileDifferences, TraceProfile
from iocast.model.results.shown import Number, Value
from iocast.model.results.size import Size
from iocast.model.results.studies import Study
from iocast.model.results.tapes import Tape
from iocast.model.results.trend import Trend

VERSION = 2


class ChartDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """What a chart tells, for those who draw it themselves. The columns of its tables are those of the chart's kind."""

    kind: str  # the name of the chart's file
    title: str
    summary: str
    tables: dict[str, list[dict[str, Value]]]


class SubjectDocument(Struct, kw_only=True, forbid_unknown_fields=True):
    """A run that a report speaks of."""

    job: str
    target: str
    host: str | None = None
    started: str | None = None  # ISO 8601, in UTC
    started_unix_ns: int | None = None
    seed: int | None = None
    iocast_version: str | None = None
    run_id: str | None = None
    folder: str | None = None
    side: str | None = None
    price: Number | None = None  # of the target, as it was given; null: not given
    price_per_gb: Number | None = None
    price_per_iops: Number | None = None  # of its fastest row of random direct I/O


class _Document(Struct, kw_only=True, forbid_unknown_fields=True, tag_field="kind"):
    """What all documents have. `text` is what sections say in prose, by their codes."""

    schema_version: Literal[2]
    title: str
    verdict: str
    notes: list[str] = []
    next_steps: list[str] = []
    text: dict[SectionCode, list[str]] = {}
    charts: dict[str, ChartDocument] = {}


class _OfARun(_Document, kw_only=True):
    """What documents have that speak of one run."""

    job: str
    target: str
    host: str | None = None
    started: str | None = None  # ISO 8601, in UTC
    started_unix_ns: int | None = None
    seed: int | None = None
    iocast_version: str | None = None
    run_id: str | None = None
    folder: str | None = None
    price: Number | None = None  # of the target, as it was given; null: not given
    price_per_gb: Number | None = None
    price_per_iops: Number | None = None  # of its fastest row of random direct I/O


class _Lettered(_OfARun, kw_only=True):
    """What documents of one run have that bear letters at their head."""

    letters: dict[BadgeCode, Letter | None] = {}


class _OfTargets(_Lettered, kw_only=True):
    """What documents have that speak of a run, and of those of other targets with it."""

    subjects: list[SubjectDocument]  # one for each target


class _OfSides(_Document, kw_only=True):
    """What documents have that speak of several runs."""

    subjects: list[SubjectDocument]


# The results that a kind of document is made of: one, or the only one that it has of these.
_RESULTS: dict[ReportCode, tuple[type[_Document], tuple[type[Struct], ...]]] = {
    "card": (_Lettered, (Card,)),
    "calibration": (_Lettered, (CalibrationResult,)),
    "experiment": (_OfTargets, (ExperimentResult,)),
    "verification": (_OfARun, (Verified,)),
    "listing": (_Document, (Listing,)),
    "comparison": (_OfSides, (Comparison,)),
    "repeats": (_OfSides, (Repeated,)),
    "trend": (_Document, (Trend,)),
    "fleet": (_Document, (Fleet,)),
    "model": (_Document, (Model,)),
    "profile": (_Document, (TraceProfile, ProfileDifferences, Likeness)),
    "tape": (_Document, (Tape,)),
    "copy": (_Document, (Copies,)),
    "study": (_Document, (Study,)),
    "size": (_Document, (Size,)),
    "forecast": (_OfARun, (ForecastResult,)),
}


def _document(kind: ReportCode, base: type[_Document], results: tuple[type[Struct], ...]) -> type[Struct]:
    """The fields of the results behind those of the head. Of several results each field may be missing."""
    fields = []
    for result in results:
        hints = get_type_hints(result, include_extras=True)
        for field in msgspec.structs.fields(result):
            default = () if field.default is NODEFAULT and len(results) > 1 else field.default
            if field.default_factory is not NODEFAULT:
                default = msgspec.field(default_factory=field.default_factory)
            fields.append((field.name, hints[field.name], *(() if default is NODEFAULT else (default,))))
    described = {"__doc__": " ".join(str(result.__doc__) for result in results)}
    name = f"{kind.capitalize()}Document"
    return msgspec.defstruct(name, fields, bases=(base,), namespace=described, tag=kind, kw_only=True)


DOCUMENTS: dict[ReportCode, type[Struct]] = {kind: _document(kind, *results) for kind, results in _RESULTS.items()}
Document: Any = reduce(or_, DOCUMENTS.values())


def report_schema() -> dict[str, Any]:
    """JSON Schema of all documents; docs/reference/report.schema.json is its copy."""
    return schema_of((Document,), "Reports of iocast as JSON")


def schema_of(types: tuple[Any, ...], title: str) -> dict[str, Any]:
    """JSON Schema of what is of one of these types."""
    shapes, definitions = msgspec.json.schema_components(types, ref_template="#/definitions/{name}")
    shape = shapes[0] if len(shapes) == 1 else {"anyOf": list(shapes)}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": title,
        **shape,
        "definitions": {name: definitions[name] for name in sorted(definitions)},
    }


def schema_text() -> str:
    """The schema as it is kept in docs/reference/report.schema.json."""
    return msgspec.json.format(msgspec.json.encode(report_schema()), indent=2).decode() + "\n"
