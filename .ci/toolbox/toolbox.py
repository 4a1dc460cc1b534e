"""Works in the box as an agent would: one folder, the tools of its user, the least level that does. Says of each task what it needs, and
whether it is there, done or FAILED. The exit code is 1 if one has failed.
Usage: toolbox.py CLAW HOME WHEELS
"""

import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import time

CLAW, HOME, WHEELS = sys.argv[1:4]
WORK = os.path.join(HOME, "project")
CLAW_HOME = os.path.join(HOME, ".claw")
failures = []


class Server:
    def __init__(self, *options, env=None):
        words = [CLAW, "server", "bash", "--workspace", WORK, "--protect", CLAW_HOME, "--home", CLAW_HOME + "/command-homes/project", *options]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env)
        self.next = 0
        info = {"name": "toolbox", "version": "1"}
        self.ask("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info})
        self.say({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def ask(self, method, params):
        self.next += 1
        self.say({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.next:
                return message["result"]
        raise SystemExit("the server ended")

    def run(self, level, command):
        result = self.ask("tools/call", {"name": "run", "arguments": {"command": command, "needs": level, "timeout_s": 590}})
        return result.get("structuredContent") or {"exit_code": None, "output": result["content"][0]["text"]}


def write(name, text):
    path = os.path.join(WORK, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def task(server, program, level, command, expected, title=None):
    title = title or command
    if program and not shutil.which(program):
        print(f"  not there: {program}, so not tried: {title}")
        return
    result = server.run(level, command)
    good = result["exit_code"] == 0 and expected in result["output"]
    print(f"  {'ok    ' if good else 'FAILED'} {level:8} {title}")
    if not good:
        failures.append(title)
        print("\n".join("         " + line for line in result["output"].splitlines()[-15:]))


def outside(*words, cwd=WORK):
    return subprocess.run(words, cwd=cwd, capture_output=True, text=True)


def opened_ssh(folder):
    """A push over ssh to a server of this run, signed in by an agent: with all of the network and with the host named, where it is opened."""
    programs = {name: shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/sbin") for name in ("sshd", "ssh", "ssh-agent", "ssh-add", "ssh-keygen", "git")}
    missing = [name for name, path in programs.items() if not path]
    if missing:
        print(f"  not there: {', '.join(missing)}, so not tried: git push over ssh")
        return
    os.makedirs(folder, mode=0o700)
    # The owner's key lies where no command reads it; the agent alone has it.
    for key in ("host", "user"):
        subprocess.run([programs["ssh-keygen"], "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/{key}"], check=True)
    shutil.copy(f"{folder}/user.pub", f"{folder}/authorized")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = f"""Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host
AuthorizedKeysFile {folder}/authorized
PidFile {folder}/pid
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
"""
    with open(f"{folder}/sshd_config", "w") as file:
        file.write(settings)
    if os.getuid() == 0:
        os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
    sshd = subprocess.Popen([programs["sshd"], "-D", "-e", "-f", f"{folder}/sshd_config"], stderr=open(f"{folder}/sshd.log", "w"))
    agent = subprocess.Popen([programs["ssh-agent"], "-D", "-a", f"{folder}/agent"], stdout=subprocess.DEVNULL)
    try:
        # What sshd says is the sign that it listens.
        while "listening" not in open(f"{folder}/sshd.log").read():
            if sshd.poll() is not None:
                raise SystemExit("sshd did not start: " + open(f"{folder}/sshd.log").read())
            time.sleep(0.05)
        while not os.path.exists(f"{folder}/agent"):
            time.sleep(0.05)
        environment = {**os.environ, "SSH_AUTH_SOCK": f"{folder}/agent"}
        subprocess.run([programs["ssh-add"], "-q", f"{folder}/user"], env=environment, check=True)
        subprocess.run(["git", "init", "-q", "--bare", f"{folder}/bare.git"], check=True)
        os.makedirs(HOME + "/.ssh", exist_ok=True)
        known = HOME + "/.ssh/known_hosts"
        pushes(Server("--private-host", f"localhost:{port}", env=environment), folder, port, known)
    finally:
        for process in (sshd, agent):
            process.terminate()
            process.wait()


def pushes(server, folder, port, known):
    user = pwd.getpwuid(os.getuid()).pw_name
    tools = server.ask("tools/list", {})["tools"]
    named = "hosts" in next(tool for tool in tools if tool["name"] == "run")["inputSchema"]["properties"]
    if not named:
        print("  not there: networks of commands' own, so no host was named")
    host = {"hosts": [f"localhost:{port}"]} if named else {}
    make = f"git init -q ssh && cd ssh && git commit -q --allow-empty -m one && git remote add origin ssh://{user}@localhost:{port}{folder}/bare.git"
    # A remote is a line of .git/config, which no command at `write` makes.
    expect(server, "a repository to push from", make, "")
    push = "cd ssh && git commit -q --allow-empty -m more && git push origin HEAD:main 2>&1"
    closed = "claw open ssh-agent --for 1h"
    expect(server, "git push over ssh, closed: it says what opens it", push, closed, good=None)
    expect(server, "the same with the host named", push, closed, good=None, **host)
    expect(server, "a call that names what is closed", push, closed, good=None, opens=["ssh-agent"], opened=[])
    opens = {"opens": ["ssh-agent"], "opened": ["ssh-agent"]}
    expect(server, "no new host key is accepted", push, "known_hosts", good=False, **opens)
    with open(known, "w") as file:
        file.write(f"[localhost]:{port} {open(folder + '/host.pub').read()}")
    expect(server, "git push over ssh, with all of the network", push, f"reached localhost:{port}", **opens)
    aliases(server, folder, port, user, host, opens)
    if named:
        expect(server, "git push over ssh, with the host named", push, f"reached localhost:{port}", **host, **opens)
        expect(server, "another host is not reached", f"ssh -p {port} {user}@127.0.0.1 true 2>&1", "not among the hosts", good=False, **host, **opens)
    expect(server, "git fetch over ssh", "cd ssh && git fetch origin 2>&1 && git log --oneline origin/main | wc -l", "", **host, **opens)
    expect(server, "plain ssh, with input and an exit code", f"cd ssh && echo word | ssh -p {port} {user}@localhost 'cat; exit 7'; test $? = 7", "word", **host, **opens)
    expect(server, "an option that would start something here", f"ssh -o ProxyCommand='touch {folder}/x' -p {port} {user}@localhost true 2>&1", "no other options", good=False, **opens)
    expect(server, "the agent itself is not there", "test -z \"$SSH_AUTH_SOCK\" && ! ssh-add -l 2>/dev/null", "", **opens)
    expect(server, "the key cannot be read", f"! cat {folder}/user 2>/dev/null", "", **opens)
    server.process.stdin.close()
    server.process.wait()


def aliases(server, folder, port, user, host, opens):
    """The owner's ~/.ssh/config: names are found by it, the agent's key is chosen, and nothing is started from there."""
    config = HOME + "/.ssh/config"
    touched = f"{folder}/touched"
    shutil.copy(f"{folder}/user.pub", HOME + "/.ssh/id_work.pub")
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", HOME + "/.ssh/id_other"], check=True)
    with open(config, "w") as file:
        file.write(f"""Host work
  HostName localhost
  Port {port}
  User {user}
  IdentityFile ~/.ssh/id_work
  IdentitiesOnly yes
  ForwardAgent yes
  LocalCommand touch {touched}
  PermitLocalCommand yes
Host other-key
  HostName localhost
  Port {port}
  IdentityFile ~/.ssh/id_other
  IdentitiesOnly yes
Host behind
  HostName localhost
  Port {port}
  ProxyCommand sh -c 'touch {touched}; nc %h %p'
Host jump
  ProxyJump work
Host unknown-file
  HostName localhost
  Port {port}
  UserKnownHostsFile /dev/null
  StrictHostKeyChecking no
Match exec "touch {touched}"
  HostName 127.0.0.9
""")
    os.chmod(config, 0o600)
    push = f"cd ssh && git commit -q --allow-empty -m more && git push work:{folder}/bare.git HEAD:main 2>&1"
    expect(server, "a name of ~/.ssh/config", push, f"reached localhost:{port}", **opens)
    if host:
        expect(server, "a name of ~/.ssh/config, with its real host named", push, f"reached localhost:{port}", **host, **opens)
        expect(server, "a name of ~/.ssh/config, with the name named", push, f"localhost:{port} was refused", good=False, hosts=[f"work:{port}"], **opens)
    ssh = "ssh {} true 2>&1"
    expect(server, "a key that the agent does not have", ssh.format(f"{user}@other-key"), "Permission denied (publickey", good=False, **opens)
    expect(server, "ProxyCommand of ~/.ssh/config", ssh.format("behind"), "host `behind` uses ProxyCommand in ~/.ssh/config", good=False, **opens)
    expect(server, "ProxyJump of ~/.ssh/config", ssh.format("jump"), "host `jump` uses ProxyJump", good=False, **opens)
    expect(server, "no key check is turned off there", ssh.format("unknown-file"), "Host key verification failed", good=False, **opens)
    expect(server, "what was left out is said where it fails", ssh.format("unknown-file"), "this was left out for `unknown-file`: Match", good=False, **opens)
    expect(server, "the agent is not handed on", "ssh work 'test -z \"$SSH_AUTH_SOCK\"'", "", **opens)
    if os.path.exists(touched):
        failures.append("something of ~/.ssh/config was started")
    for name in ("config", "id_work.pub", "id_other", "id_other.pub"):
        os.unlink(HOME + "/.ssh/" + name)


def expect(server, title, command, expected, level="network", good=True, hosts=None, opens=None, opened=()):
    arguments = {"command": command, "needs": level, "timeout_s": 120}
    arguments.update({name: value for name, value in (("hosts", hosts), ("opens", opens)) if value})
    result = server.ask("tools/call", {"name": "run", "arguments": arguments, "_meta": {"claw/opened": list(opened)}})
    text = result["content"][0]["text"]
    ended = (result.get("structuredContent") or {}).get("exit_code")
    fits = expected in text and (good is None and ended != 0 or good is not None and (ended == 0) == good)
    print(f"  {'ok    ' if fits else 'FAILED'} {level:8} {title}")
    if not fits:
        failures.append(title)
        print("\n".join("         " + line for line in text.splitlines()[-15:]))


os.makedirs(CLAW_HOME, mode=0o700, exist_ok=True)
os.chmod(CLAW_HOME, 0o700)
os.makedirs(CLAW_HOME + "/command-homes", mode=0o700, exist_ok=True)
os.makedirs(WORK, exist_ok=True)
with open(HOME + "/.gitconfig", "w") as file:
    file.write("[user]\n\tname = Ada Lovelace\n\temail = ada@example.org\n[credential]\n\thelper = store\n")
SECRETS = [".cargo/credentials.toml", ".npmrc", ".pypirc", ".config/gh/hosts.yml", ".ssh/id_ed25519", ".aws/credentials", ".netrc"]
for name in SECRETS:
    os.makedirs(os.path.dirname(os.path.join(HOME, name)), exist_ok=True)
    with open(os.path.join(HOME, name), "w") as file:
        # npm reads its file, where it may.
        file.write("# TOP-SECRET-4711\n")

write("rust/Cargo.toml", '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n')
write("rust/src/lib.rs", "#[test]\nfn adds() {\n    assert_eq!(1 + 1, 2);\n}\n")
write("fetched/Cargo.toml", '[package]\nname = "fetched"\nversion = "0.1.0"\nedition = "2021"\n[dependencies]\nitoa = "1"\n')
write("fetched/src/lib.rs", '#[test]\nfn writes() {\n    assert_eq!(itoa::Buffer::new().format(7), "7");\n}\n')
write("node/dep/package.json", '{"name": "dep", "version": "1.0.0", "main": "index.js"}')
write("node/dep/index.js", "module.exports = 42;\n")
write("node/package.json", '{"name": "demo", "version": "1.0.0", "scripts": {"test": "node test.js"}, "dependencies": {"dep": "file:dep-1.0.0.tgz"}}')
write("node/test.js", 'require("assert").equal(require("dep"), 42);\nconsole.log("passed");\n')
write("python/test_it.py", "def test_it():\n    assert 1 + 1 == 2\n")
write("go/go.mod", "module demo\n\ngo 1.19\n")
write("go/it_test.go", 'package demo\n\nimport "testing"\n\nfunc TestIt(t *testing.T) {}\n')
shutil.copytree(WHEELS, os.path.join(WORK, "python/wheels"), dirs_exist_ok=True)
if shutil.which("npm"):
    outside("npm", "pack", "--silent", "./dep", cwd=os.path.join(WORK, "node"))
    outside("npm", "install", "--silent", "--package-lock-only", "--offline", cwd=os.path.join(WORK, "node"))
# The owner has fetched this crate; commands have no network to fetch it by.
has_fetched = bool(shutil.which("cargo")) and outside("cargo", "fetch", cwd=os.path.join(WORK, "fetched")).returncode == 0

server = Server()
task(server, "cargo", "read", "cd rust && cargo --version && rustc --version", "rustc", "cargo --version && rustc --version")
task(server, "cargo", "write", "cd rust && cargo test 2>&1", "1 passed", "cargo test")
if has_fetched:
    task(server, "cargo", "write", "cd fetched && cargo test 2>&1", "1 passed", "cargo test, with a crate that its owner has fetched")
    task(server, "cargo", "network", "cd fetched && cargo add fnv 2>&1 && cargo test 2>&1", "1 passed", "cargo add and cargo test, with a crate that nobody has fetched")
    task(server, "cargo", "write", "cd fetched && cargo test --offline 2>&1", "1 passed", "cargo test --offline, with both")
else:
    print("  not there: the crate `itoa` cannot be fetched, so no dependency was tried")
task(server, "npm", "write", "cd node && npm ci 2>&1 && npm test 2>&1", "passed", "npm ci && npm test")
venv = "cd python && uv venv -q && uv pip install -q --offline --no-index --find-links wheels pytest && .venv/bin/pytest -q 2>&1"
task(server, "uv", "write", venv, "1 passed", "uv venv && uv pip install && pytest")
task(server, "go", "write", "cd go && go test ./... 2>&1", "ok", "go test")
commit = "git init -q . 2>&1 && printf 'target\\nnode_modules\\n.venv\\n' > .gitignore && git add -A && git commit -qm first && git log -1 --format='%an <%ae>'"
task(server, "git", "write", commit, "Ada Lovelace <ada@example.org>", "git commit")
task(server, "git", "read", "git status --short && git log --oneline | wc -l && git config --get credential.helper || echo no helper", "no helper", "git status, and no helper for passwords")
task(server, None, "read", "ls -A | grep -E '^\\.(npm|cache|cargo|config|local)$' || echo clean", "clean", "no cache in the workspace")
for level in ("read", "write", "network"):
    reads = " ".join(os.path.join(HOME, name) for name in SECRETS + [".gitconfig"])
    result = server.run(level, f"cat {reads} 2>/dev/null | wc -c; ls {HOME}/.ssh 2>&1")
    good = result["output"].startswith("0\n") and any(words in result["output"] for words in ("denied", "No such file"))
    print(f"  {'ok    ' if good else 'FAILED'} {level:8} none of {len(SECRETS)} files with credentials can be read")
    if not good:
        failures.append(f"credentials at {level}")
        print(result["output"])
server.process.stdin.close()
server.process.wait()
opened_ssh(os.path.join(HOME, "of-ssh"))
if failures:
    print(f"  {len(failures)} FAILED: " + "; ".join(failures))
sys.exit(bool(failures))
