"""More ways out, for the narrow box: that of a command which nobody was asked about. It opens the workspace and the system's programs,
writes its temporary folder alone, and has no network. Read by ways.py, in whose words it speaks; what outside.py has put into the
workspace before: `plain`, `script`, and links that lead out. Must not judge: outside.py does.
"""

SCRATCH = os.environ.get("TMPDIR", "/nonexistent")


def anything(name):
    """Reads whatever is there."""
    return os.listdir(name) if os.path.isdir(name) else os.read(os.open(name, os.O_RDONLY), 64)


# --- reads: system files that the wide box shows, and what a link in the workspace leads to
for name in ("/etc/passwd", "/etc/group", "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/etc/machine-id", "/etc/ssh", "/etc/ssl",
             "/etc", "/etc/shadow", "/opt", "/home", "/mnt", "/srv", "/media", "/boot", "/var/log", "/var/lib", "/run/user", "/dev",
             "/dev/shm", "/sys", "/sys/devices/system/cpu/online", "/sys/fs/cgroup", "/sys/class/net", "/tmp", "/root"):
    WAYS[f"narrow: read {name}"] = lambda name=name: anything(name)
for name in ("/proc", "/proc/cpuinfo", "/proc/self/environ", "/proc/self/maps", "/proc/net/tcp", "/proc/sys/kernel/random/boot_id",
             "/proc/1/cmdline", f"/proc/{V}/cmdline", f"/proc/{V}/status"):
    WAYS[f"narrow: read {name.replace(str(V), 'VICTIM')}"] = lambda name=name: anything(name)
for name in ("to-diary", "to-passwd", "to-home/diary", "to-etc/passwd", "up/../../../diary", "a/b/to-passwd", "to-proc/self/root/etc/passwd"):
    WAYS[f"narrow: read by the link {name}"] = lambda name=name: anything(name)
WAYS["narrow: a descriptor of a link, opened again"] = lambda: anything(f"/proc/self/fd/{os.open('to-passwd', os.O_PATH)}")
WAYS["narrow: openat below a linked folder"] = lambda: os.open("passwd", os.O_RDONLY, dir_fd=os.open("to-etc", os.O_PATH))
WAYS["narrow: chdir by a link"] = lambda: (os.chdir("to-etc"), anything("passwd"))
WAYS["narrow: run a program of the workspace"] = lambda: os.execv("./script", ["./script"])
WAYS["narrow: a link of its own in the temporary folder"] = lambda: (os.symlink("/etc/passwd", SCRATCH + "/l"), anything(SCRATCH + "/l"))
WAYS["narrow: a hard link in the temporary folder"] = lambda: os.link("/etc/passwd", SCRATCH + "/h")
WAYS["narrow: sendfile"] = lambda: os.sendfile(1, os.open("to-passwd", os.O_RDONLY), 0, 1)
WAYS["narrow: mmap"] = lambda: __import__("mmap").mmap(os.open("/etc/passwd", os.O_RDONLY), 1, prot=1)
WAYS["narrow: execute by the loader"] = lambda: os.execv("/lib64/ld-linux-x86-64.so.2", ["ld", F["script"]])
WAYS["narrow: uselib of a file of the home"] = lambda: ctypes.CDLL(D)

