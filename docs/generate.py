"""Writes docs/reference from the code: the job schema, the commands, one page for each list of plug-ins.

docs/installed, too: manual pages and completions.
"""

from __future__ import annotations

import importlib
import inspect
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

sys.path.insert(0, str(Path(__file__).parent))
import manual
import proof

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- written by `make docs` from the code; do not edit -->\n\n"

# Room, list, title, what a reader should know first.
PLUG_INS = (
    (
        "observe",
        "OBSERVERS",
        "Observers",
        "They watch the machine while a load runs; one that cannot see says why.",
    ),
    (
        "observe.live",
        "LIVE_OBSERVERS",
        "Live observers",
        "They watch the machine as it works, for live screens and tapes, and are told whom to follow. Cards have none.",
    ),
    (
        "databases",
        "DATABASES",
        "Databases",
        "They watch a server over connections of their own that only read; [guide](../guide/databases.md).",
    ),
    (
        "load.loaders",
        "LOADERS",
        "Loaders",
        "Each makes the load of one kind of target. The first that takes the target is used.",
    ),
    ("diagnose.detectors", "DETECTORS", "Detectors", "Each looks for one kind of abnormality in a finished run."),
    (
        "tools.importers",
        "IMPORTERS",
        "Importers",
        "Each reads one format of another tool. The first that knows how a file begins takes it.",
    ),
    (
        "diagnose.experiments.named",
        "TRIALS",
        "Experiments",
        "Each asks one question about a path: `iocast experiment NAME PATH`. Confirmed means: yes.",
    ),
    (
        "report.charts",
        "CHARTS",
        "Charts",
        "Each tells one thing, and says it in a sentence as well. They are drawn on pages and in pictures.",
    ),
    ("report.renderers", "RENDERERS", "Renderers", "Each turns the same report into one output."),
)
JOB_FILES = """\
A job file is TOML; a phase inherits from `[defaults]` what it does not say. Sizes, times and rates are texts
with a unit: `"8k"`, `"30s"`, `"500/s"`. Editors that know JSON schemas take `job.schema.json` from here."""
# The fixed headings of a plug-in's docstring.
HEADING = re.compile(
    r"^(What it is|Why it matters|How it shows|How to confirm|What to change|Needs|Overhead"
    r"|What is read|What it cannot see|What is refused): "
)


def page(title: str, text: str) -> str:
    """A page of the reference."""
    return f"# {title}\n\n{NOTE}{text.strip()}\n"


def paragraphs(docstring: str) -> str:
    """A manual page: its first line in front, its fixed headings ("What it is: ...") as bold paragraphs."""
    lines = []
    for line in docstring.strip().splitlines():
        heading = HEADING.match(line)
        if heading:
            said = line[heading.end() :]
            lines += ["", f"**{heading[1]}.** {said[:1].upper()}{said[1:]}"]
        else:
            lines.append(line)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines))


def plug_in_pages() -> Iterator[tuple[str, str]]:
    """One page a list, one section a module, in the list's working order."""
    for room, name, title, says in PLUG_INS:
        listed = getattr(importlib.import_module(f"iocast.{room}"), name)
        modules = listed.values() if isinstance(listed, dict) else listed
        sections = [says]
        for each in modules:
            module = each if hasattr(each, "__path__") or hasattr(each, "__file__") else None
            module = module or importlib.import_module(each.__module__)
            stem = module.__name__.rpartition(".")[2]
            price = [f"- {key.lower()}: {value}" for key in ("NEEDS", "OVERHEAD") if (value := _fact(module, key))]
            if only := getattr(module, "ONLY", ()):
                price.append(f"- only rows {', '.join(each.says for each in only)}")
            sections.append("\n".join([f"## {stem}\n", paragraphs(module.__doc__ or ""), "", *price]).strip())
        yield f"{title.lower().replace(' ', '-')}.md", page(title, "\n\n".join(sections))


