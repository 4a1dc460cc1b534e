"""What Ubuntu 24.04 does to a program of a user without rights that AppArmor has no profile for: `unshare(2)` and `clone(2)` make a user
namespace, and the process stands in it under the profile `unprivileged_userns`, which denies it every capability. So the maps of users cannot
be written, and nothing can be mounted, named, entered or brought up in there. Owns which calls that is, and what each answers. Must not know
how a call is caught.
"""

import errno
import os
import platform

# linux/sched.h. Of these all but the first need a capability.
NEWUSER, OTHERS = 0x10000000, 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
# asm/unistd.h of x86_64; asm-generic/unistd.h, which the others have.
NAMES = ("unshare", "clone", "mount", "umount2", "pivot_root", "chroot", "sethostname", "setdomainname", "setns", "setgroups", "openat")
NUMBERS = dict(zip(NAMES, (272, 56, 165, 166, 155, 161, 170, 171, 308, 116, 257) if platform.machine() == "x86_64"
                   else (97, 220, 40, 39, 41, 51, 161, 162, 268, 159, 56)))
# The same on every architecture.
NUMBERS |= {"open_tree": 428, "move_mount": 429, "fsopen": 430, "fsmount": 432, "fspick": 433, "clone3": 435, "openat2": 437, "mount_setattr": 442}
# These need a capability whatever their arguments are.
POWERFUL = {NUMBERS[name] for name in ("mount", "umount2", "pivot_root", "chroot", "sethostname", "setdomainname", "setns", "setgroups", "move_mount",
                                       "fsopen", "fsmount", "fspick", "mount_setattr")}
OPEN_TREE_CLONE = 1
PATH_BYTES_MAX = 4096
# What the kernel says under these names.
SETTINGS = {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": b"1\n", "/proc/self/attr/current": b"unconfined\n"}
# Opening the first to write and writing the others takes CAP_SYS_ADMIN in the namespace; here all
# of them fail when they are opened.
MAPS = {"setgroups": errno.EACCES, "uid_map": errno.EPERM, "gid_map": errno.EPERM}


class Ubuntu:
    """`memory` reads that of a process."""

    def __init__(self, shows_its_setting, memory):
        self.settings, self.memory = SETTINGS if shows_its_setting else {}, memory
        self.numbers = sorted(NUMBERS.values())
        self.own = os.readlink("/proc/self/ns/user")

    def refusal(self, pid, number, arguments):
        """How this system answers: an error, the text of a file, or None where it does what the kernel does."""
        if number == NUMBERS["openat"]:
            return self.opened(pid, self.path(pid, arguments[1]), arguments[2])
        if number == NUMBERS["openat2"]:
            return self.opened(pid, self.path(pid, arguments[1]), int.from_bytes(self.memory(pid, arguments[2], 8), "little"))
        if number in (NUMBERS["unshare"], NUMBERS["clone"], NUMBERS["clone3"]):
            flags = int.from_bytes(self.memory(pid, arguments[0], 8), "little") if number == NUMBERS["clone3"] else arguments[0]
            # With a user namespace of its own among them, a process has the others, too,
            # and no powers.
            needs = flags & OTHERS and not flags & NEWUSER
        else:
            needs = number in POWERFUL or number == NUMBERS["open_tree"] and arguments[2] & OPEN_TREE_CLONE
        return -errno.EPERM if needs and self.is_inside(pid) else None

    def opened(self, pid, path, flags):
        if path in self.settings:
            return self.settings[path]
        name = os.path.basename(path)
        if name in MAPS and path.startswith("/proc/") and flags & os.O_ACCMODE != os.O_RDONLY and self.is_inside(pid):
            return -MAPS[name]
        return None

    def path(self, pid, address):
        # To the end of its page, behind which there may be nothing.
        text = self.memory(pid, address, PATH_BYTES_MAX - address % PATH_BYTES_MAX)
        if b"\0" not in text:
            text += self.memory(pid, address + len(text), PATH_BYTES_MAX)
        return os.fsdecode(text.split(b"\0")[0])

    def is_inside(self, pid):
        """Whether it stands in a user namespace that is not the one in which this began."""
        while pid > 1:
            try:
                if os.readlink(f"/proc/{pid}/ns/user") != self.own:
                    return True
            except OSError:
                # One that nobody may look at: its parents tell.
                pass
            try:
                with open(f"/proc/{pid}/stat") as file:
                    pid = int(file.read().rsplit(")", 1)[1].split()[1])
            except OSError:
                return False
        return False
