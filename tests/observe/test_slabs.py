"""Slabs of names and inodes: those of a machine on paper, and blind for who may not read them."""

from __future__ import annotations

from pathlib import Path

import pytest

from iocast.model.target import Target
from iocast.observe import slabs
from iocast.observe.observer import BlindError

TARGET = Target(path="/", kind="directory")
TEXT = """\
slabinfo - version: 2.1
# name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit> : slabdata <active>
ext4_inode_cache  301133 304430   1128   14    4 : tunables    0    0    0 : slabdata  21745  21745      0
kmalloc-8k          1000   1000   8192    4    8 : tunables    0    0    0 : slabdata    250    250      0
dentry            357460 358176    192   21    1 : tunables    0    0    0 : slabdata  17056  17056      0
"""


def test_the_caches_of_names_and_inodes_are_read(tmp_path: Path) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/slabinfo").write_text(TEXT)
    with slabs.Observer(TARGET, root=tmp_path) as observer:
        samples = observer.sample()
    found = {(sample.subject, sample.metric): sample.value for sample in samples}
    assert found == {
        ("ext4_inode_cache", "objects"): 301133,
        ("ext4_inode_cache", "size_bytes"): 21745 * 4 * 4096,
        ("dentry", "objects"): 357460,
        ("dentry", "size_bytes"): 17056 * 4096,
    }


def test_it_is_blind_where_it_may_not_read(tmp_path: Path) -> None:
    with pytest.raises(BlindError, match="run as root"):
        slabs.Observer(TARGET, root=tmp_path).__enter__()
