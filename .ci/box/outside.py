"""The probe of the box, from outside: makes a user's home with a secret in it and a victim process, lets ways.py try its ways out of
`claw server bash`, and looks afterwards whether anything has changed. Every way has to be held, or to be open and named in the guide.
Anything else is an exit code of 1.

Usage: outside.py CLAW BOX.MD FOLDER [--landlock ABI [--ubuntu shown|hidden]] [SERVER OPTION...]    (FOLDER: empty, and the user's own)

With --landlock the server sees the Landlock of an older kernel, and with --ubuntu user namespaces without powers, as Ubuntu 24.04 has them
(older.py). Then the levels `read` and `write` are tried, and what is opened to commands, and what the server says of the levels has to be
true: that they are held, or that they are not and their commands ask.
"""

import ctypes
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import openings

CLAW, GUIDE, FOLDER, OPTIONS = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve(), sys.argv[4:]
OLDER, UBUNTU = None, []
if OPTIONS[:1] == ["--landlock"]:
    OLDER, OPTIONS = int(OPTIONS[1]), OPTIONS[2:]
if OPTIONS[:1] == ["--ubuntu"]:
    UBUNTU, OPTIONS = OPTIONS[:2], OPTIONS[2:]
NAMESPACES = not UBUNTU and "--without-namespaces" not in OPTIONS
HERE = pathlib.Path(__file__).resolve().parent
ROOT = os.geteuid() == 0
SECRET = "TOP-SECRET-4711"
LIBC = ctypes.CDLL(None, use_errno=True)

# What is open, and where docs/box.md says so.
EXISTS = "whether a file exists whose path is known"
OPEN = {
    "stat": EXISTS, "access": EXISTS, "getxattr": EXISTS, "statvfs": EXISTS, "readlink": EXISTS,
    "inotify_add_watch of a file": "`inotify`", "inotify_add_watch of the home": "`inotify`",
    "TCP to a service on loopback": "services on loopback included", "UDP to a service on loopback": "services on loopback included",
}
WITHOUT_NAMESPACES = "Without namespaces a command can do these"
if not NAMESPACES:
    for name in ("chmod", "chmod of the home", "fchmodat2", "chown", "utimensat", "setxattr", "lsetxattr", "removexattr", "chmod by O_PATH"):
        OPEN[name] = WITHOUT_NAMESPACES
    OPEN["the list of processes"] = "reads the list of processes"
    OPEN["/proc/VICTIM/fd"] = "the numbers of their open files"
    for name in ("System V memory", "remove System V memory", "a System V queue", "a System V semaphore", "a POSIX queue"):
        OPEN[name] = "shares System V memory"
    if ROOT:
        for name in ("chmod of a system file", "fchmod of a system file"):
            OPEN[name] = WITHOUT_NAMESPACES
# A command at level `read` reaches no network, and without namespaces no process list. What is open
# all the same:
SHUT = ("TCP to a service on loopback", "UDP to a service on loopback", "the list of processes", "/proc/VICTIM/fd")
AT_READ = {name: said for name, said in OPEN.items() if name not in SHUT}
# With a process table of its own, which shows nobody else's processes.
PROCESSES = "sees no process but its own"
# What leads to nobody but the command itself.
ITS_OWN = {"list /tmp": "`/tmp` is its temporary folder", "UDP to a service on loopback": "a loopback of its own", "read: read /tmp": "`/tmp` is its temporary folder"}
ITS_OWN |= {f"read: a {kind} socket of family {family}": "a loopback of its own"
            for family, kind in [(2, "stream"), (2, "datagram"), (10, "stream"), (10, "datagram"), (16, "datagram"), (16, "raw")]}
if NAMESPACES:
    OPEN["list /tmp"] = ITS_OWN["list /tmp"]
