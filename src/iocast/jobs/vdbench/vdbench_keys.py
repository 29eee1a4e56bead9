"""Which parameters of vdbench are read, which do nothing here, and which are refused with the way out."""

from __future__ import annotations

from iocast.formats.vdbench.parameter_file import Definition, Parameter
from iocast.jobs.problems import LineProblems, meant

_FLAGS = ("openflags", "threads", "xfersize", "rdpct", "seekpct")
READ: dict[str, tuple[str, ...]] = {
    "sd": ("lun", "size", *_FLAGS, "range"),
    "wd": ("sd", *_FLAGS, "skew", "range"),
    "rd": (
        *("wd", "sd", *_FLAGS, "iorate", "elapsed", "interval", "warmup", "curve", "stopcurve", "distribution"),
        *("maxdata", "forxfersize", "forrdpct", "forthreads", "forseekpct", "forcompratio", "fordedupratio"),
    ),
    "fsd": ("anchor", "depth", "width", "files", "size", "sizes", "distribution", "totalsize"),
    "fwd": (
        *("fsd", "operation", "rdpct", "fileio", "fileselect", "stopafter", "xfersize", "threads", "skew"),
        "openflags",
    ),
    "general": ("compratio", "dedupratio", "dedupunit"),
}
# Of a run definition with fwd=, instead of those of one with wd=.
READ_OF_FILES = (
    *("fwd", "fwdrate", "format", "operation", "operations", "elapsed", "interval", "warmup", "curve", "stopcurve"),
    *("distribution", "maxdata", "threads", "xfersize", "rdpct", "fileio", "fileselect", "stopafter", "openflags"),
    *("foroperation", "foroperations", "forthreads", "forxfersize", "forrdpct", "forcompratio", "fordedupratio"),
)
_TOML = "write an iocast job file for it (docs/guide/job-files.md)"
_ONE_HOST = "iocast makes the load of one host: leave it out"
_ONE_TREE = "another tree for each run"
_A_FILE_EACH = "a file for each tree, or an axis of `iocast study` (docs/guide/study.md)"
# What has no effect, and why.
NOTED = {
    "pause": "runs follow each other without a pause",
    "messagescan": "the kernel log is not scanned",
    "monitor": "press Ctrl-C to stop; what was measured is kept",
    "report": "every run has all of its reports",
    "histogram": "every row has a full histogram",
    "hitarea": "there are no hits (rhpct, whpct)",
    "create_anchors": "the tree is made in PATH",
    "shared": "all threads share the tree",
}
# 0 or nothing is what they are without being given.
REFUSED = {
    "rhpct": ("cache hits cannot be asked for", f'pattern = "hotspot" does nearly that: {_TOML}'),
    "whpct": ("cache hits cannot be asked for", f'pattern = "hotspot" does nearly that: {_TOML}'),
    "hotband": ("the skew inside a hot band is not documented", f'pattern = "zipf" or "hotspot": {_TOML}'),
    "stride": ("a stride of vdbench is drawn at random", f'pattern = "stride" has a fixed one: {_TOML}'),
    "streams": ("streams are not read", "one thread for each stream with seekpct=0"),
    "iorate": ("a rate of one workload", "give iorate= in the rd, and share it by skew="),
    "priority": ("workloads have no priority", "share the rate by skew="),
    "host": ("other hosts", _ONE_HOST),
    "hd": ("other hosts", _ONE_HOST),
    "clients": ("several clients", _ONE_HOST),
    "jvms": ("several Java machines", "leave it out: one process is enough"),
    "count": ("numbered storage", "write one sd= for each"),
    "include": ("other files", "copy its lines into this one"),
    "compratio": ("one ratio for all of a file", "give compratio= above all definitions, or forcompratio= in the rd"),
    "dedupratio": (
        "one ratio for all of a file",
        "give dedupratio= above all definitions, or fordedupratio= in the rd",
    ),
    "dedupunit": ("one unit for all of a file", "give dedupunit=4k above all definitions"),
    "validate": ("vdbench's data validation", f"verify = true: {_TOML}"),
    "journal": ("vdbench's data validation", f"verify = true: {_TOML}"),
    "data_errors": ("vdbench's data validation", f"verify = true: {_TOML}"),
    "replay": ("replay of a trace", "measure the workload that the trace shows"),
    "format": ("formatting without fwd=", "iocast lays out its own work files"),
    "fwd": ("fwd= beside wd=", "a rd= has one of them"),
    "fwdrate": ("a rate of file operations", "give fwd= in the rd"),
    "operations": ("file operations without fwd=", "give fwd= in the rd"),
    "stopafter": ("another file after some I/Os", "give it in the fwd=, or in a rd= with fwd="),
    "totalsize": ("an end by the bytes that were made", "give it in the fsd=, or files= and size="),
    "workingsetsize": ("a part of the tree", "make the tree smaller: depth=, width=, files="),
    "wss": ("a part of the tree", "make the tree smaller: depth=, width=, files="),
    "target": ("a copy from one tree to another", "`iocast experiment copy` copies files"),
    "fordepth": (_ONE_TREE, _A_FILE_EACH),
    "forwidth": (_ONE_TREE, _A_FILE_EACH),
    "forfiles": (_ONE_TREE, _A_FILE_EACH),
    "forsize": (_ONE_TREE, _A_FILE_EACH),
    "forsizes": (_ONE_TREE, _A_FILE_EACH),
    "fortotal": (_ONE_TREE, _A_FILE_EACH),
    "forwss": (_ONE_TREE, _A_FILE_EACH),
    "forworkingset": (_ONE_TREE, _A_FILE_EACH),
    "formatsd": ("formatting of storage", "iocast lays out its own work files"),
    "cleanup": ("empty directories removed", "iocast clean removes the tree"),
    "startcmd": ("commands", "run it before iocast"),
    "start_cmd": ("commands", "run it before iocast"),
    "endcmd": ("commands", "run it after iocast"),
    "end_cmd": ("commands", "run it after iocast"),
    "concatenate": ("concatenated storage definitions", "all storage definitions are one address range here"),
    "abort_failed_skew": ("a check of the skew", "leave it out"),
}
_INERT = {"rhpct": "0", "whpct": "0", "host": "localhost", "concatenate": "yes", "validate": "no", "journal": "no"}


def check_keys(definitions: list[Definition], problems: LineProblems) -> None:
    """Every parameter is read, does nothing here (a note), or is refused."""
    for each in definitions:
        for parameter in each.parameters.values():
            if parameter.key not in known_of(each):
                _check(each, parameter, problems)


def of_files(definition: Definition) -> bool:
    """True of a run definition whose workloads go to the files of a tree."""
    return definition.kind == "rd" and "fwd" in definition.parameters


def known_of(definition: Definition) -> tuple[str, ...]:
    """The parameters that are read of a definition."""
    return READ_OF_FILES if of_files(definition) else READ.get(definition.kind, ())


def _check(definition: Definition, parameter: Parameter, problems: LineProblems) -> None:
    kind, key = definition.kind, parameter.key
    if key in NOTED:
        problems.note(f"line {parameter.line}: {key} has no effect: {NOTED[key]}")
    elif key in REFUSED:
        if parameter.text.lower() != _INERT.get(key):
            why, way_out = REFUSED[key]
            problems.add(parameter.line, f"{key}={parameter.text}: {why}: not supported", way_out)
    else:
        known = known_of(definition)
        where = f" of {kind}=" if kind != "general" else ""
        reference = f"parameters of {kind}=: {', '.join(known)}" if known else ""
        problems.add(parameter.line, f'unknown parameter "{key}"{where}{meant(key, known)}', "", reference)
