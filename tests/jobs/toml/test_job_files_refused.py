"""What a whole job file is refused for: tables that are missing, misplaced or unknown, and what is not TOML."""

from __future__ import annotations

import pytest
from makers.refused_jobs import HEAD, PHASE_FIELDS, SIZES, phase, refusal

TOP = "allowed at the top: name, phase, database, description, runs, files, tree, interval, defaults"


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            f'{HEAD}[[phase]]\ntime = "1s"\n',
            "2: phase 1: size is missing: set the I/O size",
            'for example size = "8k"',
        ),
        (
            f'{HEAD}[[phase]]\nsize = "8k"\n',
            "2: phase 1: no length: give time, ios or bytes",
            'for example time = "10s"',
        ),
        (
            f'{HEAD}[defaults]\nsize = 100\ntime = "1s"\n[[phase]]\n[[phase]]\n',
            "3: [defaults] size 100 is not a multiple of 512 bytes, as direct = true requires",
            "use whole sectors, or direct = false",
        ),
        (
            f'{HEAD}[defaults]\ntest = "x"\n[[phase]]\n',
            '3: [defaults]: unknown field "test"; it belongs in [[phase]]',
            "allowed in [defaults]: engine, polling, "
            + PHASE_FIELDS.removeprefix("test, role, steps, pauses, together, follows, engine, "),
        ),
        (
            f'{HEAD}[files]\nsise = "1M"\n' + phase("").removeprefix(HEAD),
            '3: [files]: unknown field "sise"; did you mean "size"?',
            "allowed in [files]: count, size, layout, stripe",
        ),
        (
            f'{HEAD}[files]\nsize = "2xROM"\n' + phase("").removeprefix(HEAD),
            '3: [files] size: "2xROM" is not a size: unknown unit "xROM"',
            f'{SIZES}; "2xRAM" is twice the RAM of this machine',
        ),
        (
            f'{HEAD}[files]\nsize = "0xRAM"\n' + phase("").removeprefix(HEAD),
            '3: [files] size: "0xRAM" is not a plausible multiple of RAM',
            f'{SIZES}; "2xRAM" is twice the RAM of this machine',
        ),
        (
            f"{HEAD}[files]\ncount = 0\n" + phase("").removeprefix(HEAD),
            "3: [files] count = 0: expected a whole number, 1 or more",
            "",
        ),
        (
            f"{HEAD}users = 1\n{phase('').removeprefix(HEAD)}",
            '2: unknown field "users"; it belongs in [defaults] or [[phase]]',
            TOP,
        ),
        (
            f'{HEAD}engine = "sync"\n{phase("").removeprefix(HEAD)}',
            '2: unknown field "engine"; it belongs in [defaults]',
            TOP,
        ),
        (
            f'{HEAD}descripton = "x"\n{phase("").removeprefix(HEAD)}',
            '2: unknown field "descripton"; did you mean "description"?',
            TOP,
        ),
        (
            f'{phase("")}[[phases]]\nsize = "8k"\n[[phases]]\n',
            '6: unknown field "phases"; did you mean "phase"?',
            TOP,
        ),
        (
            f'{phase("")}[workload.oltp]\nsize = "8k"\n',
            '6: unknown field "workload"',
            TOP,
        ),
        (
            f"{HEAD}file.size = 1\n{phase('').removeprefix(HEAD)}",
            '2: unknown field "file"; did you mean "files"?',
            TOP,
        ),
        (
            f'{phase("")}[[phase.mix]]\nop = "read"\n',
            "6: phase 1: mix and size: mix already sets the operations and sizes",
            "write one or the other",
        ),
        (
            '[[phase]]\nsize = "8k"\ntime = "1s"\n',
            "1: name is missing: expected a name of 1 to 80 characters on one line",
            "",
        ),
        (HEAD, "1: phase is missing: expected tables headed [[phase]], in double brackets", ""),
        (f"{HEAD}phase = []\n", "2: phase = []: expected tables headed [[phase]], in double brackets", ""),
        (
            f'{HEAD}[phase]\nsize = "8k"\n',
            '2: phase = {"size":"8k"}: expected tables headed [[phase]], in double brackets',
            "",
        ),
        (
            f"{HEAD}defaults = 1\n" + phase("").removeprefix(HEAD),
            "2: defaults = 1: expected a [defaults] table",
            "",
        ),
        (
            f"{HEAD}phase = [1]\n",
            "2: phase 1 = 1: expected a table",
            "",
        ),
        (
            'name = "x\n[[phase]]\n',
            "1: not valid TOML: illegal character '\\n'",
            'put text in double quotes: size = "8k"; head tables with [[phase]]',
        ),
        (
            f"{HEAD}[[phase]]\nsize = 8k\n",
            "3: not valid TOML: expected newline or end of document after a statement",
            'put text in double quotes: size = "8k"; head tables with [[phase]]',
        ),
    ],
)
def test_whole_files(text: str, message: str, hint: str) -> None:
    refused = refusal(text)
    assert refused.message == f"job.toml:{message}"
    assert refused.hint == hint