def _fact(module: object, key: str) -> str:
    value = getattr(module, key, "")
    return value if isinstance(value, str) else ", ".join(f"`{part}`" for part in value)


def engines_page() -> tuple[str, str]:
    """The engines of the core, from the heads of their files."""
    sections = ["They make the I/O. `iocast` chooses one, and the run says which one really ran and why."]
    core = ROOT / "crates/iocast-core/src"
    table = re.findall(r'^    "(\w+)",', (core / "engine/table.rs").read_text(encoding="utf-8"), re.MULTILINE)
    for name, path in [("auto", core / "choose.rs"), *((name, core / f"engine/{name}.rs") for name in table)]:
        head = re.match(r"(?://!.*\n)+", path.read_text(encoding="utf-8"))
        text = re.sub(r"^//! ?", "", head[0], flags=re.MULTILINE) if head else ""
        sections.append(f"## {name}\n\n{text.strip()}")
    return "engines.md", page("Engines", "\n\n".join(sections))


def readers_page() -> tuple[str, str]:
    """The readers of traces, in the order of sniffing, from the constants and heads of their files."""
    sections = ["They turn traces into events. The first that knows a file takes it; [guide](../guide/traces.md)."]
    core = ROOT / "crates/iocast-core/src/trace"
    files = {path.stem: path.read_text(encoding="utf-8") for path in (core / "readers").rglob("*.rs")}
    listed = re.findall(r"^ +(?:\w+::)*(\w+)::(\w+),$", (core / "format_list.rs").read_text("utf-8"), re.MULTILINE)
    for stem, constant in listed:
        told = rf'const {constant}: Format = Format {{\s+name: "(\w+)",\s+says: "([^"]+)"'
        found = re.search(told, files[stem])
        head = re.match(r"(?://!.*\n)+", files[stem])
        assert found, f"{stem}: no name and says of {constant}"
        text = re.sub(r"^//! ?", "", head[0], flags=re.MULTILINE) if head and constant == "FORMAT" else ""
        sections.append(f"## {found[1]}\n\n{found[2]}.\n\n{text.strip()}".strip())
    return "readers.md", page("Readers of traces", "\n\n".join(sections))


def commands_page() -> tuple[str, str]:
    """Every verb with its arguments and options, as `--help` says them."""
    sections = []
    for verb, *below in manual.every_verb():
        sections += [_command(*verb, "##"), *(_command(*word, "###") for word in below)]
    return "commands.md", page("Commands", "\n\n".join(sections))


def _command(path: str, command: click.Command, context: click.Context, level: str) -> str:
    bar = "\\|"
    rows = manual.options(command, context)
    table = [f"| `{name.replace('|', bar)}` | {says.replace('|', bar)} |" for name, says in rows]
    shown = ["", "| option | meaning |", "|---|---|", *table] if table else []
    text = inspect.cleandoc(command.help or "")
    return "\n".join([f"{level} {path}\n", f"```\n{manual.usage(command, context)}\n```\n", text, *shown])


def job_files() -> Iterator[tuple[str, str]]:
    """The JSON schema of job files, and the same for people."""
    from iocast.jobs.toml.job_schema import job_schema, schema_text

    yield "job.schema.json", schema_text()
    tables = {name: shape["properties"] for name, shape in job_schema()["definitions"].items()}
    defaults, phase = tables["DefaultsTable"], tables["PhaseTable"]
    parts = {
        "The file": tables["JobFile"],
        "[files]": tables["FilesTable"],
        "[defaults] and [[phase]]": {name: about for name, about in phase.items() if name in defaults},
        "[defaults] alone": {name: about for name, about in defaults.items() if name not in phase},
        "[[phase]] alone": {name: about for name, about in phase.items() if name not in defaults},
        "[[database]]": tables["DatabaseTable"],
        "mix": tables["MixTable"],
        "region": tables["RegionTable"],
    }
    sections = [JOB_FILES, *(f"## {title}\n\n{_fields(fields)}" for title, fields in parts.items())]
    yield "job.md", page("Job files", "\n\n".join(sections))


