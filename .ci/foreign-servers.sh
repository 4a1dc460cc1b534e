#!/usr/bin/env bash
# Other people's MCP servers behind claw's gate: one file in Claude Desktop's form, used unchanged
# as the home's mcp.json. `claw tools` lists all four servers, and each is called through the whole
# program: a model (aimock, an independent stand-in for the OpenAI wire, strict: a request that fits
# no fixture is an error) wishes for the call, the gate asks, `claw approve` answers, the result
# goes back to the model, and the audit tells the story. A resource and a prompt of one are used, too.
# Usage: .ci/foreign-servers.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

work="$CI_SCRATCH/foreign"
rm -rf "$work" "$CI_SCRATCH/user/claw"
mkdir -p "$work/project"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user" CLAW_HOME="$CI_SCRATCH/user/claw" CLAW_WORKSPACE="$CI_SCRATCH/user/claw/workspace"
json() { python "$here/json_rows.py" "$@"; }

git -C "$work/project" init -q
echo one >"$work/project/committed.txt"
git -C "$work/project" add committed.txt
git -C "$work/project" -c user.name=ci -c user.email=ci@example.org commit -q -m first
echo two >"$work/project/untracked.txt"

# What a user has: a file that was written for another program, with the paths of this machine.
sed "s|@SCRATCH@|$work|g" "$here/fixtures/claude_desktop_config.json" >"$work/claude_desktop_config.json"
sed "s|@SCRATCH@|$work|g" "$here/fixtures/model.json" >"$work/model.json"
mkdir -m 700 "$CLAW_HOME"
cp "$work/claude_desktop_config.json" "$CLAW_HOME/mcp.json"

start_model "$work"

expect_code "claw tools" 0 "$claw" tools --json
cp "$CI_SCRATCH/out" "$work/tools.jsonl"
for tool in everything/echo filesystem/list_directory git/git_status time/get_current_time; do
    json has "$work/tools.jsonl" "id=$tool" || { cat "$CI_SCRATCH/err" >&2; fail "claw tools does not list $tool"; }
done
echo "ok  claw tools lists $(wc -l <"$work/tools.jsonl") tools of four servers from one Claude Desktop file"

called=0
for pair in everything/echo filesystem/list_directory git/git_status time/get_current_time; do
    server="${pair%%/*}" tool="${pair#*/}"
    expect_code "claw ask ($server)" 3 "$claw" ask --session "$server" "use the $server server"
    "$claw" approvals --json >"$work/approvals.jsonl"
    json has "$work/approvals.jsonl" "session=$server" "server=$server" "tool=$tool" || fail "$server: no question about $tool"
    id="$(json get id "$work/approvals.jsonl" "session=$server")"
    expect_code "claw approve ($server)" 0 "$claw" approve "$id" --json
    reply="$(json get reply "$CI_SCRATCH/out")"
    # The stand-in says this only if the tool's own words have reached it.
    expect "$server" "$reply" "The $server server has answered."
    "$claw" audit --json --limit 1000 >"$work/audit.jsonl"
    call="$(json get call "$work/audit.jsonl" kind=asked "body.approval=$id")"
    story="$(json list kind "$work/audit.jsonl" "call=$call")"
    expect "$server, audit" "$story" "received verdict asked answered verdict started ended"
    json has "$work/audit.jsonl" "call=$call" kind=ended body.outcome=ended body.is_error=false || fail "$server: not ended well"
    echo "ok  $server/$tool was asked about, allowed, run, and its result reached the model"
    called=$((called + 1))
done

# What a server has besides its tools. The stand-in answers so only if the server's own words have
# reached it.
expect_code "claw ask (resource)" 0 "$claw" ask --session resource "see @everything:demo://resource/dynamic/text/1"
expect "resource" "$(cat "$CI_SCRATCH/out")" "The attached text has arrived."
"$claw" chat --session prompt >"$CI_SCRATCH/out" 2>"$CI_SCRATCH/err" <<<"/everything:args_prompt" || fail "claw chat ended with $?"
grep -q 'needs .city. (Name of the city)' "$CI_SCRATCH/out" || fail "a missing argument of a prompt is not named"
"$claw" chat --session prompt >"$CI_SCRATCH/out" 2>"$CI_SCRATCH/err" <<<"/everything:args_prompt city=Graz" || fail "claw chat ended with $?"
grep -q "The words of the prompt have arrived." "$CI_SCRATCH/out" || { cat "$CI_SCRATCH/out" "$CI_SCRATCH/err" >&2; fail "the prompt has not reached the model"; }
"$claw" audit --json --limit 1000 >"$work/audit.jsonl"
for method in resources/read prompts/get; do
    json has "$work/audit.jsonl" kind=received body.server=everything "body.tool=$method" || fail "$method is not in the audit"
done
echo "ok  a resource of another's server was attached, and a prompt of it run as a command"

expect_code "claw audit verify" 0 "$claw" audit verify
cmp "$work/claude_desktop_config.json" "$CLAW_HOME/mcp.json" || fail "mcp.json was changed"
echo "foreign servers: $called of 4 called through the gate"
