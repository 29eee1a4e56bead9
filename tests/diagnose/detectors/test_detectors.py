"""Each detector finds its fault in a run that has it, and nothing in a sound one."""

from __future__ import annotations

import ast
import errno
import inspect
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, get_args

import msgspec
import pytest
from makers import card_runs

from iocast import metrics
from iocast.analyse.facts import Facts
from iocast.diagnose import detectors, examination
from iocast.diagnose.detectors.limits import credits
from iocast.diagnose.detectors.measurement import failures, impossible
from iocast.diagnose.detectors.shortcuts import cached
from iocast.diagnose.limits import by_load
from iocast.diagnose.limits.links import Links, links_below
from iocast.model.codes import FindingCode
from iocast.model.finding import Finding
from iocast.model.measurement import ErrorCount, ErrorPlace
from iocast.model.run import PhaseRecord, Run, Sample, Series, Source
from iocast.model.target import Layer
from iocast.model.workload import MixItem, Op, Workload

SECOND_NS = card_runs.SECOND_NS
GIB = card_runs.GIB
replace = msgspec.structs.replace


def _only(found: list[Finding]) -> Finding:
    assert len(found) == 1, [finding.code for finding in found]
    return found[0]


def _fast_scan(bytes_per_s: float) -> PhaseRecord:
    """A scan that keeps many I/Os outstanding, so that each may take its time."""
    each_ns = 64 * (1 << 20) * 1e9 / bytes_per_s
    times = card_runs.histogram((each_ns, 20_000))
    return card_runs.reads("read 1M", size_bytes=1 << 20, sequential=True, depth=64, times=times)


def _seeing(share: float, *, direct: bool = True, cached_share: float = 0.0) -> PhaseRecord:
    """A phase whose device delivered `share` of what was read, and whose files became cached by so much."""
    base = card_runs.reads(direct=direct)
    read = int(base.measurement.bytes * share)
    samples = card_runs.diskstats(
        base.measurement.elapsed_ns, reads=read // 8192, read_bytes=read, writes=0, written_bytes=0
    )
    for at, value in ((0, 0.0), (1, cached_share * 8 * GIB)):
        samples += (
            Sample(at, "pagecache", "f", "cached_bytes", value),
            Sample(at, "pagecache", "f", "file_bytes", 8 * GIB),
        )
    return replace(base, samples=samples)


def test_a_sound_run_has_no_findings() -> None:
    assert examination.examine(card_runs.quick_card()).findings == ()


def test_faster_than_the_memory_of_all_cores_is_void() -> None:
    ceiling = 9e9 * 8
    unknown_link = replace(card_runs.TARGET, layers=())
    assert not list(impossible.detect(Facts(card_runs.run(_fast_scan(0.85 * ceiling), target=unknown_link))))
    found = _only(list(impossible.detect(Facts(card_runs.run(_fast_scan(0.95 * ceiling), target=unknown_link)))))
    assert (found.code, found.severity, found.phase) == ("faster_than_memory", "void", "read 1M")
    assert "68 GB/s" in found.says


def test_unknown_memory_bandwidth_accuses_no_one() -> None:
    host = replace(card_runs.HOST, memory_bytes_per_s=None)
    unknown_link = replace(card_runs.TARGET, layers=())
    assert not list(impossible.detect(Facts(card_runs.run(_fast_scan(1e12), target=unknown_link, host=host))))


def test_faster_than_the_link_is_void() -> None:
    assert not list(impossible.detect(Facts(card_runs.run(_fast_scan(3_938_000_000)))))
    found = _only(list(impossible.detect(Facts(card_runs.run(_fast_scan(4_300_000_000))))))
    assert (found.code, found.severity) == ("faster_than_the_link", "void")
    assert found.says.startswith("Reads ran at 4.3 GB/s, 9.19% above the 3.9 GB/s that its link carries: a cache on")


_FC = {"link": "FC 2 Gbit", "link_bytes_per_s": 200_000_000}
_TWO_PATHS = replace(
    card_runs.TARGET,
    layers=(
        replace(card_runs.VDA1, name="dm-0", kind="multipath", lower=("sda", "sdb")),
        *(replace(card_runs.VDA, name=name, **_FC) for name in ("sda", "sdb")),
    ),
)


