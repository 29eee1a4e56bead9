//! A small trace of every format, written for these tests.

use iocast_core::trace::field_map::{Map, OpCode, Separator, Unit};
use iocast_core::trace::reader::Options;

/// A trace.
pub struct Sample {
    /// The name of its reader.
    pub format: &'static str,
    /// The name of its file, which some formats are known by.
    pub name: &'static str,
    /// Its text, or its records.
    pub bytes: Vec<u8>,
    /// I/Os in it.
    pub events: u64,
    /// What must be said of it.
    pub options: Options,
    /// Whether it is known without being named.
    pub sniffed: bool,
}

fn text(format: &'static str, name: &'static str, text: &str, events: u64) -> Sample {
    Sample { format, name, bytes: text.into(), events, options: Options::default(), sniffed: true }
}

/// The same data of xz, whose header asks for 4 GiB: the size of the dictionary is a byte of the first block's header.
pub fn asking_for_4_gib(mut xz: Vec<u8>) -> Vec<u8> {
    let length = 4 * (usize::from(xz[12]) + 1);
    let header = &mut xz[12..12 + length];
    assert_eq!(header[2..4], [0x21, 1], "LZMA2 with one byte of properties");
    header[4] = 40;
    let crc = header[..length - 4].iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    });
    header[length - 4..].copy_from_slice(&(!crc).to_le_bytes());
    xz
}

/// All of them.
pub fn samples() -> Vec<Sample> {
    let mut all = tables();
    all.extend(programs());
    all.extend(block_layer());
    all
}

fn tables() -> Vec<Sample> {
    let any = Map {
        separator: Separator::Semicolon,
        fields_at_least: 4,
        fields_at_most: 4,
        time: Some((0, Unit::Unix)),
        unix: true,
        offset: (1, 512),
        size: (2, 512),
        op: (3, OpCode::ZeroReads),
        target: None,
        latency: None,
        heading: None,
    };
    let columns = Options { columns: Some(any), ..Options::default() };
    let sized = Options { block_size_bytes: Some(4096), ..Options::default() };
    vec![
        text(
            "msr",
            "a.csv",
            "128166477394345573,hm,1,Read,383496192,32768,113736\n128166477394345574,hm,1,Write,0,512,9\n",
            2,
        ),
        text(
            "systor",
            "a.csv",
            "1455592700.001,0.000134,R,5,8192,4096\n1455592701.5,0.000090,W,5,0,512\n",
            2,
        ),
        text(
            "cloudphysics",
            "a.csv",
            "version,time,op,size,lbn\n1,5633898,2a,512,42932745\n1,5633899,28,512,0\n",
            2,
        ),
        text(
            "alibaba",
            "a.csv",
            "419,W,8792731648,16384,1577808144360767\n12,R,0,8192,1577808144361031\n",
            2,
        ),
        text("tencent", "a.csv", "1538323200,12910952,128,0,1063\n1538323200,6338688,8,1,1627\n", 2),
        text(
            "spc",
            "a.csv",
            "0,20941264,8192,W,0.551706,Alpha/NT\n1,3436288,15872,r,1.250720,0x123,5.99,test\n",
            2,
        ),
        text("disksim", "a.trace", "13.191135 30 0 5 1\n17.829285 20 576560 6 0\n", 2),
        text(
            "disksim_validation",
            "b.trace",
            "R Hit  299 4 13670.0 35942.0\nW Miss 300 8 1971.0 29108.0\n",
            2,
        ),
        Sample {
            sniffed: false,
            ..text("mqsim", "c.trace", "938513000 4 264719034 16 0\n938828000 3 19 16 1\n", 2)
        },
        Sample {
            sniffed: false,
            ..text("ssdsim", "d.trace", "0 0 303567 7 0\n26214000 0 3 7 1  10000 5\n", 2)
        },
        Sample { options: columns, ..text("columns", "e", "1538323200123;8;1;0\n1538323200124;16;1;1\n", 2) },
        Sample { options: sized, ..text("references", "f.lis", "1\n2\n*\n1\n", 3) },
        Sample { bytes: [vscsi(1), vscsi(1)].concat(), ..text("vscsi", "v1", "", 2) },
        Sample { bytes: [vscsi(2), vscsi(2)].concat(), ..text("vscsi", "v2", "", 2) },
    ]
}

