"""What many servers cost a console that is left open: the time to its first request to a model, the
memory and the CPU at rest, and what of the servers' definitions a request holds. Prints; only what
does not hang on the machine's speed is asserted: the tokens in the first request.

Usage: figures.py PATH/TO/claw SECONDS_AT_REST     (CLAW_HOME has an mcp.json whose tools are pinned)
Must not know what the servers are.
"""

import http.server
import json
import os
import pathlib
import queue
import subprocess
import sys
import threading
import time

TOKENS_MAX = 8_000
# What claw counts with before a provider has reported anything.
BYTES_A_TOKEN = 4
# What is asked on a day. Each needs another server.
DAY = [
    "what time is it in Tokyo", "take a screenshot of the page", "list my mails of today", "show the last commits",
    "remember that Ann likes tea", "draw a pie chart of these numbers", "find papers about sleep",
    "write the table to a sheet", "create an event on Friday", "search the web for the news",
]
requests = queue.Queue()


def tokens_of(body):
    return len(json.dumps(body.get("tools", []), separators=(",", ":"), ensure_ascii=False).encode()) // BYTES_A_TOKEN


def reply_to(body):
    """Looks for tools with the words of the message, where it can; then says one word."""
    last = body["messages"][-1]
    names = [tool["function"]["name"] for tool in body.get("tools", [])]
    if last["role"] != "user" or "tool_search" not in names:
        return {"content": "Hello."}, "stop"
    query = json.dumps({"query": next((text for text in DAY if text in str(last["content"])), "time")})
    call = {"index": 0, "id": f"c{time.monotonic_ns()}", "type": "function", "function": {"name": "tool_search", "arguments": query}}
    return {"tool_calls": [call]}, "tool_calls"


class Model(http.server.BaseHTTPRequestHandler):
    """An OpenAI-compatible wire that answers at once."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        delta, reason = reply_to(body)
        requests.put((time.monotonic(), body, reason == "stop"))
        parts = [({"role": "assistant", **delta}, None), ({}, reason)]
        lines = [
            json.dumps({
                "id": "a", "object": "chat.completion.chunk", "created": 0, "model": "stand-in",
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            })
            for delta, reason in parts
        ]
        text = "".join(f"data: {line}\n\n" for line in [*lines, "[DONE]"]).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def status(pid, *keys):
    """Values of /proc/PID/status, in kilobytes or counts."""
    rows = dict(line.split(":", 1) for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return [int(rows[key].split()[0]) for key in keys]


def family(pid):
    """The process and all that it has started."""
    pids = [pid]
    for one in pids:
        for task in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            pids += [int(child) for child in task.read_text().split()]
    return pids


def cpu_ms(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def switches(pid):
    total = 0
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        rows = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
        total += int(rows["voluntary_ctxt_switches"])
    return total


class Chat:
    """`claw chat` with its input held open."""

    def __init__(self, claw, url, search):
        home = pathlib.Path(os.environ["CLAW_HOME"])
        (home / "claw.toml").write_text(f'[model]\ntool_search = "{search}"\nlisted_tools_max = 100\n')
        environment = os.environ | {"CLAW_AGENT": "openai-compatible", "CLAW_BASE_URL": url, "CLAW_MODEL": "stand-in"}
        self.began = time.monotonic()
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen([claw, "chat"], stdin=subprocess.PIPE, stdout=quiet, stderr=quiet, env=environment)

    def say(self, text):
        """The requests to the model until it has answered in words: when each came, and its body."""
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()
        came = []
        while True:
            at, body, last = requests.get(timeout=120)
            came.append((at, body))
            if last:
                return came

    def end(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def at_rest(pid, seconds):
    # The servers that were started come to rest first.
    time.sleep(seconds)
    before = cpu_ms(pid), sum(map(cpu_ms, family(pid))), switches(pid)
    time.sleep(seconds)
    of_claw, of_all = cpu_ms(pid) - before[0], sum(map(cpu_ms, family(pid))) - before[1]
    resident, anonymous = status(pid, "VmRSS", "RssAnon")
    print(f"claw: {resident / 1024:.1f} MiB resident, {anonymous / 1024:.1f} of them its own; {len(family(pid)) - 1} processes below it")
    print(
        f"at rest, in {seconds:.0f} s: {of_claw} ms of CPU by claw, {of_all} ms with its servers; "
        f"{(switches(pid) - before[2]) / seconds:.1f} wake-ups of claw a second"
    )


def main():
    claw, seconds = sys.argv[1], float(sys.argv[2])
    model = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{model.server_port}/v1"

    chat = Chat(claw, url, "model")
    try:
        day = [chat.say(text) for text in DAY]
        first = tokens_of(day[0][0][1])
        came = (day[0][0][0] - chat.began) * 1000
        spent = sum(tokens_of(body) for turn in day for _, body in turn)
        at_rest(chat.process.pid, seconds)
    finally:
        chat.end()
    whole = Chat(claw, url, "off")
    try:
        [(_, body)] = whole.say("hello")
    finally:
        whole.end()
    print(f"first request to the model: {came:.0f} ms after the start of claw chat")
    print(f"definitions in it: about {first} tokens (at most {TOKENS_MAX}), {tokens_of(body)} without a search")
    count = sum(map(len, day))
    print(f"the {len(DAY)} messages of a day: {spent} tokens of definitions in {count} requests, {tokens_of(body) * len(DAY)} in {len(DAY)} without a search")
    if first > TOKENS_MAX:
        sys.exit(f"FAILED: {first} tokens of definitions in the first request")


main()
