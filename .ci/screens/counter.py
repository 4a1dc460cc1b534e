"""An MCP server over stdio for .ci/tmux.sh: one tool that counts to ten, tells its progress with a total, and stops at six until a
file named `go-on` is in its folder. Usage: counter.py FOLDER
"""
import json
import os
import sys
import time


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


TOOL = {"name": "count", "description": "Counts to ten.", "inputSchema": {"type": "object", "properties": {}}}

for line in sys.stdin:
    request = json.loads(line)
    id, method, params = request.get("id"), request.get("method"), request.get("params") or {}
    if id is None:
        continue
    if method == "initialize":
        info = {"name": "counter", "version": "1"}
        send(id=id, result={"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info})
    elif method == "tools/list":
        send(id=id, result={"tools": [TOOL]})
    elif method == "tools/call":
        token = params.get("_meta", {}).get("progressToken")
        for done in range(1, 11):
            send(method="notifications/progress", params={"progressToken": token, "progress": done, "total": 10})
            while done == 6 and not os.path.exists(os.path.join(sys.argv[1], "go-on")):
                time.sleep(0.05)
        send(id=id, result={"content": [{"type": "text", "text": "ten"}]})
    else:
        send(id=id, error={"code": -32601, "message": "no such method"})
