"""One harmless tool of each of many servers, called through `claw serve --tools` and its gate, all at
once. A call that wants the network or a key fails here: it counts where the server itself says so, as an
error or in its words, and never where claw says it in the server's place. Prints how many answered in
which way. CALLS.json has for each server a tool, its arguments, and words of an answer that is a success.

Usage: calls.py PATH/TO/claw CALLS.json FOLDER WANTED     (CLAW_HOME has an mcp.json whose tools are pinned)
Must not know what the servers are.
"""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

# A server is started for its call, and many are started side by side.
ALL_WITHIN_S = 300
SETTINGS = """[serve]
answer_wait_s = 200
requests_minute_max = 10000
calls_open_max = 64
"""


def offered(server, tool):
    """The name under which claw offers a tool."""
    plain = f"{server}__{tool}"
    if len(plain) <= 64 and re.fullmatch("[A-Za-z0-9_-]+", plain):
        return plain
    digest = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:8]
    return re.sub("[^A-Za-z0-9_-]", "_", plain)[:55] + "_" + digest


class Client:
    """An MCP client of before 2026-07-28, over standard streams."""

    def __init__(self, claw):
        pipe = subprocess.PIPE
        command = [claw, "serve", "--client", "many", "--tools"]
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        # A server that never answers must not hold this step up.
        self.guard = threading.Timer(ALL_WITHIN_S, self.process.kill)
        self.guard.start()
        self.say({"id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "ci", "version": "1"}}})
        self.hear()
        self.say({"method": "notifications/initialized"})

    def say(self, message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def hear(self):
        """The next answer."""
        while line := self.process.stdout.readline():
            message = json.loads(line)
            if "id" in message and "method" not in message:
                return message
        sys.exit(f"FAILED: claw serve has ended, or not all servers have answered within {ALL_WITHIN_S} s")

    def end(self):
        self.guard.cancel()
        self.process.stdin.close()
        self.process.wait(timeout=60)


def kind(answer, wanted):
    """How a server has answered, and its words; or that it has not."""
    result = answer.get("result")
    if result is None:
        return "none", json.dumps(answer.get("error"))
    words = " ".join(" ".join(block.get("text", "") for block in result["content"]).split())
    # Claw says so of a call that its server did not answer.
    if result.get("_meta", {}).get("claw/call", {}).get("state") in ("denied", "unknown", "waiting", "running"):
        return "none", words
    return ("its own error" if result.get("isError") or wanted not in words else "success"), words


def main():
    claw, calls, folder, wanted = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), int(sys.argv[4])
    files = folder / "files"
    files.mkdir(exist_ok=True)
    (files / "words.txt").write_text("Words of this step.\n")
    subprocess.run(["git", "init", "-q", str(files)], check=True)
    calls = json.loads(pathlib.Path(calls).read_text().replace("@WORK@", str(folder)))

    home = pathlib.Path(os.environ["CLAW_HOME"])
    (home / "claw.toml").write_text(SETTINGS)
    safe = "".join(f'"{server}/{tool}" = "safe"\n' for server, (tool, *_) in calls.items())
    (home / "policy.toml").write_text("[classes]\n" + safe)
    began = time.monotonic()
    client = Client(claw)
    by_id = {}
    for number, (server, (tool, arguments, _)) in enumerate(calls.items(), 1):
        by_id[number] = server
        client.say({"id": number, "method": "tools/call",
                    "params": {"name": offered(server, tool), "arguments": arguments}})
    answers = {"success": [], "its own error": [], "none": []}
    for _ in by_id:
        answer = client.hear()
        server = by_id[answer["id"]]
        tool, _, wanted_words = calls[server]
        how, words = kind(answer, wanted_words)
        answers[how].append(server)
        print(f"{server}/{tool}: {how}: {words[:200]}", flush=True)
    client.end()
    (home / "policy.toml").unlink()
    good, bad = len(answers["success"]), len(answers["its own error"])
    print(f"many servers: {good + bad} of {wanted} answered a call within {time.monotonic() - began:.0f} s: "
          f"{good} with success, {bad} with an error of their own ({', '.join(sorted(answers['its own error']))})")
    if good + bad != wanted or answers["none"]:
        sys.exit(f"FAILED: no answer of {', '.join(answers['none']) or 'some'}")
    if good < wanted // 2:
        sys.exit("FAILED: fewer than half of them have done what they were called for")


main()
