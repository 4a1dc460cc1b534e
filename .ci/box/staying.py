"""More ways still, for a command at level `read`: to stay behind when it has ended, and to wear the machine out. Read by ways.py after
looking.py, in whose words it speaks. Must not judge: outside.py does.
"""

import resource

CLAW_HOME = F["claw_home"]


def create(name):
    """Makes or opens a file for writing, and the folders on the way to it."""
    os.makedirs(os.path.dirname(name), exist_ok=True)
    os.close(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o755))


# --- stays: what somebody else runs later
for name in (".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".config/fish/config.fish", ".config/autostart/x.desktop",
             ".config/systemd/user/x.service", ".config/systemd/user/default.target.wants/x.service", ".ssh/authorized_keys", ".ssh/rc", ".ssh/config",
             ".gitconfig", ".config/git/config", ".config/git/hooks/pre-commit", ".local/bin/ls", ".local/share/applications/x.desktop", "bin/ls",
             ".cargo/bin/cargo", ".cargo/config.toml", ".npmrc", ".config/pip/pip.conf", ".pypirc", ".vimrc", ".config/nvim/init.lua", ".emacs",
             ".tmux.conf", ".inputrc", ".xprofile", ".pam_environment", ".config/environment.d/x.conf", ".docker/config.json", ".kube/config",
             ".python_history", ".local/lib/python3.11/site-packages/x.pth", ".claude/settings.json", ".cursor/mcp.json"):
    WAYS[f"stays: write ~/{name}"] = lambda name=name: create(f"{HOME}/{name}")
for name in ("claw.toml", "policy.toml", "mcp.json", "claw.db", "persona/SOUL.md", "command-homes/x/.bashrc", "command-output/x", "locks/x", "plugins/x"):
    WAYS[f"stays: write claw's {name}"] = lambda name=name: create(f"{CLAW_HOME}/{name}")
for name in (".git/hooks/post-checkout", ".git/config", ".envrc", ".vscode/tasks.json", "AGENTS.md", ".mcp.json", ".github/workflows/x.yml", "Makefile",
             "package.json", "conftest.py", "sitecustomize.py", ".cargo/config.toml", "build.rs", "node_modules/.bin/ls", ".venv/bin/python"):
    WAYS[f"stays: write the workspace's {name}"] = lambda name=name: create(os.path.abspath(name))
for name in ("/etc/cron.d/x", "/etc/crontab", "/var/spool/cron/crontabs/x", "/var/spool/at/x", "/etc/systemd/system/x.service", "/etc/profile.d/x.sh",
             "/etc/ld.so.preload", "/etc/ld.so.conf.d/x.conf", "/etc/rc.local", "/etc/init.d/x", "/etc/udev/rules.d/x.rules", "/etc/sudoers.d/x",
             "/etc/environment", "/etc/bash.bashrc", "/etc/passwd", "/etc/shadow", "/etc/hosts", "/etc/resolv.conf", "/etc/ssh/sshd_config",
             "/etc/apt/apt.conf.d/x", "/etc/gitconfig", "/usr/local/bin/ls", "/usr/bin/x", "/usr/lib/x", "/usr/local/lib/x", "/lib/x", "/opt/x",
             "/var/lib/x", "/var/tmp/x", "/run/x", "/run/systemd/system/x.service", f"/run/user/{UID}/systemd/user/x.service", "/dev/shm/x", "/boot/x",
             "/srv/x", "/root/.bashrc", "/var/www/x"):
    WAYS[f"stays: write {name}"] = lambda name=name: create(name)
# What would still be there for the next command, or for the user's programs.
raw("stays: a key in the user's keyring", "add_key", path("user"), path("claw"), buffer(b"x"), 1, -4)
raw("stays: the persistent keyring", "keyctl", 22, UID, -3)
raw("stays: a file without a name, in memory, sealed and handed on", "pidfd_getfd", ME, 0, 0)
WAYS["stays: systemd-run"] = lambda: os.execvp("systemd-run", ["systemd-run", "--user", "true"])
WAYS["stays: crontab"] = lambda: runs("sh", "-c", "echo '* * * * * true' | crontab -")
WAYS["stays: at"] = lambda: runs("sh", "-c", "echo true | at now + 1 minute")
WAYS["stays: loginctl enable-linger"] = lambda: runs("loginctl", "enable-linger")
WAYS["stays: git config --global"] = lambda: runs("git", "config", "--global", "alias.x", "!true")
WAYS["stays: git config"] = lambda: runs("git", "-C", "clone", "config", "core.fsmonitor", "./x")
WAYS["stays: git init"] = lambda: runs("git", "init", "-q", "made")
WAYS["stays: a loop device"] = lambda: fcntl.ioctl(os.open("/dev/loop-control", os.O_RDWR), 0x4C82)
WAYS["stays: a user's session of tmux"] = lambda: runs("tmux", "-L", "claw", "new-session", "-d", "sleep 1")