def report_schema() -> tuple[str, str]:
    """The JSON schema of reports as JSON."""
    from iocast.report.renderers.documents import schema_text

    return "report.schema.json", schema_text()


def _fields(fields: dict[str, dict[str, Any]]) -> str:
    rows = ["| field | meaning | values, or examples |", "|---|---|---|"]
    for name, about in fields.items():
        shown = [f"`{_toml(value)}`" for value in about.get("examples", about.get("enum", []))]
        rows.append(f"| `{name}` | {about.get('description', '')} | {', '.join(shown)} |")
    return "\n".join(rows)


def _toml(value: object) -> str:
    """A value as one writes it in a job file."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(name)} = {_toml(part)}" for name, part in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(part) for part in value) + "]"
    return json.dumps(value)


def _key(name: str) -> str:
    return name if name.isalpha() else json.dumps(name)


def simulated_page() -> tuple[str, str]:
    """The named simulated devices, the options and the service laws."""
    from iocast.jobs.simulated.device_options import OPTIONS
    from iocast.jobs.simulated.device_presets import PRESETS
    from iocast.jobs.simulated.law_text import LAWS

    devices = [f"| `sim:{name}` | {says} |" for name, (says, _) in PRESETS.items()]
    options = [f"| {_forms(name, option.form)} | {option.says} |" for name, option in OPTIONS.items()]
    laws = [f"| `{name}:{law.form}` | {law.says} |" for name, law in LAWS.items()]
    sections = [
        "`sim:NAME,OPTION=VALUE,...`, for example `sim:nvme,servers=4,stall=1s/5s`. Options apply from left to right.",
        "\n".join(["## Devices\n", "| target | what it is |", "|---|---|", *devices]),
        "\n".join(["## Options\n", "| option | meaning |", "|---|---|", *options]),
        "\n".join(["## Service laws\n", "| LAW | meaning |", "|---|---|", *laws]),
    ]
    return "simulated-devices.md", page("Simulated devices", "\n\n".join(sections))


def _forms(name: str, form: str) -> str:
    first, *others = form.split("|")
    return " or ".join([f"`{name}={first}`", *(f"`{other}`" for other in others)])


def pages() -> dict[str, str]:
    """Every generated file of docs/reference: its name and its text."""
    of_the_core = (engines_page(), readers_page(), simulated_page())
    return dict([*job_files(), report_schema(), commands_page(), *of_the_core, *plug_in_pages()])


def core_table() -> str:
    """The rooms of the core, each with the first line of its module."""
    rooms = [file for file in sorted((ROOT / "crates/iocast-core/src").glob("*.rs")) if file.stem != "lib"]
    lines = [
        f"| `{file.stem}` | {file.read_text(encoding='utf-8').splitlines()[0].removeprefix('//! ')} |" for file in rooms
    ]
    return "\n".join(("| room of `iocast-core` | is |", "|---|---|", *lines))


def with_core_table(text: str) -> str:
    """ARCHITECTURE.md with the table as the code has it."""
    head, table, rest = text.partition("| room of `iocast-core` | is |")
    return head + core_table() + rest[len(rest.partition("\n\n")[0]) :] if table else text


def main() -> None:
    """Writes them all, and the pages that show what the trials of diagnosis found."""
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (REFERENCE / name).write_text(text, encoding="utf-8")
        print(f"docs/reference/{name}")
    for name, text in manual.installed().items():
        place = manual.INSTALLED / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    map_of_the_house = ROOT / "ARCHITECTURE.md"
    map_of_the_house.write_text(with_core_table(map_of_the_house.read_text(encoding="utf-8")), encoding="utf-8")
    proof.main()


if __name__ == "__main__":
    main()
