#!/usr/bin/env bash
# The propose/confirm example in Python, a real child with the official SDK: the model (aimock,
# strict) asks for the proposing tool, the turn ends with a question, and `claw approve` runs the
# tool that no model is offered, without asking the model again.
# Usage: .ci/staged.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

work="$CI_SCRATCH/staged"
rm -rf "$work"
mkdir -p "$work/project"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user" CLAW_HOME="$work/home" CLAW_WORKSPACE="$work/project"
mkdir -m 700 "$CLAW_HOME"
cat >"$CLAW_HOME/mcp.json" <<END
{"mcpServers": {"shop": {"command": "python", "args": ["$(dirname "$here")/examples/staged_server.py"]}}}
END
printf '[classes]\n"shop/add_to_cart" = "safe"\n' >"$CLAW_HOME/policy.toml"
printf 'workspace = "%s"\n[limits]\nserver_wait_ms = 60000\n' "$work/project" >"$CLAW_HOME/claw.toml"
cat >"$work/model.json" <<'END'
{"fixtures": [
  {"match": {"userMessage": "two apples", "hasToolResult": false},
   "response": {"toolCalls": [{"name": "shop__add_to_cart", "arguments": {"item": "apples", "count": 2}}]}},
  {"match": {"userMessage": "two apples", "toolResultContains": "Not added yet"}, "response": {"content": "Tap to add them."}}
]}
END

start_model "$work"
json() { python "$here/json_rows.py" "$@"; }

expect_code "claw tools" 0 "$claw" tools --json
cp "$CI_STEP/out" "$work/tools.jsonl"
json has "$work/tools.jsonl" id=shop/confirm_add hidden=true || fail "shop/confirm_add is not listed as hidden"
expect_code "claw ask" 0 "$claw" ask "two apples"
"$claw" approvals --json >"$work/approvals.jsonl"
json has "$work/approvals.jsonl" server=shop tool=confirm_add || fail "nothing was staged"
id="$(json get id "$work/approvals.jsonl" tool=confirm_add)"
expect_code "claw approve" 0 "$claw" approve "$id"
expect "the log" "$("$claw" sessions show main)" "In the cart: 2 × apples"
expect_code "a second yes" 2 "$claw" approve "$id"
expect_code "claw audit verify" 0 "$claw" audit verify
echo "ok  the example in Python proposes, is confirmed, and acts once"
