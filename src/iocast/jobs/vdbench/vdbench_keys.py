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
        *("maxdata", "forxfersize", "forrdpct", "forthreads", "forseekpct"),
    ),
    "general": (),
}
_TOML = "write an iocast job file for it (docs/guide/job-files.md)"
_ONE_HOST = "iocast makes the load of one host: leave it out"
# What has no effect, and why.
NOTED = {
    "pause": "runs follow each other without a pause",
    "messagescan": "the kernel log is not scanned",
    "monitor": "press Ctrl-C to stop; what was measured is kept",
    "report": "every run has all of its reports",
    "histogram": "every row has a full histogram",
    "hitarea": "there are no hits (rhpct, whpct)",
    "create_anchors": "there is no file system load",
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
    "compratio": ("compressible data", f'payload = "compressible": {_TOML}'),
    "dedupratio": ("data that dedupes", f'payload = "dedupable": {_TOML}'),
    "dedupunit": ("data that dedupes", f'payload = "dedupable": {_TOML}'),
    "validate": ("vdbench's data validation", f"verify = true: {_TOML}"),
    "journal": ("vdbench's data validation", f"verify = true: {_TOML}"),
    "data_errors": ("vdbench's data validation", f"verify = true: {_TOML}"),
    "replay": ("replay of a trace", "measure the workload that the trace shows"),
    "format": ("formatting of directories", "iocast lays out its own work files"),
    "fwd": ("operations on files", "only sd=, wd= and rd= with data I/O are run"),
    "fwdrate": ("operations on files", "only sd=, wd= and rd= with data I/O are run"),
    "operations": ("operations on files", "only sd=, wd= and rd= with data I/O are run"),
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
            if parameter.key not in READ.get(each.kind, ()):
                _check(each.kind, parameter, problems)


def _check(kind: str, parameter: Parameter, problems: LineProblems) -> None:
    key = parameter.key
    if key in NOTED:
        problems.note(f"line {parameter.line}: {key} has no effect: {NOTED[key]}")
    elif key in REFUSED:
        if parameter.text.lower() != _INERT.get(key):
            why, way_out = REFUSED[key]
            problems.add(parameter.line, f"{key}={parameter.text}: {why}: not supported", way_out)
    else:
        known = READ.get(kind, ())
        where = f" of {kind}=" if kind != "general" else ""
        reference = f"parameters of {kind}=: {', '.join(known)}" if known else ""
        problems.add(parameter.line, f'unknown parameter "{key}"{where}{meant(key, known)}', "", reference)
