"""Ways out of the box, tried from inside of it. Each is tried in a process of its own. Prints one JSON row a way: its name, and
whether it got through. A way that raises OSError, ends by a signal or does not come back was held. Must not judge: outside.py does.

Usage: ways.py FACTS.json [MORE.py]   (what there is outside: paths, process ids, names; more ways)
"""

import ctypes
import errno
import fcntl
import json
import os
import signal
import socket
import struct
import sys

F = json.load(open(sys.argv[1]))
# The shell of the command has made way for this program (`exec`), so the supervisor is its parent.
V, PG, S, ME = F["victim"], F["victim_group"], F["server"], os.getppid()
D, HOME, TMP, UID = F["diary"], F["home"], F["tmp"], os.getuid()
LIBC = ctypes.CDLL(None, use_errno=True)
WAYS = {}

# x86-64; the rig runs there. From 424 on the numbers are the same on every architecture.
NR = dict(
    kill=62, tkill=200, tgkill=234, rt_sigqueueinfo=129, rt_tgsigqueueinfo=297, prlimit64=302, setpriority=141, ioprio_set=251,
    sched_setparam=142, sched_setscheduler=144, sched_setaffinity=203, sched_setattr=314, migrate_pages=256, move_pages=279,
    process_madvise=440, process_mrelease=448, kcmp=312, ptrace=101, process_vm_readv=310, process_vm_writev=311, pidfd_open=434,
    pidfd_getfd=438, pidfd_send_signal=424, perf_event_open=298, get_robust_list=274, setns=308, unshare=272, clone=56, clone3=435,
    open_by_handle_at=304, name_to_handle_at=303, openat2=437, mount=165, umount2=166, pivot_root=155, move_mount=429, open_tree=428,
    open_tree_attr=467, fsopen=430, fsconfig=431, fsmount=432, fspick=433, mount_setattr=442, chroot=161, swapon=167, swapoff=168,
    reboot=169, acct=163, quotactl=179, quotactl_fd=443, keyctl=250, add_key=248, request_key=249, bpf=321, userfaultfd=323,
    init_module=175, finit_module=313, delete_module=176, kexec_load=246, kexec_file_load=320, syslog=103, settimeofday=164,
    clock_settime=227, adjtimex=159, sethostname=170, setdomainname=171, iopl=172, ioperm=173, vhangup=153, io_uring_setup=425,
    io_uring_enter=426, io_uring_register=427, fanotify_init=300, setxattr=188, lsetxattr=189, removexattr=197, file_setattr=469,
    fchmodat2=452, setxattrat=463, mknod=133, shmget=29, shmat=30, shmctl=31, semget=64, semop=65, msgget=68, msgsnd=69, mq_open=240,
    utimensat=280, setpgid=109, seccomp=317,
)
X32 = 0x40000000


def way(name):
    def add(function):
        assert name not in WAYS, name
        WAYS[name] = function
        return function
    return add


def call(name, *arguments):
    """A system call by its number; raises what it answers."""
    number = NR[name] if isinstance(name, str) else name
    arguments = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
    result = LIBC.syscall(ctypes.c_long(number), *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), str(name))
    return result


def raw(title, *arguments):
    WAYS[title] = lambda: call(*arguments)


def path(text):
    return ctypes.c_char_p(os.fsencode(text))


def buffer(data):
    return ctypes.create_string_buffer(data, max(len(data), 1))


# --- signals
for title, pid in [("the victim", V), ("the server", S), ("the supervisor", ME), ("the victim's group", -PG)]:
    for sig in (0, signal.SIGSTOP, signal.SIGTERM, signal.SIGKILL):
        WAYS[f"kill({title}, {int(sig)})"] = lambda pid=pid, sig=sig: os.kill(pid, sig)