if OLDER is not None and OLDER < 6 and NAMESPACES:
    # The supervisor is process 1 there, which the kernel spares the signals of its own namespace.
    SPARED = "Linux before 6.12 lets a command signal its supervisor"
    ITS_OWN |= {name: SPARED for name in ("read: kill(process 1, 0)", *(f"kill(the supervisor, {number})" for number in (0, 19, 15, 9)))}
# A system file that the wide levels show and level `read` does not, and a line of it.
SYSTEM, MARK = next((name, line) for name in ("/etc/login.defs", "/etc/shells", "/etc/profile", "/etc/fstab") if os.path.isfile(name)
                    for line in pathlib.Path(name).read_text().splitlines() if len(line) > 8)
if ROOT:
    OPEN["root reads what only root may"] = "Run claw as an ordinary user, not as root"


def main():
    house = House()
    facts = house.facts
    if OLDER is not None:
        return older(house)
    # The victim is hit by these without a box: otherwise they would prove nothing.
    control = house.outside(["read", "stat", "append", "access", "kill(the victim, 0)", "a Unix socket", "an abstract Unix socket",
                             "prlimit64 reads the victim's", "/proc/VICTIM/cwd", "the list of processes", "list the home",
                             "TCP to a service on loopback", "setxattr", "inotify_add_watch of a file"])
    blunt = [row["way"] for row in control if row["said"] != "OPEN"]
    server = Server(house)
    facts["server"] = server.process.pid
    house.note_facts()
    before = house.state()
    house.drain()
    rows = [json.loads(line) for line in server.run("exec python3 ways.py facts.json").splitlines() if line.startswith("{")]
    done = rows.pop().get("done") if rows else None
    looking, wrong = ways_at_read(house, server)
    server.run("python3 -c 'import os, signal; os.kill(-1, signal.SIGKILL)'; true")
    beside = ways_beside(house, server)
    # A length of sleep that nobody else has names what is left.
    mark = f"sleep 321.{os.getpid()}"
    server.run(f"setsid {mark} & setsid -f {mark}; prlimit --pid $PPID --as=1:1 --nofile=0:0; echo gone")
    open_ways = [row["way"] for row in rows if row["said"] == "OPEN"]
    broken = [f"{row['way']}: {row['said']}" for row in rows if row["said"].startswith("BROKEN")]
    # These may have other modes, times and attributes then, and nothing else.
    touched = [str(house.diary), str(house.home), "/etc/hostname", "attributes"] if WITHOUT_NAMESPACES in OPEN.values() else []
    faults = []
    if done != len(rows) or not rows:
        faults.append(f"only {len(rows)} ways came back of {done}")
    if blunt:
        faults.append(f"the control does not even work outside: {blunt}")
    faults += [f"does not run: {name}" for name in broken]
    faults += [f"OPEN and not named: {name}" for name in open_ways if name not in OPEN]
    text = " ".join(pathlib.Path(GUIDE).read_text().split("## The box")[1].split("\n## ")[0].split())
    faults += [f"open, but docs/box.md does not say {OPEN[name]!r}: {name}" for name in open_ways if name in OPEN and OPEN[name] not in text]
    changed = [row for row in differences(before, house.state()) if row[0] not in touched]
    faults += [f"{what} changed: {was!r} is now {now!r}" for what, was, now in changed]
    if house.victim.poll() is not None:
        faults.append("the victim is dead")
    faults += [f"{name} was reached" for name in house.drain() if name not in ("tcp", "udp")]
    faults += [f"level read: {what}" for what in wrong]
    faults += beside
    got = [row["way"] for row in looking if row["said"] == "OPEN"]
    faults += [f"does not run: {row['way']}: {row['said']}" for row in looking if row["said"].startswith("BROKEN")]
    faults += [f"level read, OPEN and not named: {name}" for name in got if not open_at_read(name)]
    faults += [f"open, but docs/box.md does not say {said!r}: {name}" for name in got if (said := open_at_read(name)) and said not in text]
    print(f"  level read: {len(looking)} ways, {len(looking) - len(got)} held, {len(got)} open and named")
    faults += [f"openings: {fault}" for fault in openings.faults(server, house.home, True, True)]
    server.end()
    survivors = subprocess.run(["pgrep", "-f", mark.replace(".", "[.]")], capture_output=True, text=True).stdout.split()
    if survivors:
        faults.append(f"left behind: {survivors}")
    house.close()
    level = server.level
    for name in open_ways:
        print(f"  open, named: {name}") if name in OPEN else None
    print(f"{'root' if ROOT else 'an ordinary user'}, {level}: {len(rows)} ways, {len(rows) - len(open_ways)} held, "
          f"{len([name for name in open_ways if name in OPEN])} open and named in the guide")
    for fault in faults:
        print(f"FAILED: {fault}", file=sys.stderr)
    sys.exit(bool(faults))


