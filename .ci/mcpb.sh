#!/usr/bin/env bash
# The bundle for Claude Desktop: built of a binary, checked by the format's own program, taken apart
# again and started as a client would. And the entry for the registry about it, by the registry's
# schema, which PyPI's mcp-registry-sdk carries.
# Usage: .ci/mcpb.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"
packaging="$(dirname "$here")/packaging/mcpb"

work="$CI_SCRATCH/mcpb"
rm -rf "$work"
mkdir -p "$work"
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user"
mcpb=("${node[@]}" "$CI_SCRATCH/user/node_modules/.bin/mcpb")
export MCPB="${mcpb[*]}"

expect_code "the bundle" 0 "$packaging/build.sh" "$claw" "$work/claw.mcpb"
expect_code "what is in it" 0 "${mcpb[@]}" unpack "$work/claw.mcpb" "$work/unpacked"
expect_code "its manifest" 0 "${mcpb[@]}" validate "$work/unpacked/manifest.json"
expect "the check of the manifest" "$(cat "$CI_STEP/out")" "passes"
[ -x "$work/unpacked/server/claw" ] || fail "the program in the bundle cannot be started"
expect "the version in the manifest" "$(cat "$work/unpacked/manifest.json")" "\"version\": \"$("$claw" --version | cut -d' ' -f2)\""
"$packaging/server-json.sh" io.github.example https://example.org/claw.mcpb "$work/claw.mcpb" 0.1.0 >"$work/server.json"
expect_code "bundle and entry" 0 env CLAW_AGENT= python "$here/fixtures/mcpb_check.py" "$work/unpacked" "$work/claw.mcpb" \
    "$work/server.json" "$CI_SCRATCH"/registry/mcp_registry_sdk-*.whl "$work/home"
cat "$CI_STEP/out"
expect_code "an address without TLS" 2 "$packaging/server-json.sh" io.github.example http://example.org/claw.mcpb "$work/claw.mcpb" 0.1.0
expect_code "no namespace" 2 "$packaging/server-json.sh" "no namespace" https://example.org/claw.mcpb "$work/claw.mcpb" 0.1.0