# --- writes: the workspace, what is kept of outputs, and the temporary folder as a way to either
WAYS["narrow: write plain"] = lambda: os.open("plain", os.O_WRONLY)
WAYS["narrow: append to plain"] = lambda: os.open("plain", os.O_WRONLY | os.O_APPEND)
WAYS["narrow: open and cut plain"] = lambda: os.open("plain", os.O_RDONLY | os.O_TRUNC)
WAYS["narrow: truncate plain"] = lambda: os.truncate("plain", 0)
WAYS["narrow: create"] = lambda: os.open("new", os.O_CREAT | os.O_WRONLY)
WAYS["narrow: O_TMPFILE"] = lambda: os.open(".", os.O_TMPFILE | os.O_RDWR)
WAYS["narrow: unlink"] = lambda: os.unlink("plain")
WAYS["narrow: mkdir"] = lambda: os.mkdir("new")
WAYS["narrow: rmdir"] = lambda: os.rmdir("empty")
WAYS["narrow: symlink"] = lambda: os.symlink("plain", "new")
WAYS["narrow: mkfifo"] = lambda: os.mkfifo("new")
WAYS["narrow: mknod of a socket"] = lambda: os.mknod("new", 0o140600)
WAYS["narrow: hard link"] = lambda: os.link("plain", "new")
WAYS["narrow: rename"] = lambda: os.rename("plain", "other")
WAYS["narrow: rename into the temporary folder"] = lambda: os.rename("plain", SCRATCH + "/plain")
WAYS["narrow: rename out of the temporary folder"] = lambda: (open(SCRATCH + "/m", "w").close(), os.rename(SCRATCH + "/m", "new"))
WAYS["narrow: exchange with the temporary folder"] = lambda: (open(SCRATCH + "/x", "w").close(), call(316, -100, path("plain"), -100, path(SCRATCH + "/x"), 2))
WAYS["narrow: a hard link into the temporary folder, written"] = lambda: (os.link("plain", SCRATCH + "/p"), os.open(SCRATCH + "/p", os.O_WRONLY))
WAYS["narrow: a link to plain in the temporary folder, written"] = lambda: (os.symlink(os.path.abspath("plain"), SCRATCH + "/s"), os.open(SCRATCH + "/s", os.O_WRONLY))
WAYS["narrow: plain by its descriptor, written"] = lambda: os.open(f"/proc/self/fd/{os.open('plain', os.O_RDONLY)}", os.O_WRONLY)
WAYS["narrow: mmap of plain, written"] = lambda: __import__("mmap").mmap(os.open("plain", os.O_RDONLY), 1, prot=2)
WAYS["narrow: copy_file_range"] = lambda: os.copy_file_range(os.open("script", os.O_RDONLY), os.open("plain", os.O_WRONLY), 1)
WAYS["narrow: bind a Unix socket"] = lambda: socket.socket(socket.AF_UNIX).bind("new")
WAYS["narrow: chmod"] = lambda: os.chmod("plain", 0o777)
WAYS["narrow: fchmod"] = lambda: os.fchmod(os.open("plain", os.O_RDONLY), 0o777)
raw("narrow: fchmodat2", "fchmodat2", -100, path("plain"), 0o777, 0)
WAYS["narrow: chown"] = lambda: os.chown("plain", UID, os.getgid())
WAYS["narrow: utimensat"] = lambda: os.utime("plain", (1, 1))
WAYS["narrow: futimens"] = lambda: os.utime(os.open("plain", os.O_RDONLY), (1, 1))
WAYS["narrow: setxattr"] = lambda: os.setxattr("plain", "user.probe", b"1")
WAYS["narrow: fsetxattr"] = lambda: os.setxattr(os.open("plain", os.O_RDONLY), "user.probe", b"1")
raw("narrow: setxattrat", "setxattrat", -100, path("plain"), 0, path("user.probe"), buffer(struct.pack("QII", 0, 0, 0)), 16)
WAYS["narrow: removexattr"] = lambda: os.removexattr("plain", "user.mine")
WAYS["narrow: a flag of the file"] = lambda: fcntl.ioctl(os.open("plain", os.O_RDONLY), 0x40086602, struct.pack("l", 0x80))
WAYS["narrow: fallocate"] = lambda: os.posix_fallocate(os.open("plain", os.O_WRONLY), 0, 10)
for name in ("/dev/shm/claw-narrow", "/var/tmp/claw-narrow", "/run/claw-narrow", "/etc/claw-narrow", HOME + "/narrow", TMP + "/narrow"):
    WAYS[f"narrow: create {os.path.basename(os.path.dirname(name))}/{os.path.basename(name)}"] = lambda name=name: os.open(name, os.O_CREAT | os.O_WRONLY)

# --- no socket of any family, and no way to one that somebody else has made
for family in range(1, 46):
    for kind, title in [(socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "datagram"), (socket.SOCK_RAW, "raw"), (socket.SOCK_SEQPACKET, "packets")]:
        WAYS[f"narrow: a {title} socket of family {family}"] = lambda family=family, kind=kind: socket.socket(family, kind)
raw("narrow: a socket by the x32 number", 41 | X32, 2, 1, 0)
raw("narrow: a socket by io_uring", "io_uring_setup", 1, buffer(bytes(120)))
WAYS["narrow: TCP over IPv6"] = lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", F["tcp"]))
WAYS["narrow: the shell's /dev/tcp"] = lambda: os.execv("/bin/bash", ["bash", "-c", f"echo x > /dev/tcp/127.0.0.1/{F['tcp']}"])
WAYS["narrow: a datagram pair to a socket of the user"] = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect(F["datagram"])
WAYS["narrow: a pair of packets to a socket of the user"] = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].connect(F["stream"])

# --- other processes: all of ways.py, and what runs without a question beside this command
for title, pid in [("everybody", -1), ("the group of the supervisor", -ME), ("process 1", 1)]:
    WAYS[f"narrow: kill({title}, 0)"] = lambda pid=pid: os.kill(pid, 0) if pid != -1 else others_hear()


def others_hear():
    # A signal to everybody reaches this very process's own tree, which is no way out; the victim tells.
    os.kill(V, 0)


WAYS["narrow: SIGIO to the victim's group"] = lambda: (fcntl.fcntl(socket.socketpair()[0], fcntl.F_SETOWN, -PG), os.kill(-PG, 0))
WAYS["narrow: nice of the supervisor"] = lambda: os.setpriority(os.PRIO_PROCESS, ME, 19)
