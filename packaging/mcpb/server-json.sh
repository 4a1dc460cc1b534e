#!/usr/bin/env bash
# Prints a server.json for the MCP registry about one bundle that lies at a public address. The
# registry proves the namespace (io.github.NAME is a GitHub account), and compares the digest.
# Usage: packaging/mcpb/server-json.sh NAMESPACE https://HOST/PATH/claw.mcpb FILE.mcpb VERSION
set -euo pipefail
[ $# = 4 ] || { sed -n 's/^# Usage: //p' "$0" >&2; exit 2; }
namespace="$1" url="$2" file="$3" version="$4"
case "$url" in
    https://*.mcpb) ;;
    *) echo "the registry takes https addresses that end with .mcpb" >&2; exit 2 ;;
esac
case "$namespace" in
    *[!a-zA-Z0-9.-]* | '') echo "a namespace is letters, digits, dots and dashes, such as io.github.anna" >&2; exit 2 ;;
esac
if command -v sha256sum >/dev/null; then digest="$(sha256sum "$file")"; else digest="$(shasum -a 256 "$file")"; fi
digest="${digest%% *}"
cat <<END
{
  "\$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  "name": "$namespace/claw",
  "title": "claw",
  "description": "A personal agent that asks before it acts: your client calls, your phone is asked.",
  "version": "$version",
  "packages": [
    {
      "registryType": "mcpb",
      "identifier": "$url",
      "fileSha256": "$digest",
      "transport": { "type": "stdio" }
    }
  ]
}
END
