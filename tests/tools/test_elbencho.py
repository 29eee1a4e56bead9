"""elbencho's text, CSV and JSON of the same phases, made by elbencho 3.1-10 (without its service), agree."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.model.run import PhaseRecord, Run
from iocast.model.stated import Bucket, Coarse
from iocast.model.workload import Closed, Sequential, Uniform, Unstated
from iocast.tools import elbencho, importers
from iocast.tools.source_files import Head

Reader = Callable[..., Run]
FORMS = ("elbencho.txt", "elbencho.csv", "elbencho.json")
US = 1_000
# By the table: "last done" of each phase, the bytes by the files that were asked for.
RATES = {"write": (423, 64 << 20), "read": (504, 64 << 20), "random": (39_356, 64 << 20), "WRITE": (29_303, 8_192_000)}


def by_name(run: Run) -> dict[str, PhaseRecord]:
    """The phases of the fixtures, in their order."""
    names = ("write", "read", "random", "mix", "MKDIRS", "WRITE", "STAT", "RMFILES", "RMDIRS")
    return dict(zip(names, run.phases, strict=True))


def times_of(record: PhaseRecord, place: int = 0) -> Coarse:
    times = record.measurement.classes[place].service.coarse
    assert times is not None
    return times


@pytest.mark.parametrize("name", FORMS)
def test_each_form_states_the_same_phases(name: str, fixtures: Path) -> None:
    assert elbencho.sniff(Head("x", (fixtures / name).read_text()))
    (run,) = importers.read((str(fixtures / name),))
    phases = by_name(run)
    for phase, (iops, moved) in RATES.items():
        # The text and the CSV cut IOPS to a whole number, the JSON's bytes say the rest.
        assert phases[phase].ios_per_s == pytest.approx(iops, abs=1.01)
        assert phases[phase].measurement.bytes == moved
    assert [phases["random"].measurement.ios, phases["WRITE"].measurement.ios] == [16_384, 2_000]
    assert 416_000_000 < phases["random"].measurement.elapsed_ns < 417_000_000
    assert times_of(phases["random"]).mean_ns == 202 * US
    assert phases["random"].plan.users == 2
    assert phases["random"].plan.depth == 4
    assert phases["random"].plan.direct
    assert phases["random"].plan.locality == Uniform()
    assert phases["random"].plan.arrival == Closed()
    assert phases["random"].plan.files[0].path == "/mnt/scratch/file1"
    assert phases["random"].measurement.classes[0].size_bytes == 4096
    assert run.source is not None
    assert (run.source.tool, run.source.version) == ("elbencho", "" if name.endswith("txt") else "3.1-10")
    assert run.warnings == ()


def test_each_form_states_the_same_load(fixtures: Path) -> None:
    """A text lacked it, and its rows another trust: where no option asks for a depth, it is elbencho's own 1."""
    loads = []
    for name in FORMS:
        (run,) = importers.read((str(fixtures / name),))
        moved = [each for each in run.phases if {"read", "write"} & {part.op for part in each.measurement.classes}]
        loads.append([(each.plan.users, each.plan.depth, {"users", "depth"} & {*each.unstated}) for each in moved])
    assert loads == [[(2, 1, set()), (2, 1, set()), (2, 4, set()), (2, 1, set()), (2, 1, set())]] * 3


@pytest.mark.parametrize("name", FORMS)
def test_reads_and_writes_of_a_mix_are_told_apart(name: str, fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / name),))
    mix = by_name(run)["mix"]
    assert [each.op for each in mix.measurement.classes] == ["write", "read"]
    wrote, did_read = (each.ios * 1e9 / mix.measurement.elapsed_ns for each in mix.measurement.classes)
    assert wrote == pytest.approx(4_646, abs=2)
    assert did_read == pytest.approx(10_871, abs=2)
    assert [times_of(mix, place).mean_ns for place in (0, 1)] == [205 * US, 87 * US]
    assert mix.phase.name.startswith("mixed")
    assert mix.plan.files[0].path == "2 paths"


