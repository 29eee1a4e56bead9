-- One look at the waits, I/O and sessions of an Oracle database, for iocast: a tape on a server where nothing may be
-- installed. SQL*Plus 11.2 or later, as a user with select_catalog_role. It only reads, and creates nothing but its
-- spool.
--
--   while sleep 10; do sqlplus -S / as sysdba @iocast_capture.sql tape.txt; done
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
column sql_text format a1000
column event format a64
column name format a64
column metric_name format a64
column host_name format a64
set define on
spool &tape append
set define off
prompt #iocast look 1
prompt #iocast clock whole_s|second_s
select (cast(sys_extract_utc(systimestamp) as date) - date '1970-01-01') * 86400 as whole_s, extract(second
  from systimestamp) as second_s from dual;
prompt #iocast instance inst_id|instance_name|host_name|version|started_s
select inst_id, instance_name, host_name, version, round((startup_time - sysdate) * 86400 +
  (cast(sys_extract_utc(systimestamp) as date) - date '1970-01-01') * 86400) as started_s from gv$instance;
prompt #iocast parameter name|value
select name, value from v$parameter where name in ('control_management_pack_access', 'timed_statistics',
  'db_block_size', 'filesystemio_options', 'disk_asynch_io', 'db_cache_size', 'sga_target', 'memory_target',
  'db_file_multiblock_read_count', 'commit_write', 'commit_wait', 'cluster_database');
prompt #iocast event_histogram_micro inst_id|event|wait_time_micro|wait_count
select inst_id, event, wait_time_micro, wait_count from gv$event_histogram_micro where (event in ('db file sequential read',
  'db file scattered read', 'db file parallel read', 'db file parallel write', 'direct path read', 'direct path read temp',
  'direct path write', 'direct path write temp', 'log file sync', 'log file parallel write', 'cell single block physical read',
  'cell multiblock physical read', 'read by other session', 'control file sequential read', 'Disk file I/O Calibration')
  or event like 'cell % physical read: %');
prompt #iocast event_histogram inst_id|event|wait_time_milli|wait_count
select inst_id, event, wait_time_milli, wait_count from gv$event_histogram where (event in ('db file sequential read',
  'db file scattered read', 'db file parallel read', 'db file parallel write', 'direct path read', 'direct path read temp',
  'direct path write', 'direct path write temp', 'log file sync', 'log file parallel write', 'cell single block physical read',
  'cell multiblock physical read', 'read by other session', 'control file sequential read', 'Disk file I/O Calibration')
  or event like 'cell % physical read: %');
prompt #iocast system_event inst_id|event|total_waits|total_timeouts|time_waited_micro|total_waits_fg|time_waited_micro_fg
select inst_id, event, total_waits, total_timeouts, time_waited_micro, total_waits_fg, time_waited_micro_fg
  from gv$system_event where wait_class <> 'Idle';
prompt #iocast sysstat inst_id|name|value
select inst_id, name, value from gv$sysstat where name in ('execute count', 'user calls', 'user commits',
  'user rollbacks', 'parse count (total)', 'parse count (hard)', 'session cursor cache hits', 'session logical reads',
  'physical reads', 'physical reads direct', 'physical writes', 'physical read total IO requests', 'physical read total multi block requests',
  'physical read total bytes', 'physical write total IO requests', 'physical write total multi block requests',
  'physical write total bytes', 'redo size', 'redo writes', 'redo write time', 'redo synch writes', 'redo synch time (usec)',
  'DB time', 'CPU used by this session');
prompt #iocast sqlstats inst_id|sql_id|plan_hash_value|executions|elapsed_time|cpu_time|user_io_wait_time|disk_reads|buffer_gets|rows_processed|physical_read_requests|physical_read_bytes|physical_write_requests|physical_write_bytes
select inst_id, sql_id, plan_hash_value, executions, elapsed_time, cpu_time, user_io_wait_time, disk_reads,
  buffer_gets, rows_processed, physical_read_requests, physical_read_bytes, physical_write_requests,
  physical_write_bytes from gv$sqlstats;