# --- wears out: devices, settings and clocks of the machine
for name in ("/dev/mem", "/dev/kmem", "/dev/port", "/dev/kmsg", "/dev/watchdog", "/dev/rtc0", "/dev/sda", "/dev/vda", "/dev/nvme0n1", "/dev/loop0",
             "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/snd/seq", "/dev/input/event0", "/dev/uinput", "/dev/dri/card0", "/dev/ptmx", "/dev/pts/0",
             "/dev/console", "/dev/tty1", "/dev/vcs1", "/dev/cpu/0/msr", "/dev/mapper/control", "/dev/userfaultfd", "/dev/vhost-net", "/dev/vsock"):
    WAYS[f"wears out: open {name}"] = lambda name=name: os.open(name, os.O_RDWR | os.O_NONBLOCK)
for name in ("/proc/sysrq-trigger", "/proc/sys/vm/drop_caches", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hostname",
             "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/pid_max", "/proc/sys/fs/file-max", "/proc/sys/net/ipv4/ip_forward", "/proc/irq/default_smp_affinity",
             "/sys/power/state", "/sys/kernel/mm/transparent_hugepage/enabled", "/sys/devices/system/cpu/cpu1/online", "/sys/fs/cgroup/cgroup.procs",
             "/sys/fs/cgroup/memory.max", "/sys/class/block/vda/queue/scheduler", "/sys/module/x", f"/proc/{V}/oom_score_adj", f"/proc/{ME}/oom_score_adj",
             f"/proc/{ME}/mem", f"/proc/{ME}/timerslack_ns", "/proc/1/oom_score_adj", "/proc/1/mem"):
    WAYS[f"wears out: write {name.replace(str(V), 'VICTIM').replace(str(ME), 'SUPERVISOR')}"] = lambda name=name: os.open(name, os.O_WRONLY)


def limit(which):
    """Raises a limit above the hard one that it has."""
    hard = resource.getrlimit(which)[1]
    if hard == resource.RLIM_INFINITY:
        # Nothing to raise; the supervisor counts then.
        os.stat("/nonexistent")
    resource.setrlimit(which, (hard + 1, hard + 1))


def raises(which):
    try:
        limit(which)
    except ValueError as error:
        raise PermissionError(1, str(error)) from error


for name in ("NPROC", "NOFILE", "FSIZE", "AS", "CORE", "MEMLOCK", "NICE", "RTPRIO", "MSGQUEUE", "SIGPENDING"):
    WAYS[f"wears out: raise RLIMIT_{name}"] = lambda name=name: raises(getattr(resource, f"RLIMIT_{name}"))
WAYS["wears out: a file that is too large"] = lambda: os.truncate(os.open(SCRATCH + "/large", os.O_CREAT | os.O_RDWR), 1 << 50)
WAYS["wears out: real time"] = lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
WAYS["wears out: a negative nice"] = lambda: os.setpriority(os.PRIO_PROCESS, 0, -20)
raw("wears out: the disk in real time", "ioprio_set", 1, 0, 1 << 13)
raw("wears out: settimeofday", "settimeofday", buffer(struct.pack("qq", 1, 0)), 0)
raw("wears out: clock_settime", "clock_settime", 0, buffer(struct.pack("qq", 1, 0)))
raw("wears out: reboot", "reboot", 0xfee1dead, 672274793, 0x1234567, 0)
raw("wears out: swapoff", "swapoff", path("/dev/vda"))
raw("wears out: acct", "acct", path(SCRATCH + "/acct"))
raw("wears out: a module", "init_module", buffer(b"x"), 1, path(""))
raw("wears out: a program for the kernel", "bpf", 0, buffer(bytes(128)), 128)
raw("wears out: iopl", "iopl", 3)
raw("wears out: vhangup", "vhangup")
raw("wears out: sethostname", "sethostname", path("x"), 1)
