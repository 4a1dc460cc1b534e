#!/usr/bin/env bash
# `claw serve` under other people's clients: the official conformance suite over HTTP, mcp-conform
# over standard streams, the Inspector's command line, and the Python and TypeScript SDKs in both
# eras of the protocol, which ask, call, cancel, are denied and survive a kill of the gateway, while
# the owner answers on the stand-in for Telegram (tests/serve_foreign.rs).
# Usage: .ci/serve-clients.sh FOLDER-WITH-THE-PROGRAMS   (after .ci/install.sh and the tests' build)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
bin="$(realpath "$1")"

work="$CI_SCRATCH/serve-clients"
rm -rf "$work"
mkdir -p "$work/user"
packages="$CI_SCRATCH/user"

# The SDKs mostly wait, for their owner and for a restart, so that they run beside all that follows.
declare -A sdks
for language in python node; do
    client="$language $here/fixtures/serve_client.py"
    [ "$language" != node ] || client="${node[*]} $here/fixtures/serve_client.mjs"
    PATH="$CI_SCRATCH/py/bin:$PATH" CLAW_FOREIGN_CLIENT="$client" CLAW_NODE_PACKAGES="$packages" timeout --kill-after=5 300 \
        cargo test --workspace --test whole -- --ignored --nocapture serve_foreign:: >"$work/$language.log" 2>&1 </dev/null &
    sdks[$language]=$!
done

export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$work/user" CLAW_AGENT=demo
suite="${node[*]} $CI_SCRATCH/conformance-2026/node_modules/.bin/conformance"

mkdir -p "$HOME/.claw/workspace"
echo 'hello of the workspace' >"$HOME/.claw/workspace/hello.txt"
port="$(python -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')"
# The suite wants a page of the server's own address to be answered, which claw does
# where it is told to.
printf '[serve]\nanswer_wait_s = 1\nrequests_minute_max = 100000\nresources = true\nallowed_origins = ["http://127.0.0.1:%s"]\n' \
    "$port" >"$HOME/.claw/claw.toml"
# A server with prompts, about which is not asked here.
printf '{"mcpServers": {"filesystem": {"command": "claw", "args": ["server", "filesystem"]}, "everything": {"command": "%s"}}}' \
    "$packages/node_modules/.bin/mcp-server-everything" >"$HOME/.claw/mcp.json"
printf '[classes]\n"everything/prompts/get" = "safe"\n' >"$HOME/.claw/policy.toml"
"$bin/claw" tools >/dev/null

serve=("$bin/claw" serve --client inspector --tools)
inspect "Inspector: tools/list" 0 '"name": "ask"' "${serve[@]}" --method tools/list --strict
inspect "Inspector: a gated tool is listed" 0 '"name": "filesystem__write_file"' "${serve[@]}" --method tools/list --strict
inspect "Inspector: ask" 0 'hello' "${serve[@]}" --method tools/call --tool-name ask --tool-arg 'text=show hello.txt'
inspect "Inspector: a call that waits for the owner" 5 'Not run yet' "${serve[@]}" --method tools/call --tool-name filesystem__write_file \
    --tool-arg path=a.txt --tool-arg content=one
id="$("$bin/claw" approvals --json | python -c 'import json, sys; print(json.loads(sys.stdin.readline())["id"])')"
"$bin/claw" approve "$id" >/dev/null
inspect "Inspector: the same call after the yes" 0 '"content"' "${serve[@]}" --method tools/call --tool-name filesystem__write_file \
    --tool-arg path=a.txt --tool-arg content=one
[ "$(cat "$HOME/.claw/workspace/a.txt")" = one ] || fail "the approved call has not run"
inspect "Inspector: prompts/list" 0 '"name": "everything__args-prompt"' "${serve[@]}" --method prompts/list
inspect "Inspector: prompts/get" 0 "weather in Graz" "${serve[@]}" --method prompts/get --prompt-name everything__args-prompt --prompt-args city=Graz
inspect "Inspector: resources/list" 0 'claw://audit' "${serve[@]}" --method resources/list
inspect "Inspector: resources/read" 0 'hello' "${serve[@]}" --method resources/read --uri claw://sessions/_
expect_code "mcp-conform" 0 mcp-conform --command "$bin/claw serve --tools" server
echo "ok  mcp-conform on claw serve: $(grep -aiE 'pass|total' "$CI_STEP/out" | tail -n 1)"

