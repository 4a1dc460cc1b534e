"""More ways out, for a command at level `read`, which nobody is asked about. It opens the workspace and the system's programs,
writes its temporary folder alone, and has no network. Read by ways.py, in whose words it speaks; what outside.py has put into the
workspace before: `plain`, `script`, and links that lead out. Must not judge: outside.py does.
"""

import subprocess

SCRATCH = os.environ.get("TMPDIR", "/nonexistent")


def anything(name):
    """Reads whatever is there."""
    return os.listdir(name) if os.path.isdir(name) else os.read(os.open(name, os.O_RDONLY), 64)


def runs(*words):
    if subprocess.run(words, stderr=subprocess.DEVNULL).returncode:
        raise PermissionError(words[0])


# --- reads: system files that the wide box shows, and what a link in the workspace leads to
for name in ("/etc/login.defs", "/etc/shadow-", "/etc/gshadow", "/etc/hostname", "/etc/fstab", "/etc/sudoers", "/etc/profile", "/etc/machine-id", "/etc/ssh", "/etc/ssl",
             "/etc", "/etc/shadow", "/opt", "/home", "/mnt", "/srv", "/media", "/boot", "/var/log", "/var/lib", "/run/user", "/dev",
             "/dev/shm", "/sys", "/sys/fs/cgroup", "/sys/class/net", "/tmp", "/root"):
    WAYS[f"read: read {name}"] = lambda name=name: anything(name)
for name in ("/proc", "/proc/kallsyms", "/proc/keys", "/proc/self/environ", "/proc/self/maps", "/proc/net/tcp", "/proc/sys/kernel/random/boot_id",
             "/proc/1/cmdline", f"/proc/{V}/cmdline", f"/proc/{V}/status"):
    WAYS[f"read: read {name.replace(str(V), 'VICTIM')}"] = lambda name=name: anything(name)
for name in ("to-diary", "to-system", "to-home/diary", "to-etc/shells", "up/../../../diary", "a/b/to-system", "to-proc/self/root/etc/shells"):
    WAYS[f"read: read by the link {name}"] = lambda name=name: anything(name)
WAYS["read: a descriptor of a link, opened again"] = lambda: anything(f"/proc/self/fd/{os.open('to-system', os.O_PATH)}")
WAYS["read: openat below a linked folder"] = lambda: os.open("shells", os.O_RDONLY, dir_fd=os.open("to-etc", os.O_PATH))
WAYS["read: chdir by a link"] = lambda: (os.chdir("to-etc"), anything("shells"))
# A program of the workspace runs, and may do no more than the shell that starts it.
WAYS["read: a program of the workspace that writes"] = lambda: runs("./writes")
WAYS["read: a program of the workspace that reads the home"] = lambda: runs("./reads", D)
WAYS["read: a link of its own in the temporary folder"] = lambda: (os.symlink("/etc/shells", SCRATCH + "/l"), anything(SCRATCH + "/l"))
WAYS["read: a hard link in the temporary folder"] = lambda: os.link("/etc/shells", SCRATCH + "/h")
WAYS["read: sendfile"] = lambda: os.sendfile(1, os.open("to-system", os.O_RDONLY), 0, 1)
WAYS["read: mmap"] = lambda: __import__("mmap").mmap(os.open("/etc/shells", os.O_RDONLY), 1, prot=1)
WAYS["read: execute by the loader"] = lambda: os.execv("/lib64/ld-linux-x86-64.so.2", ["ld", F["script"]])
WAYS["read: uselib of a file of the home"] = lambda: ctypes.CDLL(D)

