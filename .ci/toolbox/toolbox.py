"""Works in the box as an agent would: one folder, the tools of its user, the least level that does. Says of each task what it needs, and
whether it is there, done or FAILED. The exit code is 1 if one has failed.
Usage: toolbox.py CLAW HOME WHEELS
"""

import json
import os
import shutil
import subprocess
import sys

CLAW, HOME, WHEELS = sys.argv[1:4]
WORK = os.path.join(HOME, "project")
CLAW_HOME = os.path.join(HOME, ".claw")
failures = []


class Server:
    def __init__(self, *options):
        words = [CLAW, "server", "bash", "--workspace", WORK, "--protect", CLAW_HOME, "--home", CLAW_HOME + "/command-homes/project", *options]
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
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
if failures:
    print(f"  {len(failures)} FAILED: " + "; ".join(failures))
sys.exit(bool(failures))