def older(house):
    """Levels `read` and `write` on an older kernel."""
    server = Server(house)
    house.facts["server"] = server.process.pid
    house.note_facts()
    before = house.state()
    faults, said = [], []
    tried = json.loads(subprocess.run([*server.program, "--try-box"], capture_output=True, text=True, check=True).stdout)
    abi, apart = tried["landlock_abi"], tried["own_mounts"]
    if abi != OLDER:
        faults.append(f"it says that it has Landlock {abi}")
    if UBUNTU and (tried["namespaces"] or apart or tried["own_networks"]):
        faults.append(f"it says that it has namespaces: {tried}")
    stands_in = abi >= 1 and apart and tried["sealed"] and tried["seccomp"]
    expected = (abi >= 3 or stands_in) and (abi >= 6 or tried["namespaces"])
    for level in ("read", "write"):
        server.needs = level
        server.run("true")
        said.append(f"{level} {'held' if server.confined else 'not held, asks'}")
        if server.confined != expected:
            faults.append(f"level {level}: it says confined: {server.confined}, with {server.level}")
    if expected:
        looking, wrong = ways_at_read(house, server)
        faults += [f"level read: {what}" for what in wrong]
        faults += judged("read", looking, open_at_read)
        house.drain()
        server.needs = "write"
        rows = [json.loads(line) for line in server.run("exec python3 ways.py facts.json").splitlines() if line.startswith("{")]
        rows.pop()
        faults += judged("write", rows, lambda name: ITS_OWN.get(name) or (PROCESSES if name in SHUT[2:] else OPEN.get(name)))
        faults += [f"level write: {name} was reached" for name in house.drain()]
        said = [f"{said[0]}, {len(looking)} ways", f"{said[1]}, {len(rows)} ways"]
        faults += [f"{what} changed: {was!r} is now {now!r}" for what, was, now in differences(before, house.state())
                   if not (WITHOUT_NAMESPACES in OPEN.values() and what in (str(house.diary), str(house.home), "/etc/hostname", "attributes"))]
        if house.victim.poll() is not None:
            faults.append("the victim is dead")
    keeps_files = abi >= 3 or stands_in
    faults += [f"openings: {fault}" for fault in openings.faults(server, house.home, keeps_files, expected)]
    server.needs = "network"
    # Where signals are not stopped, what was opened is tried alone.
    if keeps_files:
        faults += ways_beside(house, server, tried["own_networks"], "" if expected else "opened:")
    server.end()
    house.close()
    print(f"{'root' if ROOT else 'an ordinary user'}{', as on Ubuntu 24.04' if UBUNTU else ''}, {server.level}: {'; '.join(said)}")
    for fault in faults:
        print(f"FAILED: Landlock {OLDER}{' '.join(['', *UBUNTU])}: {fault}", file=sys.stderr)
    sys.exit(bool(faults))


