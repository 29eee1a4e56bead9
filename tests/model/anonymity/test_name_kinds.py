"""What becomes of a name: what says nothing about the user stays, the structure of a path stays, all else is hidden."""

from __future__ import annotations

import re

import pytest
from makers.trial_runs import asked

from iocast.diagnose.experiments.named import TRIALS
from iocast.jobs.library import load_job, presets
from iocast.jobs.studies.study_file import load_study, study_presets
from iocast.metrics import PART
from iocast.model.anonymity.anonymised import subject, texts
from iocast.model.anonymity.name_kinds import RULES, pseudonym
from iocast.model.anonymity.pseudonyms import Pseudonyms
from iocast.model.calibration_request import CLOSED, OPEN, STREAM
from iocast.model.target import Target
from iocast.tools.orion.command_line import Settings
from iocast.tools.orion.matrix_job import matrix_job

KEY = b"the key of this test, 32 bytes.."
NAMES = Pseudonyms(KEY)
HIDDEN = re.compile(r"([a-z]+)-[a-z2-7]{8}")


def shown(kind: str, text: str) -> str:
    """Each pseudonym as its kind in angle brackets."""
    return HIDDEN.sub(r"<\1>", pseudonym(NAMES, kind, text))


@pytest.mark.parametrize(
    ("kind", "text", "hidden"),
    [
        ("host", "secret-host", "<host>"),
        ("host", "localhost", "localhost"),
        ("host", "", ""),
        ("path", "/mnt/secret/x/iocast-work.0.dat", "/mnt/<path>/<path>/iocast-work.0.dat"),
        ("path", "/var/lib/postgresql/base/5/16384", "/var/lib/postgresql/base/<path>/<path>"),
        ("path", "secret.csv.gz", "<path>.csv.gz"),
        ("path", "/srv/x.secret", "/srv/<path>"),
        ("path", "+SECRET/db/users.259", "<path>/<path>/<path>"),
        ("path", "/", "/"),
        ("place", "/dev/sda1", "/dev/sda1"),
        ("place", "/dev/mapper/vg-secret", "/dev/mapper/<path>"),
        ("place", "/dev/sda,/dev/secret", "/dev/sda,/dev/<path>"),
        ("place", "secret:/export/secret", "<host>:/<path>/<path>"),
        ("place", "[fe80::1]:/export", "<host>:/<path>"),
        ("place", "//secret/share", "//<path>/<path>"),
        ("place", "sim:hdd", "sim:hdd"),
        ("place", "tmpfs", "tmpfs"),
        ("place", "secret", "<place>"),
        ("place", "postgresql://bob@db1:5433/orders", "postgresql://<user>@<host>:5433/<database>"),
        ("place", "mysql://bob:pw@10.0.0.5/", "mysql://<user>@<host>/"),
        ("place", "postgresql://bob@/postgres?host=/srv/secret", "postgresql://<user>@/postgres?host=/srv/<path>"),
        ("device", "nvme0n1p2", "nvme0n1p2"),
        ("device", "md127", "md127"),
        ("device", "md_secret", "<device>"),
        ("device", "8:16", "8:16"),
        ("device", "hdfs", "<device>"),
        ("device", "10.0.0.5", "<device>"),
        ("actor", "10.0.0.5", "<process>"),
        ("target", "10.0.0.5", "<place>"),
        ("setting", "10.0.0.5", "<value>"),
        ("process", "postgres", "postgres"),
        ("process", "secret-proc", "<process>"),
        ("process", "a/b", "<process>/<process>"),
        ("process", "kworker/u8:1-events_unbound", "kworker/u8:1-events_unbound"),
        ("process", "kworker/0:1-secret", "kworker/0:1-<device>"),
        ("process", "jbd2/vda1-8", "jbd2/vda1-8"),
        ("process", "jbd2/secret-8", "jbd2/<device>-8"),
        ("process", "ora_lgwr_SECRET", "ora_lgwr_<database>"),
        ("process", "ora_p00a_SECRET", "ora_p00a_<database>"),
        ("process", "ora_acme_batch", "<process>"),
        ("process", "z_backup_acme", "<process>"),
        ("process", "z_wr_iss_h", "z_wr_iss_h"),
        ("process", "btrfs-acme", "<process>"),
        ("actor", "4711 secret", "4711 <process>"),
        ("actor", "4711/7", "4711/7"),
        ("target", "file 5", "file 5"),
        ("target", "8,16", "8,16"),
        ("target", "secret 5", "<place>"),
        ("interface", "eth0", "eth0"),
        ("interface", "br-secret", "<interface>"),
        ("interface", "enx001122334455", "<interface>"),
        ("group", "cgroup /system.slice/secret.service", "cgroup /system.slice/<path>.service"),
        ("group", "vda", "vda"),
        ("marks", "wwn:naa.5000c5,serial:S3Z1", "wwn:<serial>,serial:<serial>"),
        ("options", "rw,vers=4.2,addr=10.0.0.1,secret", "rw,vers=4.2,addr=<value>,<option>"),
        ("options", "rw,subvol=/@secret,size=4k", "rw,subvol=<value>,size=4k"),
        ("filesystem", "ext4", "ext4"),
        ("filesystem", "fuse.secretfs", "fuse.<filesystem>"),
        ("version", "Linux 6.1.0-13-secret", "Linux 6.1.0-13"),
        ("version", "fio-3.35", "fio-3.35"),
        ("version", "secret", "<version>"),
        ("words", "randread 8k 16x1 @500/s", "randread 8k 16x1 @500/s"),
        ("words", "secret-test 8k #2", "<name>-test 8k #2"),
        ("words", "10.0.0.5", "<name>"),
        ("words", "fe80::1", "<name>"),
        ("setting", "16384 8kB", "16384 8kB"),
        ("setting", "O_DIRECT", "O_DIRECT"),
        ("setting", "/srv/secret", "/srv/<path>"),
        ("setting", "secret", "<value>"),
        ("source", "PostgreSQL 18.6, secret on db1", "PostgreSQL 18.6, <database> on <host>"),
        ("source", "secret", "<source>"),
        ("table", "public.secret_table", "public.<table>"),
        ("database", "shared objects", "shared objects"),
        ("statement", "others", "others"),
        ("file", "secret.trc and 3 more", "<path>.trc and 3 more"),
        ("job", "orion -run advanced -testname secret -num_disks 4", "orion -run advanced -testname test -num_disks 4"),
        ("job", 'name = "secret"', ""),
        ("note", "secret words", "<note>"),
    ],
)
def test_what_stands_in_the_place_of_a_name(kind: str, text: str, hidden: str) -> None:
    assert shown(kind, text) == hidden


