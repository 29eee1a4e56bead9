"""SQL*Plus scripts that build, run and drop a load on Oracle like that of `iocast load-db`. Not tried against a server.

The texts are ours: one row a block (PCTFREE 99), incompressible, in random order of keys, in a schema of their own,
IOCAST_LOAD; static PL/SQL; the share of updates exact in every prefix of the operations; bounded in time. Needs
Oracle 11.2 or later, and EXECUTE on DBMS_LOCK and DBMS_CRYPTO, which the first script grants.
"""

from __future__ import annotations

from typing import Final

from msgspec import Struct

from iocast.tools.oracle import capture_script

SCHEMA: Final = "iocast_load"
BLOCK_BYTES: Final = 8_192
MOST_TABLES: Final = 64  # a package each, so that its SQL is static
FILLER_BYTES: Final = {"row": 700, "half": 1_900}  # a RAW of SQL has at most 2,000
NOT_TRIED: Final = "Not tried against a server: iocast's authors have none. Read it before you run it."
# More than `due` of 100 operations come after n + 1 operations than after n: exact, whatever the number.
DUE: Final = "floor(({n} + 1) * {due} / 100) > floor({n} * {due} / 100)"


class OracleLoad(Struct, frozen=True, kw_only=True):
    """What the scripts do. Blocks are of 8 KiB; 0 of `every`: never."""

    table_blocks: int
    tables: int = 1
    filler_bytes: int = 700
    seed: int = 1
    sessions: tuple[int, ...] = (1, 4, 8, 16)
    seconds: int = 60
    update_pct: int = 0
    scan_pct: int = 0
    scan_blocks: int = 128
    work_unit: int = 1
    heavy: bool = False
    hot_first: int = 0  # block
    hot_blocks: int = 0
    hot_every: int = 0
    think_least_s: float = 0.0
    think_most_s: float = 0.0
    think_every: int = 0


def scripts(load: OracleLoad) -> dict[str, str]:
    """Each file by its name, in the order in which they are used."""
    return {
        "iocast_user.sql": _USER,
        "iocast_build.sql": _build(load),
        "iocast_package.sql": _packages(load),
        "iocast_run.sh": _run(load),
        capture_script.NAME: capture_script.shipped(),
        "iocast_drop.sql": _drop(),
    }


def _head(what: str, how: str) -> str:
    return f"-- {what}\n-- {NOT_TRIED}\n--\n--   {how}\n--\n"


_USER: Final = (
    _head("The user iocast_load, who owns all that the load needs.", "sqlplus / as sysdba @iocast_user.sql")
    + """\
-- As a DBA, once, in the pluggable database that is to be loaded. Its blocks must be of 8192 bytes.
whenever sqlerror exit failure rollback
set define on verify off
accept tablespace char prompt 'tablespace of the data: '
accept password char prompt 'password of the new user iocast_load: ' hide
create user iocast_load identified by "&password" default tablespace &tablespace quota unlimited on &tablespace;
grant create session, create table, create procedure to iocast_load;
grant execute on sys.dbms_lock to iocast_load;
grant execute on sys.dbms_crypto to iocast_load;
exit
"""
)


def _build(load: OracleLoad) -> str:
    size_mib = load.tables * load.table_blocks * BLOCK_BYTES >> 20
    parts = [
        _head(
            f"The data: {load.tables} x {load.table_blocks:,} blocks, {size_mib:,} MiB, one row a block.",
            "sqlplus iocast_load@SERVICE @iocast_build.sql",
        ),
        "-- It stops at what is there already: iocast_drop.sql removes it. Three times the size should be free.\n",
        "whenever sqlerror exit failure rollback\nset serveroutput on feedback on timing on\n",
        _CHECKED.replace("{bytes}", str(BLOCK_BYTES)).replace("{size}", str(size_mib)),
        "create table made_by_iocast (\n"
        "  what varchar2(200) not null, made timestamp with time zone not null, object_id number);\n",
        _noted("MADE_BY_IOCAST"),
        "create table load_results (table_no number not null, session_no number not null, sessions number not null,\n"
        "  begun timestamp with time zone not null, seconds number not null, reads number not null,\n"
        "  updates number not null, scans number not null, blocks number not null);\n",
        _noted("LOAD_RESULTS"),
    ]
    parts += [_table(load, number) for number in range(1, load.tables + 1)]
    parts.append(
        "insert into made_by_iocast (what, made)"
        f" values ('{load.tables} tables of {load.table_blocks} blocks', systimestamp);\n"
        "commit;\nexit\n"
    )
    return "".join(parts)


