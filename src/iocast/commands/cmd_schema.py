"""iocast schema VERB: the JSON Schema of what a verb prints with --json."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import rich_click as click

from iocast.commands.shell.mistakes import near
from iocast.commands.shell.options import json_option
from iocast.commands.shell.showing import print_json
from iocast.errors import SpecError

_ANY_REPORT = (
    "card",
    "calibration",
    "experiment",
    "repeats",
    "comparison",
    "listing",
    "profile",
    "tape",
    "copy",
    "study",
)
_NAMES = "dict"  # names with what is said of each: of presets, experiments and studies
_PLAN = "iocast.model.plan:Plan"

# The kinds of reports that verbs print, and the types of their other answers (MODULE:NAME).
ANSWERS: dict[str, tuple[str, ...]] = {
    "card": ("card",),
    "run": ("card", "repeats"),
    "diagnose": ("card",),
    "experiment": (
        "experiment",
        "copy",
        "iocast.model.results.answers:Plans",
        "iocast.model.copy_trials:CopyPlan",
        _NAMES,
    ),
    "plan": (_PLAN, _NAMES),
    "spec": ("iocast.model.results.answers:WrittenJob",),
    "report": _ANY_REPORT,
    "runs": ("listing",),
    "show": _ANY_REPORT,
    "note": ("iocast.model.summary:Notes",),
    "fleet": ("fleet",),
    "trend": ("trend",),
    "serve": ("iocast.model.results.answers:Serving",),
    "compare": ("comparison", "profile"),
    "repeat": ("repeats",),
    "ab": ("comparison",),
    "gate": ("comparison",),
    "study": ("study", "iocast.model.study_plan:StudyPlan", _NAMES),
    "calibrate": ("calibration", "repeats"),
    "matrix": ("card", "iocast.model.results.answers:PlannedMatrix"),
    "forecast": ("forecast",),
    "size": ("size",),
    "model": ("model",),
    "profile": ("profile",),
    "capture": ("iocast.tools.traces:TraceReport", "iocast.sessions.events:CountersLogged"),
    "replay": ("card",),
    "load-db": (
        "card",
        "iocast.load.database.load_server:Built",
        "iocast.sessions.events:DatabaseNoted",
        "iocast.load.database.load_server:Dropped",
    ),
    "import": ("card",),
    "top": ("iocast.model.results.live:LiveInterval",),
    "watch": ("iocast.model.results.live:Line", "iocast.model.results.live:TracedInterval"),
    "verify": ("verification",),
    "hosts": ("iocast.model.results.answers:HostsChecked",),
    "clean": ("iocast.model.results.answers:Cleaned",),
    "schema": ("iocast.model.results.answers:Schema",),
    "config": ("iocast.model.results.answers:Defaults",),
    "completion": ("iocast.model.results.answers:CompletionScript",),
}


@click.command()
@click.argument("verb", required=False)
@json_option
def schema(verb: str | None, as_json: bool) -> int:
    """Print the JSON Schema of what VERB prints with --json; without VERB, of all reports.

    A live verb (top, watch) prints one such document a line.
    """
    from iocast.report.renderers.documents import report_schema, schema_of

    if verb is None:
        print_json(report_schema())
        return 0
    if verb not in ANSWERS:
        raise SpecError(
            f'iocast has no verb "{verb}" with --json{near(verb, ANSWERS)}', "iocast --help lists the verbs"
        )
    print_json(schema_of(answer_types(verb), f"iocast {verb} --json"))
    return 0


def answer_types(verb: str) -> tuple[Any, ...]:
    """The types of which a verb prints one with --json."""
    from iocast.report.renderers.documents import DOCUMENTS

    kinds: dict[str, Any] = dict(DOCUMENTS.items())

    def known(name: str) -> Any:
        module, _, attribute = name.partition(":")
        if name == _NAMES:
            return dict[str, str]
        return getattr(import_module(module), attribute) if attribute else kinds[name]

    return tuple(map(known, ANSWERS[verb]))