@pytest.mark.parametrize("name", FORMS)
def test_phases_of_names_count_files_and_directories(name: str, fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / name),))
    phases = by_name(run)
    rates = {
        key: (phases[key].measurement.classes[0].op, phases[key].measurement.ios, phases[key].ios_per_s)
        for key in ("MKDIRS", "STAT", "RMFILES", "RMDIRS")
    }
    assert rates == {
        "MKDIRS": ("mkdir", 10, pytest.approx(8_237, abs=0.5)),
        "STAT": ("stat", 1_000, pytest.approx(264_690, abs=0.5)),
        "RMFILES": ("unlink", 1_000, pytest.approx(48_692, abs=0.5)),
        "RMDIRS": ("rmdir", 10, pytest.approx(2_923, abs=0.5)),
    }
    assert times_of(phases["RMFILES"]).mean_ns == 32 * US
    assert phases["STAT"].bytes_per_s is None
    assert "direct" in phases["STAT"].unstated
    # Its mean of 2 us is one of 2 to 4, and files were opened between the writes.
    assert "arrival" in phases["STAT"].unstated
    assert "arrival" in phases["WRITE"].unstated
    assert "arrival" not in phases["write"].unstated


@pytest.mark.parametrize("name", ["elbencho.txt", "elbencho.json"])
def test_buckets_lie_between_the_whole_microseconds_that_they_hold(name: str, fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / name),))
    phases = by_name(run)
    # [ 2.4: 635, 3.4: 352, 4.8: 7, 8.0: 1, 23: 3, 32: 1, 38: 1 ], of which the first holds 2 us alone
    assert times_of(phases["STAT"]).buckets == (
        Bucket(2 * US, 3 * US, 635.0),
        Bucket(3 * US, 4 * US, 352.0),
        Bucket(4 * US, 5 * US, 7.0),
        Bucket(7 * US, 8 * US, 1.0),
        Bucket(20 * US, 23 * US, 3.0),
        Bucket(27 * US, 32 * US, 1.0),
        Bucket(32 * US, 39 * US, 1.0),
    )
    random = times_of(phases["random"])
    assert sum(each.weight for each in random.buckets) == 16_384
    # The text says 50%<=108 and 99%<=861: the upper edges of these.
    assert (random.bounds_ns(0.5), random.bounds_ns(0.99)) == ((91 * US, 108 * US), (725 * US, 862 * US))
    assert random.quantiles == ()


def test_a_csv_states_no_percentiles(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "elbencho.csv"),))
    times = times_of(by_name(run)["random"])
    assert (times.min_ns, times.max_ns, times.buckets) == (25 * US, 81_651 * US, ())
    assert times.bounds_ns(0.99) is None


def test_what_a_text_says_without_latencies_and_sizes(fixtures: Path) -> None:
    (run,) = importers.read((str(fixtures / "elbencho_more.txt"),))
    assert run.warnings == (
        f"{fixtures / 'elbencho_more.txt'}: left out are phases that are no reads, writes or names of files alone,"
        " or too short: SYNC, DROPCACHE",
    )
    assert run.source is not None
    assert run.source.notes == (elbencho.EDGES,)
    first, directories, small, *_, empty, removed, mix, limited, base10, odd = run.phases
    assert [(each.q, each.value_ns) for each in times_of(first).quantiles] == [
        (0.01, 4_800),
        (0.5, 5_700),
        (0.75, 6_700),
        (0.99, 23_000),
    ]
    assert directories.measurement.ios == 2
    # Of files of one block it states no IOPS: they are the files.
    assert (small.measurement.ios, small.measurement.bytes) == (10, 40_960)
    assert (empty.measurement.classes[0].op, empty.ios_per_s) == ("create", pytest.approx(7_168, abs=0.5))
    assert removed.plan.files == ()
    assert [each.ios for each in mix.measurement.classes] == [2_048, 2_048]
    assert "arrival" in limited.unstated
    assert limited.ios_per_s == pytest.approx(3_993, abs=0.5)
    assert (base10.measurement.ios, base10.measurement.bytes) == (2_048, 8 << 20)
    assert (odd.measurement.ios, odd.measurement.classes[0].size_bytes) == (5_593, 3_000)


def test_what_is_printed_without_a_command_line_states_no_load(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "elbencho.txt").read_text()
    printed = "\n".join(line for line in text.splitlines() if not line.startswith(("ISO", "LABEL", "COMM"))) + "\n"
    first = read_all(("x.txt", printed)).phases[0]
    assert {"users", "depth", "direct", "size", "arrival"} <= {*first.unstated}
    assert (first.plan.files, first.plan.locality) == ((), Unstated())
    assert first.measurement.bytes == 64 << 20


