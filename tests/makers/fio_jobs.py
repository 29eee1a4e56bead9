"""fio's job files of the fixtures, and the phases that they become."""

from __future__ import annotations

ENVIRONMENT = {"IOCAST_TEST_SIZE": "1g", "IOCAST_TEST_SECONDS": "5", "IOCAST_TEST_DEPTH": "4"}


# Job file -> the names of its phases.
RUN: dict[str, list[str]] = {
    "backup_restore": ["backup 1M x1 d4", "restore 1M x1 d4"],
    "backwards_and_holes": ["backwards 64k x1", "skip-scan 64k x1"],
    "cloud_volume_profile": [
        "read-iops 16k x8 d32 warm",
        "read-iops 16k x8 d32",
        "write-iops 16k x8 d32 warm",
        "write-iops 16k x8 d32",
        "read-throughput 1M x4 d32 warm",
        "read-throughput 1M x4 d32",
        "write-latency 4k x1 warm",
        "write-latency 4k x1",
    ],
    "dedupe": ["vdi 4k x1 d16"],
    "etcd_fdatasync": ["etcd 2300 x1"],
    "fio_sh_randread": ["job1 8k x4"],
    "fio_sh_read": ["job0 1M x8"],
    "fio_sh_write": ["job0 8k x2"],
    "from_environment": ["a 8k x1 d4"],
    "hot_fifth": ["hot 4k x1 d16"],
    "kb_base": ["decimal 4k x1"],
    "latency_profile": ["qd1 4k x1", "qd4 4k x1 d4", "qd16 4k x1 d16", "qd64 4k x1 d64"],
    "log_writer_dsync": ["redo 4k x1"],
    "log_writer_fsync": ["wal 8k x1"],
    "logs": ["randread 4k x1 d32"],
    "mixed_sizes": ["fileserver 4k+32k+64k x1 d8", "database 8k+16k+128k x1 d8", "pages-and-log 8k+64k x1"],
    "mongodb_zipf": ["cache-misses 32k x1 d64"],
    "mysql_doublewrite": ["pages 16k x1 d32", "doublewrite 1M x1"],
    "oltp_mixed": ["oltp 8k x4 d16"],
    "oltp_and_log_at_once": ["data 8k x1 d32", "redo 4k x1"],
    "own_files": ["seq-writers 128k x4"],
    "parts_of_a_file": ["parts 128k x4"],
    "postgres_buffered": ["index 8k x16", "checkpoint 8k x1"],
    "rate_bandwidth": ["stream 1M x1 d8 @200/s"],
    "rate_limited": ["paced 8k x4 d32 @1000/s"],
    "rate_poisson": ["open 8k x1 d64 @1000/s"],
    "several_sections": ["prepare 64k x1 warm", "warm 64k x1 warm", "measure 8k x1", "scan 1M x1"],
    "slide": ["read_8k 8k x1"],
    "thinktime": ["clerk 8k x20"],
    "trims": ["discard 1M x1"],
    "verify_later": ["write 8k x1 d16", "other 8k x1", "verify"],
    "verify_writes": ["write-and-verify 4k x1 d16", "verify"],
}
