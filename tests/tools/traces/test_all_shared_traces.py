"""Every file of the shared data that is a trace of I/Os reads, or is refused for the right reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from makers.trace_samples import SHARED, WITHOUT_SHARED

from iocast.errors import SourceError
from iocast.tools.traces import TraceOptions, read_traces

pytestmark = pytest.mark.skipif(not SHARED.is_dir(), reason=WITHOUT_SHARED)

# Folders of reports, counters and histograms: no I/O has a line of its own there.
SUMMARIES = {
    "iostat", "latency_histogram_sources", "moats_ioh", "oracle_awr", "oracle_orion", "oracle_statspack", "proc",
    "vdbench",
}  # fmt: skip
# What must be said of a trace that does not say it.
SAID: dict[str, dict[str, Any]] = {
    "block_csv/lirs_multi1.trace.gz": {"block_size_bytes": 4096},
    "block_csv/lirs_sprite.trace.gz": {"block_size_bytes": 4096},
    "block_csv/mqsim_tpcc_small.trace": {"format": "mqsim"},
    "block_csv/ssdsim_example.ascii": {"format": "ssdsim"},
}
# Format, lines, accepted, rejected, events.
READ = {
    "blktrace/keks.blktrace.3": ("blktrace", 1_548, 1_476, 0, 270),
    "blktrace/keks_blkparse.txt": ("blkparse", 2_482, 2_398, 0, 1_192),
    "blktrace/sample.blktrace.0": ("blktrace", 6_743, 2_889, 0, 963),
    "blktrace/wiscsee_blkparse.txt": ("blkparse", 757, 677, 0, 677),
    "block_csv/alibaba_fragment.csv": ("alibaba", 6, 6, 0, 6),
    "block_csv/cloudphysics_part.csv": ("cloudphysics", 40_000, 39_999, 0, 39_999),
    "block_csv/disksim_ascii.trace": ("disksim", 30_000, 30_000, 0, 30_000),
    "block_csv/disksim_barracuda.trace": ("disksim_validation", 10_000, 10_000, 0, 10_000),
    "block_csv/lirs_multi1.trace.gz": ("references", 15_858, 15_858, 0, 15_858),
    "block_csv/lirs_sprite.trace.gz": ("references", 133_996, 133_996, 0, 133_996),
    "block_csv/mqsim_tpcc_small.trace": ("mqsim", 6_999, 6_999, 0, 6_999),
    "block_csv/msr_fragment.csv": ("msr", 6, 6, 0, 6),
    "block_csv/spc_spec_example.spc": ("spc", 11, 10, 1, 10),
    "block_csv/ssdsim_example.ascii": ("ssdsim", 10_000, 10_000, 0, 10_000),
    "bpf_tools/bcc_biosnoop_example.txt": ("snoop_table", 81, 21, 0, 21),
    "bpf_tools/perftools_iosnoop_example.txt": ("snoop_table", 302, 95, 0, 95),
    "fio_iolog/local__iolog_redo_v3.txt": ("fio_iolog", 1_002, 998, 0, 998),
    "fio_iolog/local__iolog_scan_v2_derived.txt": ("fio_iolog", 244, 120, 0, 120),
    "fio_iolog/local__iolog_scan_v3.txt": ("fio_iolog", 124, 120, 0, 120),
    "fio_output/local__fl_clat.2.log": ("fio_log", 499, 499, 0, 499),
    "fio_output/local__fl_lat.3.log": ("fio_log", 120, 120, 0, 120),
    "oracle_10046/ora11204_oci12c_client.trc": ("oracle_10046", 4_269, 32, 0, 32),
    "oracle_10046/ora12101_dbfsr_part1.trc": ("oracle_10046", 14_800, 14_395, 0, 14_395),
    "oracle_10046/ora12102_mutex_waits.trc": ("oracle_10046", 2_137, 5, 0, 5),
    "oracle_10046/ora12201_pdb_session1.trc": ("oracle_10046", 4_226, 8, 0, 8),
    "oracle_10046/ora12201_pdb_session2.trc": ("oracle_10046", 297, 3, 0, 3),
    "oracle_10046/ora1910_direct_path_temp.trc": ("oracle_10046", 20, 20, 0, 20),
    "oracle_10046/ora8174_9206_10104_waits.txt": ("oracle_10046", 35, 16, 8, 16),
    "oracle_10046/trctools_broken_trace.trc": ("oracle_10046", 60, 1, 3, 1),
    "oracle_10046/trctools_mixed_execs.trc": ("oracle_10046", 123, 7, 0, 7),
    "perf_ftrace_block/pg_perf_script_part1.txt": ("block_events", 5_200, 4_703, 0, 1_567),
    "strace/arastoob__multithread_strace1.log": ("strace", 2_105, 257, 0, 244),
    "strace/local__strace_pg_tt_y.txt": ("strace", 1_855, 1_850, 0, 1_630),
    "strace/pg_ttt_T_yy_tail.txt": ("strace", 3_161, 838, 0, 657),
    "strace/sqlite_wal_part.txt": ("strace", 4_000, 1_548, 0, 1_548),
}
NO_TRACE = "no trace format|has no latency of single I/Os"
REFUSED = {
    "blktrace/btt_keks.txt": "a report of btt",
    "bpf_tools/bcc_biopattern_example.txt": "the output of biopattern",
    "bpf_tools/bcc_cachestat_example.txt": "the output of cachestat",
    "bpf_tools/bcc_filetop_example.txt": "the output of filetop",
    "bpf_tools/bcc_xfsslower_example.txt": "the output of a tool for slow I/Os",
    "bpf_tools/bpftrace_vfsstat_example.txt": "the output of vfsstat",
    "bpf_tools/perftools_bitesize_example.txt": "the output of bitesize",
    "proc/nfs4_mountstats_b.txt": "a copy of /proc/self/mountstats",
    "proc/procfs_mountstats.txt": "a copy of /proc/self/mountstats",
    "blktrace/leveldb_blkparse.txt": "completions only",
    "vdbench/R10PG1_oltp_32hreads_curve__parmfile.html": "is a parameter file of vdbench, not its result",
    "oracle_10046/ora11204_short.trc": "no I/O in 32 lines",
    "oracle_10046/ora19120_fetch500.trc": "no I/O in 2053 lines",
    "oracle_10046/trctools_lobs.trc": "no I/O in 65 lines",
    "oracle_10046/trctools_parse_error.trc": "no I/O in 36 lines",
    "oracle_10046/trctools_stray_close.trc": "no I/O in 26 lines",
    "fio_output/fio_plot_hdd10k_rr16_lat.1.log": "four columns",
    "fio_output/fio_plot_sata_ssd_rr16_lat.1.log": "four columns",
    "fio_output/local__la_clat.1.log": "an average of several I/Os",
    "fio_output/local__la_lat.1.log": "an average of several I/Os",
}


def _files() -> Iterator[str]:
    """All but `reports`, which are still read wrongly."""
    if SHARED.is_dir():
        yield from (
            str(path.relative_to(SHARED)) for path in sorted(SHARED.glob("*/*")) if path.parent.name != "reports"
        )


@pytest.mark.parametrize("name", list(_files()))
def test_a_file_reads_or_is_refused(tmp_path: Path, name: str) -> None:
    to = tmp_path / "events.parquet"
    source, options = (str(SHARED / name),), TraceOptions(**SAID.get(name, {}))
    if name not in READ and not name.startswith("blktrace/keks.blktrace."):
        with pytest.raises(SourceError, match=REFUSED.get(name, NO_TRACE)) as refusal:
            read_traces(source, str(to), options)
        assert refusal.value.hint
        assert not to.exists()
        return
    (file,) = read_traces(source, str(to), options).files
    assert name.partition("/")[0] not in SUMMARIES
    assert file.lines_accounted() == file.lines
    found = (file.format, file.lines, file.accepted, sum(file.rejected.values()), file.events)
    assert found == READ.get(name, found)
    assert not any("check the unit" in note for note in file.notes)


def test_all_block_requests_of_the_perf_trace_have_their_completion(tmp_path: Path) -> None:
    name = "perf_ftrace_block/pg_perf_script_part1.txt"
    (file,) = read_traces((str(SHARED / name),), str(tmp_path / "e.parquet")).files
    assert file.figures["issue_to_completion"] + file.figures["issued_without_completion"] == file.events
    assert file.figures["issued_without_completion"] <= 2  # the trace is cut
    assert file.figures["completed_without_issue"] <= 2


def test_a_session_of_oracle_waits_for_one_io_at_a_time(tmp_path: Path) -> None:
    name = "oracle_10046/ora12101_dbfsr_part1.trc"
    (file,) = read_traces((str(SHARED / name),), str(tmp_path / "e.parquet")).files
    assert file.figures["ios_under_way_thousandths"] == 984
