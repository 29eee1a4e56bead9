"""vdbench's short and other words for parameters, and numbered definitions, as the words and definitions that are read.

vdbench takes each parameter by its first letters: `xf=4k` is `xfersize=4k`.
"""

from __future__ import annotations

from collections.abc import Iterator

from iocast.errors import SpecError
from iocast.tools.line_problems import LineProblems
from iocast.tools.vdbench.parameter_file import Definition, Parameter
from iocast.tools.vdbench.vdbench_keys import NOTED, REFUSED, known_of
from iocast.tools.vdbench.vdbench_values import percent_of, whole_of

MOST_NUMBERED = 1000
_FEWEST_LETTERS = 2
_OTHER_WORDS = {"readpct": "rdpct", "xfersizes": "xfersize", "total_size": "totalsize", "dataerrors": "data_errors"}
_WRITES = ("wrpct", "writepct")  # what is not read


def spelled_out(definitions: list[Definition], problems: LineProblems) -> list[Definition]:
    """The same definitions with whole words, those with `count=` as many as they say."""
    found: list[Definition] = []
    for each in definitions:
        parameters = [_whole(each, parameter, problems) for parameter in each.parameters.values()]
        words = [parameter.key for parameter in parameters]
        for parameter in parameters:
            if words.count(parameter.key) > 1:
                problems.add(parameter.line, f"{parameter.key} is given twice", "give it once")
        found += _numbered(each._replace(parameters={one.key: one for one in parameters}), problems)
    return found


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
