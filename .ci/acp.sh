#!/usr/bin/env bash
# `claw acp` in the hands of somebody else's editor: the official TypeScript library of the Agent
# Client Protocol (npm @agentclientprotocol/sdk) talks, is asked, says yes and no, stops, leaves in
# the middle and opens the conversation again; the model is aimock, strict. A question is
# answered in a terminal, too, while its dialog is open and while the editor is away. Then the
# official Python library (PyPI agent-client-protocol), in short.
# Usage: .ci/acp.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

work="$CI_SCRATCH/acp"
rm -rf "$work"
mkdir -p "$work/project"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user" CLAW_HOME="$work/home"
mkdir -m 700 "$CLAW_HOME"
printf '[limits]\nserver_wait_ms = 60000\n' >"$CLAW_HOME/claw.toml"
cat >"$work/model.json" <<'END'
{"fixtures": [
  {"match": {"userMessage": "write it", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "filesystem__write_file", "arguments": {"path": "a.txt", "content": "bread\n"}}]}},
  {"match": {"userMessage": "write it", "toolResultContains": "a.txt"}, "response": {"content": "It is written."}},
  {"match": {"userMessage": "write it", "toolResultContains": "the owner said no"}, "response": {"content": "Then not."}},
  {"match": {"userMessage": "write b", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "filesystem__write_file", "arguments": {"path": "b.txt", "content": "salt\n"}}]}},
  {"match": {"userMessage": "write b", "toolResultContains": "the owner said no"}, "response": {"content": "Then not."}},
  {"match": {"userMessage": "write b once more", "toolResultContains": "b.txt"}, "response": {"content": "It is written."}},
  {"match": {"userMessage": "hello"}, "response": {"content": "Hello from claw, at some length, so that it comes in several pieces."}}
]}
END
start_model "$work"
cp "$here/fixtures/acp_client.mjs" "$CI_SCRATCH/user/acp_client.mjs"
expect_code "the editor" 0 "${node[@]}" "$CI_SCRATCH/user/acp_client.mjs" "$claw" "$work/project"
sed 's/^/ok  /' "$CI_STEP/out"
expect_code "the editor in Python" 0 python "$here/fixtures/acp_client.py" "$claw" "$work/project"
sed 's/^/ok  /' "$CI_STEP/out"
expect_code "claw audit verify" 0 "$claw" audit verify
