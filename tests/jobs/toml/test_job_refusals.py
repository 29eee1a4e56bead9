"""Everything a job file is refused for: the exact words, the line, and the way out."""

from __future__ import annotations

import pytest
from makers.refused_jobs import HEAD, PHASE_FIELDS, RATES, SIZES, TIMES, phase, refusal


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        (
            'patern = "random"',
            '3: phase 1: unknown field "patern"; did you mean "pattern"?',
            f"allowed in [[phase]]: {PHASE_FIELDS}",
        ),
        (
            "numjobs = 4",
            '3: phase 1: unknown field "numjobs"; did you mean "users"?',
            f"allowed in [[phase]]: {PHASE_FIELDS}",
        ),
        ("zzz = 4", '3: phase 1: unknown field "zzz"', f"allowed in [[phase]]: {PHASE_FIELDS}"),
        (
            'polling = "sqpoll"',
            '3: phase 1: unknown field "polling"; it belongs in [defaults]: one polling mode for the whole job',
            f"allowed in [[phase]]: {PHASE_FIELDS}",
        ),
        (
            'region = {sise = "1M"}',
            '3: phase 1: unknown field "sise"; did you mean "size"?',
            "allowed in region: start, size",
        ),
        (
            'pattern = "randon"',
            '3: phase 1: pattern = "randon": not a pattern; did you mean "random"?',
            "pattern is one of sequential, random, zipf, hotspot, stride",
        ),
        ("pattern = 1", "3: phase 1: pattern = 1: expected a pattern", ""),
        (
            "backward = true",
            '3: phase 1: unknown field "backward"; did you mean "backwards"?',
            f"allowed in [[phase]]: {PHASE_FIELDS}",
        ),
        (
            "norandommap = true",
            '3: phase 1: unknown field "norandommap"; did you mean "repeats"?',
            f"allowed in [[phase]]: {PHASE_FIELDS}",
        ),
        (
            "dedupe_percentage = 40",
            '3: phase 1: unknown field "dedupe_percentage"; did you mean "dedupable"?',
            f"allowed in [[phase]]: {PHASE_FIELDS}",
        ),
        (
            'pattern = "sequential"\nbackwards = "yes"',
            '4: phase 1: backwards = "yes": expected true or false',
            "",
        ),
        ("repeats = 0", "3: phase 1: repeats = 0: expected true or false", ""),
        (
            'write = 1\nsync = "RWF_DSYNC"',
            '4: phase 1: sync = "RWF_DSYNC": not a way to be durable; did you mean "rwf_dsync"?',
            "sync is one of none, sync, dsync, rwf_dsync",
        ),
        ("write = 1\ndedupable = 40", '4: phase 1: dedupable = 40: expected a percentage such as "40%"', ""),
        (
            'write = 1\ndedupable = "101%"',
            '4: phase 1: dedupable: "101%" is not a percentage: more than 100',
            "percentages are written 50% or 0.1%",
        ),
        (
            'users = "many"',
            '3: phase 1: users = "many": expected a whole number from 1 to 4096, or a list of them',
            "",
        ),
        ("users = 0", "3: phase 1: users = 0: expected a whole number from 1 to 4096, or a list of them", ""),
        (
            "users = []",
            "3: phase 1: users = []: expected a whole number from 1 to 4096, or a list of them",
            "",
        ),
        (
            "users = [1, true]",
            "3: phase 1: users = [1,true]: expected a whole number from 1 to 4096, or a list of them",
            "",
        ),
        (
            "depth = 1.5",
            "3: phase 1: depth = 1.5: expected a whole number from 1 to 4096, or a list of them",
            "",
        ),
        ("read = -1", "3: phase 1: read = -1: expected a weight, 0 or more", ""),
        (
            'pattern = "hotspot"\nspace_percent = 100',
            "4: phase 1: space_percent = 100: expected a number above 0, below 100",
            "",
        ),
        ("read = nan", "3: phase 1: read = nan: expected a weight, 0 or more", ""),
        ('direct = "yes"', '3: phase 1: direct = "yes": expected true or false', ""),
        ("time = 10", '3: phase 1: time = 10: expected a time such as "10s"', ""),
        ('time = "0s"', '3: phase 1: time: "0s" is too short: a phase needs a length above 0', TIMES),
        ("ios = 0", "3: phase 1: ios = 0: expected a whole number, 1 or more", ""),
        (
            'test = "a b"',
            '3: phase 1: test = "a b": expected a short name of letters, digits and - _ . +',
            "",
        ),
        (
            'test = "a\\n"',
            '3: phase 1: test = "a\\n": expected a short name of letters, digits and - _ . +',
            "",
        ),
        ('role = "fill"', '3: phase 1: role = "fill": not a role', "role is one of measure, warm, verify"),
        (
            'size = "8kb"',
            '3: phase 1: size: "8kb" is not a size: "kb" may mean bits or bytes: '
            "write KiB (1024) or kB (1000), with this capitalisation",
            SIZES,
        ),
        ('size = ["8k", "-4k"]', '3: phase 1: size: "-4k" is not a size: negative', SIZES),
        ("size = 0", "3: phase 1: size: 0 is too small: at least one byte", SIZES),
        ('size = "2G"', '3: phase 1: size: "2G" is too large for one I/O: at most 1GiB', ""),
        (
            'size = {"4k" = "x"}',
            '3: phase 1: size = {"4k":"x"}: expected a size such as "8k", a list of sizes, '
            'or a table such as {"4k" = 60, "64k" = 40}',
            "",
        ),
        ('rate = "0/s"', '3: phase 1: rate: "0/s" is not a valid rate: no I/O would ever be due', RATES),
        ('rate = "5"', '3: phase 1: rate: "5" is not a rate: "/s" or "/min" is missing', RATES),
        (
            'write = 1\ncompressible = "50"',
            '4: phase 1: compressible: "50" is not a percentage: "%" is missing',
            "percentages are written 50% or 0.1%",
        ),
        (
            "mix = []",
            '3: phase 1: mix = []: expected a list of tables such as {op = "read", size = "8k", weight = 70}',
            "",
        ),
        (
            'mix = [{op = "raed"}]',
            '3: phase 1: mix[0].op = "raed": not an operation; did you mean "read"?',
            "op is one of read, write, trim, fsync, fdatasync",
        ),
    ],
)
def test_a_field_by_itself(fields: str, message: str, hint: str) -> None:
    refused = refusal(phase(fields))
    assert refused.message == f"job.toml:{message}"
    assert refused.hint == hint


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        (
            'rate = "5/s"\nthink = "1ms"',
            "4: phase 1: rate and think: with a rate the clock decides when the next I/O is due, "
            "not the last completion",
            "keep one: rate for an open loop, think for a closed one",
        ),
        (
            'arrival = "constant"',
            "3: phase 1: arrival without rate: in a closed loop each completion triggers the next I/O",
            'for example rate = "500/s"',
        ),
        ("theta = 0.9", '3: phase 1: theta with pattern = "random": it belongs to pattern = "zipf"', ""),
        (
            'pattern = "zipf"\nspace_percent = 5',
            '4: phase 1: space_percent with pattern = "zipf": it belongs to pattern = "hotspot"',
            "",
        ),
        (
            'start = "own_offset"',
            '3: phase 1: start with pattern = "random": it belongs to pattern = "sequential"',
            "",
        ),
        (
            'backwards = true\npattern = "zipf"',
            '3: phase 1: backwards with pattern = "zipf": it belongs to pattern = "sequential"',
            "",
        ),
        (
            "backwards = true",
            '3: phase 1: backwards with pattern = "random": it belongs to pattern = "sequential"',
            "",
        ),
        (
            'pattern = "sequential"\nrepeats = false',
            '4: phase 1: repeats with pattern = "sequential": it belongs to pattern = "random"',
            "",
        ),
        (
            'pattern = "stride"',
            '3: phase 1: pattern = "stride" without stride: set the distance',
            'for example stride = "1M"',
        ),
        (
            'pattern = "stride"\nstride = "4k"',
            "4: phase 1: stride is smaller than the I/O size, so I/Os would overlap",
            "",
        ),
        (
            "size = 1000",
            "3: phase 1: size 1000 is not a multiple of 512 bytes, as direct = true requires",
            "use whole sectors, or direct = false",
        ),
        (
            "region = {start = 100}",
            "3: phase 1: region.start 100 is not a multiple of 512 bytes, as direct = true requires",
            "use whole sectors, or direct = false",
        ),
        ('region = {size = "4k"}', "3: phase 1: region.size 4k is smaller than one I/O", ""),
        (
            "write = 0",
            "3: phase 1: nothing to do: all weights are 0",
            "give one operation a weight above 0",
        ),
        (
            'size = {"4k" = 0}',
            "3: phase 1: every size has a weight of 0",
            "give one size a weight above 0",
        ),
        (
            f"size = {{{', '.join(f'{n}k = 1' for n in range(1, 67))}}}",
            "3: phase 1: 66 operations and sizes in one mix; at most 64",
            "leave out the rarest ones",
        ),
        (
            "fsync = 1",
            "3: phase 1: fsync without writes: there is nothing to flush, so its time is meaningless",
            "give write a weight above 0",
        ),
        (
            'sync = "dsync"',
            "3: phase 1: sync without writes: this phase only reads",
            "give write a weight, or remove it",
        ),
        (
            'sync = "rwf_dsync"',
            "3: phase 1: sync without writes: this phase only reads",
            "give write a weight, or remove it",
        ),
        (
            'dedupable = "40%"',
            "3: phase 1: dedupable without writes: this phase only reads",
            "give write a weight, or remove it",
        ),
        (
            "fsync_every = 8",
            "3: phase 1: fsync_every without writes: this phase only reads",
            "give write a weight, or remove it",
        ),
        (
            'payload = "zeros"',
            "3: phase 1: payload without writes: this phase only reads",
            "give write a weight, or remove it",
        ),
        (
            'write = 1\npayload = "zeros"\ncompressible = "5%"',
            "5: phase 1: payload and compressible both set what is written",
            "keep one",
        ),
        (
            'write = 1\ndedupable = "40%"\ncompressible = "5%"',
            "4: phase 1: compressible and dedupable both set what is written",
            "keep one",
        ),
        (
            'write = 1\npayload = "zeros"\ncompressible = "5%"\ndedupable = "40%"',
            "6: phase 1: payload, compressible and dedupable all set what is written",
            "keep one",
        ),
        (
            'mix = [{op = "read", size = "8k"}]',
            "3: phase 1: mix and size: mix already sets the operations and sizes",
            "write one or the other",
        ),
        (
            f"users = {list(range(1, 41))}\ndepth = {list(range(1, 41))}",
            "2: phase 1: its lists make 1600 phases; at most 1000",
            "shorten the lists",
        ),
    ],
)
def test_fields_that_contradict_each_other(fields: str, message: str, hint: str) -> None:
    refused = refusal(phase(fields))
    assert refused.message == f"job.toml:{message}"
    assert refused.hint == hint


