"""Makes a container image in dist/, of the archive with its own interpreter: `python scripts/image.py`.

There is nothing in it but that archive, below /opt/iocast, and the few files that every program expects: no shell and
no packages. It is an OCI layout in one tar, and has the list that `docker load` reads, too. No tool of containers is
needed to make it, and two images of one archive have the same bytes.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import shutil
import sys
import tarfile
from pathlib import Path, PurePosixPath
from typing import Any

import release
import standalone
import tars

DIST = release.ROOT / "dist"
PROFILE = Path(__file__).with_name("iocast-seccomp.json")
HOME = "opt/iocast"
USER = 65532  # as others call their user who is not root
OCI = "application/vnd.oci.image"


def main() -> int:
    """Makes the image and copies the profile that goes with it, and prints what is in dist/ then."""
    archives = sorted(DIST.glob("iocast-*-standalone-x86_64.tar.gz"))
    if not archives:
        print(
            "note: the image is left out: it is made of the archive with its own interpreter, and that is not in dist/",
            file=sys.stderr,
        )
        return 0
    version = archives[-1].name.split("-")[1]
    with tarfile.open(archives[-1]) as tar:
        files = {
            item.name.partition("/")[2]: tars.Entry(data.read(), item.mode)
            for item in tar
            if item.isfile() and (data := tar.extractfile(item)) is not None
        }
        epoch = int(tar.getmembers()[0].mtime)
    image = tars.written(layout(tars.written(layer(files), epoch), version, epoch), epoch)
    (DIST / f"iocast-{version}-image-x86_64.tar").write_bytes(image)
    shutil.copy(PROFILE, DIST / PROFILE.name)
    release.add_up(DIST)
    return 0


def layer(files: dict[str, tars.Entry]) -> dict[str, tars.Entry]:
    """All files of the image: those of the archive, and a root around them.

    The scripts in bin/ are for hosts with a C library of their own, and need a shell. Here the loader lies where every
    program looks for it, and it looks for libraries where Debian's does.
    """
    entries = {f"{HOME}/{path}": entry for path, entry in files.items()}
    entries |= {
        f"{HOME}/bin/python": tars.link(f"../libexec/python{standalone.PYTHON}"),
        f"{HOME}/bin/iocast": tars.link("../libexec/iocast.py"),
        f"lib64/{standalone.LOADER}": tars.link(f"../{HOME}/lib/{standalone.LOADER}"),
        "lib/x86_64-linux-gnu": tars.link(f"../{HOME}/lib"),
        "etc/passwd": tars.Entry(f"root:x:0:0::/:\niocast:x:{USER}:{USER}::/data:\n".encode()),
        "etc/group": tars.Entry(f"root:x:0:\niocast:x:{USER}:\n".encode()),
        "data": tars.directory(owner=USER),
        "tmp": tars.directory(0o1777),
        **{name: tars.directory() for name in ("dev", "proc", "sys")},
    }
    parents = {str(parent) for path in entries for parent in PurePosixPath(path).parents} - {"."}
    return {parent: tars.directory() for parent in parents} | entries


def layout(layer_tar: bytes, version: str, epoch: int) -> dict[str, tars.Entry]:
    """An OCI layout with one image of one layer."""
    blobs: dict[str, bytes] = {}

    def add(data: bytes, kind: str) -> dict[str, Any]:
        digest = hashlib.sha256(data).hexdigest()
        blobs[f"blobs/sha256/{digest}"] = data
        return {"mediaType": f"{OCI}.{kind}", "digest": f"sha256:{digest}", "size": len(data)}

    packed = add(tars.compressed(layer_tar, epoch), "layer.v1.tar+gzip")
    config = add(_json(configuration(hashlib.sha256(layer_tar).hexdigest(), version, epoch)), "config.v1+json")
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{OCI}.manifest.v1+json",
        "config": config,
        "layers": [packed],
        "annotations": labels(version),
    }
    name = f"localhost/iocast:{version}"
    names = {"io.containerd.image.name": name, "org.opencontainers.image.ref.name": version}
    listed = add(_json(manifest), "manifest.v1+json") | {
        "annotations": names,
        "platform": {"architecture": "amd64", "os": "linux"},
    }
    index = {"schemaVersion": 2, "mediaType": f"{OCI}.index.v1+json", "manifests": [listed]}
    paths = ["blobs/sha256/" + each["digest"].partition(":")[2] for each in (config, packed)]
    for_docker = [{"Config": paths[0], "RepoTags": [name], "Layers": paths[1:]}]
    texts = {
        "oci-layout": _json({"imageLayoutVersion": "1.0.0"}),
        "index.json": _json(index),
        "manifest.json": _json(for_docker),
    }
    return {path: tars.Entry(data) for path, data in (texts | blobs).items()}


def configuration(layer_digest: str, version: str, epoch: int) -> dict[str, Any]:
    """What a runtime does with the image."""
    created = datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": f"{USER}:{USER}",
            "Env": [f"PATH=/{HOME}/bin", "HOME=/data", "LANG=C.UTF-8"],
            "Entrypoint": [f"/{HOME}/bin/iocast"],
            "Volumes": {"/data": {}},
            "WorkingDir": "/data",
            "Labels": labels(version),
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{layer_digest}"]},
        "history": [{"created": created, "created_by": "scripts/image.py"}],
    }


def labels(version: str) -> dict[str, str]:
    """What the image is, in the words of OCI."""
    said = {
        "title": "iocast",
        "description": "I/O performance testing, diagnosis and forecasting of database storage",
        "version": version,
        "licenses": "Apache-2.0",
        "vendor": "The iocast developers",
    }
    return {f"org.opencontainers.image.{key}": text for key, text in said.items()}


def _json(document: object) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


if __name__ == "__main__":
    sys.exit(main())