# --- writes: the workspace, what is kept of outputs, and the temporary folder as a way to either
WAYS["read: write plain"] = lambda: os.open("plain", os.O_WRONLY)
WAYS["read: append to plain"] = lambda: os.open("plain", os.O_WRONLY | os.O_APPEND)
WAYS["read: open and cut plain"] = lambda: os.open("plain", os.O_RDONLY | os.O_TRUNC)
WAYS["read: truncate plain"] = lambda: os.truncate("plain", 0)
WAYS["read: create"] = lambda: os.open("new", os.O_CREAT | os.O_WRONLY)
WAYS["read: O_TMPFILE"] = lambda: os.open(".", os.O_TMPFILE | os.O_RDWR)
WAYS["read: unlink"] = lambda: os.unlink("plain")
WAYS["read: mkdir"] = lambda: os.mkdir("new")
WAYS["read: rmdir"] = lambda: os.rmdir("empty")
WAYS["read: symlink"] = lambda: os.symlink("plain", "new")
WAYS["read: mkfifo"] = lambda: os.mkfifo("new")
WAYS["read: mknod of a socket"] = lambda: os.mknod("new", 0o140600)
WAYS["read: hard link"] = lambda: os.link("plain", "new")
WAYS["read: rename"] = lambda: os.rename("plain", "other")
WAYS["read: rename into the temporary folder"] = lambda: os.rename("plain", SCRATCH + "/plain")
WAYS["read: rename out of the temporary folder"] = lambda: (open(SCRATCH + "/m", "w").close(), os.rename(SCRATCH + "/m", "new"))
WAYS["read: exchange with the temporary folder"] = lambda: (open(SCRATCH + "/x", "w").close(), call(316, -100, path("plain"), -100, path(SCRATCH + "/x"), 2))
WAYS["read: a hard link into the temporary folder, written"] = lambda: (os.link("plain", SCRATCH + "/p"), os.open(SCRATCH + "/p", os.O_WRONLY))
WAYS["read: a link to plain in the temporary folder, written"] = lambda: (os.symlink(os.path.abspath("plain"), SCRATCH + "/s"), os.open(SCRATCH + "/s", os.O_WRONLY))
WAYS["read: plain by its descriptor, written"] = lambda: os.open(f"/proc/self/fd/{os.open('plain', os.O_RDONLY)}", os.O_WRONLY)
WAYS["read: mmap of plain, written"] = lambda: __import__("mmap").mmap(os.open("plain", os.O_RDONLY), 1, prot=2)
WAYS["read: copy_file_range"] = lambda: os.copy_file_range(os.open("script", os.O_RDONLY), os.open("plain", os.O_WRONLY), 1)
WAYS["read: bind a Unix socket"] = lambda: socket.socket(socket.AF_UNIX).bind("new")
WAYS["read: chmod"] = lambda: os.chmod("plain", 0o777)
WAYS["read: fchmod"] = lambda: os.fchmod(os.open("plain", os.O_RDONLY), 0o777)
raw("read: fchmodat2", "fchmodat2", -100, path("plain"), 0o777, 0)
WAYS["read: chown"] = lambda: os.chown("plain", UID, os.getgid())
WAYS["read: utimensat"] = lambda: os.utime("plain", (1, 1))
WAYS["read: futimens"] = lambda: os.utime(os.open("plain", os.O_RDONLY), (1, 1))
WAYS["read: setxattr"] = lambda: os.setxattr("plain", "user.probe", b"1")
WAYS["read: fsetxattr"] = lambda: os.setxattr(os.open("plain", os.O_RDONLY), "user.probe", b"1")
raw("read: setxattrat", "setxattrat", -100, path("plain"), 0, path("user.probe"), buffer(struct.pack("QII", 0, 0, 0)), 16)
WAYS["read: removexattr"] = lambda: os.removexattr("plain", "user.mine")
WAYS["read: a flag of the file"] = lambda: fcntl.ioctl(os.open("plain", os.O_RDONLY), 0x40086602, struct.pack("l", 0x80))
WAYS["read: fallocate"] = lambda: os.posix_fallocate(os.open("plain", os.O_WRONLY), 0, 10)
for name in ("/dev/shm/claw-read", "/var/tmp/claw-read", "/run/claw-read", "/etc/claw-read", HOME + "/written", TMP + "/written"):
    WAYS[f"read: create {os.path.basename(os.path.dirname(name))}/{os.path.basename(name)}"] = lambda name=name: os.open(name, os.O_CREAT | os.O_WRONLY)

# --- no socket of any family, and no way to one that somebody else has made
for family in range(1, 46):
    for kind, title in [(socket.SOCK_STREAM, "stream"), (socket.SOCK_DGRAM, "datagram"), (socket.SOCK_RAW, "raw"), (socket.SOCK_SEQPACKET, "packets")]:
        WAYS[f"read: a {title} socket of family {family}"] = lambda family=family, kind=kind: socket.socket(family, kind)
raw("read: a socket by the x32 number", 41 | X32, 2, 1, 0)
raw("read: a socket by io_uring", "io_uring_setup", 1, buffer(bytes(120)))
WAYS["read: TCP over IPv6"] = lambda: connect(socket.AF_INET6, socket.SOCK_STREAM, ("::1", F["tcp"]))
WAYS["read: the shell's /dev/tcp"] = lambda: os.execv("/bin/bash", ["bash", "-c", f"echo x > /dev/tcp/127.0.0.1/{F['tcp']}"])
WAYS["read: a datagram pair to a socket of the user"] = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].connect(F["datagram"])
WAYS["read: a pair of packets to a socket of the user"] = lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)[0].connect(F["stream"])

# --- other processes: all of ways.py, and what runs without a question beside this command
for title, pid in [("everybody", -1), ("the group of the supervisor", -ME), ("process 1", 1)]:
    WAYS[f"read: kill({title}, 0)"] = lambda pid=pid: os.kill(pid, 0) if pid != -1 else others_hear()


def others_hear():
    # A signal to everybody reaches this very process's own tree, which is no way out; the victim
    # tells.
    os.kill(V, 0)


WAYS["read: SIGIO to the victim's group"] = lambda: (fcntl.fcntl(socket.socketpair()[0], fcntl.F_SETOWN, -PG), os.kill(-PG, 0))
WAYS["read: nice of the supervisor"] = lambda: os.setpriority(os.PRIO_PROCESS, ME, 19)
