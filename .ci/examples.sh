#!/usr/bin/env bash
# The examples, which `cargo build --workspace --examples` has built, run. Each is a program
# that ends by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
. .ci/lib.sh

expect_code "policy_check" 0 target/debug/examples/policy_check examples/policy.toml
expect "policy_check" "$(cat "$CI_STEP/out")" "examples/policy.toml: "
echo '[[rule]]' >"$CI_SCRATCH/broken-policy.toml"
expect_code "policy_check with a broken file" 2 target/debug/examples/policy_check "$CI_SCRATCH/broken-policy.toml"
echo "ok  policy_check"

printf 'hello\n' | timeout 60 target/debug/examples/console_door >"$CI_STEP/out" 2>&1 || fail "console_door"
expect "console_door" "$(cat "$CI_STEP/out")" "A heading"
echo "ok  console_door"

# An MCP server ends when its client does; .ci/inspector.sh calls its tools.
[ -x target/debug/examples/greeter_server ] && [ -x target/debug/examples/staged_server ] || fail "an example was not built"
echo "ok  greeter_server and staged_server are built"

if [ -e examples/one_turn.rs ]; then
    expect_code "one_turn" 0 target/debug/examples/one_turn
    echo "ok  one_turn"
fi
