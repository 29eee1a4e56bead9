"""fio's job files of the fixtures, and the phases that they become."""

from __future__ import annotations

ENVIRONMENT = {"IOCAST_TEST_SIZE": "1g", "IOCAST_TEST_SECONDS": "5", "IOCAST_TEST_DEPTH": "4"}


# Job file -> the names of its phases.
RUN: dict[str, list[str]] = {
    "backup_restore": ["backup 1M 1x4", "restore 1M 1x4"],
    "backwards_and_holes": ["backwards 64k 1x1", "skip-scan 64k 1x1"],
    "cloud_volume_profile": [
        "read-iops 16k 8x32 warm",
        "read-iops 16k 8x32",
        "write-iops 16k 8x32 warm",
        "write-iops 16k 8x32",
        "read-throughput 1M 4x32 warm",
        "read-throughput 1M 4x32",
        "write-latency 4k 1x1 warm",
        "write-latency 4k 1x1",
    ],
    "dedupe": ["vdi 4k 1x16"],
    "etcd_fdatasync": ["etcd 2300 1x1"],
    "fio_sh_randread": ["job1 8k 4x1"],
    "fio_sh_read": ["job0 1M 8x1"],
    "fio_sh_write": ["job0 8k 2x1"],
    "from_environment": ["a 8k 1x4"],
    "hot_fifth": ["hot 4k 1x16"],
    "kb_base": ["decimal 4k 1x1"],
    "latency_profile": ["qd1 4k 1x1", "qd4 4k 1x4", "qd16 4k 1x16", "qd64 4k 1x64"],
    "log_writer_dsync": ["redo 4k 1x1"],
    "log_writer_fsync": ["wal 8k 1x1"],
    "logs": ["randread 4k 1x32"],
    "mixed_sizes": ["fileserver 4k+32k+64k 1x8", "database 8k+16k+128k 1x8", "pages-and-log 8k+64k 1x1"],
    "mongodb_zipf": ["cache-misses 32k 1x64"],
    "mysql_doublewrite": ["pages 16k 1x32", "doublewrite 1M 1x1"],
    "oltp_mixed": ["oltp 8k 4x16"],
    "oltp_and_log_at_once": ["data 8k 1x32", "redo 4k 1x1"],
    "own_files": ["seq-writers 128k 4x1"],
    "parts_of_a_file": ["parts 128k 4x1"],
    "postgres_buffered": ["index 8k 16x1", "checkpoint 8k 1x1 fsync/32"],
    "rate_bandwidth": ["stream 1M 1x8 @200/s"],
    "rate_limited": ["paced 8k 4x32 @1000/s"],
    "rate_poisson": ["open 8k 1x64 @1000/s"],
    "several_sections": ["prepare 64k 1x1 warm", "warm 64k 1x1 warm", "measure 8k 1x1", "scan 1M 1x1"],
    "slide": ["read_8k 8k 1x1"],
    "thinktime": ["clerk 8k 20x1"],
    "trims": ["discard 1M 1x1"],
    "verify_later": ["write 8k 1x16", "other 8k 1x1", "verify"],
    "verify_writes": ["write-and-verify 4k 1x16", "verify"],
}
