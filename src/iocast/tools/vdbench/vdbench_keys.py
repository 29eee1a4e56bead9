"""vdbench's parameters: which are read, which do nothing here, which are refused with the way out, how they are spelt.

vdbench takes each parameter by its first letters: `xf=4k` is `xfersize=4k`.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.errors import SpecError
from iocast.tools.line_problems import LineProblems, meant
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_values import percent_of, whole_of

_FLAGS = ("openflags", "threads", "xfersize", "rdpct", "seekpct")
READ: dict[str, tuple[str, ...]] = {
    "sd": ("lun", "size", *_FLAGS, "range"),
    "wd": ("sd", *_FLAGS, "skew", "range", "streams"),
    "rd": (
        *("wd", "sd", *_FLAGS, "iorate", "elapsed", "interval", "warmup", "curve", "stopcurve", "distribution"),
        *("maxdata", "forxfersize", "forrdpct", "forthreads", "forseekpct", "forcompratio", "fordedupratio"),
    ),
    "fsd": ("anchor", "depth", "width", "files", "size", "sizes", "distribution", "totalsize", "openflags"),
    "fwd": (
        *("fsd", "operation", "rdpct", "fileio", "fileselect", "stopafter", "xfersize", "threads", "skew"),
        "openflags",
    ),
    "general": ("compratio", "dedupratio", "dedupunit"),
}
# Of a run definition with fwd=, instead of those of one with wd=.
READ_OF_FILES = (
    *("fwd", "fsd", "fwdrate", "format", "operation", "operations", "elapsed", "interval", "warmup", "curve"),
    *("stopcurve", "distribution", "maxdata", "threads", "xfersize", "rdpct", "fileio", "fileselect", "stopafter"),
    *("openflags", "foroperation", "foroperations", "forthreads", "forxfersize", "forrdpct", "forcompratio"),
    *("fordedupratio", "fordepth", "forwidth", "forfiles", "forsize", "forsizes"),
)
_TOML = "write an iocast job file for it (docs/guide/job-files.md)"
_ONE_HOST = "iocast makes the load of one host: leave it out"
_PART_OF_TREE = "a part of the tree"
_SMALLER = "make the tree smaller: depth=, width=, files=, or loop over them: forfiles="
_CATALOGUE = "sets of duplicates that differ in size"
_ONE_RATIO = "dedupratio= above all definitions repeats blocks evenly"
_ONE_PROCESS = "the load comes from one process, with a thread for each thread"
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
    "formatsds": "work files are always laid out whole, and used again",
    "formatxfersize": "work files are laid out by iocast's own I/O",
    "auxreport": "every run has all of its reports",
    "report_run_totals": "every run has all of its reports",
    "compressionseed": "what is written differs from run to run",
    "port": _ONE_PROCESS,
    "ios_per_jvm": _ONE_PROCESS,
    "jvms": _ONE_PROCESS,
    "master": _ONE_PROCESS,
    "user": _ONE_PROCESS,
    "shell": _ONE_PROCESS,
    "vdbench": _ONE_PROCESS,
    "heartbeat_error": _ONE_PROCESS,
    "fwd_thread_adjust": "threads are split evenly, at least one for each part",
    "instance": "the device is found by its path",
    "kstat": "counters of the device are read from the kernel",
    "log": "every run keeps its slowest I/Os",
    "debug": "iocast has no such modes",
    "misc": "iocast has no such modes",
    "swat": "a run folder is read by other tools as it is",
}
# 0 or nothing is what they are without being given.
REFUSED = {
    "rhpct": ("cache hits cannot be asked for", f'pattern = "hotspot" does nearly that: {_TOML}'),
    "whpct": ("cache hits cannot be asked for", f'pattern = "hotspot" does nearly that: {_TOML}'),
    "hotband": ("its skew is a table of vdbench's own", f'pattern = "zipf" or "hotspot" is a known one: {_TOML}'),
    "stride": ("a stride of vdbench is drawn at random", f'pattern = "stride" has a fixed one: {_TOML}'),
    "streams": ("streams of storage", "give streams= in its wd="),
    "skew": ("a share of a whole run", "give skew= in its wd= or fwd="),
    "align": ("offsets are multiples of the I/O's size here", "an xfersize= that is a multiple of it"),
    "offset": ("a first byte of the storage", "range=(low,high) in bytes"),
    "resetlun": ("resets of devices", "leave it out"),
    "resetbus": ("resets of devices", "leave it out"),
    "iorate": ("a rate of one workload", "give iorate= in the rd, and share it by skew="),
    "priority": ("workloads have no priority", "share the rate by skew="),
    "host": ("other hosts", _ONE_HOST),
    "hd": ("other hosts", _ONE_HOST),
    "clients": ("several clients", _ONE_HOST),
    "system": ("other hosts", _ONE_HOST),
    "mount": ("mounting", "mount it before iocast"),
    "loop": ("repeats of all runs", "`iocast repeat N FILE PATH` repeats and compares them"),
    "psrset": ("processor sets", "start iocast by taskset -c"),
    "timeout": ("an end by the clock", "elapsed= in each rd=, or timeout(1)"),
    "showlba": ("a trace of its I/Os", "`iocast capture` records them while it runs"),
    "pattern": ("data patterns from a file", "compratio= or dedupratio= say how data shrink or repeat"),
    "pattern_buffer": ("data patterns from a file", "compratio= or dedupratio= say how data shrink or repeat"),
    "dedupsets": (_CATALOGUE, _ONE_RATIO),
    "deduphotsets": (_CATALOGUE, _ONE_RATIO),
    "dedupflipflop": (_CATALOGUE, _ONE_RATIO),
    "dedupacross": (_CATALOGUE, _ONE_RATIO),
    "dedupmaxkey": (_CATALOGUE, _ONE_RATIO),
    "maxdataread": ("an end by the bytes of reads alone", "maxdata= counts reads and writes"),
    "maxdatawritten": ("an end by the bytes of writes alone", "maxdata= counts reads and writes"),
    "forhitarea": ("loops over hit areas", "there are no cache hits: rhpct, whpct"),
    "forrhpct": ("cache hits cannot be asked for", f'pattern = "hotspot" does nearly that: {_TOML}'),
    "forwhpct": ("cache hits cannot be asked for", f'pattern = "hotspot" does nearly that: {_TOML}'),
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
    "workingsetsize": (_PART_OF_TREE, _SMALLER),
    "wss": (_PART_OF_TREE, _SMALLER),
    "target": ("a copy from one tree to another", "`iocast experiment copy` copies files"),
    "fordepth": ("loops over trees without fwd=", "give fwd= in the rd"),
    "forwidth": ("loops over trees without fwd=", "give fwd= in the rd"),
    "forfiles": ("loops over trees without fwd=", "give fwd= in the rd"),
    "forsizes": ("loops over trees without fwd=", "give fwd= in the rd"),
    "fortotalsize": ("an end by the bytes that were made", "loop over what makes them: forfiles=, forsizes="),
    "forwss": (_PART_OF_TREE, _SMALLER),
    "forworkingsetsize": (_PART_OF_TREE, _SMALLER),
    "cleanup": ("empty directories removed", "iocast clean removes the tree"),
    "startcmd": ("commands", "run it before iocast"),
    "start_cmd": ("commands", "run it before iocast"),
    "endcmd": ("commands", "run it after iocast"),
    "end_cmd": ("commands", "run it after iocast"),
    "concatenatesds": ("storage definitions apart", "all storage definitions are one address range here"),
    "abort_failed_skew": ("a check of the skew", "leave it out"),
}
_INERT = {
    **{"rhpct": "0", "whpct": "0", "host": "localhost", "system": "localhost"},
    **{"concatenatesds": "yes", "validate": "no", "journal": "no"},
}


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


MOST_NUMBERED = 1000
_FEWEST_LETTERS = 2
_OTHER_WORDS = {"readpct": "rdpct", "xfersizes": "xfersize", "total_size": "totalsize", "dataerrors": "data_errors"}
_WRITES = ("wrpct", "writepct")  # what is not read


def spelled_out(definitions: list[Definition], problems: LineProblems) -> list[Definition]:
    """The same definitions with whole words, those with `count=` as many as they say."""
    definition_list: list[Definition] = []
    for each in definitions:
        parameters = [_whole(each, parameter, problems) for parameter in each.parameters.values()]
        words = [parameter.key for parameter in parameters]
        for parameter in parameters:
            if words.count(parameter.key) > 1:
                problems.add(parameter.line, f"{parameter.key} is given twice", "give it once")
        definition_list += _numbered(each._replace(parameters={one.key: one for one in parameters}), problems)
    return definition_list


def _whole(definition: Definition, parameter: Parameter, problems: LineProblems) -> Parameter:
    """A parameter with its whole word, where that is the only one that begins so."""
    known = known_of(definition)
    others = tuple(word for word, meant in _OTHER_WORDS.items() if meant in known)
    key = _spelled(parameter.key, (*known, *others, *(_WRITES if "rdpct" in known else ())))
    if key in _WRITES and "rdpct" in known:
        return _reads(parameter, problems)
    return parameter._replace(key=_OTHER_WORDS.get(key, key))


def _spelled(key: str, known: tuple[str, ...]) -> str:
    """The one word that begins so: one that is read, or else one that is noted or refused."""
    if key in known or key in NOTED or key in REFUSED or len(key) < _FEWEST_LETTERS:
        return key
    for words in (known, (*NOTED, *REFUSED)):
        meant = [word for word in words if word.startswith(key)]
        # "size" and "sizes", "operation" and "operations" are one word.
        if meant and all(word.startswith(meant[0]) for word in meant):
            return meant[0]
    return key


def _reads(parameter: Parameter, problems: LineProblems) -> Parameter:
    """The share of reads, where that of writes is given."""
    try:
        shares = [100 - percent_of(text) for text in parameter.values]
    except SpecError as error:
        problems.add(parameter.line, f"{parameter.key}={parameter.text}: {error.message}", error.hint)
        shares = [100.0]
    return Parameter("rdpct", tuple(f"{share:g}" for share in shares), parameter.line)


def _numbered(definition: Definition, problems: LineProblems) -> Iterator[Definition]:
    """`count=(1,3)` is three definitions, their number behind the name, and in the path."""
    count = definition.parameters.get("count")
    if count is None or definition.kind not in ("sd", "fsd"):
        yield definition
        return
    rest = {key: value for key, value in definition.parameters.items() if key != "count"}
    try:
        first, many = (whole_of(text) for text in count.values)
    except (SpecError, ValueError):
        first, many = 0, MOST_NUMBERED + 1
    if many > MOST_NUMBERED:
        said = f"count={count.text}: the first number and how many, at most {MOST_NUMBERED}"
        problems.add(count.line, said, "for example count=(1,8)")
        yield definition._replace(parameters=rest)
        return
    for number in range(first, first + many):
        own = {key: _place(value, number) if key in ("lun", "anchor") else value for key, value in rest.items()}
        yield definition._replace(name=f"{definition.name}{number}", parameters=own)


def _place(parameter: Parameter, number: int) -> Parameter:
    """A path with its number: where %04d says, or at its end."""
    text = parameter.text
    before, percent, after = text.partition("%")
    digits, letter, rest = after.partition("d")
    if percent and letter and len(digits) < 3 and (not digits or digits.isdecimal()):
        return parameter._replace(values=(f"{before}{number:0{int(digits or 1)}d}{rest}",))
    return parameter._replace(values=(f"{text}{number}",))
