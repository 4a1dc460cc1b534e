#!/usr/bin/env bash
# The official MCP conformance suite (npm @modelcontextprotocol/conformance) with claw as the client,
# over HTTP: the whole program, with a stand-in model that calls the suite's tools. Every scenario has
# to pass or to be named below with the reason why it does not apply; one that is named and passes
# after all, or that nobody has named, fails this script.
# Usage: .ci/conformance-client.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

work="$CI_SCRATCH/conformance-client"
rm -rf "$work"
mkdir -p "$work"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"
suite="$CI_SCRATCH/user/node_modules/.bin/conformance"
cp "$here/fixtures/conformance_model.json" "$work/model.json"
start_model "$work"

not_applying() {
    case "$1" in
        auth/2025-03-26-oauth-metadata-backcompat) echo "its metadata name another issuer than the place where they are, which RFC 8414 refuses" ;;
        auth/2025-03-26-oauth-endpoint-fallback) echo "claw logs in only where a server says by metadata to whom" ;;
        auth/client-credentials-* | auth/cross-app-access-*) echo "an extension, for programs without a person" ;;
        *) return 1 ;;
    esac
}

# One scenario of a suite, which has to pass.
passes() {
    local suite="$1" scenario="$2" out="$work/${2//\//-}.out"
    timeout --kill-after=5 120 "$suite" client --command "bash $here/fixtures/conformance_client.sh $claw" \
        --scenario "$scenario" >"$out" 2>&1 </dev/null
}

scenarios="$("$suite" list --client | sed -n 's/^ *- \([A-Za-z0-9/_-]*\).*/\1/p')"
[ "$(wc -w <<<"$scenarios")" -ge 20 ] || fail "the suite lists no scenarios"
# Rounds of input, which only the suite of 2026-07-28 has.
rounds=sep-2322-client-request-state
passed=0 skipped=0 wrong=0
for scenario in $scenarios $rounds; do
    code=0 from="$suite"
    [ "$scenario" != "$rounds" ] || from="$CI_SCRATCH/conformance-2026/node_modules/.bin/conformance"
    passes "$from" "$scenario" || code=$?
    if reason="$(not_applying "$scenario")"; then
        [ "$code" -ne 0 ] || { echo "FAILED: claw passes $scenario, which is said not to apply ($reason): take it off the list" >&2; wrong=1; }
        echo "--  $scenario: $reason"
        skipped=$((skipped + 1))
    elif [ "$code" -eq 0 ]; then
        echo "ok  $scenario"
        passed=$((passed + 1))
    else
        tail -n 40 "$work/${scenario//\//-}.out" >&2
        echo "FAILED: $scenario" >&2
        wrong=1
    fi
done
echo "claw as a client: $passed scenarios pass, $skipped do not apply"
[ "$wrong" = 0 ] || fail "see above"
