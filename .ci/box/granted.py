"""A grant for hosts (`claw approve ID --for always --hosts A,B`), from outside and through the whole program: which commands run by it
without a question, which ask all the same, and that one that runs by it reaches these hosts and nobody else. Anything else is an exit code
of 1. The model is claw's own demo; the hosts are names of /etc/hosts (box.sh puts one of its own there) and services on loopback ports.

Usage: granted.py CLAW FOLDER    (FOLDER: empty, and the user's own)
"""

import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

CLAW, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
ONE, TWO, OTHER = "one.claw.test", "two.claw.test", "other.claw.test"
faults, tried = [], 0


class Service(http.server.ThreadingHTTPServer):
    """Counts who comes. `/away` leads to where it is told."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.came, self.away = [], ""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def port(self):
        return self.server_address[1]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.came.append(self.path)
        self.send_response(302 if self.path == "/away" else 200)
        self.send_header("location", self.server.away)
        self.send_header("content-length", "6")
        self.end_headers()
        self.wfile.write(b"hello\n")

    def log_message(self, *_):
        pass


one, two, other = Service(), Service(), Service()
one.away = f"http://{OTHER}:{other.port}/"
A, B, C = f"{ONE}:{one.port}", f"{TWO}:{two.port}", f"{OTHER}:{other.port}"
home = FOLDER / "home"
workspace = home / ".claw/workspace"
workspace.mkdir(parents=True)
(home / ".claw").chmod(0o700)
private = [word for host in (A, B, C) for word in ("--private-host", host)]
(home / ".claw/mcp.json").write_text(json.dumps({"mcpServers": {"bash": {"command": "claw", "args": ["server", "bash", *private]}}}))

# What a command that runs by the grant tries. A way that is open prints its name.
(workspace / "ways.py").write_text(f"""
import os, socket, subprocess
proxy = ("127.0.0.1", int(os.environ["http_proxy"].rstrip("/").rsplit(":", 1)[1]))
def asks(line, host="x", rest=b""):
    with socket.create_connection(proxy, 5) as s:
        s.sendall(f"{{line}}\\r\\nHost: {{host}}\\r\\nConnection: close\\r\\n\\r\\n".encode() + rest)
        said = b""
        try:
            while piece := s.recv(65536):
                said += piece
        except TimeoutError:
            pass  # A way that is open stays so.
    return said
def way(name, reached):
    print(("OPEN " if reached else "held ") + name)
def direct(name, family, kind, address):
    try:
        with socket.socket(family, kind) as s:
            s.settimeout(3)
            s.connect(address)
            if kind == socket.SOCK_DGRAM:
                s.send(b"\\0" * 32)
                s.recv(512)
            way(name, True)
    except OSError:
        way(name, False)
good = asks("GET http://{A}/ HTTP/1.1", "{A}")
print("REACHED" if b"hello" in good else f"not reached: {{good}}")
for name, target in {{
    "another host": "{C}", "its address": "127.0.0.1:{one.port}", "another's address": "127.0.0.1:{other.port}",
    "an address of IPv6": "[::1]:{other.port}", "a mapped address": "[::ffff:127.0.0.1]:{other.port}",
    "a number for an address": "2130706433:{other.port}", "an octal address": "0177.0.0.1:{other.port}", "a short address": "127.1:{other.port}",
    "a name of this machine": "localhost:{other.port}", "another port": "{ONE}:{other.port}", "a name below it": "x.{A}",
    "the name above it": "claw.test:{other.port}", "a dot behind it": "{ONE}.:{other.port}", "a wildcard": "*.claw.test:{other.port}",
    "the host as a user": "{A}@{C}", "the host as a path": "{C}/{A}", "nothing": ":{other.port}", "metadata": "169.254.169.254:80",
}}.items():
    way("CONNECT " + name, b" 200 " in asks(f"CONNECT {{target}} HTTP/1.1", "{A}").split(b"\\r\\n")[0])
    way("GET " + name, b"hello" in asks(f"GET http://{{target}}/ HTTP/1.1", "{A}"))
way("two requests in one connection", b"hello" in asks("GET http://{A}/ HTTP/1.1", "{A}", b"GET http://{C}/ HTTP/1.1\\r\\nHost: {C}\\r\\n\\r\\n").split(b"hello", 1)[1])
try:
    said = subprocess.run(["curl", "-sL", "http://{A}/away"], capture_output=True, timeout=20).stdout
    way("a redirect that is followed", b"hello" in said)
except FileNotFoundError:
    way("a redirect that is followed", b"hello" in asks("GET " + asks("GET http://{A}/away HTTP/1.1", "{A}").split(b"ocation: ")[1].split(b"\\r")[0].decode() + " HTTP/1.1"))
