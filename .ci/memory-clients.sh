#!/usr/bin/env bash
# The memory server alone under other people's clients: the official SDKs' (PyPI mcp, npm
# @modelcontextprotocol/client) in both eras of the protocol, the Inspector's command line and
# mcp-conform. Each starts the standalone program and `claw server memory` on a folder of its own.
# Usage: .ci/memory-clients.sh FOLDER-WITH-THE-PROGRAMS     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
bin="$(realpath "$1")"

work="$CI_SCRATCH/memory-clients"
rm -rf "$work"
mkdir -p "$work"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"

for kind in standalone claw-server; do
    case "$kind" in
        standalone) server=("$bin/claw-mcp-memory") ;;
        claw-server) server=("$bin/claw" server memory) ;;
    esac
    for language in python typescript; do
        notes="$work/$kind-$language"
        case "$language" in
            python) client=(python "$here/fixtures/memory_client.py") ;;
            typescript) client=("${node[@]}" "$here/fixtures/memory_client.mjs") ;;
        esac
        expect_code "$kind, $language" 0 "${client[@]}" "${server[@]}" --notes "$notes"
        sed "s/^/ok  $kind, /" "$CI_STEP/out"
        expect_code "$kind, $language: the index" 0 "${server[@]}" --notes "$notes" --check
        expect "$kind, $language: the index" "$(cat "$CI_STEP/err")" "the index equals the files"
    done
    notes="$work/$kind-inspector"
    mkdir -p "$notes"
    printf -- '---\nid: m1\nsubject: Anna\n---\nWorks at [[Acme]].\n' >"$notes/anna.md"
    printf -- '---\nid: m2\nsubject: Acme\n---\nA shipyard.\n' >"$notes/acme.md"
    server+=(--notes "$notes")
    inspect "$kind: tools/list" 0 '"name": "recall"' "${server[@]}" --method tools/list --strict
    inspect "$kind: tools/call" 0 'it is linked from Anna' "${server[@]}" --method tools/call --tool-name recall \
        --tool-arg 'query=What does Anna do?'
    inspect "$kind: a call that fails" 5 'there is no note' "${server[@]}" --method tools/call --tool-name read --tool-arg id=nobody
    inspect "$kind: resources/list" 0 'memory://notes/m2' "${server[@]}" --method resources/list
    inspect "$kind: resources/read" 0 'A shipyard' "${server[@]}" --method resources/read --uri memory://notes/m2
    inspect "$kind: resources/templates/list" 0 'memory://notes/{id}' "${server[@]}" --method resources/templates/list
done
expect_code "mcp-conform" 0 mcp-conform --command "$bin/claw-mcp-memory --notes $work/conform" server
echo "ok  mcp-conform on claw-mcp-memory: $(grep -aiE 'pass|total' "$CI_STEP/out" | tail -n 1)"
