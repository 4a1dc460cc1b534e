#!/usr/bin/env bash
# The scheduler server alone under other people's clients: the official SDKs' (PyPI mcp, npm
# @modelcontextprotocol/client) in both eras of the protocol, which are woken by what comes due, and
# the Inspector's command line. Each starts the standalone program and `claw server scheduler` on a
# file of its own. What the Inspector lists and mcp-conform says stands in inspector.sh.
# Usage: .ci/scheduler-clients.sh FOLDER-WITH-THE-PROGRAMS     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
bin="$(realpath "$1")"

work="$CI_SCRATCH/scheduler-clients"
rm -rf "$work"
mkdir -p "$work"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"

for kind in standalone claw-server; do
    case "$kind" in
        standalone) server=("$bin/claw-mcp-scheduler") ;;
        claw-server) server=("$bin/claw" server scheduler) ;;
    esac
    for language in python typescript; do
        case "$language" in
            python) client=(python "$here/fixtures/scheduler_client.py") ;;
            typescript) client=("${node[@]}" "$here/fixtures/scheduler_client.mjs") ;;
        esac
        database="$work/$kind-$language.db"
        expect_code "$kind, $language" 0 "${client[@]}" "${server[@]}" --database "$database" --zone Europe/Berlin
        sed "s/^/ok  $kind, /" "$CI_STEP/out"
    done
    server+=(--database "$work/$kind-inspector.db" --zone Europe/Berlin)
    inspect "$kind: a job" 0 'every Monday at 09:00' "${server[@]}" --method tools/call --tool-name schedule \
        --tool-arg 'text=Plan the week.' 'cron=0 9 * * 1'
    inspect "$kind: the next process has it" 0 'Plan the week' "${server[@]}" --method tools/call --tool-name list
    inspect "$kind: resources/list" 0 'schedule://jobs' "${server[@]}" --method resources/list
    inspect "$kind: cancelled" 0 'j1' "${server[@]}" --method tools/call --tool-name cancel --tool-arg id=j1
    inspect "$kind: a call that fails" 5 'no job' "${server[@]}" --method tools/call --tool-name cancel --tool-arg id=j1
done