@pytest.mark.parametrize(
    ("mix", "message"),
    [
        (
            '{op = "write", size = "8k"}, {op = "fsync", size = "8k"}',
            "mix has an fsync with size: it flushes the whole file",
        ),
        ('{op = "write"}', "mix has a write without size"),
        ('{size = "8k"}', "mix has an entry without op"),
        ('{op = "read", size = 100}', "mix 100 is not a multiple of 512 bytes, as direct = true requires"),
        (
            '{op = "read", size = "8k"}, {op = "fdatasync"}',
            "fdatasync without writes: there is nothing to flush, so its time is meaningless",
        ),
    ],
)
def test_mixes_that_cannot_be(mix: str, message: str) -> None:
    refused = refusal(f'{HEAD}[[phase]]\ntime = "1s"\nmix = [{mix}]\n')
    assert refused.message == f"job.toml:4: phase 1: {message}"


@pytest.mark.parametrize("field", ["users", "rate", "compressible", "ios", "write"])
def test_a_number_larger_than_any_is_refused_like_others(field: str) -> None:
    refused = refusal(f'{HEAD}[[phase]]\ntime = "1s"\n{field} = {"9" * 400}\n')
    assert refused.message.startswith(f"job.toml:4: phase 1: {field} = {'9' * 60}…: expected ")