def test_two_paths_of_2_gbit_fibre_channel_carry_400_mb_per_s() -> None:
    """Source row X1: what is above was not read from storage; 450 MB/s were taken for full bandwidth."""

    def of(bytes_per_s: float) -> list[Finding]:
        return list(impossible.detect(Facts(card_runs.run(_fast_scan(bytes_per_s), target=_TWO_PATHS))))

    assert of(398e6) == []
    above = _only(of(450e6))
    assert above.says == (
        "Reads ran at 450 MB/s, 12.5% above the 400 MB/s that its 2 paths of 200 MB/s carry:"
        " a cache on this side of it answered at least 11% of them."
    )
    assert above.evidence["paths"] == 2
    memory = _only(of(1e9))
    assert "150% above the 400 MB/s" in memory.says
    assert memory.says.endswith(": impossible, memory answered at least 60% of them.")
    full = card_runs.run(_fast_scan(390e6), target=_TWO_PATHS)
    assert by_load.bounds(Facts(full))["read 1M"].by == "link"


def test_512_mb_at_815_mb_per_s_is_too_short() -> None:
    """0.63 s of a cached copy (source row X1): no whole second was recorded."""
    scan = _fast_scan(815e6)
    lasted_ns = round(512e6 / 815e6 * SECOND_NS)
    short = replace(scan, measurement=replace(scan.measurement, elapsed_ns=lasted_ns), series=Series())
    (reason,) = [part.reason for part in examination.examine(card_runs.run(short)).trust["read 1M"].components][2:3]
    assert reason == "Too short to judge steadiness: 628 ms; 30 s needed."


def _linked(name: str, link: int | None, *lower: str) -> Layer:
    return Layer(name=name, kind="disk", major=8, minor=0, lower=lower, link_bytes_per_s=link)


def test_paths_side_by_side_add_up_and_one_unknown_path_hides_the_ceiling() -> None:
    top = _linked("mpatha", None, "sda", "sdb")
    two = replace(card_runs.TARGET, layers=(top, _linked("sda", 200), _linked("sdb", 300)))
    assert links_below(top, two) == Links((200, 300))
    unknown = replace(card_runs.TARGET, layers=(top, _linked("sda", 200), _linked("sdb", None)))
    assert links_below(top, unknown) is None
    bridged = _linked("nbd0", 150, "sda")
    assert links_below(bridged, two) == Links((150,))


@pytest.mark.parametrize(("median_ns", "void"), [(4_000, True), (9_000, False)])
def test_too_quick_for_a_device(median_ns: int, void: bool) -> None:
    record = card_runs.reads(times=card_runs.histogram((median_ns, 50_000)))
    found = list(impossible.detect(Facts(card_runs.run(record))))
    assert [finding.code for finding in found] == (["too_quick_for_a_device"] if void else [])


def test_pmem_may_be_that_quick() -> None:
    pmem = replace(card_runs.VDA, kind="pmem", link_bytes_per_s=None)
    target = replace(card_runs.TARGET, layers=(pmem,))
    record = card_runs.reads(times=card_runs.histogram((1_000, 50_000)))
    assert not list(impossible.detect(Facts(card_runs.run(record, target=target))))


def test_a_device_in_memory_is_told_unless_there_is_a_disk_beside_it() -> None:
    zram = replace(card_runs.VDA, name="zram0", kind="zram", lower=(), link_bytes_per_s=None)
    disk = replace(zram, name="sda", kind="disk")
    for layers, told in (((zram,), ["memory_device"]), ((zram, disk), [])):
        target = replace(card_runs.TARGET, layers=layers)
        found = list(impossible.detect(Facts(card_runs.run(card_runs.reads(), target=target))))
        assert [finding.code for finding in found] == told


def test_a_file_system_in_memory_is_told_once_for_the_whole_run() -> None:
    target = replace(card_runs.TARGET, filesystem="tmpfs", layers=())
    run = card_runs.run(_fast_scan(1e12), card_runs.reads(), target=target)
    found = _only(list(examination.examine(run).findings))
    assert (found.code, found.severity, found.phase) == ("memory_file_system", "severe", "")


def test_a_simulated_device_may_do_anything() -> None:
    run = card_runs.run(_fast_scan(1e15), _seeing(0.0), target=card_runs.SIMULATED)
    assert examination.examine(run).findings == ()