def judged(level, rows, named):
    """What is wrong with these ways."""
    text = " ".join(pathlib.Path(GUIDE).read_text().split("## The box")[1].split("\n## ")[0].split())
    faults = [f"level {level} does not run: {row['way']}: {row['said']}" for row in rows if row["said"].startswith("BROKEN")]
    got = [row["way"] for row in rows if row["said"] == "OPEN"]
    faults += [f"level {level}, OPEN and not named: {way}" for way in got if not named(way)]
    return faults + [f"open, but docs/box.md does not say {said!r}: {way}" for way in got if (said := named(way)) and said not in text]


def open_at_read(name):
    """Where docs/box.md says that this is open at level `read`; None if it is to be held."""
    if NAMESPACES and (name.startswith("read: read /proc") or name in SHUT[2:]):
        return PROCESSES
    if NAMESPACES and name in ITS_OWN:
        return ITS_OWN[name]
    return AT_READ.get(name)


def ways_at_read(house, server):
    """All ways as a command at level `read`; gives the rows, and what is wrong beside them."""
    wrong, before = [], house.workspace_state()
    house.drain()
    server.needs = "read"
    out = server.run("exec python3 ways.py facts.json looking.py staying.py")
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    done = rows.pop().get("done") if rows else None
    if done != len(rows) or not rows:
        wrong.append(f"only {len(rows)} ways came back of {done}: {out[-300:]}")
    # Programs that read files of settings by themselves: in the look they were plain, now they lead
    # out.
    for command in ("file plain .", "file -m .magic plain", "cat to-system to-diary plain", "grep -r . . to-etc to-system", "ls -lR . to-home/ to-etc/",
                    "head to-system plain", "diff to-system plain", "wc to-system", "stat -L plain", "find -L . -maxdepth 2",
                    "GIT_CONFIG_GLOBAL=to-diary git config --list", "git -C . status", *(RG if shutil.which("rg") else ())):
        said = server.run(f"cd clone && {command} 2>&1; true")
        wrong += [f"`{command}` gave away {mark!r}" for mark in (SECRET, MARK) if mark in said]
    wrong += swapped(house, server)
    server.needs = "network"
    wrong += [f"{what} of the workspace changed: {was!r} is now {now!r}" for what, was, now in differences(before, house.workspace_state())]
    wrong += [f"{name} was reached" for name in house.drain()]
    return rows, wrong


# Each prints what it makes of the lines of a file of settings.
RG = ("rg --debug x .", "rg --trace --files .", "rg --debug --ignore-file to-system x .", "rg --debug -f to-system .", "RIPGREP_CONFIG_PATH=to-system rg --debug x plain")
SWAPS = 400


def swapped(house, server):
    """A link that is swapped while the command runs: now a plain file, now the way to a file that the wide levels show."""
    wrong, name, ended = [], house.workspace / "clone/swapped", threading.Event()

    def swap():
        while not ended.is_set():
            for target in ("plain", SYSTEM, str(house.diary)):
                name.with_name(".swap").symlink_to(target)
                os.rename(name.with_name(".swap"), name)

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        # Where somebody has allowed it, the same words get there: otherwise they would prove
        # nothing.
        server.needs = "network"
        if MARK not in server.run(f"cd clone; for i in $(seq {SWAPS}); do cat swapped; done 2>&1; true"):
            wrong.append("the swapped link does not even work at level network")
        server.needs = "read"
        for command in ("cat swapped", "head -n 64 swapped", "grep . swapped", "file -m swapped plain"):
            said = server.run(f"cd clone; for i in $(seq {SWAPS // 4}); do {command}; done 2>&1; true")
            wrong += [f"a swapped link: `{command}` gave away {mark!r}" for mark in (SECRET, MARK) if mark in said]
    finally:
        ended.set()
        swapper.join()
        name.unlink()
    return wrong


OPENED = {"opened: Docker, which is what was opened": "`DOCKER_HOST` on the loopback of the command"}


