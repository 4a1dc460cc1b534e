"""More ways still, for a command to which ssh-agent and Docker are open: to reach the agent or Docker's socket themselves, to have the ssh
outside start or open something, and to misuse what carries both. Read by ways.py, in whose words it speaks. Must not judge: outside.py does.
"""

import subprocess

MARK = f"{HOME}/started"


def by_ssh(*words, input=b""):
    """The stand-in for ssh, which has to refuse these words: what got through has started something."""
    ended = subprocess.run(["ssh", *words], input=input, capture_output=True, timeout=4)
    if ended.returncode != 0 and not os.path.exists(MARK):
        raise OSError(errno.EPERM, ended.stderr.decode(errors="replace"))


def said(line, rest=b""):
    """Speaks to what hands words to the ssh outside, and has to get no answer."""
    address, token = os.environ["CLAW_SSH"].split(" ")
    host, port = address.split(":")
    s = socket.create_connection((host, int(port)), timeout=2)
    s.sendall(line(token) + rest)
    s.shutdown(socket.SHUT_WR)
    answer = b""
    while piece := s.recv(4096):
        answer += piece
    # The last piece is the exit code; 255 is ssh's own word for no.
    if not answer or answer.endswith(b"\x03\x00\x00\x00\x01\xff"):
        raise OSError(errno.EPERM, answer.decode(errors="replace"))


for name, where in (("the agent's socket", F["agent"]), ("the socket of Docker's daemon", F["docker"]), ("another socket of the home", F["stream"])):
    WAYS[f"opened: {name}"] = lambda where=where: connect(socket.AF_UNIX, socket.SOCK_STREAM, where)
WAYS["opened: the agent by its variable"] = lambda: connect(socket.AF_UNIX, socket.SOCK_STREAM, os.environ.get("SSH_AUTH_SOCK") or "/nowhere")
WAYS["opened: SSH_AUTH_SOCK says where it is"] = lambda: os.environ["SSH_AUTH_SOCK"] if "SSH_AUTH_SOCK" in os.environ else positive(-1)
HOSTILE = f"touch {MARK}"
for title, words in (
    ("ProxyCommand", ["-o", f"ProxyCommand={HOSTILE}", "h", "true"]), ("ProxyCommand in one word", [f"-oProxyCommand={HOSTILE}", "h", "true"]),
    ("LocalCommand", ["-o", "PermitLocalCommand=yes", "-o", f"LocalCommand={HOSTILE}", "h", "true"]),
    ("KnownHostsCommand", ["-o", f"KnownHostsCommand={HOSTILE}", "h", "true"]), ("a file of settings", ["-F", f"{os.getcwd()}/hostile", "h", "true"]),
    ("a jump", ["-J", "h", "h", "true"]), ("forwarding the agent", ["-A", "h", "true"]), ("a local way", ["-L", "9:h:9", "h", "true"]),
    ("a remote way", ["-R", "9:h:9", "h", "true"]), ("a dynamic way", ["-D", "9", "h", "true"]), ("standard streams of another host", ["-W", "h:9", "h"]),
    ("a tunnel", ["-w", "0:0", "h", "true"]), ("a key of a file", ["-i", D, "h", "true"]), ("a library", ["-I", "/tmp/x.so", "h", "true"]),
    ("a log file", ["-E", MARK, "h", "true"]), ("a control socket", ["-S", MARK, "-M", "h", "true"]), ("the settings as they would be", ["-G", "h"]),
    ("no host check", ["-o", "StrictHostKeyChecking=no", "h", "true"]), ("another known_hosts", ["-o", f"UserKnownHostsFile={D}", "h", "true"]),
    ("an option as a host", [f"-oProxyCommand={HOSTILE}@h", "true"]), ("an option as a user", ["-l", f"-oProxyCommand={HOSTILE}", "h", "true"]),
    ("a user with a command", [f"$({HOSTILE})@h", "true"]), ("a host with a token", ["%h;" + HOSTILE, "true"]), ("a host of lines", ["h\nProxyCommand x", "true"]),
    ("two words before the host", ["-p", "22", "-o", "SendEnv=*", "h", "true"]), ("options behind two dashes", ["--", f"-oProxyCommand={HOSTILE}", "true"]),
    ("a host of ~/.ssh/config with ProxyCommand", ["behind", "true"]), ("a host behind Match exec", ["by-match", "true"]),
    ("a terminal", ["-tt", "h", "true"]), ("the background", ["-f", "h", "true"]), ("a subsystem", ["-s", "h", "sftp"]),
):
    WAYS[f"opened: ssh with {title}"] = lambda words=words: by_ssh(*words)
plain = ["h", "true"]
for title, line in (
    ("no token", lambda token: json.dumps({"token": "", "words": plain}).encode() + b"\n"),
    ("another token", lambda token: json.dumps({"token": token[::-1], "words": plain}).encode() + b"\n"),
    ("half a token", lambda token: json.dumps({"token": token[:32], "words": plain}).encode() + b"\n"),
    ("no end of its line", lambda token: b"{" * 200_000),
    ("a line that is too long", lambda token: json.dumps({"token": token, "words": ["x" * 200_000, "true"]}).encode() + b"\n"),
    ("no words", lambda token: json.dumps({"token": token, "words": []}).encode() + b"\n"),
    ("words that are none", lambda token: json.dumps({"token": token, "words": {"-o": "x"}}).encode() + b"\n"),
    ("a field of its own", lambda token: json.dumps({"token": token, "words": plain, "ssh": "/bin/sh", "agent": D}).encode() + b"\n"),
    ("a NUL in its words", lambda token: json.dumps({"token": token, "words": ["h", f"x\0{HOSTILE}"]}).encode() + b"\n"),
):
    WAYS[f"opened: ssh by {title}"] = lambda line=line: said(line)
if "DOCKER_HOST" in os.environ:
    host, port = os.environ["DOCKER_HOST"].removeprefix("tcp://").split(":")
    WAYS["opened: Docker, which is what was opened"] = lambda: connect(socket.AF_INET, socket.SOCK_STREAM, (host, int(port)))
    for title, address in (("another loopback address", ("127.0.0.2", F["tcp"])), ("the machine's loopback", ("127.0.0.1", F["tcp"]))):
        WAYS[f"opened: {title} beside Docker"] = lambda address=address: connect(socket.AF_INET, socket.SOCK_STREAM, address)