for name, port in (("the host", {one.port}), ("another", {other.port})):
    direct(name + " without the proxy", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", port))
    direct(name + " without the proxy by IPv6", socket.AF_INET6, socket.SOCK_STREAM, ("::1", port))
direct("DNS over UDP", socket.AF_INET, socket.SOCK_DGRAM, ("8.8.8.8", 53))
direct("DNS over TCP", socket.AF_INET, socket.SOCK_STREAM, ("8.8.8.8", 53))
print("DONE")
""")


def claw(*words, code=None):
    environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "CLAW_AGENT": "demo"}
    ran = subprocess.run([CLAW, *words], env=environment, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    if code is not None and ran.returncode != code:
        sys.exit(f"FAILED: {words} gave {ran.returncode} and not {code}:\n{ran.stdout}{ran.stderr}")
    return ran


def ask(command, hosts):
    to = "" if hosts is None else " to " + ", ".join(hosts) if hosts else ""
    return claw("ask", f"run `{command}`" + ("" if hosts is None else " with the network" + to))


def fault(what, said=""):
    faults.append(f"{what}: {said}" if said else what)


def waiting():
    return [json.loads(row) for row in claw("approvals", "--json", code=0).stdout.splitlines()][0]["id"]


def runs(what, hosts, command="echo ran >> ran"):
    global tried
    tried += 1
    said = ask(command, hosts)
    if said.returncode != 0:
        fault(f"{what} asks", said.stdout + said.stderr)
        claw("deny", waiting())
    return said


def asks(what, hosts):
    """It asks, and nothing of it has run."""
    global tried
    tried += 1
    before = (workspace / "ran").read_text()
    if ask("echo bad >> ran", hosts).returncode == 3:
        claw("deny", waiting(), code=0)
    else:
        fault(f"{what} does not ask")
    if (workspace / "ran").read_text() != before:
        fault(f"{what} has run")


said = ask("echo ran >> ran", [A, B])
if said.returncode != 3:
    sys.exit(f"FAILED: the first command does not ask: {said.stdout}{said.stderr}")
first = waiting()
for what, hosts in (("a superset", [A, B, C]), ("a subset of what was shown", [A]), ("another host", [C]), ("a wildcard", ["*.claw.test"]),
                    ("an address", [f"127.0.0.1:{one.port}"]), ("nothing", [""])):
    tried += 1
    if claw("approve", first, "--for", "always", "--hosts", ",".join(hosts)).returncode == 0:
        fault(f"an answer with {what} is taken")
if (workspace / "ran").exists():
    fault("a refused answer has let it run")
claw("approve", first, "--for", "always", "--hosts", f"{A},{B}", code=0)

runs("the same", [A, B])
runs("a subset", [A])
runs("the other subset", [B])
runs("another order, and twice", [B, A, A])
for what, hosts in (("a superset", [A, C]), ("all and one more", [A, B, C]), ("another host", [C]), ("a wildcard of both", ["*.claw.test"]),
                    ("a wildcard below", [f"*.{ONE}"]), ("everything", ["*"]), ("no host", []), ("no port", [ONE]), ("another port", [f"{ONE}:{other.port}"]),
                    ("its address", [f"127.0.0.1:{one.port}"]), ("its address of IPv6", [f"[::1]:{one.port}"]), ("a host and an address", [A, f"127.0.0.1:{two.port}"]),
                    ("capitals", [A.upper()]), ("a dot behind it", [f"{ONE}.:{one.port}"]), ("a name below it", [f"x.{A}"]), ("the name above it", [f"claw.test:{one.port}"]),
                    ("the level write", None)):
    asks(what, hosts)

came = len(one.came)
ran = runs("the ways around", [A, B], "python3 ways.py > said 2>&1")
said = (workspace / "said").read_text() if (workspace / "said").exists() else ran.stderr
ways = [line for line in said.splitlines() if line.startswith(("OPEN ", "held "))]
faults += [f"a way around: {line}" for line in ways if line.startswith("OPEN ")]
if "REACHED" not in said or "DONE" not in said:
    fault("the host that was named is not even reached, or not all ways were tried", said)
if other.came or two.came:
    fault("a host was reached that should not be", f"{other.came} {two.came}")
if set(one.came[came:]) - {"/", "/away"}:
    fault("the host saw other requests", str(one.came))
audit = claw("audit", code=0).stdout
if f"reached {A}" not in audit or f"refused {C}" not in audit and C not in audit:
    fault("the audit does not say what was reached and refused")

grant = [json.loads(row) for row in claw("grants", "--json", code=0).stdout.splitlines()][0]
claw("grants", "revoke", str(grant["id"]), code=0)
asks("a grant that was taken back", [A, B])
claw("audit", "verify", code=0)
print(f"{'root' if os.geteuid() == 0 else 'an ordinary user'}, a grant for two hosts: {tried} answers and commands, {len(ways)} ways around from inside, "
      f"{len([line for line in ways if line.startswith('held ')])} held")
for text in faults:
    print(f"FAILED: {text}", file=sys.stderr)
sys.exit(bool(faults))
