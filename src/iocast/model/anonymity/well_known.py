"""Names that say nothing about the user: those of kernels, programs, file systems and of iocast itself. They stay."""

from __future__ import annotations

import re
from typing import Final, get_args

from iocast.model.workload import Op


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# The kernel's own names of block devices and their partitions. An array or a volume with a name of its own is none.
DEVICE: Final = re.compile(
    r"(?:(?:sd[a-z]{1,2}|hd[a-z]|x?vd[a-z]{1,2}|dasd[a-z]{1,3})\d*|(?:nvme\d+(?:c\d+)?n\d+|mmcblk\d+|nbd\d+|loop\d+|pmem\d+"
    r"|md\d+|rbd\d+|zd\d+)(?:p\d+)?|(?:dm-|zram|ram|sr|fd|bcache|drbd)\d+)"
)
NUMBERS: Final = re.compile(r"\d{1,12}(?:[:,/-]\d{1,12}){0,2}")  # of a device or a cursor: "8:16", "254,0", "4711/7"
INTERFACE: Final = re.compile(
    r"lo|tcp|(?:eth|bond|br|ib|team|virbr|docker|wlan)\d+|en[ops][\dfsnpd]{1,10}|wl[op]\d\w{0,6}"
)

PROCESSES: Final = _words(
    "postgres postmaster mysqld mariadbd oracle tnslsnr mongod redis-server sqlservr db2sysc clickhouse-serv psql"
    " pgbench mysql mariadb sqlplus sqlite3 duckdb java python python3 perl ruby node bash sh dash zsh sudo systemd"
    " systemd-journal systemd-udevd systemd-logind dbus-daemon init cron crond sshd rsyslogd chronyd ntpd dockerd"
    " containerd containerd-shim runc kubelet qemu-system-x86 qemu-kvm libvirtd nginx httpd apache2 nfsd iocast fio"
    " vdbench dd cp mv rm cat tar gzip zstd xz find grep ls rsync git make top ps sleep tail watch kthreadd"
    " ksoftirqd kdevtmpfs khugepaged kcompactd0 kswapd0 kswapd1 oom_reaper writeback kauditd kblockd rcu_sched"
    " rcu_preempt migration multipathd iscsid lvm mdadm fstrim others"
)
# Threads of the kernel that are called after the device that they serve, or after nothing of the user's.
KERNEL_THREAD: Final = re.compile(
    r"(?P<head>(?:kworker/u?\d+:\d+[HI]?|ksoftirqd/\d+|migration/\d+|kswapd\d+|kcompactd\d+|iou-(?:wrk|sqp)-\d+"
    r"|scsi_eh_\d+|md\d+_(?:raid\d+|resync|reclaim)|jbd2/|xfsaild/|xfs-(?:sync|reclaim|cil|conv|buf|gc|inodegc|blockgc)/"
    r"|dmcrypt_write/|btrfs-(?:cleaner|transacti|endio|worker|delalloc|flush|freespace|scrub|balance)"
    r"|z_(?:wr|rd|null|cl|fr|ioctl|trim|flush)_(?:iss|int)(?:_[h\d]+)?|txg_(?:sync|quiesce)))(?P<rest>.*)"
)
KERNEL_WORDS: Final = _words(
    "flush events events_unbound events_highpri events_long events_power_efficient events_freezable mm_percpu_wq"
    " kblockd writeback cil sync conv inodegc blockgc buf ext4 rsv conversion kcryptd nvme wq loop endio rcu_gp mld"
)
# Oracle's processes have the name of the instance at their end.
ORACLE_PROCESS: Final = re.compile(
    r"(?P<head>(?:ora|asm)_(?:[a-z]\w?\d\w|[a-z]{3}\d|pmon|smon|lgwr|ckpt|reco|mmon|mmnl|lreg|vktm|diag|dbrm|mman|tmon|vkrm"
    r"|svcb|ofsd|clmn|lmon|rbal|gmon|asmb|rvwr|ctwr)_|oracle_\d+_|oracle)(?P<rest>.+)"
)

