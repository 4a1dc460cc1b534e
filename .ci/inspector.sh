#!/usr/bin/env bash
# claw's own tool servers under other people's clients: the MCP Inspector's command line lists and
# calls their tools, as standalone programs and as `claw server NAME`; PyPI's mcp-conform talks to
# them over stdio. Exit codes of the Inspector: 0 well, 5 the tool reported an error, 6 a schema
# that is not portable (--strict).
# Usage: .ci/inspector.sh FOLDER-WITH-THE-PROGRAMS     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
bin="$(realpath "$1")"

work="$CI_SCRATCH/inspector"
rm -rf "$work"
mkdir -p "$work/workspace"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"

for kind in standalone claw-server; do
    case "$kind" in
        standalone) bash_server=("$bin/claw-mcp-bash") files=("$bin/claw-mcp-filesystem") scheduler=("$bin/claw-mcp-scheduler") ;;
        claw-server) bash_server=("$bin/claw" server bash) files=("$bin/claw" server filesystem) scheduler=("$bin/claw" server scheduler) ;;
    esac
    bash_server+=(--workspace "$work/workspace") files+=(--workspace "$work/workspace")
    inspect "$kind bash: tools/list" 0 '"name": "run"' "${bash_server[@]}" --method tools/list --strict
    inspect "$kind bash: tools/call" 0 'exit_code' "${bash_server[@]}" --method tools/call --tool-name run \
        --tool-arg 'command=echo hello from the box'
    inspect "$kind bash: a call that fails" 5 'timed out' "${bash_server[@]}" --method tools/call --tool-name run \
        --tool-arg 'command=sleep 30' timeout_s=1
    inspect "$kind filesystem: tools/list" 0 '"name": "edit_file"' "${files[@]}" --method tools/list --strict
    inspect "$kind filesystem: tools/call" 0 'a.txt' "${files[@]}" --method tools/call --tool-name write_file \
        --tool-arg path=a.txt content=hello
    inspect "$kind filesystem: what was written" 0 'hello' "${files[@]}" --method tools/call --tool-name read_file --tool-arg path=a.txt
    inspect "$kind filesystem: a call that fails" 5 'missing.txt' "${files[@]}" --method tools/call --tool-name read_file \
        --tool-arg path=missing.txt
    scheduler+=(--database "$work/$kind.db" --zone Europe/Berlin)
    inspect "$kind scheduler: tools/list" 0 '"name": "take"' "${scheduler[@]}" --method tools/list --strict
    inspect "$kind scheduler: tools/call" 0 'Next: ' "${scheduler[@]}" --method tools/call --tool-name schedule \
        --tool-arg say=tea in_minutes=20
    inspect "$kind scheduler: a call that fails" 5 'is past' "${scheduler[@]}" --method tools/call --tool-name schedule \
        --tool-arg say=tea at_local=09:00 date=2020-01-01
    inspect "$kind scheduler: the resource" 0 'cursor' "${scheduler[@]}" --method resources/read --uri schedule://due
done
inspect "the example: tools/list" 0 '"name"' "$bin/examples/greeter_server" --method tools/list --strict
for program in claw-mcp-bash claw-mcp-filesystem; do
    expect_code "mcp-conform on $program" 0 mcp-conform --command "$bin/$program --workspace $work/workspace" server
    echo "ok  mcp-conform on $program: $(grep -aiE 'pass|total' "$CI_STEP/out" | tail -n 1)"
done
expect_code "mcp-conform on claw-mcp-scheduler" 0 mcp-conform --command "$bin/claw-mcp-scheduler --database $work/conform.db" server
echo "ok  mcp-conform on claw-mcp-scheduler: $(grep -aiE 'pass|total' "$CI_STEP/out" | tail -n 1)"
