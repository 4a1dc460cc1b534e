#!/usr/bin/env bash
# The official MCP conformance suite (npm @modelcontextprotocol/conformance) with claw as the
# client, over HTTP: the whole program, with a stand-in model that calls the suite's tools.
# Every scenario is run at every revision of the protocol that the suite has it for, both eras.
# What applies and what does not, and why, stands in fixtures/conformance_scenarios.txt. One
# that is said not to apply and passes after all, one that nobody has named, and one that has
# gone, fail this script.
# Usage: .ci/conformance-client.sh PATH/TO/claw [SCENARIO...]     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"
shift

work="$CI_SCRATCH/conformance-client"
rm -rf "$work"
mkdir -p "$work"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"
suite="${node[*]} $CI_SCRATCH/conformance-2026/node_modules/.bin/conformance"
cp "$here/fixtures/conformance_model.json" "$work/model.json"
start_model "$work"

# Lines of SCENARIO REVISION. What is an extension belongs to no revision.
$suite list --client | sed -nE 's/^ *- ([A-Za-z0-9/_-]+) \[(.*)\]$/\1 \2/p' |
    while read -r scenario revisions; do
        for revision in ${revisions//,/ }; do echo "$scenario $revision"; done
    done >"$work/all"
cut -d ' ' -f 1 "$work/all" | sort -u >"$work/named"
[ "$(wc -l <"$work/named")" -ge 40 ] || fail "the suite lists no scenarios"
sed -nE 's/^([A-Za-z0-9][^:# ]*)(: .+)?$/\1/p' "$here/fixtures/conformance_scenarios.txt" | sort >"$work/known"
diff "$work/known" "$work/named" || fail "the suite names other scenarios (>) than conformance_scenarios.txt (<)"
reason() { sed -nE "s|^$1: (.+)$|\1|p" "$here/fixtures/conformance_scenarios.txt"; }

# As many at a time as there are cores: each has a server and a home of its own, and spends most
# of its time waiting.
one() {
    local scenario="$1" revision="$2" out code=0 at=()
    out="$work/${scenario//\//-}.$revision"
    [ "$revision" = extension ] || at=(--spec-version "$revision")
    # Its own limit of 30 s is short for a machine that does much else.
    timeout --kill-after=5 120 $suite client --timeout 100000 --command "bash $here/fixtures/conformance_client.sh $claw" \
        --scenario "$scenario" "${at[@]}" >"$out.out" 2>&1 </dev/null || code=$?
    # It calls that a pass when none of its checks could be made.
    ! grep -q 'Passed: 0/0,' "$out.out" || code=1
    echo "$code" >"$out.code"
}
export -f one
export suite here claw work
if [ $# = 0 ]; then cp "$work/all" "$work/chosen"; else printf '%s \n' "$@" | grep -Ff - "$work/all" >"$work/chosen"; fi
xargs -P "$(nproc)" -L 1 bash -c 'one "$@"' one <"$work/chosen"

passed=0 skipped=0 wrong=0
while read -r scenario revision; do
    out="$work/${scenario//\//-}.$revision"
    code="$(cat "$out.code")" reason="$(reason "$scenario")"
    if [ -n "$reason" ]; then
        [ "$code" -ne 0 ] || { echo "FAILED: claw passes $scenario, which is said not to apply ($reason): take it off the list" >&2; wrong=1; }
        echo "--  $scenario: $reason"
        skipped=$((skipped + 1))
    elif [ "$code" -eq 0 ]; then
        echo "ok  $revision: $scenario"
        echo "$scenario" >>"$work/passed-$revision"
        passed=$((passed + 1))
    else
        tail -n 40 "$out.out" >&2
        echo "FAILED: $revision: $scenario" >&2
        wrong=1
    fi
done <"$work/chosen"
echo "claw as a client: $passed scenarios pass, counted once for each revision; $skipped do not apply"
[ "$wrong" = 0 ] || fail "see above"
[ $# = 0 ] || exit 0

# What the suite itself requires of a client of 2026-07-28, frozen when that was released.
required="$($suite list --client --requirements 2026-07-28 | sed -n '/^Client scenarios/,/^Run and reported/s/^ *- \([A-Za-z0-9/_-]*\)$/\1/p')"
[ "$(wc -w <<<"$required")" -ge 32 ] || fail "the suite requires nothing"
for scenario in $required; do
    grep -qxF "$scenario" "$work/passed-2026-07-28" || fail "$scenario is required and was not passed at 2026-07-28"
done
echo "all $(wc -w <<<"$required") scenarios pass that the suite requires of a client of 2026-07-28"