def test_parts_of_paths_are_the_same_in_all_paths_and_only_there() -> None:
    outer = pseudonym(NAMES, "path", "/a/b")
    assert pseudonym(NAMES, "path", "/a/b/c.dat").startswith(f"{outer}/")
    assert pseudonym(NAMES, "path", "/x/b").rpartition("/")[2] != outer.rpartition("/")[2]


def test_one_key_makes_the_same_pseudonyms_and_another_other_ones() -> None:
    assert NAMES.named("host", "db1") == Pseudonyms(KEY).named("host", "db1")
    assert NAMES.named("host", "db1") != Pseudonyms().named("host", "db1")
    assert NAMES.named("host", "db1") != NAMES.named("user", "db1")


@pytest.mark.parametrize("kind", sorted(RULES.keys() - {"job", "version", "kept"}))
def test_two_names_do_not_become_one(kind: str) -> None:
    """A counter of one would be added to that of the other."""
    heads = ("", "/", "a/", "kworker/0:1-", "ora_lgwr_", "postgresql://", "PostgreSQL 1, ", "file ", "12 ", "rw,")
    found = {pseudonym(NAMES, kind, f"{head}{number}x"): head for head in heads for number in range(40)}
    assert len(found) == len(heads) * 40


@pytest.mark.parametrize(
    ("observer", "text", "hidden"),
    [
        ("diskstats", "sda", "sda"),
        ("processes", "12|secret", "12|<process>"),
        ("processes", "12|sec|ret", "12|<process>"),
        ("system_calls", "sec|ret|read|8192", "<process>|read|8192"),
        ("calls_by_file", "read|/srv/secret", "read|/srv/<path>"),
        ("nfs_client", "/mnt/secret", "/mnt/<path>"),
        ("nfs_client", "/mnt/secret|READ", "/mnt/<path>|READ"),
        ("throttling", "/system.slice|8:0", "/system.slice|8:0"),
        ("postgresql.pg_statio_user_tables", "public|secret", "public|<table>"),
        ("postgresql.pg_stat_statements", "-123|5|10|True", "<statement>|5|10|True"),
        ("postgresql.waits", "IO|DataFileRead", "IO|DataFileRead"),
        ("mysql.events_statements_summary_by_digest", "abc|", "<statement>|"),
        ("nobody", "secret|more", "<name>|<name>"),
        ("cpu", "", ""),
    ],
)
def test_subjects_are_hidden_part_by_part(observer: str, text: str, hidden: str) -> None:
    assert HIDDEN.sub(r"<\1>", subject(NAMES, observer, text)) == hidden


def test_texts_of_a_tape_are_found_by_the_subjects_of_its_samples() -> None:
    hidden = texts(
        NAMES, {"sql|-123": "select secret", "session|7": "bob@orders", "setting|fsync": "on", "odd": "secret"}
    )
    number = subject(NAMES, "postgresql.pg_stat_statements", "-123|5|10|True").partition(PART)[0]
    assert hidden[f"sql|{number}"] == number
    assert hidden["setting|fsync"] == "on"
    assert "secret" not in repr(hidden)
    assert "bob" not in repr(hidden)


def own_names() -> set[str]:
    """The names that iocast gives to jobs, rows, axes and experiments."""
    jobs = [load_job(name) for name in presets()]
    studies = [load_study(name) for name in study_presets()]
    found = {
        name
        for job in jobs
        for name in (job.name, *(each for phase in job.phases for each in (phase.name, phase.test)))
    }
    for study in studies:
        found |= {study.name, *study.labels, *study.axes, *(value for axis in study.axes.values() for value in axis)}
        found |= {view.name for view in study.views}
    device = Target(path="/mnt/db", kind="file", size_bytes=64 << 30)
    for trial in TRIALS:
        rows = () if hasattr(trial, "SERVER") else trial.phases(asked(trial, device, cold=True, sync="sync"))
        found |= {f"experiment {trial.NAME}", *(name for row in rows for name in (row.name, row.test))}
    rows = matrix_job(Settings(run="advanced")).phases
    return (
        found
        | {name for row in rows for name in (row.name, row.test)}
        | {
            *(f"{OPEN} 8k 50%", f"{OPEN} 8k near 2", f"{CLOSED} 8k 1x32", f"{STREAM} 1M 4x1", "card with postgres"),
            *(
                "load-db commit",
                "cold 8k 4x1",
                "warm 8k 4x1",
                "db commit async 4x1",
                "replay of",
                "replay timed",
                "watch",
                "reel 1, 12:00:05",
                "like",
            ),
        }
    )


@pytest.mark.parametrize("name", sorted(own_names()))
def test_the_names_that_iocast_gives_stay(name: str) -> None:
    assert pseudonym(NAMES, "words", name) == name