def ways_beside(house, server, has_docker=NAMESPACES, only=""):
    """All ways, or those whose names begin so, as a command to which ssh-agent and Docker are open; gives what is wrong."""
    mark = house.home / "started"
    (house.workspace / "hostile").write_text(f"Host *\n ProxyCommand touch {mark}\n")
    opens = ["ssh-agent"] + (["docker"] if has_docker else [])
    house.drain()
    out = server.run(f"ONLY={only} exec python3 ways.py facts.json opened.py", opens)
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    done = rows.pop().get("done") if rows else None
    faults = [] if rows and done == len(rows) else [f"only {len(rows)} ways came back of {done}: {out[-300:]}"]
    faults += judged("network with openings", rows, lambda name: OPENED.get(name) or ITS_OWN.get(name) or OPEN.get(name))
    if mark.exists():
        faults.append("a command had something started outside")
    # Docker is reached by the one way that leads there, and once by the look at
    # whether it is there.
    reached = [name for name in house.drain() if name not in ("tcp", "udp", "docker")]
    got = [row["way"] for row in rows if row["said"] == "OPEN"]
    print(f"  with {' and '.join(opens)} open: {len(rows)} ways, {len(rows) - len(got)} held, {len(got)} open and named")
    return [f"with openings: {fault}" for fault in faults + [f"{name} was reached" for name in reached]]


def differences(before, after):
    return [(what, before[what], after[what]) for what in before if before[what] != after[what]]