prompt #iocast iostat_function inst_id|function_name|small_read_megabytes|small_read_reqs|small_write_megabytes|small_write_reqs|large_read_megabytes|large_read_reqs|large_write_megabytes|large_write_reqs|number_of_waits|wait_time
select inst_id, function_name, small_read_megabytes, small_read_reqs, small_write_megabytes, small_write_reqs,
  large_read_megabytes, large_read_reqs, large_write_megabytes, large_write_reqs, number_of_waits, wait_time
  from gv$iostat_function;
prompt #iocast iofuncmetric inst_id|function_name|small_read_iops|small_write_iops|large_read_iops|large_write_iops|small_read_mbps|small_write_mbps|large_read_mbps|large_write_mbps|avg_wait_time|begin_s|end_s
select inst_id, function_name, small_read_iops, small_write_iops, large_read_iops, large_write_iops,
  small_read_mbps, small_write_mbps, large_read_mbps, large_write_mbps, avg_wait_time, round((begin_time - date
  '1970-01-01') * 86400) as begin_s, round((end_time - date '1970-01-01') * 86400) as end_s from gv$iofuncmetric;
prompt #iocast sysmetric inst_id|metric_name|value
select inst_id, metric_name, value from gv$sysmetric where group_id = 2;
prompt #iocast iostat_file inst_id|filetype_name|file_no|access_method|small_read_megabytes|small_read_reqs|small_write_megabytes|small_write_reqs|large_read_megabytes|large_read_reqs|large_write_megabytes|large_write_reqs|small_read_servicetime|small_write_servicetime|large_read_servicetime|large_write_servicetime|small_sync_read_reqs|small_sync_read_latency
select inst_id, filetype_name, file_no, access_method, small_read_megabytes, small_read_reqs,
  small_write_megabytes, small_write_reqs, large_read_megabytes, large_read_reqs, large_write_megabytes,
  large_write_reqs, small_read_servicetime, small_write_servicetime, large_read_servicetime,
  large_write_servicetime, small_sync_read_reqs, small_sync_read_latency from gv$iostat_file where
  small_read_reqs + small_write_reqs + large_read_reqs + large_write_reqs > 0;
prompt #iocast filestat inst_id|file#|phyrds|phywrts|readtim|writetim|maxiortim|maxiowtm
select inst_id, file#, phyrds, phywrts, readtim, writetim, maxiortim, maxiowtm from gv$filestat;
prompt #iocast tempstat inst_id|file#|phyrds|phywrts|readtim|writetim|maxiortim|maxiowtm
select inst_id, file#, phyrds, phywrts, readtim, writetim, maxiortim, maxiowtm from gv$tempstat;
prompt #iocast asm_disk_iostat inst_id|instname|dbname|group_number|disk_number|reads|writes|read_time|write_time|bytes_read|bytes_written|read_errs|write_errs
select inst_id, instname, dbname, group_number, disk_number, reads, writes, read_time, write_time, bytes_read,
  bytes_written, read_errs, write_errs from gv$asm_disk_iostat;
prompt #iocast asm_disk_stat inst_id|group_number|disk_number|name|failgroup|total_mb|free_mb
select inst_id, group_number, disk_number, name, failgroup, total_mb, free_mb from gv$asm_disk_stat;
prompt #iocast asm_diskgroup_stat inst_id|group_number|name|total_mb|free_mb
select inst_id, group_number, name, total_mb, free_mb from gv$asm_diskgroup_stat;
prompt #iocast session inst_id|sid|serial#|sql_id|event|wait_class|state
select inst_id, sid, serial#, sql_id, event, wait_class, state from gv$session where status = 'ACTIVE' and
  type = 'USER' and (wait_class <> 'Idle' or state <> 'WAITING') and nvl(module, '-') <> 'iocast' and (inst_id
  <> userenv('instance') or sid <> sys_context('userenv', 'sid'));
prompt #iocast sql_text sql_id|sql_text
select distinct sql_id, substr(sql_text, 1, 1000) as sql_text from gv$sqlstats where sql_id in (select sql_id
  from gv$session where status = 'ACTIVE' and type = 'USER');
prompt #iocast end
spool off
rollback;
exit