DIRECTORIES: Final = _words(
    "bin boot data dev disk etc home lib lib64 log mapper media mnt opt proc root run sbin shm srv sys tmp usr var"
    " by-id by-path by-uuid by-partuuid postgresql mysql oracle oradata pgdata main base global pg_wal pg_xact"
    " pg_tblspc pg_logical pg_multixact pg_stat pg_stat_tmp pg_subtrans pgsql_tmp cgroup blkio cpu unified"
    " system.slice user.slice init.scope docker kubepods iocast-runs iocast-profiles iocast-studies experiments"
)
FILES: Final = re.compile(
    r"iocast-(?:work|tree)[\w.-]{0,3}\d*(?:\.dat)?(?:\.iocast)?|ib(?:data|_logfile|tmp)\d+|undo_\d+(?:\.ibu)?"
    r"|[a-z]\d{1,9}|[0-9A-F]{24}|pg_control|PG_VERSION|block requests|system calls|-"
)
SUFFIXES: Final = _words(
    "dat data db dbf ibd ibu frm myd myi sqlite sqlite3 wal shm log redo ctl trc trm sql dmp tmp bak img raw qcow2"
    " vmdk vdi iso parquet csv tsv json jsonl txt md html xml toml fio vdbench ini conf gz zst xz bz2 lz4 zip tar"
    " bin out blktrace blkparse strace so service slice scope socket mount sock iocast"
)
PSEUDO_SOURCES: Final = _words("tmpfs devtmpfs overlay proc sysfs none rootfs ramfs shm udev cgroup cgroup2")
FILESYSTEMS: Final = _words("fuse fuseblk fuse.sshfs fuse.glusterfs fuse.ceph fuse.s3fs fuse.gcsfuse fuse.lxcfs")
HOSTS: Final = _words("localhost 127.0.0.1 ::1 [::1]")
DATABASES: Final = _words(
    "postgres template0 template1 mysql performance_schema information_schema sys public pg_catalog pg_toast"
    " pg_temp iocast"
) | {"shared objects"}
STATEMENTS: Final = _words("others")

# Of mount options: those without a value, and those whose value says nothing of the user either.
FLAGS: Final = _words(
    "rw ro relatime noatime nodiratime strictatime lazytime sync async dirsync nosuid nodev noexec discard"
    " nodiscard barrier nobarrier attr2 inode64 inode32 noquota usrquota grpquota prjquota quota user_xattr acl"
    " noacl ssd nossd space_cache hard soft intr nolock noac nocto bg fg default_permissions allow_other delalloc"
    " nodelalloc dax journal_checksum journal_async_commit resv_strict nouuid swalloc xattr noxattr posixacl"
    " casesensitive nfsvers4"
)
VALUED: Final = _words(
    "vers nfsvers minorversion sec proto data errors commit stripe sunit swidth logbufs logbsize rsize wsize"
    " compress space_cache discard size nr_inodes mode timeo retrans nconnect max_read acregmin acregmax acdirmin"
    " acdirmax barrier inode_readahead_blks max_batch_time min_batch_time jqfmt dax subvolid uid gid user_id"
    " group_id resuid resgid local_lock port mountport mountvers mountproto lookupcache inode64 namlen allocsize"
    " journal_ioprio"
)
KEYS: Final = VALUED | _words(
    "addr clientaddr mountaddr username domain subvol lowerdir upperdir workdir context fscontext defcontext"
    " rootcontext fsname iocharset credentials fsc trans mountport source dirmode filemode prefixpath"
)
SETTINGS: Final = _words(
    "on off true false yes no none auto try full local remote_write remote_apply replica minimal logical all any"
    " fsync fsync_writethrough fdatasync open_sync open_datasync o_direct o_dsync o_direct_no_fsync nosync"
    " littlesync native worker sync io_uring wal data enabled disabled setall asynch directio default"
)

# The words of which iocast makes the names of its jobs, rows and studies.
ROW_WORDS: Final = _words(
    "test tests job fio vdbench slob pgio diskspd crystaldiskmark iozone ioping ior mdtest kbench ehm awr miner"
    " elbencho mkdirs rmdirs statdirs rmfiles"
    " strace iostat sar dstat collectl latency records waits histogram event system level io libaio psync vsync"
    " pvsync pvsync2"
    " posixaio mmap splice sg iocp asynchronous unknown simulated sim client server loop postgresql mysql mariadb"
    " oracle blocking nonblocking aio rados rbd http null cpuio allocating before during empty extending half l"
    " never part reader ring second settle the unique zipf rand seq read reads write writes rw randread randwrite"
    " randrw seqread seqwrite backread backwrite zipfread zipfrw zipfwrite hotread hotwrite hotrw strideread"
    " stridewrite striderw readwrite trim flush mix mixed scan scans commit commits lookups lookup log writer"
    " checkpoint temp backup mail store build survey pass again sustained overwrite ground warm warming cold written"
    " untouched load payload zeros repeated compressible dedupable learn held cache cached sync async disk data"
    " processes operation small large headline heavy moderate light bare physical rdm vmfs independent virtual"
    " snapshot vmware card quick standard full hailey database metadata virtualisation experiment replay timed fast"
    " dependent of like watch reel import calibrate calibration closed open stream streams near search forecast db"
    " postgres with row rows random sequential beside point points origin simple normal advanced dss oltp orion"
    " buffered direct backwards no repeats stop after select update updates insert sessions session floor round"
    " rounds side by one other opposite ends first last reading back lay out layout files file verify probe noise"
    " arm zones holes ahead size request working set concurrent readers fill tree max maximum share shares even"
    " queue depth uring threads thread pread libaio dio matrix k m g t kib mib gib tib kb mb gb tb b s ms us ns min"
    " h x and more drop dropped inodes names create made mkdir existing ls stat cp rm find walk hot uncached extent"
    " extents new old"
) | frozenset(get_args(Op))
