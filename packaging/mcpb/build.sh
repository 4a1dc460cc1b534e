#!/usr/bin/env bash
# Makes a bundle for one click in Claude Desktop (.mcpb, a zip) of a binary for this platform. The
# manifest is checked and the bundle packed by the format's own program (npm @anthropic-ai/mcpb).
# Usage: packaging/mcpb/build.sh PATH/TO/claw OUT.mcpb (packed by $MCPB [npx -y @anthropic-ai/mcpb])
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
[ $# = 2 ] || { sed -n 's/^# Usage: //p' "$0" >&2; exit 2; }
claw="$(realpath "$1")" out="$(realpath -m "$2")"
read -r -a mcpb <<<"${MCPB:-npx -y @anthropic-ai/mcpb}"

case "$(uname -s)" in
    Linux) platform=linux ;;
    Darwin) platform=darwin ;;
    *) echo "there is no bundle for $(uname -s)" >&2; exit 2 ;;
esac
version="$("$claw" --version)"
version="${version#claw }"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/server"
cp "$claw" "$work/server/claw"
chmod 755 "$work/server/claw"
cp "$here"/../../LICENSE-MIT "$here"/../../LICENSE-APACHE "$work/"
sed -e "s/\"version\": \"[^\"]*\"/\"version\": \"$version\"/" \
    -e "s/\"platforms\": \[[^]]*\]/\"platforms\": [\"$platform\"]/" \
    "$here/manifest.json" >"$work/manifest.json"
"${mcpb[@]}" validate "$work/manifest.json"
"${mcpb[@]}" pack "$work" "$out"
