#!/usr/bin/env bash
# The bundle for Claude Desktop: built of a binary, checked by the format's own program, taken apart
# again and started as a client would. And the entry for the registry about it.
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
export MCPB="$CI_SCRATCH/user/node_modules/.bin/mcpb"

expect_code "the bundle" 0 "$packaging/build.sh" "$claw" "$work/claw.mcpb"
expect_code "what is in it" 0 "$MCPB" unpack "$work/claw.mcpb" "$work/unpacked"
expect_code "its manifest" 0 "$MCPB" validate "$work/unpacked/manifest.json"
[ -x "$work/unpacked/server/claw" ] || fail "the program in the bundle cannot be started"
expect "the version in the manifest" "$(cat "$work/unpacked/manifest.json")" "\"version\": \"$("$claw" --version | cut -d' ' -f2)\""
expect_code "the program in it" 0 "$work/unpacked/server/claw" --version
"$packaging/server-json.sh" io.github.example https://example.org/claw.mcpb "$work/claw.mcpb" 0.1.0 >"$work/server.json"
python - "$work/server.json" "$work/claw.mcpb" <<'END'
import hashlib, json, re, sys
entry = json.load(open(sys.argv[1]))
assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"]), entry["name"]
assert 1 <= len(entry["description"]) <= 100, len(entry["description"])
package, = entry["packages"]
assert package["fileSha256"] == hashlib.sha256(open(sys.argv[2], "rb").read()).hexdigest()
assert package["transport"] == {"type": "stdio"} and package["registryType"] == "mcpb"
END
expect_code "an address without TLS" 2 "$packaging/server-json.sh" io.github.example http://example.org/claw.mcpb "$work/claw.mcpb" 0.1.0
echo "ok  the bundle holds a program that starts, and its entry for the registry names its digest"
