#!/usr/bin/env bash
# The official MCP conformance suite (npm @modelcontextprotocol/conformance) on claw's own servers.
# It speaks HTTP only, so that the same handlers stand behind rmcp's streamable HTTP on a loopback
# port, in a build of its own (feature `http`, an example each). Every scenario has to pass or to be
# named below with the reason why it does not apply; a scenario that is named and passes after all,
# or that nobody has named, fails this script, so that a newer suite cannot be skipped silently.
# Usage: .ci/conformance.sh FOLDER-WITH-THE-EXAMPLES     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
examples="$(realpath "$1")"

work="$CI_SCRATCH/conformance"
rm -rf "$work"
mkdir -p "$work/workspace"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"
suite="${node[*]} $CI_SCRATCH/user/node_modules/.bin/conformance"

# Why a scenario does not apply. The servers offer tools and nothing else, and say so in their
# capabilities. (What the suite asks about prompts, resources and completion in general passes
# nevertheless, because an empty list is a valid answer; and server-sse-polling passes with a
# warning, because no call of ours closes its stream in between. That proves little, and is no
# reason to leave them out.)
not_applying() {
    case "$1" in
        prompts-get-*) echo "no prompts are offered" ;;
        resources-read-* | resources-templates-read | resources-subscribe | resources-unsubscribe) echo "no resources are offered" ;;
        logging-set-level | tools-call-with-logging) echo "no MCP logging is offered (deprecated since 2026-07-28)" ;;
        tools-call-sampling) echo "the servers use no model of the client" ;;
        tools-call-elicitation | elicitation-*) echo "the servers ask nobody: the host's gate does" ;;
        tools-call-simple-text | tools-call-image | tools-call-audio | tools-call-embedded-resource | tools-call-mixed-content | \
            tools-call-error | tools-call-with-progress | json-schema-2020-12)
            echo "calls a tool of the suite's own reference server by name (test_*), which a real server does not have" ;;
        *) return 1 ;;
    esac
}

run_server() {
    local server="$1" url="" passed=0 skipped=0 pid reason
    shift
    mkfifo "$work/$server.in"
    "$examples/$server" --http "$@" <"$work/$server.in" >"$work/$server.url" 2>"$work/$server.log" &
    pid=$!
    exec 7>"$work/$server.in"
    for _ in $(seq 300); do
        url="$(head -n 1 "$work/$server.url")"
        [ -z "$url" ] || break
        kill -0 "$pid" 2>/dev/null || { cat "$work/$server.log" >&2; fail "$server did not start"; }
        sleep 0.1
    done
    [ -n "$url" ] || fail "$server said no address"
    for scenario in $scenarios; do
        code=0
        timeout --kill-after=5 120 $suite server --url "$url" --scenario "$scenario" \
            >"$work/$server.$scenario.out" 2>&1 </dev/null || code=$?
        if reason="$(not_applying "$scenario")"; then
            [ "$code" -ne 0 ] || { echo "FAILED: $server passes $scenario, which is said not to apply ($reason): take it off the list" >&2; wrong=1; }
            skipped=$((skipped + 1))
        elif [ "$code" -eq 0 ]; then
            echo "ok  $server: $scenario"
            passed=$((passed + 1))
        else
            tail -n 40 "$work/$server.$scenario.out" >&2
            echo "FAILED: $server: $scenario" >&2
            wrong=1
        fi
    done
    exec 7>&-
    wait "$pid" || fail "$server ended with code $?"
    echo "$server: $passed scenarios pass, $skipped do not apply"
}

scenarios="$($suite list --server | sed -n 's/^ *- \([a-z0-9-]*\).*/\1/p')"
[ "$(wc -w <<<"$scenarios")" -ge 20 ] || fail "the suite lists no scenarios"
for scenario in $scenarios; do
    reason="$(not_applying "$scenario")" && echo "--  $scenario: $reason"
done
wrong=0
run_server bash_over_http --workspace "$work/workspace"
run_server filesystem_over_http --workspace "$work/workspace"
[ "$wrong" = 0 ] || fail "see above"
