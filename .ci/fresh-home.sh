#!/usr/bin/env bash
# What the README promises to somebody who has just cloned: `cargo run --release -- chat` is all the
# set-up, and the demo model writes a file after a yes. A new home each time; no key, no service.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh

export CLAW_HOME="$CI_SCRATCH/fresh-home" CLAW_WORKSPACE="$CI_SCRATCH/fresh-home/workspace"
rm -rf "$CLAW_HOME"

printf '/help\n/quit\n' | timeout 120 cargo run -q --release -- chat >"$CI_STEP/out" 2>&1 || fail "chat: exit code $?"
expect "chat" "$(cat "$CI_STEP/out")" "/approvals"
expect "chat" "$(cat "$CI_STEP/out")" "demo model"
[ "$(stat -c %a "$CLAW_HOME" 2>/dev/null || stat -f %Lp "$CLAW_HOME")" = 700 ] || fail "the home is open to others"
echo "ok  cargo run --release -- chat"

claw=target/release/claw
expect_code "ask" 3 "$claw" ask "write notes/today.md: bread and milk"
[ ! -e "$CLAW_HOME/workspace/notes/today.md" ] || fail "the file was written before anybody said yes"
id="$("$claw" approvals --json | sed -n 's/.*"id":"\([^"]*\)".*/\1/p')"
[ -n "$id" ] || fail "no question is open"
expect_code "approve" 0 "$claw" approve "$id"
[ "$(cat "$CLAW_HOME/workspace/notes/today.md")" = "bread and milk" ] || fail "the file does not hold what was asked for"
expect_code "audit" 0 "$claw" audit --rows
for word in received ask: asked answered allow: started ended; do
    expect "audit" "$(cat "$CI_STEP/out")" "$word"
done
expect_code "audit verify" 0 "$claw" audit verify
echo "ok  a file was written after a yes, and the audit tells the story"

expect_code "doctor" 0 "$claw" doctor
cat "$CI_STEP/out"
echo "binary: $(wc -c <"$claw") bytes"
