"""What becomes of a name of each kind: the parts that say nothing about the user stay, the others become pseudonyms."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from iocast.model.anonymity import well_known
from iocast.model.anonymity.pseudonyms import Pseudonyms

_WORD: Final = re.compile(r"[^\W_]+")
_FIGURE: Final = re.compile(r"\d{1,9}(?:x\d{1,9}|[kKMGTmunp]?i?[bBs]?|min|h)")
_ADDRESS: Final = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|::|(?:[0-9a-fA-F]{1,4}:){3}")
_KERNEL_WORD: Final = re.compile(r"[A-Za-z][\w.]*")
_VERSION: Final = re.compile(r"(?:[A-Za-z]{1,12}[- ])?\d+(?:\.\d+)*(?:-\d+(?:\.\d+)*)?")
_SETTING: Final = re.compile(r"[-+]?\d[\d.]*(?: ?\d?[A-Za-z]{1,3})?%?")
_SOURCE: Final = re.compile(r"((?:PostgreSQL|MySQL|MariaDB|Oracle)[A-Za-z ]*[\d.]*)(?:, (.*?))??(?: on (.*))?")
_URL: Final = re.compile(r"(\w+)://(?:([^@/]*)@)?([^/?]*)(?:/([^?]*))?(?:\?(.*))?", re.DOTALL)
_EXPORT: Final = re.compile(r"(\[[^\]]*\]|[^/:]+):(/.*)", re.DOTALL)
_TEST_NAME: Final = re.compile(r"(?<= -testname )(?:'[^']*'|[\w.-]+)")
_ORION: Final = re.compile(r"orion -run \w+(?: [\w.,-]+)*")


def device(names: Pseudonyms, text: str) -> str:
    """ "nvme0n1p2", "/dev/sda" and "8:16" are the kernel's; a volume, a pool or a label has a name by its owner."""
    if "/" in text and not well_known.NUMBERS.fullmatch(text):
        return path(names, text)
    known = well_known.DEVICE.fullmatch(text) or well_known.NUMBERS.fullmatch(text)
    return text if known else names.named("device", text)


def devices(names: Pseudonyms, text: str) -> str:
    """Several, with commas between them."""
    return ",".join(device(names, each) for each in text.split(","))


def path(names: Pseudonyms, text: str) -> str:
    """Each part by itself and what leads to it: depth, suffix, and what files have in common are kept."""
    parts = text.split("/")
    return "/".join(_part(names, part, "/".join(parts[: at + 1])) for at, part in enumerate(parts))


def _part(names: Pseudonyms, part: str, whole: str) -> str:
    if part in ("", ".", "..") or part in well_known.DIRECTORIES:
        return part
    if well_known.FILES.fullmatch(part) or well_known.DEVICE.fullmatch(part):
        return part
    stem, suffix = part, ""
    while (dot := stem.rfind(".")) > 0 and (last := stem[dot + 1 :]).lower() in well_known.SUFFIXES:
        stem, suffix = stem[:dot], f".{last}{suffix}"
    return names.named("path", whole) + suffix


def place(names: Pseudonyms, text: str) -> str:
    """A path, several with commas between them, a device, a URL, a simulated device, an export of a server."""
    if text.startswith("sim:") or text in well_known.PSEUDO_SOURCES or text in well_known.FILESYSTEMS:
        return text
    if url := _URL.fullmatch(text):
        return _url(names, url)
    if export := _EXPORT.fullmatch(text):
        return f"{host(names, export[1])}:{path(names, export[2])}"
    if "/" in text:
        return ",".join(path(names, each) for each in text.split(","))
    return text if well_known.DEVICE.fullmatch(text) else names.named("place", text)


def _url(names: Pseudonyms, url: re.Match[str]) -> str:
    """Scheme, ports and options that are numbers or known stay."""
    scheme, user, servers, database, options = url.groups()
    shown = ",".join(_server(names, each) for each in servers.split(","))
    pairs = (each.partition("=") for each in (options or "").split("&") if each)
    query = "&".join(f"{key}{sign}{setting(names, value)}" for key, sign, value in pairs)
    who = f"{names.named('user', user)}@" if user else ""
    where = "" if database is None else f"/{database_name(names, database)}"
    return f"{scheme}://{who}{shown}{where}" + (f"?{query}" if query else "")


def _server(names: Pseudonyms, text: str) -> str:
    name, colon, port = text.rpartition(":")
    return f"{host(names, name)}:{port}" if colon and port.isdigit() else host(names, text)


def host(names: Pseudonyms, text: str) -> str:
    """A machine by its name or address."""
    return text if text in well_known.HOSTS else names.named("host", text)


def process(names: Pseudonyms, text: str) -> str:
    """A program by its name; a thread of the kernel may have that of a device at its end, Oracle's has an instance."""
    if text in well_known.PROCESSES:
        return text
    if thread := well_known.KERNEL_THREAD.fullmatch(text):
        return thread["head"] + _KERNEL_WORD.sub(lambda word: _kernel_word(names, word[0]), thread["rest"])
    if match := well_known.ORACLE_PROCESS.fullmatch(text):
        return match["head"] + database_name(names, match["rest"])
    return "/".join(names.named("process", part) for part in text.split("/"))


def _kernel_word(names: Pseudonyms, word: str) -> str:
    return word if word in well_known.KERNEL_WORDS else device(names, word)


def actor(names: Pseudonyms, text: str) -> str:
    """Who made an I/O of a trace: "4711 mysqld", "4711/7"."""
    number, blank, command = text.partition(" ")
    if well_known.NUMBERS.fullmatch(number):
        return number + blank + (process(names, command) if command else "")
    return process(names, text)


