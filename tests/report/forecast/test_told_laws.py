"""The tables of the documents, figure by figure, and the notes where the documents are wrong."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from typing import Any, get_args

import msgspec
import pytest

from iocast.errors import AnalysisError, IocastError, SpecError
from iocast.model.results.laws.disks import DiskLaw
from iocast.model.results.laws.model import AnyLaw
from iocast.model.results.laws.volumes import BurstCreditsLaw, VolumeLaw, VolumesLaw
from iocast.report.forecast.laws.law_report import TOLD, law_report
from iocast.report.renderers import RENDERERS, documents, json_report
from iocast.sessions.forecasting import model_laws as laws
from iocast.sessions.forecasting.model_laws import LAWS

KILO = "4kB,8kB,16kB,32kB,64kB"


def column(rows: Sequence[Any], field: str) -> list[Any]:
    """A field of all rows."""
    return [getattr(row, field) for row in rows]


def notes(law: AnyLaw) -> str:
    return " ".join(note for table in law_report(law).sections[0].tables for note in table.notes)


def disk(**changes: Any) -> DiskLaw:
    usual = {"rpm": None, "seek": "5ms", "seek_from": "2ms", "seek_to": "8ms", "transfer": "40MB/s", "size": KILO}
    return laws.spinning(**{**usual, "controller": "0s", **changes})


def volume(kind: str, size: str, iops: str, throughput: str, io: str) -> VolumeLaw | BurstCreditsLaw:
    return laws.one_volume(kind, size, iops, throughput, io)


def test_rotation_and_bands() -> None:
    law = disk()
    assert column(law.rotation, "half_rotation_ns") == pytest.approx([4.1666667e6, 3e6, 2e6])
    assert column(law.rotation, "fastest_ns") == pytest.approx([6.1666667e6, 5e6, 4e6])
    assert column(law.rotation, "slowest_ns") == pytest.approx([12.1666667e6, 11e6, 10e6])
    assert "7000 rpm is 4.286 ms" in notes(law)
    assert "7000" not in notes(disk(rpm="15000"))


def test_disks_of_all_sizes() -> None:
    rows = disk().service
    assert column(rows, "service_ns") == pytest.approx([7.1e6, 7.2e6, 7.4e6, 7.8e6, 8.6e6])
    assert column(rows, "iops") == pytest.approx([140.85, 138.89, 135.14, 128.21, 116.28], abs=0.005)
    assert column(rows, "printed") == ["140", "139", "135", "128", "116"]
    assert rows[0].seek_share == pytest.approx(0.704, abs=5e-4)
    assert rows[-1].seek_share == pytest.approx(0.581, abs=5e-4)
    assert column(disk(size="4k,64k").service, "service_ns") == pytest.approx([7.1024e6, 8.6384e6])
    assert set(column(disk(seek="4ms").service, "printed")) == {None}


def test_disks_together() -> None:
    assert laws.disks_together(1, "150").iops == 150
    assert laws.disks_together(30, "50").iops == 1500


def test_controllers() -> None:
    law = laws.controller("0.3ms", "160MB/s", KILO)
    assert column(law.sizes, "iops") == pytest.approx([3076.92, 2857.14, 2500, 2000, 1428.57], abs=0.005)
    assert column(law.sizes, "bus_share") == pytest.approx([0.0769, 0.1429, 0.25, 0.40, 0.5714], abs=5e-5)
    assert law.sizes[-1].printed == "1428; 54.68%"
    assert "57.14% and 7.69%" in notes(law)


def test_one_queue() -> None:
    law = laws.mm1(None, "135,105,75,45", None)
    small, large = (queue.rates for queue in law.queues)
    assert [each / 1e6 for each in column(small, "response_ns")] == pytest.approx(
        [257.143, 29.508, 15.652, 10.651], abs=5e-4
    )
    assert [each / 1e6 for each in column(small, "wait_ns")] == pytest.approx([249.943, 22.308, 8.452, 3.451], abs=5e-4)
    assert column(small, "in_system") == pytest.approx([34.71, 3.10, 1.17, 0.48], abs=0.005)
    assert column(large, "stable") == [False, True, True, True]
    assert law_report(law).sections[0].tables[1].rows[0].cells["stable"] == "not possible"
    assert [each / 1e6 for each in column(large[1:], "response_ns")] == pytest.approx(
        [88.660, 24.225, 14.029], abs=5e-4
    )
    assert "240.0" in notes(law)
    assert "Stable below 116.3" in notes(law)
    plain = laws.mm1("7ms", "100", None)
    assert "Kolk" not in notes(plain)
    assert "printed" not in {column.key for column in law_report(plain).sections[0].tables[0].columns}


def test_one_queue_backwards() -> None:
    law = laws.mm1("7.2ms", "45", "20ms")
    assert law.queues[0].limit_rate_per_s == pytest.approx(88.89, abs=0.005)
    assert "up to 88.89 IOPS" in notes(law)
    with pytest.raises(AnalysisError, match=r"a mean of 5 ms cannot be met: one I/O alone takes 7.2 ms"):
        laws.mm1("7.2ms", "45", "5ms")


def test_the_rule_of_60_percent() -> None:
    law = laws.knees("7.2ms", "1,2,4,8,16,32,64", "2.5")
    pools = law.pools
    assert column(pools, "multiple_share") == pytest.approx([0.6, 0.775, 0.877, 0.934, 0.965, 0.982, 0.991], abs=1e-3)
    assert column(pools, "tail_share") == pytest.approx([0.333, 0.626, 0.801, 0.896, 0.946, 0.973, 0.986], abs=1e-3)
    assert column(pools, "power_share") == pytest.approx([0.5, 0.577, 0.665, 0.745, 0.811, 0.862, 0.9], abs=1e-3)
    assert column(pools, "response_ratio") == pytest.approx([2.5, 1.562, 1.179, 1.044, 1.007, 1.0, 1.0], abs=1e-3)
    assert pools[0].rate_per_s == pytest.approx(83.33, abs=0.005)
    assert pools[0].response_ns == pytest.approx(18e6)
    assert column(law.hockey_stick, "response_ratio") == pytest.approx([2, 2.5, 5, 10])


def test_percentiles_by_their_names() -> None:
    stable, saturated = laws.percentiles(1, "7.2ms", "75,200", "50,99.9").rates
    assert list(stable.percentiles_ns) == ["p50", "p99_9"]
    assert not saturated.percentiles_ns
    assert saturated.stable_below_per_s == pytest.approx(138.89, abs=0.005)
    report, out = law_report(laws.percentiles(1, "7.2ms", "200,75", "50")), io.StringIO()
    RENDERERS["csv"].render(report, out, colour=False, width=80)
    head, first, _ = out.getvalue().splitlines()
    assert head == "rate_per_s,utilisation_share,response_ns,percentiles_ns.p50,stable,stable_below_per_s"
    assert first.startswith("200,1.44,,,0,138.8")


def test_percentiles_need_ios() -> None:
    rows = laws.samples("95,99,99.9,99.99", "1000").percentiles
    assert column(rows, "bounded_ios") == [72, 368, 3688, 36_887]
    assert column(rows, "published_ios") == [200, 1000, 10_000, 100_000]
    assert rows[1].lasts_ns == 10e9


def test_short_strokes() -> None:
    sata = laws.stroke("sata", "0.1%,10%,100%", "8k", None, None, None, None).parts
    assert [each / 1e6 for each in column(sata, "service_ns")] == pytest.approx([5.5, 7.5, 12.5], abs=0.04)
    assert column(sata, "printed") == ["5.5", "7.5", "12.5"]
    sas = laws.stroke("sas", "0.1%,10%,100%", "8k", None, None, None, None).parts
    assert [each / 1e6 for each in column(sas, "service_ns")] == pytest.approx([4, 4.5, 7], abs=0.25)


def test_zones_of_a_disk() -> None:
    law = laws.zones(1000, 2, "11.5s,17.5s,32.5s", "0.71")
    assert [each / 1e6 for each in column(law.tests, "each_ns")] == pytest.approx([5.75, 8.75, 16.25])
    assert column(law.tests, "slower_share") == pytest.approx([0, 0.5217, 1.8261], abs=1e-4)
    assert "37.1% of the data. Kolk prints 50%" in notes(law)


def test_volumes_and_buckets() -> None:
    burst = volume("gp2", "100GiB", "3000", "125MiB/s", "8k")
    assert isinstance(burst, BurstCreditsLaw)
    assert burst.lasts_s == 2000
    assert "need 160 GiB" in notes(volume("gp3", "100GiB", "80000", "2000MiB/s", "8k"))
    assert volume("gp3", "1TiB", "3000", "125MiB/s", "1M").asked_iops == 12000
    assert laws.bucket("3000", "60000", "1000:60s,6000:30s,1500:60s").first_empty_s == 80
    assert laws.burst("5000", "1500", "3000", "30s").drain_s == 40
    assert "never drains" in law_report(laws.burst("5000", "3000", "3000", "30s")).verdict
    every = laws.volume(None)
    assert isinstance(every, VolumesLaw)
    assert len(every.volumes) >= 4


def test_measured_mb_per_s_beside_their_links() -> None:
    """Seed vectors V13 and W21: 1251 of 1600 is 78.2 %, 400 of 1000 40 %; 46 x 100 and 60 x 70 disks."""
    made = laws.link(None, None, 1)
    shares = column(made.links, "rule_share")
    assert shares == pytest.approx([0.782, 1.125, 1.170, 0.4], abs=5e-4)
    assert column(made.links, "payload_share")[:3] == pytest.approx([1251 / 1700, 450 / 425, 0.9945], abs=5e-4)
    assert column(made.disks, "expected_share") == pytest.approx([1.039, 1.042], abs=5e-4)
    assert "about 50% of the 1 GB/s" in notes(made)
    assert "it is 40%" in notes(made)
    beyond = [row.note for row in law_report(made).sections[0].tables[0].rows if row.note]
    assert len(beyond) == 1, "only the 450 MB/s over two FC 2G"
    asked = law_report(laws.link("1251", "fc-4g", 4))
    assert asked.verdict == "1,251 MB/s is 73.6% of the 1,700 MB/s that 4 x FC 4G carries at most."
    (jumbo,), (resent,) = (laws.link("1160", "10 GbE", 1, *more).links for more in ((9000, "0%"), (1500, "0.5%")))
    assert jumbo.payload_bytes_per_s == pytest.approx(1.25e9 * 8948 / 9038)
    assert resent.payload_bytes_per_s == pytest.approx(0.995 * 1.25e9 * 1448 / 1538)
    assert law_report(laws.link("1160", "10 GbE", 1)).verdict.endswith("the link is the limit.")
    assert law_report(laws.link("1200", "10 GbE", 1)).verdict.endswith("not over this link.")


# Of Kolk: what no cutting and no rounding of the figures makes of them.
MISPRINTS = {
    "M/M/1 of 7.2 ms": {"240.0"},
    "M/M/1 of 8.6 ms": {"24.6", "14.6"},
    "disk": set(),
    "controller": set(),
    "bus": {"7.56", "54.68"},
    "zones": set(),
}


def test_only_known_misprints_differ() -> None:
    small, large = laws.mm1(None, "135,105,75,45", None).queues
    controllers = laws.controller("0.3ms", "160MB/s", KILO).sizes
    zones = laws.zones(1000, 2, "11.5s,17.5s,32.5s", "0.71").tests
    printed: dict[str, list[tuple[str | None, float]]] = {
        "M/M/1 of 7.2 ms": [(row.printed, (row.response_ns or 0) / 1e6) for row in small.rates],
        "M/M/1 of 8.6 ms": [(row.printed, (row.response_ns or 0) / 1e6) for row in large.rates if row.stable],
        "disk": [(row.printed, row.iops) for row in disk().service],
        "controller": [((row.printed or "").split("; ")[0], row.iops) for row in controllers],
        "bus": [(str(row.printed)[6:-1], row.bus_share * 100) for row in controllers if "%" in str(row.printed)],
        "zones": [((row.printed or "").split(", ")[0], row.each_ns / 1e6) for row in zones],
    }
    for name, figures in printed.items():
        assert {said for said, value in figures if said and not _is_printed(said, value)} == MISPRINTS[name], name


def _is_printed(said: str, value: float) -> bool:
    """Rounded or cut."""
    places = 10 ** len(said.partition(".")[2])
    return round(float(said) * places) in (round(value * places), math.floor(value * places))


ALL = (
    disk, lambda: laws.disks_together(30, "50"), lambda: laws.controller("0.3ms", "160MB/s", KILO),
    lambda: laws.raid(4, "1000", "70%", "0,1,10,5,6"),
    lambda: laws.stroke("sata", "1%,100%", "8k", None, None, None, None),
    lambda: laws.zones(1000, 2, "11.5s,17.5s,32.5s", "0.71"), lambda: laws.mm1(None, "135,75", None),
    lambda: laws.mmc(8, "7.2ms", "400,2000"), lambda: laws.mg1("7.2ms", "135,75", "0"),
    lambda: laws.ggc(8, "7.2ms", "400,2000", "1", "7.5"), lambda: laws.ggc(1, "7.2ms", "45", "1", "7.5"),
    lambda: laws.percentiles(1, "7.2ms", "75,200", "50,99.9"), lambda: laws.knees("7.2ms", "1,8", "2.5"),
    lambda: laws.mva("5ms,2ms", "1,4", "0s", None, approximate=False),
    lambda: laws.mva("5ms,2ms", "1,4", "1s", "1,4", approximate=False),
    lambda: laws.mva("5ms,2ms", "1,4", "0s", None, approximate=True), lambda: laws.bounds("5ms,2ms", "1,4", "0s"),
    lambda: laws.usl("1,2,4", None, "1000", "0.05", "0.001"), lambda: laws.usl("1,2", None, "1000", "0.05", "0"),
    lambda: laws.usl("1,2,4,8,16", "100,190,340,500,560", "1", "0", "0"),
    lambda: laws.bucket("3000", "1M", "1000:60s"), lambda: laws.burst("5", "1", "3", "30s"),
    lambda: laws.levels(8, "7.2ms", "400:90%,900:10%"), lambda: laws.volume(None),
    lambda: laws.samples("50,99", "1000"),
    lambda: volume("gp2", "100GiB", "3000", "125MiB/s", "8k"),
    lambda: volume("io2", "100GiB", "300000", "125MiB/s", "8k"), lambda: laws.mix("3000,500", "10000,2000"),
    lambda: laws.cache("200GB", "100GB", "20us", "7ms"), LAWS["rules"],
    lambda: laws.link(None, None, 1), lambda: laws.link("900", "10gbe", 1),
)  # fmt: skip


@pytest.mark.parametrize("made", range(len(ALL)))
def test_every_law_is_shown_in_every_form(made: int) -> None:
    law = ALL[made]()
    report = law_report(law)
    assert report.kind == "model"
    assert report.verdict.endswith(".")
    out = io.StringIO()
    json_report.render(report, out)
    told: Any = msgspec.json.decode(out.getvalue(), type=documents.DOCUMENTS["model"])
    assert told.law == law
    for form in ("terminal", "markdown", "csv"):
        shown = io.StringIO()
        RENDERERS[form].render(report, shown, colour=False, width=80)
        assert len(shown.getvalue()) > 20
        assert form != "terminal" or max(map(len, shown.getvalue().splitlines())) <= 80


def test_each_law_is_told_and_tried() -> None:
    tags = {law.__struct_config__.tag for law in get_args(AnyLaw)}
    assert set(TOLD) == tags
    assert {made().__struct_config__.tag for made in ALL} == tags


@pytest.mark.parametrize(
    ("asked", "says", "hint"),
    [
        (lambda: laws.mm1("8.6ms", "135", None), "not possible: 135 .* 116.3 at most", "stay below 116.3/s"),
        (lambda: laws.mmc(2, "10ms", "200"), "not possible: 200 .* 200 at most", "60%: 120/s"),
        (lambda: laws.mm1("7.2", "45", None), "--service: .*the unit is missing", "100us"),
        (lambda: laws.mm1("-7.2ms", "45", None), "--service: .*negative", "times are written"),
        (lambda: laws.mm1("7.2ms", "-45", None), '--rate: "-45" is negative', "135,105,75"),
        (lambda: laws.mm1("7.2ms", "0", None), "--rate: 0 is not a load", "above 0"),
        (lambda: laws.mm1("7.2ms", "fast", None), '"fast" is not a rate', "135,105,75"),
        (lambda: laws.mm1("7.2ms", ",", None), "--rate is empty", "commas"),
        (lambda: disk(rpm="0"), "does not turn", "15000"),
        (lambda: disk(seek_from="9ms"), "--seek-from is above", "--seek-to"),
        (lambda: laws.disks_together(30, None), "go together", "--iops 50"),
        (lambda: laws.raid(4, "1000", "70", "5"), "--read: .*", "%"),
        (lambda: laws.raid(4, "1000", "70%", "7"), "RAID level '7' is unknown", "0, 1, 10"),
        (lambda: laws.stroke("tape", "1%", "8k", None, None, None, None), "unknown", "sata"),
        (lambda: laws.percentiles(1, "7ms", "45", "100"), "100 is not a percentile", "99.9"),
        (lambda: laws.knees("7ms", "0", "2.5"), '"0" is not a whole number', "1,2,4"),
        (lambda: laws.knees("7ms", "1", "1"), "--multiple", "2.5"),
        (lambda: laws.mva("5ms", "1000000", "0s", None, approximate=False), "take too long", "--approximate"),
        (lambda: laws.usl("1,2,4", "1,2", "1", "0", "0"), "3 loads and 2 rates", "one rate"),
        (lambda: laws.usl("1,2,4", "1,2,3", "1", "0", "0"), "too few", "5 or more"),
        (lambda: laws.bucket("3000", "60000", "1000"), "has no time", "RATE:TIME"),
        (lambda: laws.levels(8, "7ms", "400:90%"), "do not add up to 100%", "10%"),
        (lambda: laws.levels(1, "7ms", "400:100%"), "overloaded", "lower the load"),
        (lambda: volume("gp4", "1TiB", "1", "1MB/s", "8k"), "unknown", "gp3"),
        (lambda: laws.mix("1", "1,2"), "each kind of I/O needs", "one capacity"),
        (lambda: laws.cache("0", "1GB", "1us", "1ms"), "--data: a size of 0", "8k"),
        (lambda: laws.link("1251", "token ring", 1), '--link: "token ring" is unknown', "FC 4G"),
        (lambda: laws.link("1251", None, 4), "go together", "--ports 4"),
        (lambda: laws.link(None, None, 1, 9000), "go together", "--ports 4"),
        (lambda: laws.link("400", "FC 4G", 1, 9000), "FC 4G has no TCP packets", "--mtu and --resent"),
        (lambda: laws.link("400", "10 GbE", 1, 40), "--mtu 40 is too small", "576"),
        (lambda: laws.link("400", "10 GbE", 1, 1500, "100%"), "leaves nothing", "0.5%"),
        (lambda: laws.link("0", "FC 4G", 4), "--mbps: 0 is not a load", "above 0"),
    ],
)  # fmt: skip
def test_bad_input_says_what_and_the_way_out(asked: Any, says: str, hint: str) -> None:
    with pytest.raises(IocastError, match=says) as refused:
        asked()
    assert hint in refused.value.hint
    assert isinstance(refused.value, SpecError | AnalysisError)