@pytest.mark.parametrize(("share", "names"), [(0.96, []), (0.5, ["cached_although_direct_was_claimed"])])
def test_direct_reads_that_the_device_did_not_see(share: float, names: list[str]) -> None:
    found = list(cached.detect(Facts(card_runs.run(_seeing(share)))))
    assert [finding.code for finding in found] == names
    assert all(finding.severity == "void" for finding in found)


def test_direct_reads_that_fill_the_page_cache() -> None:
    assert not list(cached.detect(Facts(card_runs.run(_seeing(1.0, cached_share=0.04)))))
    found = _only(list(cached.detect(Facts(card_runs.run(_seeing(1.0, cached_share=0.4))))))
    assert found.severity == "void"
    assert "40% of the test files" in found.says


LOOP = Layer(name="loop0", kind="loop", major=7, minor=0, lower=("vda",))


def _over_a_disk(top: Layer, share: float, workload: Workload) -> Run:
    """A test whose every byte the top layer moved, and the disk below it `share` of them."""
    item = workload.mix[0]
    did = card_runs.measurement((card_runs.part(item.op, 8192, card_runs.histogram((20_000, 40_000))),))
    metric = {"read": "read_bytes", "write": "written_bytes"}[item.op]
    samples: tuple[Sample, ...] = ()
    for layer, moved in ((top.name, 1.0), ("vda", share)):
        counters = {"reads": 1000 * moved, "writes": 1000 * moved, "read_bytes": 0.0, "written_bytes": 0.0}
        samples += card_runs.diskstats(did.elapsed_ns, layer=layer, **{**counters, metric: moved * did.bytes})
    target = replace(card_runs.TARGET, kind="block", filesystem=None, layers=(top, card_runs.VDA))
    return card_runs.run(card_runs.record("row", workload, did, samples), target=target)


@pytest.mark.parametrize(("op", "did"), [("read", "delivered"), ("write", "received")])
def test_a_loop_device_that_keeps_a_cache_of_its_own(op: Op, did: str) -> None:
    workload = Workload(mix=(MixItem(op, 8192),))
    assert not list(cached.detect(Facts(_over_a_disk(LOOP, 1.0, workload))))
    found = _only(list(cached.detect(Facts(_over_a_disk(LOOP, 0.02, workload)))))
    assert (found.code, found.severity) == ("cached_although_direct_was_claimed", "void")
    assert found.says.startswith(f"vda, below loop0, {did} only 2% of the bytes")
    assert "--direct-io=on" in found.remedy


def test_a_disk_below_a_loop_device_that_moved_nothing_is_a_cache_too() -> None:
    found = _only(list(cached.detect(Facts(_over_a_disk(LOOP, 0.0, Workload(mix=(MixItem("read", 8192),)))))))
    assert (found.severity, "delivered none of the bytes" in found.says) == ("void", True)


def test_paths_that_are_not_counted_accuse_no_one() -> None:
    """NVMe multipath on older kernels: the paths below the disk stand still."""
    head = replace(LOOP, name="nvme0n1", kind="multipath")
    assert not list(cached.detect(Facts(_over_a_disk(head, 0.0, Workload(mix=(MixItem("read", 8192),))))))


def test_a_layer_that_compresses_is_not_accused_of_caching() -> None:
    vdo = replace(LOOP, name="dm-0", kind="vdo")
    found = _only(list(cached.detect(Facts(_over_a_disk(vdo, 0.5, Workload(mix=(MixItem("read", 8192),)))))))
    assert (found.severity, "vdo may also have compressed it" in found.says) == ("severe", True)


def test_counters_that_stand_still_are_severe_but_not_void() -> None:
    found = _only(list(cached.detect(Facts(card_runs.run(_seeing(0.0))))))
    assert (found.code, found.severity) == ("device_counters_stood_still", "severe")


def test_a_file_system_that_compresses_is_not_accused_of_caching() -> None:
    target = replace(card_runs.TARGET, filesystem="btrfs")
    found = _only(list(cached.detect(Facts(card_runs.run(_seeing(0.5), target=target)))))
    assert found.severity == "severe"
    assert "btrfs may also have compressed it" in found.says