def target(names: Pseudonyms, text: str) -> str:
    """What a trace names: a device, a path, a file by its number."""
    kind, _, number = text.rpartition(" ")
    if well_known.NUMBERS.fullmatch(number) and kind in ("", "file"):
        return text
    return place(names, text)


def group(names: Pseudonyms, text: str) -> str:
    """A control group, "cgroup /system.slice/x.service", or a device that one limits."""
    head = "cgroup " if text.startswith("cgroup ") else ""
    return head + (path if head or "/" in text else device)(names, text.removeprefix(head))


def interface(names: Pseudonyms, text: str) -> str:
    """A network interface: a bridge or a tunnel is called by its owner."""
    return text if well_known.INTERFACE.fullmatch(text) else names.named("interface", text)


def marks(names: Pseudonyms, text: str) -> str:
    """Identities of devices, with commas between several: their kind stays."""
    pairs = (each.partition(":") for each in text.split(","))
    return ",".join(f"{kind}{colon}{names.named('serial', number)}" for kind, colon, number in pairs)


def options(names: Pseudonyms, text: str) -> str:
    """Mount options: servers, paths, keys and contexts are hidden."""
    return ",".join(_option(names, each) for each in text.split(","))


def _option(names: Pseudonyms, text: str) -> str:
    key, sign, value = text.partition("=")
    if not sign:
        return text if text in well_known.FLAGS else names.named("option", text)
    if key in well_known.VALUED and not _ADDRESS.search(value):
        return text
    return f"{key if key in well_known.KEYS else names.named('option', key)}={names.named('value', value)}"


def filesystem(names: Pseudonyms, text: str) -> str:
    """A type of file system; those of FUSE are called after a program."""
    known = "." not in text or text in well_known.FILESYSTEMS
    return text if known else f"fuse.{names.named('filesystem', text)}"


def version(names: Pseudonyms, text: str) -> str:
    """The numbers at its beginning: who builds a kernel or a tool may put a name behind them."""
    match = _VERSION.match(text)
    return match[0] if match else names.named("version", text)


def words(names: Pseudonyms, text: str) -> str:
    """The name of a job, a row or an axis: the words that iocast itself makes names of stay, and figures."""
    if _ADDRESS.search(text):
        return names.named("name", text)
    return _WORD.sub(lambda word: _word(names, word[0]), text)


def _word(names: Pseudonyms, word: str) -> str:
    known = word.lower() in well_known.ROW_WORDS or _FIGURE.fullmatch(word)
    return word if known else names.named("name", word)


def setting(names: Pseudonyms, text: str) -> str:
    """The value of a setting: figures and the usual words stay."""
    parts = [each.strip() for each in text.split(",")]
    if not _ADDRESS.search(text) and all(
        _SETTING.fullmatch(each) or each.lower() in well_known.SETTINGS for each in parts
    ):
        return text
    return path(names, text) if text.startswith("/") else names.named("value", text)


def source(names: Pseudonyms, text: str) -> str:
    """ "PostgreSQL 18.6, app on db1"."""
    match = _SOURCE.fullmatch(text)
    if match is None:
        return names.named("source", text)
    product, database, server = match.groups()
    return (
        product.strip()
        + (f", {database_name(names, database)}" if database else "")
        + (f" on {host(names, server)}" if server else "")
    )


def database_name(names: Pseudonyms, text: str) -> str:
    """A database, a schema or an instance."""
    return text if text in well_known.DATABASES else names.named("database", text)


def table(names: Pseudonyms, text: str) -> str:
    """A table or an index, with its schema or without."""
    *schemas, name = text.split(".")
    return ".".join([*(database_name(names, each) for each in schemas), names.named("table", name)])


def statement(names: Pseudonyms, text: str) -> str:
    """A statement by its number or digest, from which its text could be guessed."""
    return text if text in well_known.STATEMENTS else names.named("statement", text)


def file(names: Pseudonyms, text: str) -> str:
    """The name of a profile: that of its first file, and how many more there are."""
    name, several, rest = text.rpartition(" and ")
    return f"{_part(names, name, name)} and {rest}" if several and rest.endswith("more") else _part(names, text, text)


def job(_names: Pseudonyms, text: str) -> str:
    """A job file, which may say anything: only the command line of ORION stays, without the name of its test."""
    line = _TEST_NAME.sub("test", text)
    return line if _ORION.fullmatch(line) else ""


def kept(_names: Pseudonyms, text: str) -> str:
    """What says nothing about the user: codes, units, products, the kernel's own names."""
    return text


Rule = Callable[[Pseudonyms, str], str]
RULES: Final[Mapping[str, Rule]] = {
    "actor": actor,
    "database": database_name,
    "device": device,
    "devices": devices,
    "file": file,
    "filesystem": filesystem,
    "group": group,
    "host": host,
    "interface": interface,
    "job": job,
    "kept": kept,
    "marks": marks,
    "options": options,
    "path": path,
    "place": place,
    "process": process,
    "setting": setting,
    "source": source,
    "statement": statement,
    "table": table,
    "target": target,
    "version": version,
    "words": words,
}


def pseudonym(names: Pseudonyms, kind: str, text: str) -> str:
    """What stands in the place of a text; a kind without a rule of its own is hidden as a whole: "note-k3v9qd2m"."""
    rule = RULES.get(kind)
    return names.named(kind, text) if rule is None else rule(names, text)