# Why a scenario does not apply. Those of the suite's own reference server are not tried: each calls
# a tool, prompt or resource by a name that a real server does not have.
not_applying() {
    case "$1" in
        completion-complete) echo "no completion is offered" ;;
        logging-set-level | tools-call-with-logging) echo "no MCP logging is offered (deprecated since 2026-07-28)" ;;
        resources-subscribe | resources-unsubscribe) echo "resources cannot be subscribed to" ;;
        tools-call-sampling) echo "claw uses no model of the client" ;;
        prompts-get-* | resources-read-* | resources-templates-read | tools-call-* | elicitation-* | json-schema-2020-12 | \
            http-custom-header-server-validation | input-required-result-basic-* | input-required-result-request-state | \
            input-required-result-multi* | input-required-result-non-tool-request | input-required-result-result-type | \
            input-required-result-tampered-state | input-required-result-capability-check)
            echo "calls what the suite's own reference server has" ;;
        *) return 1 ;;
    esac
}

# Whether all that has failed of a scenario is what cannot be tried without the suite's own tools.
not_testable() {
    local failed untried
    failed="$(grep -ac '^    Error: ' "$1")"
    untried="$(grep -acE '^    Error: Not testable: ' "$1")"
    [ "$failed" -gt 0 ] && [ "$failed" = "$untried" ]
}

# The suite sends no token, so that a small proxy brings one.
token="$("$bin/claw" clients add conformance --json | python -c 'import json, sys; print(json.loads(sys.stdin.readline())["token"])')"
mkfifo "$work/serve.err"
"$bin/claw" serve --http 127.0.0.1:0 --tools </dev/null 2>"$work/serve.err" &
serving=$!
trap 'kill "${sdks[@]}" "$serving" "${proxy:-}" 2>/dev/null || true' EXIT
url=""
while read -r line; do
    case "$line" in *"http://"*) url="http://${line#*http://}"; url="${url%%/mcp*}/mcp"; break ;; esac
done <"$work/serve.err"
[ -n "$url" ] || fail "claw serve --http said no address"
python "$here/fixtures/token_proxy.py" "$url" "$token" "$port" >"$work/proxy.url" &
proxy=$!
for _ in $(seq 100); do
    [ ! -s "$work/proxy.url" ] || break
    sleep 0.1
done
proxied="$(head -n 1 "$work/proxy.url")"
[ -n "$proxied" ] || fail "the proxy said no address"
wrong=0
for era in 2025-11-25 2026-07-28; do
    passed=0 skipped=0 in_part=0
    scenarios="$($suite list --server | sed -n "s/^ *- \([a-z0-9-]*\) \[.*$era.*/\1/p")"
    [ "$(wc -w <<<"$scenarios")" -ge 20 ] || fail "the suite lists no scenarios of $era"
    for scenario in $scenarios; do
        if not_applying "$scenario" >/dev/null; then
            skipped=$((skipped + 1))
            continue
        fi
        code=0 said="$work/$scenario.$era"
        timeout --kill-after=5 60 $suite server --url "$proxied" --scenario "$scenario" --spec-version "$era" \
            >"$said" 2>&1 </dev/null || code=$?
        if [ "$code" -eq 0 ]; then
            passed=$((passed + 1))
        elif not_testable "$said"; then
            in_part=$((in_part + 1))
        else
            tail -n 40 "$said" >&2
            echo "FAILED: $scenario, $era" >&2
            wrong=1
        fi
    done
    echo "ok  the official conformance suite, $era: $passed scenarios pass, $in_part as far as they can be tried, $skipped do not apply"
done
[ "$wrong" = 0 ] || fail "see above"

for language in python node; do
    code=0
    wait "${sdks[$language]}" || code=$?
    [ "$code" = 0 ] || { tail -n 60 "$work/$language.log" >&2; fail "the SDK of $language"; }
    grep -a 'SDK, ' "$work/$language.log" | sed 's/^/ok  /'
done
