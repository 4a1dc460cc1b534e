#!/usr/bin/env bash
# `claw serve` under other people's clients: the official conformance suite over HTTP, mcp-conform over
# standard streams, the Inspector's command line, and the Python and TypeScript SDKs in both eras of the
# protocol, which ask, call, cancel, are denied and survive a kill of the gateway, while the owner
# answers on the stand-in for Telegram (tests/serve_foreign.rs).
# Usage: .ci/serve-clients.sh FOLDER-WITH-THE-PROGRAMS     (after .ci/install.sh and the tests' build)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
bin="$(realpath "$1")"

work="$CI_SCRATCH/serve-clients"
rm -rf "$work"
mkdir -p "$work/user"
packages="$CI_SCRATCH/user"
cargo_home="${CARGO_HOME:-$HOME/.cargo}" rustup_home="${RUSTUP_HOME:-$HOME/.rustup}"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$work/user" CLAW_AGENT=demo
inspector="$packages/node_modules/.bin/mcp-inspector"
suite="$packages/node_modules/.bin/conformance"

inspect() {
    local what="$1" wanted="$2" needle="$3"
    shift 3
    expect_code "Inspector: $what" "$wanted" "$inspector" --cli "$@"
    expect "Inspector: $what" "$(cat "$CI_SCRATCH/out" "$CI_SCRATCH/err")" "$needle"
    echo "ok  Inspector: $what"
}

mkdir -p "$HOME/.claw"
printf '[serve]\nanswer_wait_s = 1\nrequests_minute_max = 100000\nresources = true\n' >"$HOME/.claw/claw.toml"
"$bin/claw" tools >/dev/null

serve=("$bin/claw" serve --client inspector --tools)
inspect "tools/list" 0 '"name": "ask"' "${serve[@]}" --method tools/list --strict
inspect "a gated tool is listed" 0 '"name": "filesystem__write_file"' "${serve[@]}" --method tools/list --strict
inspect "ask" 0 'hello' "${serve[@]}" --method tools/call --tool-name ask --tool-arg 'text=run `echo hello`'
inspect "a call that waits for the owner" 5 'Not run yet' "${serve[@]}" --method tools/call --tool-name filesystem__write_file \
    --tool-arg path=a.txt --tool-arg content=1
id="$("$bin/claw" approvals --json | python -c 'import json, sys; print(json.loads(sys.stdin.readline())["id"])')"
"$bin/claw" approve "$id" >/dev/null
inspect "the same call after the yes" 0 '"content"' "${serve[@]}" --method tools/call --tool-name filesystem__write_file \
    --tool-arg path=a.txt --tool-arg content=1
[ "$(cat "$HOME/.claw/workspace/a.txt")" = 1 ] || fail "the approved call has not run"
inspect "resources/list" 0 'claw://audit' "${serve[@]}" --method resources/list
inspect "resources/read" 0 'hello' "${serve[@]}" --method resources/read --uri claw://sessions/_
expect_code "mcp-conform" 0 mcp-conform --command "$bin/claw serve --tools" server
echo "ok  mcp-conform on claw serve: $(grep -aiE 'pass|total' "$CI_SCRATCH/out" | tail -n 1)"

# Why a scenario does not apply.
not_applying() {
    case "$1" in
        prompts-get-*) echo "no prompts are offered" ;;
        resources-read-* | resources-templates-read | resources-subscribe | resources-unsubscribe)
            echo "reads a resource of the suite's own reference server by name" ;;
        logging-set-level | tools-call-with-logging) echo "no MCP logging is offered (deprecated since 2026-07-28)" ;;
        tools-call-sampling) echo "claw uses no model of the client" ;;
        tools-call-elicitation | elicitation-*) echo "calls a tool of the suite's own reference server that asks" ;;
        tools-call-simple-text | tools-call-image | tools-call-audio | tools-call-embedded-resource | tools-call-mixed-content | \
            tools-call-error | tools-call-with-progress | json-schema-2020-12)
            echo "calls a tool of the suite's own reference server by name (test_*), which a real server does not have" ;;
        *) return 1 ;;
    esac
}

# The suite sends no token, so that a small proxy brings one.
token="$("$bin/claw" clients add conformance --json | python -c 'import json, sys; print(json.loads(sys.stdin.readline())["token"])')"
mkfifo "$work/serve.err"
"$bin/claw" serve --http 127.0.0.1:0 --tools </dev/null 2>"$work/serve.err" &
serving=$!
trap 'kill "$serving" "${proxy:-}" 2>/dev/null || true' EXIT
url=""
while read -r line; do
    case "$line" in *"http://"*) url="http://${line#*http://}"; url="${url%%/mcp*}/mcp"; break ;; esac
done <"$work/serve.err"
[ -n "$url" ] || fail "claw serve --http said no address"
python "$here/fixtures/token_proxy.py" "$url" "$token" >"$work/proxy.url" &
proxy=$!
for _ in $(seq 100); do
    [ ! -s "$work/proxy.url" ] || break
    sleep 0.1
done
proxied="$(head -n 1 "$work/proxy.url")"
[ -n "$proxied" ] || fail "the proxy said no address"
passed=0 skipped=0 wrong=0
scenarios="$("$suite" list --server | sed -n 's/^ *- \([a-z0-9-]*\).*/\1/p')"
[ "$(wc -w <<<"$scenarios")" -ge 20 ] || fail "the suite lists no scenarios"
for scenario in $scenarios; do
    code=0
    timeout --kill-after=5 120 "$suite" server --url "$proxied" --scenario "$scenario" \
        >"$work/$scenario.out" 2>&1 </dev/null || code=$?
    if reason="$(not_applying "$scenario")"; then
        [ "$code" -ne 0 ] || { echo "FAILED: $scenario passes, which is said not to apply ($reason): take it off the list" >&2; wrong=1; }
        skipped=$((skipped + 1))
    elif [ "$code" -eq 0 ]; then
        passed=$((passed + 1))
    else
        tail -n 40 "$work/$scenario.out" >&2
        echo "FAILED: $scenario" >&2
        wrong=1
    fi
done
[ "$wrong" = 0 ] || fail "see above"
echo "ok  the official conformance suite: $passed scenarios pass, $skipped do not apply"

for client in "python $here/fixtures/serve_client.py" "node $here/fixtures/serve_client.mjs"; do
    expect_code "$client" 0 env HOME="${cargo_home%/.cargo}" CARGO_HOME="$cargo_home" RUSTUP_HOME="$rustup_home" \
        CLAW_FOREIGN_CLIENT="$client" CLAW_NODE_PACKAGES="$packages" \
        cargo test --workspace --test whole -- --ignored --nocapture serve_foreign::
    grep -a 'SDK, ' "$CI_SCRATCH/out" | sed 's/^/ok  /'
done
