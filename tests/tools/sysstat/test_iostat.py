"""iostat and sar: real output of sysstat 12.6, and older layouts by hand in their documented form."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from makers.imported_series import values_of

from iocast.diagnose.examination import examine
from iocast.errors import SourceError
from iocast.model.run import Run
from iocast.report.card import card_report
from iocast.report.renderers import terminal
from iocast.tools import importers
from iocast.tools.source_files import Head
from iocast.tools.sysstat import iostat, sar

Reader = Callable[..., Run]

FIRST = "Linux 3.10.0 (db1) \t11/30/2021 \t_x86_64_\t(4 CPU)\n\n"
OLD = """\
Device:         rrqm/s   wrqm/s     r/s     w/s    rkB/s    wkB/s avgrq-sz avgqu-sz   await r_await w_await svctm %util
sda               0.00     0.02  {r}   50.00   800.00   400.00    16.00     0.30    2.00    2.00    2.00   0.52  5.00
dm-0              0.00     0.00    0.00    0.00     0.00     0.00     0.00     0.00    0.00    0.00    0.00   0.00  0.00

"""


def of(fixtures: Path, name: str) -> Run:
    (run,) = importers.read((str(fixtures / name),))
    return run


def table(run: Run) -> str:
    out = io.StringIO()
    terminal.render(card_report.card(run, examine(run)), out, colour=False, width=140)
    return out.getvalue()


def test_it_is_known_by_its_heading(fixtures: Path) -> None:
    for name in ("iostat_xdt.txt", "iostat_xmt_iso.txt", "iostat_dk.txt", "iostat_xs.txt", "iostat_x.json"):
        assert iostat.sniff(Head(name, (fixtures / name).read_text()))
    for name in ("sar_d.txt", "sar_b.txt"):
        assert sar.sniff(Head(name, (fixtures / name).read_text()))
        assert not iostat.sniff(Head(name, (fixtures / name).read_text()))


def test_the_report_since_boot_is_left_out(fixtures: Path) -> None:
    run = of(fixtures, "iostat_xdt.txt")
    text = (fixtures / "iostat_xdt.txt").read_text()
    assert text.count("Device") == 3
    assert len(values_of(run, "vda")["reads_per_s"]) == 2
    assert "since boot" in run.warnings[0]
    assert run.host.cpus == 2


def test_stamps_of_any_locale_give_the_distance(fixtures: Path) -> None:
    for name in ("iostat_xdt.txt",):
        times = {sample.time_ns for sample in of(fixtures, name).phases[0].samples}
        assert times == {0, 1_000_000_000}


def test_units_follow_the_heading(fixtures: Path) -> None:
    lines = [line for line in (fixtures / "iostat_xmt_iso.txt").read_text().splitlines() if line.startswith("vda")]
    mb = float(lines[-1].split()[2])
    assert values_of(of(fixtures, "iostat_xmt_iso.txt"), "vda")["read_bytes_per_s"] == [pytest.approx(mb * 2**20)]
    kb = [line.split()[2] for line in (fixtures / "iostat_dk.txt").read_text().splitlines() if line.startswith("vda")]
    assert values_of(of(fixtures, "iostat_dk.txt"), "vda")["read_bytes_per_s"] == [pytest.approx(float(kb[-1]) * 1024)]


def test_the_old_layout_counts_sectors(read_all: Reader) -> None:
    run = read_all(("old.txt", FIRST + OLD.format(r=" 9.00") + OLD.format(r="100.00")))
    found = values_of(run, "sda")
    assert found["reads_per_s"] == [100.0]
    assert found["size_bytes"] == [16 * 512]
    assert found["queue_mean"] == [0.30]
    assert found["await_ns"] == [2_000_000]
    assert "svctm" not in str(found)


def test_a_decimal_comma_is_no_thousand(read_all: Reader) -> None:
    text = FIRST + OLD.format(r=" 9.00").replace(".", ",") + OLD.format(r="100.50").replace(".", ",")
    assert values_of(read_all(("comma.txt", text)), "sda")["reads_per_s"] == [100.5]


def test_human_output_says_its_own_units(read_all: Reader) -> None:
    text = FIRST + (
        "     tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd Device\n"
        "    8.59       222.1k         1.5M         0.0k       1.5G     400.9M       0.0k sda\n"
    )
    found = values_of(read_all(("human.txt", text)), "sda")
    assert found["read_bytes_per_s"] == [pytest.approx(222.1 * 1024)]
    assert found["write_bytes_per_s"] == [pytest.approx(1.5 * 2**20)]


def test_json_and_text_have_the_same_metrics(fixtures: Path) -> None:
    assert {*values_of(of(fixtures, "iostat_x.json"), "vda")} == {*values_of(of(fixtures, "iostat_xdt.txt"), "vda")}
    disk = json.loads((fixtures / "iostat_x.json").read_text())["sysstat"]["hosts"][0]["statistics"][1]["disk"][0]
    assert values_of(of(fixtures, "iostat_x.json"), "vda")["read_await_ns"] == [pytest.approx(disk["r_await"] * 1e6)]


def test_sar_has_its_intervals_and_not_its_average(fixtures: Path) -> None:
    run = of(fixtures, "sar_d.txt")
    assert len(values_of(run, "vda")["ios_per_s"]) == 2
    assert values_of(of(fixtures, "sar_b.txt"), "all")["read_bytes_per_s"][0] % 512 == 0


def test_little_finds_a_queue_that_cannot_be(read_all: Reader) -> None:
    wrong = OLD.format(r="100.00").replace("    0.30 ", "    9.30 ")
    run = read_all(("old.txt", FIRST + OLD.format(r=" 9.00") + wrong))
    assert "sda: rate x await gives a queue of 0.3, its own column says 9.3" in "\n".join(run.warnings)


def test_the_report_is_a_table_of_devices_without_letters(fixtures: Path) -> None:
    text = table(of(fixtures, "iostat_xdt.txt"))
    assert "The busiest device was vda" in text
    assert "judge saturation by await and queue" in " ".join(text.split())
    assert "trust" not in text.partition("Devices")[2].partition("The load is unknown")[0]
    assert "Nothing was measured" not in text


def test_means_of_ios_are_weighted_by_ios(read_all: Reader) -> None:
    busy = OLD.format(r="100.00")
    idle = OLD.format(r="  0.00").replace("2.00    2.00    2.00", "0.00    0.00    0.00")
    run = read_all(("old.txt", FIRST + OLD.format(r=" 9.00") + busy + idle))
    section = card_report.card(run, examine(run)).sections[1]
    cells = section.tables[0].rows[0].cells
    assert (cells["read_await_ns"], cells["reads_per_s"]) == (2_000_000, 50)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            FIRST + OLD.format(r="100.00").replace("   2.00    2.00    2.00", ""),
            "bad.txt:4: 11 values under 14 headings",
        ),
        (FIRST + OLD.format(r="  nope"), 'bad.txt:4: r/s is "nope", not a number'),
        (FIRST + OLD.format(r=" -3.00"), "the counter went back"),
        (FIRST + OLD.partition("\n")[0], "it has no device report"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(read_all: Reader, text: str, says: str) -> None:
    with pytest.raises(SourceError) as refused:
        read_all(("bad.txt", text))
    assert says in refused.value.message


def test_a_table_quoted_deep_in_a_text_is_no_report(read_all: Reader) -> None:
    """The example of another tool, which shows one of iostat, became a run of iostat."""
    report = FIRST + OLD.format(r="100.00")
    assert read_all(("log.txt", "$ iostat -x 1\n" + report)).phases
    with pytest.raises(SourceError, match="has no format that iocast knows"):
        read_all(("manual.txt", "A word about latency.\n" * 30 + report))


def test_a_last_line_that_is_cut_is_left_out(read_all: Reader) -> None:
    text = FIRST + OLD.format(r=" 9.00") + OLD.format(r="100.00")
    cut = text[: text.rindex("dm-0") + 40]
    run = read_all(("cut.txt", cut))
    assert "the last line does not end, so it may be truncated" in run.warnings[0]
    assert "dm-0" not in {sample.subject for sample in run.phases[0].samples}


def test_a_restart_in_sars_file_is_no_device(read_all: Reader) -> None:
    text = FIRST + (
        "12:00:01 AM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util\n"
        "12:10:01 AM    dev8-0      4.00     16.00     48.00     16.00      0.01      2.00      1.00      0.40\n"
        "\n12:11:00 AM       LINUX RESTART\n\n"
        "11:50:01 PM       DEV       tps  rd_sec/s  wr_sec/s  avgrq-sz  avgqu-sz     await     svctm     %util\n"
        "12:00:01 PM    dev8-0      4.00     16.00     48.00     16.00      0.01      2.00      1.00      0.40\n"
        "Average:       dev8-0      4.00     16.00     48.00     16.00      0.01      2.00      1.00      0.40\n"
    )
    run = read_all(("sa.txt", text))
    assert values_of(run, "dev8-0")["size_bytes"] == [8192, 8192]
    assert [sample.time_ns for sample in run.phases[0].samples][-1] == (11 * 3600 + 50 * 60) * 10**9


def test_an_unknown_column_is_left_out_and_the_rest_read(read_all: Reader) -> None:
    """A new column refused the whole file."""
    run = read_all(("new.txt", FIRST + OLD.format(r="100.00").replace("  await ", "  wait9 ", 1)))
    found = values_of(run, "sda")
    assert "await_ns" not in found
    assert found["reads_per_s"] == [100.0]
    assert sum('unknown column "wait9": left out' in warning for warning in run.warnings) == 1


def test_sums_of_writes_and_discards_are_left_out(fixtures: Path) -> None:
    run = of(fixtures, "iostat_s.txt")
    assert {*values_of(run, "vda")} == {"ios_per_s", "read_bytes_per_s"}
    assert any('unknown column "kB_w+d/s"' in warning for warning in run.warnings)


def test_colours_are_no_part_of_a_value(fixtures: Path) -> None:
    text = (fixtures / "iostat_colours.txt").read_text()
    assert "\x1b[" in text
    assert len(values_of(of(fixtures, "iostat_colours.txt"), "vda")["queue_mean"]) == 1


def test_tables_of_one_report_are_one_report(fixtures: Path) -> None:
    """-h prints reads, writes, discards and flushes apart: each was a report of its own."""
    found = values_of(of(fixtures, "iostat_xh.txt"), "vda")
    assert {len(values) for values in found.values()} == {1}
    assert {"reads_per_s", "writes_per_s", "discards_per_s", "flushes_per_s", "util_percent"} <= {*found}


def test_each_host_of_a_json_has_its_own_phase(fixtures: Path, read_all: Reader) -> None:
    """All but the first were dropped without a word."""
    document = json.loads((fixtures / "iostat_x.json").read_text())
    (host,) = document["sysstat"]["hosts"]
    document["sysstat"]["hosts"] = [{**host, "nodename": "db1"}, {**host, "nodename": "db2"}]
    run = read_all(("two.json", json.dumps(document)))
    assert [record.phase.name for record in run.phases] == ["iostat db1", "iostat db2"]
    assert run.host.name == ""
    shown = table(run)
    assert "db1 vda" in shown
    assert "db2 vda" in shown


def test_the_device_of_sar_may_stand_last(fixtures: Path) -> None:
    """As with -p, -h and -j of sysstat 12: the file was refused."""
    found = values_of(of(fixtures, "sar_dp.txt"), "vda")
    assert found["ios_per_s"] == [653.0, 658.0]
    assert found["write_bytes_per_s"] == [15016 * 1024, 217820 * 1024]
    assert values_of(of(fixtures, "sar_dh.txt"), "vda")["size_bytes"] == pytest.approx([58.8 * 1024, 649.3 * 1024])


def test_a_comment_is_no_device(fixtures: Path, read_all: Reader) -> None:
    line = "23:29:16         0.00      0.00      0.00      0.00      0.00      0.00      0.00      0.00 loop2\n"
    text = (fixtures / "sar_dp.txt").read_text()
    assert line in text
    run = read_all(("sar.txt", text.replace(line, line + "23:29:16  COM the second run begins here\n")))
    assert "run" not in {sample.subject for sample in run.phases[0].samples}
    assert len(values_of(run, "vda")["ios_per_s"]) == 2


def test_the_exports_of_sadf_state_the_same(fixtures: Path) -> None:
    by_column = values_of(of(fixtures, "sar_sadf_d.csv"), "vda")
    assert by_column["ios_per_s"] == [630.0, 658.0, 400.99]
    for name in ("sar_sadf_dh.csv", "sar_sadf_p.txt", "sar_sadf.json"):
        assert sar.sniff(Head(name, (fixtures / name).read_text()))
        assert values_of(of(fixtures, name), "vda") == by_column
    times = [sample.time_ns for sample in of(fixtures, "sar_sadf_d.csv").phases[0].samples]
    assert (min(times), max(times)) == (0, 2_000_000_000)
    assert values_of(of(fixtures, "sar_sadf.json"), "all")["read_bytes_per_s"][0] == 8200 * 512


def test_an_export_in_utc_says_when_it_began(fixtures: Path, read_all: Reader) -> None:
    began = datetime(2026, 11, 22, 23, 29, 16, tzinfo=UTC)
    for name in ("sar_sadf_d.csv", "sar_sadf_p.txt", "sar_sadf.json"):
        assert of(fixtures, name).started_unix_ns == began.timestamp() * 1e9, name
    text = (fixtures / "sar_sadf_d.csv").read_text().replace(" UTC", "")
    assert read_all(("sa.csv", text)).started_unix_ns == 0, "of an unknown zone"


def test_restarts_in_an_export_are_no_devices(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "sar_sadf_d.csv").read_text()
    head, _, rest = text.partition("\n")
    apart = "vm;-1;2026-11-22 23:29:15 UTC;LINUX-RESTART\t(2 CPU)\nvm;-1;2026-11-22 23:29:15 UTC;COM a comment\n"
    other = "# hostname;interval;timestamp;CPU;%user\nvm;1;2026-11-22 23:29:16 UTC;-1;3.00\n"
    run = read_all(("sa.csv", other + head + "\n" + apart + rest))
    assert {sample.subject for sample in run.phases[0].samples} == {"loop2", "vda"}


def test_two_days_of_an_export_lie_a_day_apart(fixtures: Path, read_all: Reader) -> None:
    text = (fixtures / "sar_sadf_d.csv").read_text()
    run = read_all(("sa.csv", text + "\n".join(text.replace("2026-11-22", "2026-12-24").splitlines()[1:]) + "\n"))
    assert max(sample.time_ns for sample in run.phases[0].samples) == (32 * 86_400 + 2) * 10**9