@pytest.mark.parametrize(("share", "severity"), [(0.1, "severe"), (0.7, "warn"), (1.0, None)])
def test_buffered_reads_from_the_page_cache(share: float, severity: str | None) -> None:
    found = list(cached.detect(Facts(card_runs.run(_seeing(share, direct=False)))))
    assert [finding.severity for finding in found] == ([severity] if severity else [])
    assert all(finding.code == "page_cache" for finding in found)


def test_buffered_writes_that_stay_in_memory() -> None:
    workload = Workload(mix=(MixItem("write", 8192),), direct=False)
    did = card_runs.measurement((card_runs.part("write", 8192, card_runs.histogram((5_000, 90_000))),))
    samples = card_runs.diskstats(did.elapsed_ns, reads=0, read_bytes=0, writes=1000, written_bytes=did.bytes // 5)
    found = _only(list(cached.detect(Facts(card_runs.run(card_runs.record("write 8k", workload, did, samples))))))
    assert found.severity == "severe"
    assert found.says == (
        "80% of the bytes written did not reach the device: they stayed in the page cache, or were overwritten there."
    )


def _imported(*unstated: str) -> Run:
    """Quick buffered reads that another tool made: nobody knows how much data there was, nor the memory."""
    record = card_runs.reads(times=card_runs.histogram((4_000, 50_000)), direct=False, samples=())
    files = tuple(replace(file, size_bytes=0) for file in record.plan.files)
    record = replace(record, plan=replace(record.plan, files=files), unstated=unstated)
    return card_runs.run(record, host=replace(card_runs.HOST, memory_bytes=0), source=Source(tool="fio"))


@pytest.mark.parametrize("field", ["direct", "users", "depth"])
def test_reads_of_which_it_is_not_said_how_they_were_made_are_not_accused(field: str) -> None:
    assert not list(cached.detect(Facts(_imported(field))))


def test_a_size_that_is_not_known_is_not_compared() -> None:
    found = _only(list(cached.detect(Facts(_imported()))))
    assert found.says == ("Buffered reads whose bytes at the device were not measured: p50 is 4 µs.")


def _failing(count: int, *, errno: int = 5, **changes: Any) -> PhaseRecord:
    error = ErrorCount("read", errno, "EIO" if errno else "end of file", count, (ErrorPlace(1, 0, 4096),))
    return card_runs.reads(times=card_runs.histogram((250_000, 100)), errors=(error,), **changes)


@pytest.mark.parametrize(("count", "severity"), [(1, "severe"), (99, "severe"), (100, "void")])
def test_errors_are_severe_and_void_when_they_are_half(count: int, severity: str) -> None:
    found = _only(list(failures.detect(Facts(card_runs.run(_failing(count))))))
    assert (found.code, found.severity) == ("errors", severity)


def test_an_end_of_file_is_called_by_its_name() -> None:
    found = _only(list(failures.detect(Facts(card_runs.run(_failing(3, errno=0))))))
    assert found.code == "end_of_file"
    assert "3 I/Os failed" in found.says


def _cut_short(record: PhaseRecord, *sizes: int) -> PhaseRecord:
    """The row, its first file seen with these sizes."""
    path = record.plan.files[0].path
    seen = (Sample(1, metrics.PAGECACHE, path, metrics.FILE_BYTES, float(size)) for size in sizes)
    return replace(record, samples=(*record.samples, *seen))


def test_a_file_that_shrank_is_named_with_or_without_errors() -> None:
    record = _failing(3, errno=0)
    (file,) = record.plan.files
    end = file.start_bytes + file.size_bytes
    assert "shrank" not in _only(list(failures.detect(Facts(card_runs.run(_cut_short(record, end, end + 5)))))).says
    failed = _only(list(failures.detect(Facts(card_runs.run(_cut_short(record, end, 1 << 20, 2 << 20))))))
    assert failed.code == "end_of_file"
    assert f": {file.path} shrank from " in failed.says
    assert " to 1.0 MiB" in failed.says
    assert "truncates" in failed.remedy
    quiet = replace(record, measurement=replace(record.measurement, errors=()))
    written = _only(list(failures.detect(Facts(card_runs.run(_cut_short(quiet, end, 1 << 20))))))
    assert (written.code, written.severity) == ("file_shrank", "severe")
    assert written.evidence == {"lost_bytes": float(end - (1 << 20))}


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_storage_that_is_full_is_told_with_the_way_out(number: int) -> None:
    found = _only(list(failures.detect(Facts(card_runs.run(_failing(3, errno=number))))))
    assert found.remedy.startswith("The storage ran out of space: free or add some")


def test_nothing_done_is_void() -> None:
    found = _only(list(failures.detect(Facts(card_runs.run(card_runs.reads(times=card_runs.histogram()))))))
    assert (found.code, found.severity) == ("nothing_done", "void")


def test_short_ios_hung_and_interrupted() -> None:
    base = card_runs.reads()
    short = replace(base.measurement.classes[0], short_ios=5)
    ends: list[tuple[dict[str, Any], str, str]] = [
        ({"classes": (short,)}, "short_ios", "warn"),
        ({"stopped": "hung", "abandoned_ios": 3}, "hung", "void"),
        ({"stopped": "errors"}, "stopped_by_errors", "severe"),
        ({"stopped": "interrupted"}, "interrupted", "note"),
    ]
    for changes, name, severity in ends:
        record = replace(base, measurement=replace(base.measurement, **changes))
        found = _only(list(failures.detect(Facts(card_runs.run(record)))))
        assert (found.code, found.severity) == (name, severity)


def test_findings_come_gravest_first_and_void_rows_say_why() -> None:
    examined = examination.examine(card_runs.troubled_card())
    severities = [finding.severity for finding in examined.findings]
    assert severities == sorted(severities, key=examination.SEVERITIES.index)
    assert examined.trust["randread 8k"].void.startswith("The device delivered only 12%")
    assert set(examined.trust) == {record.phase.name for record in card_runs.troubled_card().measured}


def test_every_finding_bears_a_code_that_its_detector_declares() -> None:
    for detector in detectors.DETECTORS:
        module = sys.modules[str(getattr(detector, "__name__", ""))]
        given = {name for node in _findings(module) for name in _strings(module, node)}
        assert given, detector
        assert given <= {*detectors.codes(detector)}, detector


def test_no_two_detectors_declare_one_code() -> None:
    declared = [code for detector in detectors.DETECTORS for code in detectors.codes(detector)]
    assert sorted(set(declared)) == sorted(declared)
    assert {*declared} == {*get_args(FindingCode)}, "every code has its detector"


def _findings(module: ModuleType) -> Iterator[ast.expr]:
    """What each Finding(...) of a module is given as its code."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Finding":
            yield next(each.value for each in node.keywords if each.arg == "code")


def _strings(module: ModuleType, node: ast.expr) -> set[str]:
    """The strings that an expression may be: a literal, a name of the module, or one of two."""
    match node:
        case ast.Constant(value=str(text)):
            return {text}
        case ast.Name(id=name):
            return {getattr(module, name)}
        case ast.IfExp(body=one, orelse=other):
            return _strings(module, one) | _strings(module, other)
    raise AssertionError(ast.dump(node))


def test_every_detector_explains_itself_under_the_five_headings() -> None:
    headings = ("What it is:", "Why it matters:", "How it shows:", "How to confirm:", "What to change:")
    for detector in detectors.DETECTORS:
        text = detector.__doc__ or ""
        positions = [text.find(heading) for heading in headings]
        assert -1 not in positions, detector
        assert positions == sorted(positions), detector


def test_trims_move_no_data() -> None:
    """A hole of 64 KiB is punched in no time; that many bytes a second have gone nowhere."""
    times = card_runs.histogram((500, 20_000))
    load = Workload(mix=(MixItem("trim", 1 << 16),))
    record = card_runs.record("trims", load, card_runs.measurement([card_runs.part("trim", 1 << 16, times)]))
    assert record.measurement.bytes_per_s > 9e9 * 8
    assert not list(impossible.detect(Facts(card_runs.run(record, target=replace(card_runs.TARGET, layers=())))))


def test_what_a_cache_of_this_machine_answered_spent_no_credits() -> None:
    """One user was answered from memory, eight by the disk: that is a fall, and nobody has saved anything."""
    assert credits.CODE not in [found.code for found in examination.examine(card_runs.troubled_card()).findings]
