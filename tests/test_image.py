"""The archive with its own interpreter and the container image: what is in them, as far as it is not Debian's."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from makers import with_seccomp_profile as seccomp
from makers.scripts import script

ROOT = Path(__file__).resolve().parents[1]
EPOCH = 1_700_000_000
release = script("release")
tars = script("tars")
standalone = script("standalone")
image = script("image")
PROFILE = ROOT / "scripts" / "iocast-seccomp.json"
FILES = {
    "bin/iocast": tars.Entry(b"#!/bin/sh\n", 0o755),
    "bin/python": tars.Entry(b"#!/bin/sh\n", 0o755),
    "lib/libc.so.6": tars.Entry(b"c"),
}


def members(data: bytes) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(fileobj=io.BytesIO(data)) as tar:
        return {item.name: item for item in tar}


def blobs(layout: dict[str, Any]) -> dict[str, bytes]:
    return {name: entry.data for name, entry in layout.items()}


def test_two_archives_of_the_same_files_are_equal(tmp_path: Path) -> None:
    for name, order in (("one", ["b", "a"]), ("two", ["a", "b"])):
        for file in order:
            (tmp_path / name / "dir").mkdir(parents=True, exist_ok=True)
            path = tmp_path / name / "dir" / file
            path.write_text(file)
            path.chmod(0o700 if file == "a" else 0o640)
            os.utime(path, (len(order), len(name)))
        (tmp_path / name / "link").symlink_to("dir/a")
    one, two = (tars.written(tars.of_folder(tmp_path / name), EPOCH) for name in ("one", "two"))
    assert one == two
    assert [(name, item.mode, item.mtime, item.uid) for name, item in members(one).items()] == [
        ("dir/a", 0o755, EPOCH, 0),
        ("dir/b", 0o644, EPOCH, 0),
        ("link", 0o777, EPOCH, 0),
    ]
    assert members(one)["link"].linkname == "dir/a"
    assert tars.compressed(one, EPOCH) == tars.compressed(two, EPOCH)


def test_the_lock_has_every_package_with_its_digest() -> None:
    digests = standalone.read_lock(standalone.LOCK.read_text())
    assert {standalone.name_and_version(file)[0] for file in digests} == set(standalone.LICENCES)
    assert [digest for digest in digests.values() if not re.fullmatch("[0-9a-f]{64}", digest)] == []


def test_packages_of_debian_are_parts_with_their_licences(tmp_path: Path) -> None:
    standalone.document(tmp_path / "doc", "1.2.3", EPOCH)
    bill = json.loads((tmp_path / "doc/iocast-1.2.3.cdx.json").read_text())
    urls = {each["purl"].partition("@")[0]: each for each in bill["components"]}
    assert {f"pkg:deb/debian/{name}" for name in standalone.LICENCES} <= set(urls)
    assert "+" not in urls["pkg:deb/debian/libc6"]["purl"], "a sign that URLs write in another way"
    assert "+" in urls["pkg:deb/debian/libc6"]["version"]
    assert "pkg:pypi/duckdb" in urls
    people = (tmp_path / "doc/iocast-1.2.3-licences.txt").read_text()
    assert "LGPL-2.1-or-later\n    libc6 " in people
    assert "not stated" not in people


def test_a_file_of_a_package_says_its_name_and_version() -> None:
    assert standalone.name_and_version("zlib1g_1%3a1.3.1-1+deb13u1_amd64.deb") == ("zlib1g", "1:1.3.1-1+deb13u1")


def test_a_package_that_is_not_the_locked_one_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lock").write_text(f"# head\n{'0' * 64}  libc6_1_amd64.deb\n")
    (tmp_path / "libc6_1_amd64.deb").write_bytes(b"forged")
    monkeypatch.setattr(standalone, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(standalone, "CACHE", tmp_path)
    with pytest.raises(standalone.release.Refused, match=r"libc6_1_amd64\.deb is not what lock says"):
        standalone.locked_packages()
    assert not (tmp_path / "libc6_1_amd64.deb").exists(), "it is fetched again next time"


@pytest.mark.parametrize(
    ("name", "said"), [("standalone", "there is no mmdebstrap, apt-get, dpkg-deb here"), ("image", "is not in dist/")]
)
def test_what_cannot_be_made_is_left_out_with_a_reason(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "argv", [name])
    monkeypatch.setattr(image, "DIST", tmp_path)
    assert {"standalone": standalone, "image": image}[name].main() == 0
    assert re.search(rf"^note: .* is left out: .*{said}", capsys.readouterr().err)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("through_link", [False, True])
def test_the_command_starts_what_lies_beside_it(through_link: bool, tmp_path: Path) -> None:
    """From any directory, with spaces in its name, and through a link. A stand-in for the loader says what it gets."""
    home = tmp_path / "any place"
    for folder in ("bin", "libexec"):
        (home / folder).mkdir(parents=True)
    (home / "bin/iocast").write_text(standalone.launcher("iocast", ' "$home/libexec/iocast.py"'))
    (home / "libexec/iocast").write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    for path in (home / "bin/iocast", home / "libexec/iocast"):
        path.chmod(0o755)
    (tmp_path / "link").symlink_to("any place/bin/iocast")
    command = tmp_path / "link" if through_link else home / "bin/iocast"
    done = subprocess.run([command, "card", "a b"], cwd="/", capture_output=True, text=True, check=True)
    python = f"{home}/libexec/python{standalone.PYTHON}"
    assert done.stdout.splitlines() == [
        *("--library-path", f"{home}/lib", "--argv0", f"{home}/bin/python", python),
        *("-I", f"{home}/libexec/iocast.py", "card", "a b"),
    ]


def test_the_image_is_of_a_user_who_may_write_to_data_only() -> None:
    held = members(tars.written(image.layer(FILES), EPOCH))
    assert {name: item.uid for name, item in held.items() if item.uid} == {"data": image.USER}
    assert {name for name, item in held.items() if item.mode & 0o022 and not item.issym()} == {"tmp"}
    assert [name for name in held if str(Path(name).parent) not in {".", *held}] == [], "directories are in it, too"
    assert held["opt/iocast/bin/iocast"].linkname == "../libexec/iocast.py", "there is no shell for the script"
    assert held["lib/x86_64-linux-gnu"].linkname == "../opt/iocast/lib"
    assert held["opt/iocast/lib/libc.so.6"].isfile()


def test_the_image_has_what_its_digests_say() -> None:
    layer_tar = tars.written(image.layer(FILES), EPOCH)
    layout = blobs(image.layout(layer_tar, "1.2.3", EPOCH))
    for name, data in layout.items():
        if name.startswith("blobs/"):
            assert name == f"blobs/sha256/{hashlib.sha256(data).hexdigest()}"

    def blob(listed: dict[str, object]) -> bytes:
        data = layout[f"blobs/{str(listed['digest']).replace(':', '/')}"]
        assert len(data) == listed["size"]
        return data

    assert json.loads(layout["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (listed,) = json.loads(layout["index.json"])["manifests"]
    manifest = json.loads(blob(listed))
    config = json.loads(blob(manifest["config"]))
    (packed,) = manifest["layers"]
    assert members(blob(packed)).keys() == members(layer_tar).keys()
    assert config["rootfs"]["diff_ids"] == [f"sha256:{hashlib.sha256(layer_tar).hexdigest()}"]
    assert config["created"] == "2023-11-14T22:13:20Z"
    held = config["config"]
    assert (held["User"], held["WorkingDir"], held["Volumes"]) == ("65532:65532", "/data", {"/data": {}})
    assert held["Entrypoint"] == ["/opt/iocast/bin/iocast"]
    assert held["Labels"]["org.opencontainers.image.version"] == "1.2.3"
    assert held["Labels"]["org.opencontainers.image.licenses"] == "Apache-2.0"
    (for_docker,) = json.loads(layout["manifest.json"])
    assert json.loads(layout[for_docker["Config"]]) == config
    assert [hashlib.sha256(layout[path]).hexdigest() for path in for_docker["Layers"]] == [packed["digest"][7:]]
    assert layout == blobs(image.layout(layer_tar, "1.2.3", EPOCH))


def test_image_and_profile_are_files_of_a_release() -> None:
    assert release.FILES.match(PROFILE.name)
    assert release.FILES.match("iocast-1.0.0-image-x86_64.tar")


def rules() -> list[dict[str, Any]]:
    profile = json.loads(PROFILE.read_text())
    assert (profile["defaultAction"], profile["architectures"]) == ("SCMP_ACT_ALLOW", ["SCMP_ARCH_X86_64"])
    assert profile.keys() == {"defaultAction", "architectures", "syscalls"}, (
        "what docker, podman and containerd all read"
    )
    listed: list[dict[str, Any]] = profile["syscalls"]
    return listed


def test_the_profile_lets_io_uring_through_and_refuses_what_escapes() -> None:
    refused = [name for rule in rules() if "args" not in rule for name in rule["names"]]
    assert not {name for name in refused if "uring" in name}
    dangerous = {
        "mount",
        "unshare",
        "setns",
        "bpf",
        "kexec_load",
        "finit_module",
        "keyctl",
        "ptrace",
        "reboot",
        "swapon",
    }
    assert dangerous <= set(refused)
    assert len(refused) == len(set(refused))
    flags = [rule["args"][0] for rule in rules() if rule["names"] == ["clone"]]
    assert {flag["value"] for flag in flags} == {1 << bit for bit in (17, *range(25, 31))}, "CLONE_NEWNS and its kin"
    assert [flag for flag in flags if flag["valueTwo"] != flag["value"]] == []


def test_the_profile_names_calls_that_there_are() -> None:
    known = seccomp.numbers()
    if not known:
        pytest.skip("the headers of the kernel are not here: they have the names")
    named = {name for rule in rules() for name in rule["names"]}
    assert named - known.keys() == set()
    assert known["io_uring_setup"] == 425


BY_NUMBER = """
import ctypes, json, socket, subprocess, threading
libc = ctypes.CDLL(None, use_errno=True)
def errno_of(number, *words):
    return 0 if libc.syscall(number, *words) >= 0 else ctypes.get_errno()
