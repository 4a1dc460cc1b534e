"""Starts a program on a system that refuses user namespaces: by `unshare(2)` itself with EPERM or EACCES, as some containers and rules of
AppArmor do, or, as Ubuntu 24.04 does by itself, by giving no powers in them, so that `mount(2)` is refused. Must not know what the program is.

Usage: refusing.py unshare|mount EPERM|EACCES PROGRAM [ARGUMENT...]
"""

import ctypes
import errno
import os
import platform
import struct
import sys

NEWUSER = 0x10000000
X86 = platform.machine() == "x86_64"
UNSHARE, CLONE, MOUNT = (272, 56, 165) if X86 else (97, 220, 40)
# The newer ways to mount have one number everywhere: open_tree, move_mount, fsopen, mount_setattr.
CLONE3, NEWER = 435, (428, 429, 430, 442)
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22

what, how, program = sys.argv[1], getattr(errno, sys.argv[2]), sys.argv[3:]
load = lambda at: (0x20, 0, 0, at)
equal = lambda value, yes, no: (0x15, yes, no, value)
say = lambda value: (0x06, 0, 0, value)
if what == "unshare":
    # The first argument of both holds the flags; clone3 has them in memory, and is not there.
    words = [load(0), equal(CLONE3, 6, 0), equal(UNSHARE, 1, 0), equal(CLONE, 0, 2), load(16), (0x45, 1, 0, NEWUSER), say(ALLOW), say(REFUSE | how),
             say(REFUSE | errno.ENOSYS)]
else:
    calls = (MOUNT, *NEWER)
    words = [load(0)] + [equal(number, len(calls) - at, 0) for at, number in enumerate(calls)] + [say(ALLOW), say(REFUSE | how)]
code = b"".join(struct.pack("HBBI", *word) for word in words)
buffer = ctypes.create_string_buffer(code, len(code))
libc = ctypes.CDLL(None, use_errno=True)
filter_ = struct.pack("HxxxxxxQ", len(words), ctypes.addressof(buffer))
if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, 2, ctypes.create_string_buffer(filter_, len(filter_)), 0, 0):
    sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
os.execvp(program[0], program)