raw("tkill", "tkill", V, 9)
raw("tgkill", "tgkill", V, V, 9)
raw("rt_sigqueueinfo", "rt_sigqueueinfo", V, 10, buffer(struct.pack("iii", 10, 0, -1) + bytes(116)))
raw("rt_tgsigqueueinfo", "rt_tgsigqueueinfo", V, V, 10, buffer(struct.pack("iii", 10, 0, -1) + bytes(116)))
raw("setpgid of the victim", "setpgid", V, 0)


@way("pidfd_send_signal")
def _():
    call("pidfd_send_signal", call("pidfd_open", V, 0), 9, 0, 0)


@way("SIGIO by F_SETOWN")
def _():
    a, b = socket.socketpair()
    fcntl.fcntl(a, fcntl.F_SETOWN, V)
    fcntl.fcntl(a, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
    b.send(b"x")
    # The send says nothing of the signal, so that outside.py looks whether the victim lives.
    raise PermissionError(errno.EPERM, "judged outside")


# --- limits, priority, processors, memory of others
for name, number in [("fsize", 1), ("as", 9), ("nofile", 7), ("nproc", 6), ("cpu", 0), ("data", 2), ("stack", 3), ("core", 4)]:
    raw(f"prlimit64 {name} of the victim", "prlimit64", V, number, buffer(struct.pack("QQ", 0, 0)), 0)
raw("prlimit64 fsize of the supervisor", "prlimit64", ME, 1, buffer(struct.pack("QQ", 0, 0)), 0)
raw("prlimit64 nofile of the supervisor", "prlimit64", ME, 7, buffer(struct.pack("QQ", 0, 0)), 0)
raw("prlimit64 fsize of the server", "prlimit64", S, 1, buffer(struct.pack("QQ", 0, 0)), 0)
raw("prlimit64 of process 1", "prlimit64", 1, 1, buffer(struct.pack("QQ", 0, 0)), 0)
raw("prlimit64 reads the victim's", "prlimit64", V, 1, 0, buffer(bytes(16)))
raw("prlimit64 by the x32 number", NR["prlimit64"] | X32, V, 1, buffer(struct.pack("QQ", 0, 0)), 0)
raw("setpriority of the victim", "setpriority", 0, V, 19)
raw("setpriority of the victim's group", "setpriority", 1, PG, 19)
# All of a user's processes get the value that they have anyway, so that a hole does no harm.
raw("setpriority of the user", "setpriority", 2, UID, 0)
raw("setpriority of the own user", "setpriority", 2, 0, 0)
raw("setpriority of the supervisor", "setpriority", 0, ME, 19)
raw("ioprio_set of the victim", "ioprio_set", 1, V, 3 << 13)
raw("ioprio_set of the victim's group", "ioprio_set", 2, PG, 3 << 13)
raw("ioprio_set of the user", "ioprio_set", 3, UID, 2 << 13 | 4)
raw("sched_setaffinity of the victim", "sched_setaffinity", V, 8, buffer(struct.pack("Q", 1)))
raw("sched_setaffinity of the supervisor", "sched_setaffinity", ME, 8, buffer(struct.pack("Q", 1)))
raw("sched_setscheduler idle", "sched_setscheduler", V, 5, buffer(struct.pack("i", 0)))
raw("sched_setscheduler batch", "sched_setscheduler", V, 3, buffer(struct.pack("i", 0)))
raw("sched_setparam", "sched_setparam", V, buffer(struct.pack("i", 0)))
raw("sched_setattr", "sched_setattr", V, buffer(struct.pack("IIQiIQQQ", 48, 5, 0, 0, 0, 0, 0, 0)), 0)
raw("migrate_pages", "migrate_pages", V, 64, buffer(struct.pack("Q", 1)), buffer(struct.pack("Q", 1)))
raw("move_pages", "move_pages", V, 1, buffer(struct.pack("Q", F["address"] & ~4095)), 0, buffer(bytes(4)), 0)
raw("kcmp", "kcmp", V, os.getpid(), 0, 0, 0)
raw("get_robust_list", "get_robust_list", V, buffer(bytes(8)), buffer(bytes(8)))
raw("core scheduling shared to the victim", 157, 62, 2, V, 0, 0)


@way("process_madvise")
def _():
    where = buffer(struct.pack("QQ", F["address"] & ~4095, 4096))
    call("process_madvise", call("pidfd_open", V, 0), where, 1, 20, 0)


@way("process_mrelease")
def _():
    call("process_mrelease", call("pidfd_open", V, 0), 0)


@way("pidfd_getfd")
def _():
    call("pidfd_getfd", call("pidfd_open", V, 0), 0, 0)


# --- looking into others
raw("ptrace attach", "ptrace", 16, V, 0, 0)
raw("ptrace seize", "ptrace", 0x4206, V, 0, 0)
raw("ptrace attach to the supervisor", "ptrace", 16, ME, 0, 0)
raw("perf_event_open", "perf_event_open", buffer(struct.pack("II", 1, 112) + bytes(104)), V, -1, -1, 0)
for title, number in [("process_vm_readv", "process_vm_readv"), ("process_vm_writev", "process_vm_writev")]:
    @way(title)
    def _(number=number):
        own = buffer(bytes(16))
        here = buffer(struct.pack("QQ", ctypes.addressof(own), 16))
        call(number, V, here, 1, buffer(struct.pack("QQ", F["address"], 16)), 1, 0)
for name in ("mem", "environ", "maps", "io", "stack", "syscall", "auxv", "pagemap", "smaps", "numa_maps", "personality"):
    WAYS[f"/proc/VICTIM/{name}"] = lambda name=name: os.read(os.open(f"/proc/{V}/{name}", os.O_RDONLY), 1)
for name in ("cwd", "root", "exe", "ns/pid", "ns/user", "fd/0"):
    WAYS[f"/proc/VICTIM/{name}"] = lambda name=name: os.readlink(f"/proc/{V}/{name}")
for name in ("fd", "map_files", "fdinfo"):
    WAYS[f"/proc/VICTIM/{name}"] = lambda name=name: os.listdir(f"/proc/{V}/{name}")[0]
for name in ("mem", "environ", "cwd", "fd/0"):
    WAYS[f"/proc/SUPERVISOR/{name}"] = lambda name=name: os.open(f"/proc/{ME}/{name}", os.O_RDONLY)
for name in ("oom_score_adj", "comm", "coredump_filter", "timerslack_ns", "clear_refs", "autogroup", "uid_map", "setgroups", "attr/current"):
    WAYS[f"write /proc/VICTIM/{name}"] = lambda name=name: os.write(os.open(f"/proc/{V}/{name}", os.O_WRONLY), b"0")


@way("the list of processes")
def _():
    if not os.path.exists(f"/proc/{V}/cmdline") or b"victim" not in open(f"/proc/{V}/cmdline", "rb").read():
        raise FileNotFoundError(errno.ENOENT, "no victim")


# --- files outside: contents
def read(name):
    if F["secret"].encode() not in open(name, "rb").read():
        raise OSError(errno.EIO, "not it")


WAYS["read"] = lambda: read(D)
WAYS["read by /proc/self/root"] = lambda: read("/proc/self/root" + D)
WAYS["read by /proc/self/cwd"] = lambda: read("/proc/self/cwd/../../diary")
WAYS["read by a path of the victim"] = lambda: read(f"/proc/{V}/root{D}")
WAYS["read claw's settings"] = lambda: read(F["claw_home"] + "/claw.toml")
WAYS["read a file of /tmp"] = lambda: read(TMP + "/foreign")
WAYS["run a program of the home"] = lambda: os.execv(F["script"], [F["script"]])
WAYS["list the home"] = lambda: os.listdir(HOME)
WAYS["list /"] = lambda: os.listdir("/")
WAYS["list /tmp"] = lambda: os.listdir("/tmp")
WAYS["list /root"] = lambda: os.listdir("/root")
WAYS["list /var"] = lambda: os.listdir("/var")
WAYS["list /run"] = lambda: os.listdir("/run")
raw("openat2", "openat2", -100, path(D), buffer(bytes(24)), 24)


@way("read by a link")
def _():
    os.symlink(D, "link-to-the-diary")
    read("link-to-the-diary")


@way("a hard link into the workspace")
def _():
    os.link(D, "hard")
    read("hard")


@way("O_PATH, opened again")
def _():
    read(f"/proc/self/fd/{os.open(D, os.O_PATH)}")


@way("chdir, then by its name")
def _():
    os.chdir(HOME)
    read("diary")


@way("open_by_handle_at")
def _():
    handle, mount = buffer(struct.pack("Ii", 128, 0) + bytes(128)), ctypes.c_int()
    call("name_to_handle_at", -100, path(D), handle, ctypes.byref(mount), 0)
    call("open_by_handle_at", os.open(".", os.O_RDONLY), handle, os.O_RDONLY)


@way("a descriptor that was left open")
def _():
    own = [int(name) for name in os.listdir("/proc/self/fd")]
    for number in own:
        try:
            if number > 2 and "diary" in os.readlink(f"/proc/self/fd/{number}"):
                return
        except FileNotFoundError:
            pass
    raise OSError(errno.EBADF, "none")


# --- files outside: changes. Of a system file the mode is set that it has, so that a hole does no
# harm.
WAYS["write"] = lambda: os.open(D, os.O_WRONLY)
WAYS["append"] = lambda: os.open(D, os.O_WRONLY | os.O_APPEND)
WAYS["open and cut"] = lambda: os.open(D, os.O_RDONLY | os.O_TRUNC)
WAYS["truncate"] = lambda: os.truncate(D, 0)
WAYS["create"] = lambda: os.open(HOME + "/new", os.O_CREAT | os.O_WRONLY)
WAYS["create in /tmp"] = lambda: os.open(TMP + "/new", os.O_CREAT | os.O_WRONLY)
WAYS["O_TMPFILE"] = lambda: os.open(HOME, os.O_TMPFILE | os.O_RDWR)
WAYS["unlink"] = lambda: os.unlink(D)
WAYS["rmdir"] = lambda: os.rmdir(F["empty"])
WAYS["mkdir"] = lambda: os.mkdir(HOME + "/dir")
WAYS["symlink"] = lambda: os.symlink("x", HOME + "/sym")
WAYS["mkfifo"] = lambda: os.mkfifo(HOME + "/fifo")
WAYS["rename out of the home"] = lambda: os.rename(D, "stolen")
WAYS["rename into the home"] = lambda: (open("mine", "w").close(), os.rename("mine", D))
WAYS["rename within the home"] = lambda: os.rename(D, HOME + "/other")
WAYS["write to a pipe of the user"] = lambda: os.write(os.open(F["fifo"], os.O_WRONLY | os.O_NONBLOCK), b"x")
WAYS["chmod"] = lambda: os.chmod(D, 0o777)
WAYS["chmod of the home"] = lambda: os.chmod(HOME, 0o777)
raw("fchmodat2", "fchmodat2", -100, path(D), 0o777, 0)
WAYS["chown"] = lambda: os.chown(D, -1, os.getgid())
WAYS["utimensat"] = lambda: os.utime(D, (1, 1))
WAYS["setxattr"] = lambda: os.setxattr(D, "user.probe", b"1")
raw("lsetxattr", "lsetxattr", path(D), path("user.probe"), path("1"), 1, 0)
raw("removexattr", "removexattr", path(D), path("user.mine"))
raw("file_setattr", "file_setattr", -100, path(D), buffer(struct.pack("QIIIII", 0x40, 0, 0, 0, 0, 0)), 28, 0)
WAYS["chmod by O_PATH"] = lambda: os.chmod(f"/proc/self/fd/{os.open(D, os.O_PATH)}", 0o777)
WAYS["chmod of a system file"] = lambda: os.chmod("/etc/hostname", os.stat("/etc/hostname").st_mode & 0o777)
WAYS["fchmod of a system file"] = lambda: os.fchmod(os.open("/etc/hostname", os.O_RDONLY), os.stat("/etc/hostname").st_mode & 0o777)
WAYS["write a system file"] = lambda: os.open("/etc/hostname", os.O_WRONLY)
WAYS["create a system file"] = lambda: os.open("/usr/local/bin/claw-probe", os.O_CREAT | os.O_WRONLY)

# --- files outside: what can be learnt
WAYS["stat"] = lambda: os.stat(D)
WAYS["access"] = lambda: os.access(D, os.R_OK) or os.stat("/nonexistent")
WAYS["getxattr"] = lambda: os.getxattr(D, "user.mine")
WAYS["statvfs"] = lambda: os.statvfs(D)
WAYS["readlink"] = lambda: os.readlink(F["link"])
WAYS["inotify_add_watch of a file"] = lambda: positive(LIBC.inotify_add_watch(LIBC.inotify_init(), os.fsencode(D), 2))
WAYS["inotify_add_watch of the home"] = lambda: positive(LIBC.inotify_add_watch(LIBC.inotify_init(), os.fsencode(HOME), 0xFFF))
raw("fanotify_init", "fanotify_init", 0x200, 0)


def positive(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "refused")


# --- devices and the kernel's own files
for device in ("/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop-control",
               "/dev/ptmx", "/dev/pts/0", "/dev/input/event0", "/dev/net/tun", "/dev/vsock", "/dev/console", "/dev/snapshot"):
    WAYS[device] = lambda device=device: os.open(device, os.O_RDWR)
WAYS["/dev/shm"] = lambda: os.open("/dev/shm/claw-probe", os.O_CREAT | os.O_RDWR)
WAYS["mknod of a disk"] = lambda: (os.mknod("disk", 0o60600, os.makedev(254, 0)), os.open("disk", os.O_RDONLY))
WAYS["typing into the terminal"] = lambda: fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x")
for name in ("/proc/sys/kernel/core_pattern", "/proc/sys/vm/drop_caches", "/proc/sysrq-trigger", "/proc/self/oom_score_adj",
             "/proc/sys/kernel/ns_last_pid", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/power/state"):
    WAYS[f"write {name}"] = lambda name=name: os.open(name, os.O_WRONLY)
for name in ("/proc/kcore", "/proc/kmsg", "/sys/kernel/debug", "/sys/fs/bpf", "/sys/kernel/security"):
    WAYS[f"read {name}"] = lambda name=name: os.listdir(name) if os.path.isdir(name) else os.read(os.open(name, os.O_RDONLY), 1)


@way("leave the control group")
def _():
    held = OSError(errno.EACCES, "none")
    for folder, _, files in os.walk("/sys/fs/cgroup"):
        if "cgroup.procs" in files:
            try:
                os.write(os.open(folder + "/cgroup.procs", os.O_WRONLY), b"0")
                return
            except OSError as error:
                held = error
    raise held


# --- sockets
def connect(family, kind, address):
    s = socket.socket(family, kind)
    s.settimeout(2)
    s.connect(address)
    s.send(b"x")


WAYS["a Unix socket"] = lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, F["stream"])
WAYS["a Unix datagram socket"] = lambda: connect(socket.AF_UNIX, socket.SOCK_DGRAM, F["datagram"])
WAYS["an abstract Unix socket"] = lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + F["abstract"])
WAYS["a pair of datagram sockets"] = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b"x", F["datagram"])
WAYS["a pair of raw Unix sockets"] = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)[0].sendto(b"x", F["datagram"])
WAYS["Docker's socket"] = lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, "/var/run/docker.sock")
WAYS["D-Bus"] = lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, f"/run/user/{UID}/bus")
for family, number in [("vsock", 40), ("alg", 38), ("packet", 17), ("bluetooth", 31), ("can", 29), ("key", 15), ("tipc", 30), ("xdp", 44),
                       ("rds", 21), ("kcm", 41), ("nfc", 39), ("qipcrtr", 42), ("smc", 43), ("ax25", 3)]:
    WAYS[f"a socket of {family}"] = lambda number=number: socket.socket(number, socket.SOCK_RAW if number in (17, 29, 15, 44) else socket.SOCK_STREAM)
