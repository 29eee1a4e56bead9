"""Output of tools that has no single I/Os is refused by its name, whoever reads it."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.errors import SourceError
from iocast.tools import importers
from iocast.tools.traces import read_traces

OUTPUTS = {
    "a report of btt": "==================== All Devices ====================\n\n            ALL           MIN\n",
    "the output of cachestat": "# cachestat\n    HITS   MISSES  DIRTIES HITRATIO\n    1132        0        4  99.9%\n",
    "the output of filetop": "08:00:23 loadavg: 0.91\n\nTID    COMM             READS  WRITES R_Kb    W_Kb    T FILE\n",
    "the output of biopattern": "TIME      DISK     %RND  %SEQ    COUNT     KBYTES\n22:03:51  vdb  0  99  788  3184\n",
    "the output of a tool for slow I/Os": (
        "Tracing ext4 operations slower than 10 ms\n"
        "TIME     COMM           PID    T BYTES   OFF_KB   LAT(ms) FILENAME\n"
        "06:23:06 fio            32497  R 8192    24938024   17.93 data1\n"
    ),
    "the output of bitesize": "            Kbytes         : I/O      Distribution\n   -> 0.9       : 0        |   |\n",
    "the output of vfsstat": "Attaching 8 probes...\n21:30:38\n@[vfs_write]: 1274\n",
    "a copy of /proc/self/mountstats": "device proc mounted on /proc with fstype proc\n",
}


@pytest.mark.parametrize("says", OUTPUTS)
def test_a_summary_is_named_and_the_way_out_is_a_trace(tmp_path: Path, says: str) -> None:
    path, to = tmp_path / "a.txt", tmp_path / "events.parquet"
    path.write_text(OUTPUTS[says])
    with pytest.raises(SourceError) as as_trace:
        read_traces((str(path),), str(to))
    with pytest.raises(SourceError) as as_result:
        importers.read((str(path),))
    for refusal in (as_trace.value, as_result.value):
        assert refusal.message.startswith(f"{path} is {says}")
        assert "capture" in refusal.hint or "blktrace" in refusal.hint
    assert not to.exists()


@pytest.mark.parametrize(
    ("name", "content", "says", "way_out"),
    [
        ("a.fio", b"[global]\nrw=randread\nbs=8k\n[a]\nsize=64m\n", "a job for fio, not its result", "iocast run {}"),
        ("p.txt", b"sd=sd1,lun=/dev/sdb\nwd=w,sd=sd1,xfersize=8k\nrd=r,wd=w,elapsed=9\n", "a parameter file", "run {}"),
        ("a.toml", b'[[phase]]\ntest = "r"\nop = "read"\n', "a job of iocast, not a result", "iocast run {}"),
        ("sa27", b"\x96\xd5\x75\x21" + bytes(60), "the binary file that `sar -o` writes", "sar -d -f {} > sar.txt"),
        ("sa28", b"\xd5\x96\x21\x75" + bytes(60), "the binary file that `sar -o` writes", "sar -d -f {} > sar.txt"),
        ("db.parquet", b"PAR1\x15\x04" + bytes(9) + b"\xff", "a Parquet table, no result", "iocast profile {}"),
        ("f_lat.1.log.fz", b"\x78\x9c\x01\x02", "a compressed log of fio", "fio --inflate-log={} > "),
    ],
)
def test_what_is_no_result_is_named_with_the_command_that_is_meant(
    tmp_path: Path, name: str, content: bytes, says: str, way_out: str
) -> None:
    (path := tmp_path / name).write_bytes(content)
    with pytest.raises(SourceError) as refused:
        importers.read((str(path),))
    assert f"{path} is {says}" in refused.value.message
    assert way_out.format(path) in (refused.value.hint or "")
