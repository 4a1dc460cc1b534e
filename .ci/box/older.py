"""Starts a program as if the system were another one: it and all that it starts see Landlock as it was at one ABI, and, with --ubuntu, user
namespaces as Ubuntu 24.04 gives them. A filter of seccomp hands the calls in question to this process, which answers those that the other
system would have refused, and lets the rest through to the kernel of today. Needs no rights (no_new_privs). Must not know what the program is.

Usage: older.py ABI [--ubuntu shown|hidden] PROGRAM [ARGUMENT...]    (ABI: 0 for a kernel without Landlock)

`hidden` keeps Ubuntu's setting from being read, as in a container: then only the refusals are left to go by.
"""

import array
import ctypes
import errno
import fcntl
import os
import platform
import socket
import struct
import subprocess
import sys
import threading

import ubuntu

LIBC = ctypes.CDLL(None, use_errno=True)
# From 424 on a number is the same on every architecture.
CREATE, ADD, RESTRICT = 444, 445, 446
SECCOMP = {"x86_64": 317, "aarch64": 277, "riscv64": 277}[platform.machine()]
# linux/seccomp.h, for 64 bits: struct seccomp_notif is 80 bytes, struct seccomp_notif_resp 24.
RECV, SEND, ADD_FILE = 0xC0502100, 0xC0182101, 0x40182103
CONTINUE, USER_NOTIF, ALLOW, NEW_LISTENER = 1, 0x7FC00000, 0x7FFF0000, 8
# The descriptor is the answer, closed on exec.
ADD_AND_SEND, CLOSED_ON_EXEC = 2, os.O_CLOEXEC
PR_SET_NO_NEW_PRIVS = 38

# include/uapi/linux/landlock.h of the kernel that brought each: rights of files, rights of
# networks, scopes, size of the attributes.
KNOWN = {1: (0x1FFF, 0, 0, 8), 2: (0x3FFF, 0, 0, 8), 3: (0x7FFF, 0, 0, 8), 4: (0x7FFF, 3, 0, 16), 5: (0xFFFF, 3, 0, 16), 6: (0xFFFF, 3, 3, 24),
         7: (0xFFFF, 3, 3, 24)}
VERSION, PATH_BENEATH, NET_PORT = 1, 1, 2
LOGGING = 7  # The flags that landlock_restrict_self(2) has known since ABI 7.


def refusal(abi, pid, number, arguments):
    """How the older kernel answers: a number for the caller, or None where it does what today's does."""
    if abi == 0:
        return -errno.ENOSYS
    files, networks, scopes, known_size = KNOWN[abi]
    if number == CREATE:
        address, size, flags = arguments[:3]
        if flags:
            return abi if (flags, address, size) == (VERSION, 0, 0) else -errno.EINVAL
        if size < 8:
            return -errno.EINVAL
        if size > 4096:
            return -errno.E2BIG
        said = memory(pid, address, size)
        if any(said[known_size:]):
            return -errno.E2BIG
        handled = struct.unpack("QQQ", said[:known_size].ljust(24, b"\0"))
        if any(have & ~may for have, may in zip(handled, (files, networks, scopes))):
            return -errno.EINVAL
    if number == ADD and arguments[1] != PATH_BENEATH and not (arguments[1] == NET_PORT and abi >= 4):
        return -errno.EINVAL
    if number == RESTRICT and arguments[1] & ~(LOGGING if abi >= 7 else 0):
        return -errno.EINVAL
    return None


def memory(pid, address, size):
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as file:
        file.seek(address)
        return file.read(size)


def answer(listener, abi, system):
    """Answers until nobody is left who could ask."""
    while True:
        notice = bytearray(80)
        try:
            fcntl.ioctl(listener, RECV, notice)
        except OSError as error:
            if error.errno in (errno.EINTR, errno.ENOENT):
                continue
            return
        identity, pid, _flags, number, _arch, _at = struct.unpack_from("QIIiIQ", notice)
        arguments = struct.unpack_from("6Q", notice, 32)
        try:
            if number in (CREATE, ADD, RESTRICT):
                said = refusal(abi, pid, number, arguments)
            else:
                said = system.refusal(pid, number, arguments)
        except OSError as error:
            print(f"older.py: the memory of {pid} cannot be read: {error}", file=sys.stderr)
            said = -errno.EFAULT
        try:
            if isinstance(said, bytes):
                give(listener, identity, said)
                continue
            value, failed, flags = (0, 0, CONTINUE) if said is None else (max(said, 0), min(said, 0), 0)
            fcntl.ioctl(listener, SEND, struct.pack("QqiI", identity, value, failed, flags))
        except OSError as error:
            # Whoever asked has been killed meanwhile.
            if error.errno != errno.ENOENT:
                raise


def give(listener, identity, text):
    """Answers an open with a file that says this."""
    file = os.memfd_create("setting")
    os.write(file, text)
    os.lseek(file, 0, os.SEEK_SET)
    try:
        fcntl.ioctl(listener, ADD_FILE, struct.pack("QIIII", identity, ADD_AND_SEND, file, 0, CLOSED_ON_EXEC))
    finally:
        os.close(file)


def filtered(line, numbers):
    """In the child: sets the filter and hands its descriptor to the parent."""
    words = [(0x20, 0, 0, 0)]  # Loads the number of the call.
    words += [(0x15, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    words += [(0x06, 0, 0, ALLOW), (0x06, 0, 0, USER_NOTIF)]
    code = b"".join(struct.pack("HBBI", *word) for word in words)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HxxxxxxQ", len(words), ctypes.addressof(buffer))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs")
    listener = LIBC.syscall(SECCOMP, 1, NEW_LISTENER, ctypes.create_string_buffer(program, len(program)))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "seccomp")
    line.sendmsg([b"l"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [listener]))])
    os.close(listener)


def main():
    abi, words, system = int(sys.argv[1]), sys.argv[2:], None
    if words[0] == "--ubuntu":
        system, words = ubuntu.Ubuntu(words[1] == "shown", memory), words[2:]
    numbers = [CREATE, ADD, RESTRICT, *(system.numbers if system else [])]
    ours, theirs = socket.socketpair()
    child = subprocess.Popen(words, preexec_fn=lambda: filtered(theirs, numbers), close_fds=True)
    theirs.close()
    _, rights, _, _ = ours.recvmsg(1, 64)
    listener = array.array("i", rights[0][2])[0]
    threading.Thread(target=answer, args=(listener, abi, system), daemon=True).start()
    code = child.wait()
    sys.exit(128 - code if code < 0 else code)


main()
