"""The script for SQL*Plus that takes the same views on a server where nothing may be installed, from 11.2 on.

It is written from the statements, and shipped: a test holds it against them.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from iocast.tools.oracle import oracle_statements
from iocast.tools.oracle.oracle_statements import Statement

NAME: Final = "iocast_capture.sql"
MARK: Final = "#iocast"
FORMAT: Final = 1
TEXTS: Final = "sql_text"
# Texts that SQL*Plus would cut to the width of their column.
_WIDTHS: Final = {"sql_text": "a1000", "event": "a64", "name": "a64", "metric_name": "a64", "host_name": "a64"}
_HEAD: Final = f"""\
-- One look at the waits, I/O and sessions of an Oracle database, for iocast: a tape on a server where nothing may be
-- installed. SQL*Plus 11.2 or later, as a user with select_catalog_role. It only reads, and creates nothing but its
-- spool.
--
--   while sleep 10; do sqlplus -S / as sysdba @{NAME} tape.txt; done
--
-- appends a look every 10 seconds to tape.txt; Ctrl-C ends it. No view of the Diagnostics Pack is read. A view that
-- this version does not have gives an ORA-00942 in the spool, which iocast notes as not seen.
set define on
define tape = &1
set define off
whenever sqlerror continue
set echo off termout off heading off feedback off verify off pagesize 0 linesize 32000 trimspool on tab off
set numwidth 38 colsep '|' null '' wrap off recsep off arraysize 500 timing off sqlblanklines on
alter session set nls_numeric_characters = '.,';
set transaction read only;
"""


def script() -> str:
    """All of it, from the statements."""
    parts = [_HEAD]
    parts += [f"column {column} format {width}\n" for column, width in _WIDTHS.items()]
    parts += ["set define on\nspool &tape append\nset define off\n", f"prompt {MARK} look {FORMAT}\n"]
    parts.append(_query("clock", oracle_statements.CLOCK_COLUMNS, oracle_statements.CLOCK))
    parts.append(_query("instance", oracle_statements.INSTANCE_COLUMNS, oracle_statements.INSTANCE))
    parts.append(_query("parameter", ("name", "value"), oracle_statements.PARAMETERS))
    parts += [_of(each) for each in oracle_statements.STATEMENTS if not each.pack]
    sessions = oracle_statements.sessions(every_instance=True)
    parts.append(_query("session", oracle_statements.SESSION_COLUMNS, sessions))
    parts.append(_query(TEXTS, oracle_statements.TEXT_COLUMNS, oracle_statements.ACTIVE_TEXTS))
    parts += [f"prompt {MARK} end\n", "spool off\nrollback;\nexit\n"]
    return "".join(parts)


def shipped() -> str:
    """The script that came with this installation."""
    return files("iocast.tools.oracle").joinpath(NAME).read_text(encoding="utf-8")


def _of(statement: Statement) -> str:
    return _query(statement.name, statement.columns, statement.sql(every_instance=True))


def _query(name: str, columns: tuple[str, ...], sql: str) -> str:
    """A statement behind a line that names its columns: rows on paper have no heads."""
    return f"prompt {MARK} {name} {'|'.join(columns)}\n{_folded(sql)};\n"


def _folded(sql: str, width: int = 110) -> str:
    """A statement over several lines: SQL*Plus takes at most some 2500 characters a line. Texts are not broken."""
    lines, line, quoted = list[str](), "", False
    for word in sql.split(" "):
        if line and not quoted and len(line) + len(word) >= width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
        quoted ^= word.count("'") % 2 == 1
    return "\n  ".join([*lines, line])
