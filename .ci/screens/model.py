"""The model behind .ci/tmux.sh: OpenAI's chat completions, streamed, on a loopback port. What it says depends on the last
message of the person and on how many results have come since. A reply is a list of pieces: text, a call, or a hold, at which
the stream stops until a file of that name is there, so that a half-written answer can be looked at for as long as it takes.
Usage: model.py FOLDER-FOR-HOLDS      prints its port
"""
import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOLDS = sys.argv[1]
PIECE_CHARACTERS = 7


def call(name, **arguments):
    return {"call": name, "arguments": arguments}


def hold(name):
    return {"hold": name}


TABLE = """Here is what the folder holds:

| File | What it is for | Size |
|:---|:---|---:|
| `Cargo.toml` | the workspace, its members and every dependency with its features | 5.1 KiB |
| `src/lib.rs` | the module list in reading order: the tour of the house | 1.2 KiB |
| `docs/日本語.md` | 日本語の説明は空白なしで折り返されます | 12 KiB |
| `tests/🙂.rs` | a name with an emoji, é and a wide ￡ | 900 B |
| `a/rather/long/path/that/has/no/break.txt` | one word that is wider than its column | 0 B |

And a table with too many columns for a narrow screen:

| Mon | Tue | Wed | Thu | Fri | Sat | Sun | Sum |
|--:|--:|--:|--:|--:|--:|--:|--:|
| 1200 | 3400 | 5600 | 7800 | 9100 | 120 | 98 | 27318 |
"""

ANSWER = """## What I found

The answer comes **piece by piece**, and a paragraph like this one is wrapped at the width of the terminal, never in the middle \
of a word, while 日本語のテキスト takes two columns a character.

1. First, a list with `code` in it and a sentence that is longer than one row.
2. Second.
   - nested, with [a link](https://example.org/a/long/address)

```rust
fn main() {
    println!("a line of code that is wider than forty columns stays as it is");
}
```

The last paragraph """

OLD = "fn greet(name: &str) -> String {\n    format!(\"Hello, {name}!\")\n}\n"
NEW = (
    "/// Greets politely, whoever comes in and however long the line that says so becomes.\n"
    "fn greet(name: &str) -> String {\n\tformat!(\"Good evening, {name}!\")  \n}\n"
)
COMMAND = (
    "for step in 1 2 3; do printf 'compiling crate %s of 3: a-crate-with-a-long-name\\n' \"$step\"; done; "
    "until [ -e go-on ]; do sleep 0.05; done; echo finished"
)
LONG = "grep -rn --include='*.rs' 'a needle' . | sort | uniq -c | sort -rn | head -n 40 > report.txt && cat report.txt  "

SCENES = {
    "show the table": [[TABLE]],
    "stream an answer": [[ANSWER, hold("half"), "ends here."]],
    "a long command": [[call("bash__run", command=LONG, timeout_s=60, needs="write")], ["The report is there."]],
    "edit the file": [
        ["I change the greeting.\n", call("filesystem__edit_file", path="greet.rs", edits=[{"old_text": OLD, "new_text": NEW}])],
        ["The greeting is polite now."],
    ],
    "build it": [[call("bash__run", command=COMMAND, needs="write")], ["The build is **done**."]],
    "count": [[call("counter__count")], ["It was **ten**."]],
    "first": [["One."]],
    "second": [["Two."]],
    "pasted": [["I have read all three lines."]],
}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.send_error(404)

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        pieces = reply_to(request["messages"])
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            self.stream(pieces)
        except (BrokenPipeError, ConnectionResetError):
            pass  # The turn was stopped.

    def stream(self, pieces):
        calls = 0
        for piece in pieces:
            if isinstance(piece, str):
                for start in range(0, len(piece), PIECE_CHARACTERS):
                    self.send({"content": piece[start:start + PIECE_CHARACTERS]})
            elif "hold" in piece:
                while not os.path.exists(os.path.join(HOLDS, piece["hold"])):
                    self.wfile.write(b": still here\n\n")  # A connection that is gone shows itself.
                    self.wfile.flush()
                    time.sleep(0.05)
            else:
                function = {"name": piece["call"], "arguments": json.dumps(piece["arguments"])}
                self.send({"tool_calls": [{"index": calls, "id": f"call_{calls}", "type": "function", "function": function}]})
                calls += 1
        self.send({}, "tool_calls" if calls else "stop")
        self.wfile.write(b"data: [DONE]\n\n")

    def send(self, delta, finish=None):
        chunk = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "stand-in",
                 "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        self.wfile.write(b"data: " + json.dumps(chunk).encode() + b"\n\n")
        self.wfile.flush()


def reply_to(messages):
    last = max(index for index, message in enumerate(messages) if message["role"] == "user")
    said = json.dumps(messages[last]["content"])
    results = sum(message["role"] == "tool" for message in messages[last:])
    for words, replies in SCENES.items():
        if words in said:
            return replies[min(results, len(replies) - 1)]
    return [f"No scene fits: {said}"]


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
print(server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever).start()
