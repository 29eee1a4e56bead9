"""What a PostgreSQL server makes in its data directory, by name: all else in there is somebody's."""

from __future__ import annotations

import os
import re
import stat
from typing import Final

from iocast.archive.writing.held_folder import HeldFolder

SOCKET_NAMES: Final = re.compile(r"\.s\.PGSQL\.\d+(\.lock)?")
_TOP: Final = re.compile(
    r"PG_VERSION|postmaster\.(pid|opts)|postgresql(\.auto)?\.conf(\.tmp)?|pg_(hba|ident)\.conf|current_logfiles(\.tmp)?"
    r"|backup_label(\.old)?|base|global"
    r"|pg_(commit_ts|dynshmem|logical|multixact|notify|replslot|serial|snapshots|stat|stat_tmp|subtrans|tblspc|twophase"
    r"|wal|xact)"
)
_BELOW: Final = re.compile(
    r"PG_VERSION|pg_control|pg_filenode\.map(\.tmp)?|pg_internal\.init(\.\d+)?|config_exec_params(\.new)?"
    r"|(t\d+_)?\d+(_(fsm|vm|init))?(\.\d+)?"  # tables, their forks and segments; databases
    r"|[0-9A-F]{4,24}(\.(partial|history|backup|ready|done))*|[0-9A-F]{24}\.[0-9A-F]{8}\.backup|xlogtemp\.\d+"
    r"|[0-9A-F]+\.summary|temp\.summary|archive_status|summaries|members|offsets|mappings|map-[0-9a-f-]+|snapshots"
    r"|[0-9A-F]+-[0-9A-F]+(-\d+)?(\.snap|\.\d+\.tmp)?|replorigin_checkpoint(\.tmp)?|state(\.tmp)?"
    r"|[a-z_]+(_\d+)?\.(stat|tmp|statsnap)|mmap\.\d+"
    r"|pgsql_tmp|pgsql_tmp[\d.]+((shared)?fileset)?|[io]\d+of\d+(\.p\d+)?\.\d+|\d+\.\d+"
)


def foreign_in(data: HeldFolder) -> str:
    """What in a data directory no server of its owner made, "" where there is nothing of that kind. Raises OSError."""
    owner = os.fstat(data.descriptor).st_uid
    for place, folders, names, descriptor in os.fwalk(".", dir_fd=data.descriptor, onerror=_refuse):
        known = _TOP if place == "." else _BELOW
        for name in sorted((*folders, *names)):
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            plain = stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)
            if not plain or status.st_uid != owner or known.fullmatch(name) is None:
                return os.path.normpath(os.path.join(place, name))
    return ""


def _refuse(error: OSError) -> None:
    raise error