def test_sequential_is_what_a_csv_and_a_json_state(fixtures: Path) -> None:
    for name in FORMS[1:]:
        (run,) = importers.read((str(fixtures / name),))
        assert run.phases[0].plan.locality == Sequential()


def test_a_phase_that_is_cut_is_left_out_and_named(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "elbencho.txt").read_text()
    run = read_all(("x.txt", text[: text.rindex("            Dirs latency")]))
    assert len(run.phases) == 8
    assert "RMDIRS is cut" in run.warnings[0]
    lines = (fixtures / "elbencho.csv").read_text().splitlines(keepends=True)
    run = read_all(("x.csv", "".join(lines)[:-20]))
    assert len(run.phases) == 8
    assert "the last line does not end" in run.warnings[0]
    run = read_all(("x.json", (fixtures / "elbencho.json").read_text()[:-20]))
    assert len(run.phases) == 8
    assert "truncated" in run.warnings[0]


def test_forms_of_the_same_phases_are_warned_of(fixtures: Path) -> None:
    (run,) = importers.read(tuple(str(fixtures / name) for name in FORMS))
    assert len(run.phases) == 27
    assert elbencho.SEVERAL in run.warnings


def test_columns_that_nobody_knows_are_left(read_all: Reader, fixtures: Path) -> None:
    lines = (fixtures / "elbencho.csv").read_text().splitlines()
    text = "\n".join(f"{line},{'new' if place == 0 else 7}" for place, line in enumerate(lines)) + "\n"
    assert len(read_all(("x.csv", text)).phases) == 9


def test_a_list_of_documents_is_read_too(read_all: Reader, fixtures: Path) -> None:
    documents = [json.loads(line) for line in (fixtures / "elbencho.json").read_text().splitlines()]
    assert len(read_all(("x.json", json.dumps(documents, indent=2))).phases) == 9


@pytest.mark.parametrize(
    ("name", "was", "then", "says"),
    [
        ("elbencho.csv", "IOPS [last]", "IOPS [lost]", r'x:1: it has no column "IOPS \[last\]"'),
        ("elbencho.csv", ",WRITE,104,151,", ",WRITE,104,151,9,", r"x:2: 56 values under 55 headings"),
        ("elbencho.csv", ",WRITE,104,151,", ",WRITE,104,-1,", r"x:2: time ms \[last\]"),
        ("elbencho.csv", ",WRITE,104,151,", f",WRITE,104,1{'0' * 25},", r"x:2: time ms \[last\]"),
        ("elbencho.txt", "151ms\n", "1.5.1s\n", r"x:6: the elapsed time"),
        ("elbencho.txt", "2.4: 635", "2.5: 635", r"no edge of a bucket"),
        ("elbencho.txt", "2.4: 635, 3.4", "3.4: 635, 2.4", r"does not lie after"),
        ("elbencho.json", '"iops":"423"', '"iops":"1e308"', r"x:1: IOPS \[last\]"),
        ("elbencho.json", '"last_done"', '"last"', r"x:1: a document without"),
        ("elbencho.json", '"phase_id":"', '"phase_id":', r"x:1: the document is truncated"),
    ],
)
def test_what_does_not_fit_is_refused(
    name: str, was: str, then: str, says: str, read_all: Reader, fixtures: Path
) -> None:
    text = (fixtures / name).read_text()
    assert was in text
    with pytest.raises(SourceError, match=says):
        read_all(("x", text.replace(was, then, 1)))


def test_live_statistics_are_named_as_what_they_are(read_all: Reader) -> None:
    live = (
        "ISO Date,Label,Phase,RuntimeMS,Rank,MixType,Done%,DoneBytes,MiB/s,IOPS,Entries,Entries/s,Lat Ent us,"
        "Lat IO us,Active,CPU,Service,\n"
        "2026-11-29T00:32:54.586+0000,,WRITE,300,Total,,50,8388608,26,6826,0,0,0,18,2,93,,\n"
    )
    with pytest.raises(SourceError, match=r"x:1: these are elbencho's live statistics") as refusal:
        read_all(("x", live))
    assert "--jsonfile" in refusal.value.hint