class House:
    """A home with claw's home in it, a victim, and what else the user has."""

    def __init__(self):
        self.home, self.tmp = FOLDER / "home", FOLDER / "tmp"
        self.workspace = self.home / ".claw/workspace"
        self.workspace.mkdir(parents=True)
        self.tmp.mkdir()
        (self.home / "empty").mkdir()
        self.diary = self.home / "diary"
        self.openings = openings.furnish(self.home)
        for path in (self.diary, self.home / ".claw/claw.toml", self.tmp / "foreign"):
            path.write_text(SECRET)
            path.chmod(0o600)
        os.setxattr(self.diary, "user.mine", b"1")
        (self.home / "link").symlink_to(self.diary)
        # Settings of ssh that would start something outside.
        config, mark = self.home / ".ssh/config", self.home / "started"
        config.parent.mkdir(mode=0o700)
        config.write_text(f"Host behind\n ProxyCommand touch {mark}\nMatch originalhost by-match exec \"touch {mark}\"\n HostName h\n"
                          f"Host *\n PermitLocalCommand yes\n LocalCommand touch {mark}\n KnownHostsCommand /usr/bin/touch {mark}\n")
        config.chmod(0o600)
        script = self.home / "script"
        script.write_text("#!/bin/sh\nexit 0\n")
        script.chmod(0o755)
        os.mkfifo(self.home / "fifo")
        self.fifo = os.open(self.home / "fifo", os.O_RDWR | os.O_NONBLOCK)
        for name in ("ways.py", "looking.py", "staying.py", "opened.py"):
            shutil.copy(HERE / name, self.workspace)
        self.make_links()
        self.sockets = {}
        self.listen("stream", socket.AF_UNIX, socket.SOCK_STREAM, str(self.home / "s"))
        self.listen("datagram", socket.AF_UNIX, socket.SOCK_DGRAM, str(self.home / "d"))
        abstract = f"claw-probe-{os.getpid()}"
        self.listen("abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)
        # What stands in for the services that are open to a command that names them.
        self.listen("agent", socket.AF_UNIX, socket.SOCK_STREAM, str(self.home / "agent"))
        self.listen("docker", socket.AF_UNIX, socket.SOCK_STREAM, str(self.home / "docker"))
        self.listen("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self.listen("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        victim = "import ctypes, sys, time\nb = ctypes.create_string_buffer(b'%s')\nprint(ctypes.addressof(b), flush=True)\ntime.sleep(9999)"
        self.victim = subprocess.Popen([sys.executable, "-c", victim % SECRET, "victim"], stdout=subprocess.PIPE,
                                       env={"PATH": os.environ["PATH"], "KEY": SECRET}, start_new_session=True)
        key = 0x51AD0000 + os.getpid() % 0xFFFF
        self.ipc = [("shm", LIBC.shmget(key, 16, 0o1600)), ("msg", LIBC.msgget(key, 0o1600)), ("sem", LIBC.semget(key, 1, 0o1600))]
        self.mq = f"claw-probe-{os.getpid()}"
        LIBC.mq_open(f"/{self.mq}".encode(), os.O_CREAT | os.O_RDWR, 0o600, None)
        self.facts = dict(
            victim=self.victim.pid, victim_group=os.getpgid(self.victim.pid), server=0, diary=str(self.diary), home=str(self.home),
            claw_home=str(self.home / ".claw"), tmp=str(self.tmp), secret=SECRET, script=str(script), empty=str(self.home / "empty"),
            fifo=str(self.home / "fifo"), link=str(self.home / "link"), stream=str(self.home / "s"), datagram=str(self.home / "d"),
            agent=str(self.home / "agent"), docker=str(self.home / "docker"),
            abstract=abstract, tcp=self.sockets["tcp"].getsockname()[1], udp=self.sockets["udp"].getsockname()[1],
            address=int(self.victim.stdout.readline()), shm_key=key, msg_key=key, sem_key=key, mq=self.mq,
        )

    def make_links(self):
        """What lies in the workspace for level `read`, as a clone of a hostile repository may bring it."""
        clone = self.workspace / "clone"
        (self.workspace / "a/b").mkdir(parents=True)
        (clone / "a/b").mkdir(parents=True)
        (self.workspace / "empty").mkdir()
        (self.workspace / "plain").write_text("plain\n")
        (self.workspace / "plain").chmod(0o644)
        os.setxattr(self.workspace / "plain", "user.mine", b"1")
        shutil.copy(self.home / "script", self.workspace / "script")
        for name, line in [("writes", "echo x >> plain"), ("reads", "cat \"$1\"")]:
            (self.workspace / name).write_text(f"#!/bin/sh\n{line}\n")
            (self.workspace / name).chmod(0o755)
        for name, target in [("to-diary", self.diary), ("to-system", SYSTEM), ("to-home", self.home), ("to-etc", "/etc"), ("up", "a/b"),
                             ("a/b/to-system", "../" * 16 + SYSTEM[1:]), ("to-proc", "/proc"), (".magic", SYSTEM),
                             (".ignore", SYSTEM), (".gitignore", self.diary), (".rgignore", SYSTEM)]:
            for folder in (self.workspace, clone):
                (folder / name).symlink_to(target)
        (clone / "plain").write_text("plain\n")

    def workspace_state(self):
        plain = self.workspace / "plain"
        facts = plain.lstat()
        return dict(
            names=sorted(str(path.relative_to(self.workspace)) for path in self.workspace.rglob("*")), plain=plain.read_text(),
            facts=(facts.st_mode, facts.st_uid, facts.st_gid, facts.st_mtime_ns, facts.st_nlink), attributes=os.listxattr(plain),
        )

    def note_facts(self):
        (self.workspace / "facts.json").write_text(json.dumps(self.facts))

    def listen(self, name, family, kind, address):
        s = socket.socket(family, kind)
        s.bind(address)
        if kind == socket.SOCK_STREAM:
            s.listen(64)
        s.setblocking(False)
        self.sockets[name] = s

    def outside(self, names):
        """The same words without a box, those that do no harm."""
        self.note_facts()
        source = (HERE / "ways.py").read_text().replace("for name, function in WAYS.items():",
                                                        f"for name, function in WAYS.items():\n    if name not in {names!r}: continue", 1)
        out = subprocess.run([sys.executable, "-c", source, "facts.json"], cwd=self.workspace, capture_output=True, text=True).stdout
        self.drain()
        os.removexattr(self.diary, "user.probe")
        return [row for row in map(json.loads, out.splitlines()) if "way" in row]

    def drain(self):
        """Which sockets somebody has reached since the last look."""
        reached = []
        for name, s in self.sockets.items():
            try:
                while True:
                    s.accept() if s.type == socket.SOCK_STREAM else s.recv(64)
                    reached.append(name)
            except BlockingIOError:
                pass
        try:
            while os.read(self.fifo, 64):
                reached.append("fifo")
        except BlockingIOError:
            pass
        return reached

    def state(self):
        """Everything that a way out could have changed."""
        state = {}
        # Claw's home aside: the workspace is in it.
        for path in [self.home, *sorted(self.home.iterdir()), self.home / ".claw/claw.toml", self.tmp / "foreign", pathlib.Path("/etc/hostname")]:
            if path.name == ".claw":
                continue
            facts = path.lstat()
            state[str(path)] = (facts.st_mode, facts.st_uid, facts.st_gid, facts.st_size, facts.st_mtime_ns, facts.st_nlink)
        state["names"] = sorted(os.listdir(self.home))
        state["diary"] = self.diary.read_text()
        state["attributes"] = os.listxattr(self.diary)
        pid = self.victim.pid
        row = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        state["victim"] = (row[0] in "TZ", row[2], row[3], row[15], row[16], row[38])
        for name in ("limits", "oom_score_adj", "comm", "coredump_filter"):
            state[f"victim's {name}"] = pathlib.Path(f"/proc/{pid}/{name}").read_text()
        state["affinity"] = sorted(os.sched_getaffinity(pid))
        state["policy"] = os.sched_getscheduler(pid)
        state["own priority"] = os.getpriority(os.PRIO_PROCESS, 0)
        state["disk priority"] = LIBC.syscall(252, 1, pid)
        state["host name"] = socket.gethostname()
        return state

    def close(self):
        self.victim.kill()
        self.victim.wait()
        for kind, identity in self.ipc:
            if identity >= 0:
                LIBC.semctl(identity, 0, 0) if kind == "sem" else getattr(LIBC, kind + "ctl")(identity, 0, None)
        LIBC.mq_unlink(f"/{self.mq}".encode())


class Server:
    """`claw server bash` over stdio."""

    def __init__(self, house):
        self.program = [CLAW, "server", "bash", *OPTIONS]
        if OLDER is not None:
            self.program[:0] = [sys.executable, str(HERE / "older.py"), str(OLDER), *UBUNTU]
        command = [*self.program, "--workspace", str(house.workspace), "--protect", str(house.home / ".claw"), *house.openings,
                   "--command-processes-max", "200", "--timeout-s", "300", "--output-bytes-max", "1000000"]
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(house.home), "TMPDIR": str(house.tmp), "API_KEY": SECRET,
                       "SSH_AUTH_SOCK": str(house.home / "agent"), "DOCKER_HOST": f"unix://{house.home}/docker"}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment, text=True, start_new_session=True)
        self.number = 0
        info = {"name": "probe", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.level = "?"
        # What the commands need from now on.
        self.needs = "network"

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.number += 1
        self.say({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        until = time.monotonic() + 400
        while time.monotonic() < until and select.select([self.process.stdout], [], [], 400)[0]:
            line = self.process.stdout.readline()
            if not line:
                break
            message = json.loads(line)
            if message.get("id") == self.number:
                return message
        sys.exit(f"the server does not answer {method}")

    def run(self, command, opens=()):
        arguments = {"command": command, "needs": self.needs} | ({"opens": list(opens)} if opens else {})
        params = {"name": "run", "arguments": arguments, "_meta": {"claw/opened": list(opens)}}
        result = self.ask("tools/call", params)["result"]
        facts = result.get("structuredContent")
        if not facts:
            sys.exit(f"nothing was run: {result}")
        self.level, self.confined = facts["box"], facts["confined"]
        return facts["output"]

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            sys.exit("the server does not end")


main()