WAYS["a raw socket"] = lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)
WAYS["changing the network by netlink"] = lambda: netlink_link_down()
WAYS["TCP to a service on loopback"] = lambda: connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", F["tcp"]))
WAYS["UDP to a service on loopback"] = lambda: connect(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", F["udp"]))


def netlink_link_down():
    s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    s.settimeout(2)
    # RTM_SETLINK on the loopback device: its name stays as it is, so that nothing happens where
    # this gets through.
    name = struct.pack("HH", 7, 3) + b"lo\0\0"
    body = struct.pack("BxHiII", 0, 0, 1, 0, 0) + name
    s.send(struct.pack("IHHII", 16 + len(body), 19, 5, 1, 0) + body)
    code = struct.unpack("i", s.recv(4096)[16:20])[0]
    if code:
        raise OSError(-code, "netlink")


# --- memory and queues of the user's other programs
@way("System V memory")
def _():
    identity = call("shmget", F["shm_key"], 16, 0)
    LIBC.shmat.restype = ctypes.c_void_p
    where = LIBC.shmat(identity, None, 0)
    if where in (None, ctypes.c_void_p(-1).value):
        raise OSError(ctypes.get_errno(), "shmat")


WAYS["remove System V memory"] = lambda: call("shmctl", call("shmget", F["shm_key"], 16, 0), 0, 0)
WAYS["a System V queue"] = lambda: call("msgsnd", call("msgget", F["msg_key"], 0), buffer(struct.pack("q", 1) + b"x"), 1, 0)
WAYS["a System V semaphore"] = lambda: call("semop", call("semget", F["sem_key"], 1, 0), buffer(struct.pack("hhh", 0, 1, 0)), 1)
raw("a POSIX queue", "mq_open", path(F["mq"]), 2, 0, 0)

# --- the kernel
for flag, name in [(0x10000000, "user"), (0x20000, "mnt"), (0x20000000, "pid"), (0x40000000, "net"), (0x8000000, "ipc"),
                   (0x4000000, "uts"), (0x2000000, "cgroup"), (0x80, "time")]:
    raw(f"unshare {name}", "unshare", flag)
raw("clone with a user namespace", "clone", 0x10000000 | 17, 0, 0, 0, 0)
raw("clone3", "clone3", buffer(bytes(88)), 88)
raw("clone3 by the x32 number", NR["clone3"] | X32, buffer(bytes(88)), 88)
WAYS["setns"] = lambda: call("setns", os.open(f"/proc/{V}/ns/mnt", os.O_RDONLY), 0)
WAYS["setns of the own one"] = lambda: call("setns", os.open("/proc/self/ns/ipc", os.O_RDONLY), 0)
WAYS["setns by pidfd"] = lambda: call("setns", call("pidfd_open", os.getpid(), 0), 0x20000)
raw("mount", "mount", path("none"), path("."), path("tmpfs"), 0, 0)
raw("bind mount", "mount", path(HOME), path("."), 0, 4096, 0)
raw("remount writable", "mount", 0, path("/"), 0, 32 | 4096, 0)
raw("umount2", "umount2", path("/proc"), 2)
raw("pivot_root", "pivot_root", path("."), path("."))
raw("chroot", "chroot", path("."))
raw("open_tree", "open_tree", -100, path(HOME), 1)
raw("open_tree_attr", "open_tree_attr", -100, path(HOME), 1, 0, 0)
raw("move_mount", "move_mount", -100, path(HOME), -100, path("."), 0)
raw("fsopen", "fsopen", path("tmpfs"), 0)
raw("fspick", "fspick", -100, path("/"), 0)
raw("mount_setattr", "mount_setattr", -100, path("/"), 0, buffer(bytes(32)), 32)
raw("swapon", "swapon", path("mine"), 0)
raw("swapoff", "swapoff", path("mine"))
raw("acct", "acct", 0)
raw("quotactl", "quotactl", 0x80000100, 0, 0, 0)
raw("keyctl", "keyctl", 0, -4, 0, 0, 0)
raw("keyctl by the x32 number", NR["keyctl"] | X32, 0, -4, 0, 0, 0)
raw("add_key", "add_key", path("user"), path("probe"), path("x"), 1, -4)
raw("request_key", "request_key", path("user"), path("probe"), 0, -4)
raw("bpf", "bpf", 0, buffer(struct.pack("IIII", 2, 4, 4, 1) + bytes(112)), 128)
raw("userfaultfd", "userfaultfd", 1)
raw("init_module", "init_module", path("x"), 1, path(""))
raw("finit_module", "finit_module", 0, path(""), 0)
raw("delete_module", "delete_module", path("nosuch"), 0)
raw("kexec_load", "kexec_load", 0, 0, 0, 0)
raw("kexec_file_load", "kexec_file_load", 0, 0, 0, 0, 0)
raw("reboot", "reboot", 0xFEE1DEAD, 672274793, 0, 0)
raw("the kernel's log", "syslog", 3, buffer(bytes(64)), 64)
raw("settimeofday", "settimeofday", buffer(struct.pack("qq", 0, 0)), 0)
raw("clock_settime", "clock_settime", 0, buffer(struct.pack("qq", 0, 0)))
raw("sethostname", "sethostname", path("x"), 1)
raw("setdomainname", "setdomainname", path("x"), 1)
raw("iopl", "iopl", 3)
raw("ioperm", "ioperm", 0x80, 1, 1)
raw("vhangup", "vhangup")
raw("io_uring_setup", "io_uring_setup", 1, buffer(bytes(120)))
raw("io_uring_register", "io_uring_register", -1, 0, 0, 0)
WAYS["become root"] = lambda: os.setuid(0) if UID else os.setgroups([0, 99]) or os.stat("/nonexistent")
WAYS["sudo"] = lambda: os.execv("/usr/bin/sudo", ["sudo", "-n", "true"])
WAYS["a secret in the environment"] = lambda: (F["secret"] in str(os.environ)) or os.stat("/nonexistent")
WAYS["root reads what only root may"] = lambda: os.open("/etc/shadow", os.O_RDONLY)


def tried(function):
    """Whether it got through, and a word about it. In a process of its own, which has five seconds."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        signal.alarm(5)
        try:
            function()
            said = "OPEN"
        except OSError as error:
            said = errno.errorcode.get(error.errno, str(error.errno))
        except BaseException as error:  # noqa: BLE001
            said = f"BROKEN {type(error).__name__}: {error}"
        os.write(writer, said.encode())
        os._exit(0)
    os.close(writer)
    said = b""
    while piece := os.read(reader, 4096):
        said += piece
    os.close(reader)
    status = os.waitpid(child, 0)[1]
    # An exec replaces the child: what it was then says how it ended.
    if not said and os.WIFEXITED(status):
        said = b"OPEN" if os.WEXITSTATUS(status) == 0 else b"exit code"
    return said.decode() or f"signal {os.WTERMSIG(status)}"


for more in sys.argv[2:]:
    exec(compile(open(more).read(), more, "exec"))
WAYS = {name: function for name, function in WAYS.items() if name.startswith(os.environ.get("ONLY", ""))}
for name, function in WAYS.items():
    print(json.dumps({"way": name, "said": tried(function)}), flush=True)
print(json.dumps({"done": len(WAYS)}), flush=True)
