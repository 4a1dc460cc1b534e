"""Prints as many ports of this machine as its argument says, on which nobody listens. Usage: free_ports.py COUNT FILE

A port that is asked for by binding to 0 is free again before its server takes it: the next one who asks, or any
connection, may get the same. So these are from below the range that the kernel takes from by itself, and FILE holds what
was handed out, which never comes again in this run, also not to a step that runs beside this one."""

import errno
import fcntl
import random
import socket
import sys

BELOW_THE_KERNEL_S = range(20_000, 32_768)


def is_free(port):
    for family, host in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):
        try:
            with socket.socket(family) as probe:
                if family == socket.AF_INET6:
                    probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                probe.bind((host, port))
        except OSError as error:
            # A machine without IPv6 has nobody there.
            if family == socket.AF_INET or error.errno == errno.EADDRINUSE:
                return False
    return True


with open(sys.argv[2], "a+") as given:
    fcntl.flock(given, fcntl.LOCK_EX)
    given.seek(0)
    taken = set(map(int, given.read().split()))
    candidates = [port for port in BELOW_THE_KERNEL_S if port not in taken]
    random.shuffle(candidates)
    ports = []
    while len(ports) < int(sys.argv[1]):
        port = candidates.pop()
        if is_free(port):
            ports.append(port)
    given.write(" ".join(map(str, ports)) + "\n")
print(*ports)