"""
RING = f"{BY_NUMBER}print(json.dumps(errno_of(425, 0, None)))"
OTHERS = f"""{BY_NUMBER}
def family(number):
    try:
        socket.socket(number, socket.SOCK_SEQPACKET)
    except OSError as why:
        return why.errno
thread = threading.Thread(target=int)
thread.start()
thread.join()
new_user = 0x10000000
print(json.dumps(dict(
    keyctl=errno_of(250, 0, -3, 0), unshare=errno_of(272, new_user), clone=errno_of(56, new_user | 17, 0, 0, 0, 0),
    clone3=errno_of(435, None, 0), ioctl=errno_of(16, -1, 0x5412), other_ioctl=errno_of(16, -1, 0x5413),
    vsock=family(40), alg=family(38), unix=family(1), child=subprocess.run(["true"]).returncode,
)))
"""


def test_the_kernel_refuses_what_the_profile_names_and_nothing_else() -> None:
    if not seccomp.numbers() or os.uname().machine != "x86_64":
        pytest.skip("the profile is of x86-64, and numbers of its calls are in the headers of the kernel")

    def under(program: str, *options: str) -> Any:
        command = [sys.executable, seccomp.__file__, *options, sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    profile = ("--profile", str(PROFILE))
    assert under(RING, *profile) == under(RING), "it is the kernel that looks at the call"
    assert under(RING, *profile, "--refuse", "io_uring_setup") == errno.EPERM
    assert under(OTHERS, *profile) == {
        **dict.fromkeys(("keyctl", "unshare", "clone", "ioctl"), errno.EPERM),
        "clone3": errno.ENOSYS,
        "other_ioctl": errno.EBADF,
        **dict.fromkeys(("vsock", "alg"), errno.EAFNOSUPPORT),
        "unix": None,
        "child": 0,
    }
