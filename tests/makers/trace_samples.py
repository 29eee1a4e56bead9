"""Small traces of every format, written for these tests, and where real ones lie."""

from __future__ import annotations

import struct
from pathlib import Path

SHARED = Path(__file__).parents[2].parent / "shared" / "data"
WITHOUT_SHARED = "no real traces here: ../shared/data is absent"

MSR = "128166477394345573,hm,1,Read,383496192,32768,113736\n128166477394345574,hm,1,Write,0,512,9\n"
IOLOG_3 = "fio version 3 iolog\n13 /a b add\n91 /a b write 0 4096\n268 /a b datasync 0 0\n"
IOLOG_2 = "fio version 2 iolog\n/a add\n/a wait 50 0\n/a read 0 512\n/a wait 7 0\n/a trim 512 512\n"
FIO_LAT = "1, 493547, 0, 1048576, 0, 0\n50, 560861, 1, 4096, 1048576, 0\n"
BLKPARSE = """\
  8,52   3        1     0.000100000   226  Q FWFSM 1000 + 8 [postgres]
  8,52   3        2     0.000150000   226  D FWFSM 1000 + 8 [postgres]
  8,52   3        3     0.000160000   226  D   R 2000 + 8 [postgres]
  8,52   3        4     0.000350000     0  C FWFSM 1000 + 8 [0]
  8,52   3        5     0.000400000     0  C   N 0 [0]
CPU3 (sdd):
 Reads Queued:           0,        0KiB
Skips: 2 forward (5 -   0.1%)
"""
ORACLE = """\
Oracle Database 12c Release 12.1.0.1.0 - 64bit Production
Unix process pid: 41, image: oracle
*** 2013-08-26 14:40:23.035
PARSING IN CURSOR #7 len=1
select 1 from dual where x = '
WAIT #7: nam='db file sequential read' ela= 1 file#=7 block#=1 blocks=1 obj#=8 tim=9
'
END OF STMT
BINDS #7:
 Bind#0
  value="a
WAIT #7: nam='db file sequential read' ela= 1 file#=7 block#=1 blocks=1 obj#=8 tim=9
"
WAIT #7: nam='db file sequential read' ela= 977 file#=7 block#=29 blocks=1 obj#=8 tim=1377520823036634
WAIT #7: nam='direct path read' ela= 31 file number=7 first dba=64 block cnt=128 obj#=8 tim=1377520823036734
WAIT #7: nam='SQL*Net message to client' ela= 2 driver id=1 #bytes=1 p3=0 obj#=8 tim=1377520823036834
EXEC #7:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=1,og=1,plh=1,tim=1377520823036934
"""

ISSUED, COMPLETED, WRITES = 7, 8, 1 << 17


def block_record(at_ns: int, action: int, sector: int, size_bytes: int, order: str = "<", error: int = 0) -> bytes:
    """One record of a binary block trace."""
    magic, device, pid = 0x65617407, 8 << 20 | 16, 99
    parts = (magic, 1, at_ns, sector, size_bytes, action, pid, device, 0, error, 0)
    return struct.pack(f"{order}IIQQIIIIIHH", *parts)