@pytest.mark.parametrize(
    ("was", "then"),
    [('"WRITE"', '"WRITE+r"'), ("--nolive", "--verifydirect"), ('"path_type":"file"', '"path_type":"object"')],
)
def test_what_is_not_io_to_files_alone_is_left_out(was: str, then: str, read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "elbencho.json").read_text().splitlines()[0]
    changed = text.replace(was, then, 1)
    assert changed != text
    with pytest.raises(SourceError, match="no reads, writes or names of files"):
        read_all(("x", changed + "\n"))


def test_a_table_without_phases_is_refused(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "elbencho.txt").read_text().partition("WRITE ")[0]
    with pytest.raises(SourceError, match="no phase that ended"):
        read_all(("x", text))


@pytest.mark.parametrize(
    ("command", "path", "order"),
    [
        (["elbencho", "/a", "-r", "-t", "2"], "/a", Sequential()),
        (["elbencho", "-r", "--csvfile", "/x/y"], "", Sequential()),
        (["elbencho", "-r", "--csvfile", "/x/y", "/a/b"], "/a/b", Sequential()),
        (["elbencho", "-r", "--backward", "/a"], "/a", Sequential(backwards=True)),
        (["elbencho", "-r", "--strided", "/a"], "/a", Unstated()),
        (["elbencho", "-c", "/job", "/a"], "/a", Unstated()),
    ],
)
def test_what_the_command_line_says(
    command: list[str], path: str, order: object, read_all: Reader, fixtures: Path
) -> None:
    document = json.loads((fixtures / "elbencho.json").read_text().splitlines()[0])
    document["config"]["command"] = " ".join(f'"{each}"' for each in command)
    (row,) = read_all(("x", json.dumps(document) + "\n")).phases
    assert (", ".join(each.path for each in row.plan.files), row.plan.locality) == (path, order)


def test_a_text_of_version_1_is_read_too(fixtures: Path) -> None:
    """Made by 1.9-1: lengths in ms, units in the headings, "Total files" before the number."""
    (run,) = importers.read((str(fixtures / "elbencho_v1.txt"),))
    assert [each.measurement.classes[0].op for each in run.phases] == [
        *("write", "read", "mkdir", "write", "stat", "unlink", "rmdir"),
    ]
    rates = [each.ios_per_s for each in run.phases]
    # STAT took less than 1 ms: 200 of 434,782 a second.
    assert rates == [pytest.approx(each, abs=0.5) for each in (1_479, 4_195, 1_039, 32_226, 434_782, 45_454, 667)]
    first, *_, last = run.phases
    assert (first.measurement.ios, first.measurement.bytes) == (512, 32 << 20)
    assert (times_of(first).min_ns, times_of(first).mean_ns, times_of(first).max_ns) == (
        *(184 * US, 1_342 * US, 24_102 * US),
    )
    assert sum(each.weight for each in times_of(first).buckets) == 512
    assert times_of(last).mean_ns == 1_164 * US


def test_users_are_the_threads_of_all_hosts(read_all: Reader, fixtures: Path) -> None:
    text = (fixtures / "elbencho.json").read_text().splitlines()[0].replace('"hosts":"1"', '"hosts":"3"')
    assert read_all(("x", text + "\n")).phases[0].plan.users == 6
    limited = text.replace("--direct", "--limitwrite")
    assert "arrival" in read_all(("x", limited + "\n")).phases[0].unstated


def test_mixes_that_count_reads_among_the_writes_are_left_out(read_all: Reader, fixtures: Path) -> None:
    """As 1.9-1 printed one: of 21,071 IOPS 14,918 were reads, and the latency is of both."""
    mix = (
        "RWMIX70   Elapsed ms       :        194        194\n"
        "          IOPS             :      21094      21071\n"
        "          IOPS read        :      14913      14918\n"
        "          Throughput MiB/s :        164        164\n"
        "          Read MiB/s       :        116        116\n"
        "          Total MiB        :         31         32\n"
        "          Read MiB         :         22         22\n"
        "          IO latency us    : [ min=33 avg=94 max=18233 ]\n"
        "---\n"
    )
    run = read_all(("x", (fixtures / "elbencho_v1.txt").read_text() + mix))
    assert len(run.phases) == 7
    assert "RWMIX70" in run.warnings[0]
    columns = (fixtures / "elbencho.csv").read_text().replace("rwmix read IO lat us", "IO lat of reads")
    assert len(read_all(("x", columns)).phases) == 8