fn programs() -> Vec<Sample> {
    vec![
        text(
            "fio_iolog",
            "a.log",
            "fio version 3 iolog\n13 /a b add\n91 /a b write 0 4096\n268 /a b datasync 0 0\n",
            2,
        ),
        text(
            "fio_iolog",
            "b.log",
            "fio version 2 iolog\n/a add\n/a wait 50 0\n/a read 0 512\n/a trim 512 512\n",
            2,
        ),
        text("fio_log", "x_lat.1.log", "0, 493547, 0, 1048576, 0, 0\n50, 560861, 1, 4096, 1048576, 0\n", 2),
        text(
            "strace",
            "s.txt",
            "7 1795288863.763298 openat(AT_FDCWD, \"/d/f\", O_RDWR|O_DIRECT) = 3 <0.000005>\n\
             7 1795288863.763300 write(3, \") = 7\"..., 512) = 512 <0.000045>\n\
             7 1795288863.763400 pread64(3, <unfinished ...>\n\
             8 1795288863.763401 --- SIGCHLD {si_signo=SIGCHLD} ---\n\
             7 1795288863.763402 <... pread64 resumed>\"x\", 8192, 4096) = 8192 <0.000100>\n\
             7 1795288863.763500 io_submit(0x7f, 1, [{aio_data=0, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=3, \
             aio_buf=\"\", aio_nbytes=8192, aio_offset=0}]) = 1\n\
             7 1795288863.763600 fdatasync(3) = 0 <0.000200>\n",
            4,
        ),
        text(
            "oracle_10046",
            "o.trc",
            "Oracle Database 12c Release 12.1.0.1.0\n*** 2013-08-26 14:40:23.035\n*** SESSION ID:(1.2) 2013-08-26\n\
             PARSING IN CURSOR #7 len=1 dep=0 hv=1 sqlid='a'\nselect 'WAIT #7: nam=' from t\nEND OF STMT\nBINDS #7:\n \
             Bind#0\n  value=\"x\nWAIT #7: nam='no' ela= 1\n\"\n\
             WAIT #7: nam='db file sequential read' ela= 977 file#=7 block#=29 blocks=1 obj#=8 tim=1377520823036634\n\
             FETCH #7:c=0,e=42,p=0,cr=0,cu=0,mis=0,r=0,dep=0,og=1,plh=1,tim=1377520823036934\n",
            1,
        ),
        text(
            "oracle_10046",
            "o9.trc",
            "Oracle9i Enterprise Edition Release 9.2.0.6.0\n\
             WAIT #1: nam='db file scattered read' ela= 987 p1=13 p2=10 p3=8\n\
             EXEC #1:c=0,e=2000,p=8,cr=0,cu=0,mis=0,r=0,dep=0,og=4,tim=5000000\n",
            1,
        ),
    ]
}

fn block_layer() -> Vec<Sample> {
    vec![
        text(
            "blkparse",
            "b.txt",
            "  8,52   3        1     0.000843237     0  D  WS 983947432 + 64 [kworker/0:1H]\n  \
             8,52   3        2     0.000868646   226  C  WS 983947432 + 64 [0]\nCPU3 (sdd):\n Reads Queued: 0\n",
            1,
        ),
        text(
            "block_events",
            "p.txt",
            " a b 12 [000] 8.000000100: block:block_bio_queue: 7,1 WS 32 + 32 [a b]\n\
             \x20a b 12 [000] 8.000000200: block:block_rq_issue: 7,1 WS 16384 () 32 + 32 0x2,0,4 [a b]\n\
             \x20 ks 14 [000] 8.000000900: block:block_rq_complete: 7,1 WS () 32 + 32 0x2,0,4 [0]\n",
            1,
        ),
        text(
            "snoop_table",
            "t.txt",
            "TIME(s)     COMM           PID    DISK    T SECTOR     BYTES  QUE(ms) LAT(ms)\n\
             0.000771    a sync         22177  nvme1n1 W 41963894   3072      0.11    0.47\n",
            1,
        ),
        Sample {
            bytes: [block_record(1_000, 7), block_record(3_500, 8)].concat(),
            ..text("blktrace", "a.blktrace.0", "", 1)
        },
    ]
}

fn vscsi(version: u16) -> Vec<u8> {
    let (command, kind) = (0x28_u16.to_le_bytes(), (version << 8).to_le_bytes());
    let numbers: Vec<u8> = [9_u32, 4096, 1].iter().flat_map(|number| number.to_le_bytes()).collect();
    let (place, at) = (2048_u64.to_le_bytes(), 1_000_u64.to_le_bytes());
    if version == 1 {
        return [&numbers[..], &command[..], &kind[..], &place[..], &at[..]].concat();
    }
    [&command[..], &kind[..], &numbers[..], &place[..], &at[..], &70_u64.to_le_bytes()[..]].concat()
}

/// A record of a binary block trace: a write of 4 KiB at sector 8.
fn block_record(at_ns: u64, action: u32) -> Vec<u8> {
    let mut record = Vec::new();
    [0x6561_7407_u32, 1].iter().for_each(|number| record.extend(number.to_le_bytes()));
    [at_ns, 8].iter().for_each(|number| record.extend(number.to_le_bytes()));
    let numbers = [4096, (1 << 17) | action, 99, (8 << 20) | 16, 0, 0];
    numbers.iter().for_each(|number| record.extend(number.to_le_bytes()));
    record
}