def _noted(*names: str) -> str:
    """Statements right after objects were made: which they are, by number, since names can be given again."""
    listed = ", ".join(f"'{name}'" for name in names)
    return f"""\
insert into made_by_iocast (what, made, object_id)
  select object_type || ' ' || object_name, systimestamp, object_id from user_objects o
   where object_name in ({listed})
     and not exists (select null from made_by_iocast m where m.object_id = o.object_id);
commit;
"""


_CHECKED: Final = """\
declare
  v_bytes number;
  v_free number;
begin
  select t.block_size into v_bytes
    from user_tablespaces t join user_users u on u.default_tablespace = t.tablespace_name;
  if v_bytes <> {bytes} then
    raise_application_error(-20001, 'the blocks of this tablespace have ' || v_bytes || ' bytes, not {bytes}');
  end if;
  select nvl(sum(bytes), 0) / 1048576 into v_free
    from user_free_space f join user_users u on u.default_tablespace = f.tablespace_name;
  if v_free < 3 * {size} then
    dbms_output.put_line('note: the data take {size} MiB; ' || round(v_free) || ' MiB are free in its files');
  end if;
end;
/
"""


def _table(load: OracleLoad, number: int) -> str:
    """One table with its rows in random order, which is the same for the same seed."""
    thousands = -(-load.table_blocks // 1000)
    return f"""\
prompt table {number} of {load.tables}
create table blocks_{number} (
    id number(12) not null, counter number(12) not null, filler raw({load.filler_bytes}) not null)
  pctfree 99 initrans 2 nologging;
insert /*+ append */ into blocks_{number} (id, counter, filler)
  select k.id, 0, sys.dbms_crypto.randombytes({load.filler_bytes})
    from (select (a.n - 1) * 1000 + b.n as id
            from (select level as n from dual connect by level <= {thousands}) a
           cross join (select level as n from dual connect by level <= 1000) b
           where (a.n - 1) * 1000 + b.n <= {load.table_blocks}
           order by ora_hash((a.n - 1) * 1000 + b.n, 4294967295, {load.seed})) k;
commit;
create unique index blocks_{number}_id on blocks_{number} (id) pctfree 0 nologging;
create table scan_{number} pctfree 99 nologging as
  select id, counter, filler from blocks_{number} where id <= {min(load.scan_blocks, load.table_blocks)};
{_noted(f"BLOCKS_{number}", f"BLOCKS_{number}_ID", f"SCAN_{number}")}begin
  dbms_stats.gather_table_stats(user, 'BLOCKS_{number}', estimate_percent => 5, cascade => true);
  dbms_stats.gather_table_stats(user, 'SCAN_{number}');
  for t in (select num_rows, blocks from user_tables where table_name = 'BLOCKS_{number}') loop
    if t.blocks < 0.95 * t.num_rows then
      raise_application_error(-20002, 'not one row a block: ' || t.num_rows || ' rows in ' || t.blocks || ' blocks');
    end if;
  end loop;
end;
/
"""


def _packages(load: OracleLoad) -> str:
    head = _head(
        "The load: a package for each table, so that every statement is static.",
        "sqlplus iocast_load@SERVICE @iocast_package.sql",
    )
    own = "whenever sqlerror exit failure rollback\n"
    return head + own + "".join(_package(load, number) for number in range(1, load.tables + 1)) + "exit\n"


def _unless_of_others(name: str) -> str:
    return f"""\
declare
  v_others number;
begin
  select count(*) into v_others from user_objects o
   where object_name = '{name}' and not exists (select null from made_by_iocast m where m.object_id = o.object_id);
  if v_others > 0 then
    raise_application_error(-20005, '{name} is not of these scripts: rename it, then run this again');
  end if;
end;
/
"""


def _package(load: OracleLoad, number: int) -> str:
    return f"""\
{_unless_of_others(f"LOAD_{number}")}create or replace package load_{number} authid definer as
  -- Session p_session of p_sessions works from p_start on for p_seconds.
  procedure run(p_session in pls_integer, p_sessions in pls_integer, p_start in date, p_seconds in pls_integer);
end load_{number};
/
create or replace package body load_{number} as
  procedure run(p_session in pls_integer, p_sessions in pls_integer, p_start in date, p_seconds in pls_integer) is
    v_begun timestamp with time zone;
    v_tick number;
    v_done number := 0;
    v_asked number := 0;
    v_reads number := 0;
    v_updates number := 0;
    v_scans number := 0;
    v_key number;
    v_rows number;
    v_sum number;
  begin
    dbms_application_info.set_module('iocast-load', 'load_{number}');
    dbms_random.seed({load.seed} + p_session);
    while sysdate < p_start loop
      sys.dbms_lock.sleep(0.02);
    end loop;
    v_begun := systimestamp;
    v_tick := dbms_utility.get_time;
    -- The clock counts hundredths of a second and starts again at 2^32.
    while mod(dbms_utility.get_time - v_tick + 4294967296, 4294967296) < 100 * p_seconds loop
{_think(load)}{_key(load)}{_operation(load, number)}      v_done := v_done + 1;
    end loop;
    insert into load_results (table_no, session_no, sessions, begun, seconds, reads, updates, scans, blocks)
      values ({number}, p_session, p_sessions, v_begun,
              mod(dbms_utility.get_time - v_tick + 4294967296, 4294967296) / 100,
              v_reads, v_updates, v_scans,
              {load.work_unit} * (v_reads + v_updates) + {min(load.scan_blocks, load.table_blocks)} * v_scans);
    commit;
  end run;
end load_{number};
/
show errors
{_noted(f"LOAD_{number}")}"""


def _think(load: OracleLoad) -> str:
    if not load.think_every:
        return ""
    return f"""\
      if mod(v_done, {load.think_every}) = 0 then
        sys.dbms_lock.sleep(dbms_random.value({load.think_least_s:g}, {load.think_most_s:g}));
      end if;
"""


def _key(load: OracleLoad) -> str:
    """The first key of a work unit, so that all of it is within the table, or the hot spot."""
    anywhere = f"v_key := trunc(dbms_random.value(1, {load.table_blocks - load.work_unit + 2}));"
    if not load.hot_every:
        return f"      {anywhere}\n"
    first, end = load.hot_first + 1, load.hot_first + load.hot_blocks - load.work_unit + 2
    return f"""\
      if mod(v_done, {load.hot_every}) = 0 then
        v_key := trunc(dbms_random.value({first}, {end}));
      else
        {anywhere}
      end if;
"""


def _operation(load: OracleLoad, number: int) -> str:
    """An update, a scan or reads, each exactly as often as it is due."""
    parts = []
    if load.update_pct:
        parts.append((DUE.format(n="v_done", due=load.update_pct), _update(load, number)))
    if load.scan_pct:
        parts.append((DUE.format(n="v_asked", due=load.scan_pct), _scan(number)))
    text, word = "", "if"
    for due, does in parts:
        text += f"      {word} {due} then\n{does}"
        word = "elsif"
    reads = _reads(load, number)
    return f"{text}      else\n{reads}      end if;\n" if parts else reads


def _within(load: OracleLoad, name: str) -> str:
    return f"{name} = v_key" if load.work_unit == 1 else f"{name} between v_key and v_key + {load.work_unit - 1}"


def _update(load: OracleLoad, number: int) -> str:
    filler = f", filler = sys.dbms_crypto.randombytes({load.filler_bytes})" if load.heavy else ""
    return f"""\
        update blocks_{number} set counter = counter + 1{filler} where {_within(load, "id")};
        if sql%rowcount <> {load.work_unit} then
          raise_application_error(-20003, 'a work unit of ' || sql%rowcount || ' rows');
        end if;
        commit write immediate wait;
        v_updates := v_updates + 1;
"""


def _scan(number: int) -> str:
    return f"""\
        select /*+ full(s) */ sum(s.counter), count(*) into v_sum, v_rows from scan_{number} s;
        v_scans := v_scans + 1;
        v_asked := v_asked + 1;
"""


def _reads(load: OracleLoad, number: int) -> str:
    return f"""\
        select /*+ index(b blocks_{number}_id) */ sum(b.counter), count(*) into v_sum, v_rows
          from blocks_{number} b where {_within(load, "b.id")};
        if v_rows <> {load.work_unit} then
          raise_application_error(-20003, 'a work unit of ' || v_rows || ' rows');
        end if;
        v_reads := v_reads + 1;
        v_asked := v_asked + 1;
"""


def _run(load: OracleLoad) -> str:
    return f"""\
#!/bin/bash
# The load, a step for each number of sessions, each between two looks at the server's own counters.
# {NOT_TRIED}
#
#   IOCAST_LOAD_PASSWORD=... ./iocast_run.sh SERVICE ["DBA CONNECT STRING"]
#
# The second argument is who takes the looks ("/ as sysdba"); a user with select_catalog_role will do. Afterwards:
#   iocast import tape_8.txt
set -euo pipefail
cd "$(dirname "$0")"
service=${{1:?usage: IOCAST_LOAD_PASSWORD=... $0 SERVICE [\"DBA CONNECT STRING\"]}}
looker=${{2:-/ as sysdba}}
: "${{IOCAST_LOAD_PASSWORD:?the password of iocast_load}}"
tables={load.tables}
seconds={load.seconds}

said() {{ # what the user iocast_load is answered; the password is in no command line
  sqlplus -S -L /nolog <<EOF
whenever sqlerror exit failure
connect iocast_load/"$IOCAST_LOAD_PASSWORD"@$service
set pagesize 0 feedback off linesize 200
$1
exit
EOF
}}

for sessions in {" ".join(str(each) for each in load.sessions)}; do
  tape=tape_$sessions.txt
  [ -e "$tape" ] && {{ echo "$tape exists: move it away" >&2; exit 1; }}
  start=$(said "select to_char(sysdate + (10 + $sessions / 50) / 86400, 'YYYY-MM-DD HH24:MI:SS') from dual;" | tail -1)
  sqlplus -S -L "$looker" @{capture_script.NAME} "$tape" </dev/null
  pids=()
  for ((session = 1; session <= sessions; session++)); do
    table=$(((session - 1) % tables + 1))
    call="exec load_$table.run($session, $sessions, to_date('$start', 'YYYY-MM-DD HH24:MI:SS'), $seconds)"
    (export -f said; export IOCAST_LOAD_PASSWORD service
     exec timeout $((seconds + 300)) bash -c 'said "$1"' _ "$call") &
    pids+=($!)
  done
  for pid in "${{pids[@]}}"; do
    wait "$pid" || {{ echo "a session failed: the step of $sessions is not a result" >&2; exit 1; }}
  done
  sqlplus -S -L "$looker" @{capture_script.NAME} "$tape" </dev/null
  said "select '$sessions sessions: ' || round(sum(blocks / seconds)) || ' blocks/s, ' || round(sum(updates / seconds))
    || ' updates/s, ' || round(100 * sum(updates) / nullif(sum(reads + updates + scans), 0), 2) || ' % updates'
    from load_results where sessions = $sessions and begun >= to_date('$start', 'YYYY-MM-DD HH24:MI:SS') - 1 / 1440;"
done
"""


def _drop() -> str:
    return (
        _head("Removes the user iocast_load with its data, and nothing else.", "sqlplus / as sysdba @iocast_drop.sql")
        + """\
-- As a DBA. It stops where the schema holds what these scripts did not make, by the numbers that they noted, and where
-- objects of other schemas depend on it. Without the table of these notes (older scripts, a build that was interrupted)
-- it stops, too: look at what the schema holds; if all of it is the load's, drop the user by hand.
whenever sqlerror exit failure rollback
declare
  v_count number;
  v_names varchar2(4000);
begin
  select count(*), listagg(object_type || ' ' || object_name, ', ') within group (order by object_name)
    into v_count, v_names from dba_objects o
   where owner = 'IOCAST_LOAD'
     and not exists (select null from iocast_load.made_by_iocast m where m.object_id = o.object_id);
  if v_count > 0 then
    raise_application_error(-20004, 'nothing was dropped: iocast_load holds objects of others: ' || v_names);
  end if;
  select count(*), listagg(type || ' ' || owner || '.' || name, ', ') within group (order by owner, name)
    into v_count, v_names from dba_dependencies
   where referenced_owner = 'IOCAST_LOAD' and owner <> 'IOCAST_LOAD';
  if v_count > 0 then
    raise_application_error(-20006, 'nothing was dropped: these depend on iocast_load: ' || v_names);
  end if;
  select count(*), listagg(c.owner || '.' || c.table_name, ', ') within group (order by c.owner, c.table_name)
    into v_count, v_names
    from dba_constraints c join dba_constraints r on r.owner = c.r_owner and r.constraint_name = c.r_constraint_name
   where r.owner = 'IOCAST_LOAD' and c.owner <> 'IOCAST_LOAD';
  if v_count > 0 then
    raise_application_error(-20007, 'nothing was dropped: foreign keys of these refer to iocast_load: ' || v_names);
  end if;
end;
/
drop user iocast_load cascade;
exit
"""
    )
