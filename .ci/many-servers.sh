#!/usr/bin/env bash
# Twenty-two servers of other people, by `npx` and `uvx` alone, in one mcp.json: all come up from
# one `claw tools`, on two cores. Each is another program; together they have more than 400 tools.
# They are fetched first, so that nothing is fetched while the time is taken. Then one harmless tool
# of each is called through the gate. Then what these tools cost: in the requests of a day, and in a
# console that is left open.
# Usage: .ci/many-servers.sh PATH/TO/claw     (needs Python with venv, and node and npm in PATH or
# from .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"
work="$CI_SCRATCH/many"

# What npx is asked for, and its arguments.
node_servers=(
    "@modelcontextprotocol/server-everything" "@modelcontextprotocol/server-filesystem @WORK@"
    "@modelcontextprotocol/server-memory" "@modelcontextprotocol/server-sequential-thinking" "@upstash/context7-mcp"
    "chrome-devtools-mcp" "@playwright/mcp" "mcp-mermaid" "@antv/mcp-server-chart" "mcp-server-code-runner"
    "@softeria/ms-365-mcp-server"
)
# What uvx is asked for. Two do not run with the newest library of their own protocol.
python_servers=(
    "mcp-server-git" "mcp-server-time" "mcp-server-fetch" "--with mcp<2 mcp-server-sqlite --db-path @WORK@/db" "mcp-server-calculator"
    "duckduckgo-mcp-server" "arxiv-mcp-server" "excel-mcp-server stdio" "wikipedia-mcp" "mcp-simple-timeserver"
    "--with mcp<2 mcp-text-editor"
)

export PATH="$work/py/bin:$CI_SCRATCH/py/bin:$PATH" HOME="$work/user" CLAW_HOME="$work/user/claw" CLAW_WORKSPACE="$work/user/claw/workspace" UV_CACHE_DIR="$work/uv"
mkdir -p "$HOME"
installed="$work/installed-$(cksum <"$0" | cut -d ' ' -f 1)"
if [ ! -e "$installed" ]; then
    rm -f "$work"/installed-* "$HOME/.npmrc"
    [ -x "$work/py/bin/uvx" ] || { python3 -m venv "$work/py"; "$work/py/bin/pip" install -q uv; }
    # Beside one another in the folder that plays the user's home, where `npx` finds them without
    # asking a registry.
    PUPPETEER_SKIP_DOWNLOAD=1 npm install --silent --no-fund --no-audit --ignore-scripts --prefix "$HOME" "${node_servers[@]%% *}"
    for server in "${python_servers[@]}"; do
        # It need not know the option: what counts is that uv has made its environment.
        read -ra words <<<"$server"
        timeout 120 uvx --quiet "${words[@]}" --help </dev/null >/dev/null 2>&1 || true
    done
    # From here on nothing may be fetched.
    echo 'offline=true' >"$HOME/.npmrc"
    touch "$installed"
fi

rm -rf "$CLAW_HOME"
mkdir -m 700 "$CLAW_HOME"
printf '%s\n' "${node_servers[@]/#/npx -y }" "${python_servers[@]/#/uvx --offline }" | python3 -c '
import json, re, sys
servers = {}
for line in sys.stdin.read().replace("@WORK@", sys.argv[1]).splitlines():
    command, *args = line.split()
    package = args[3] if args[1] == "--with" else args[1]
    name = re.sub("[^a-z0-9]+", "-", package.strip("@"))
    servers[name] = {"command": command, "args": args, "inherit": ["...", "UV_CACHE_DIR"]}
json.dump({"mcpServers": servers}, open(sys.argv[2], "w"), indent=1)
' "$work" "$CLAW_HOME/mcp.json"

from=$SECONDS
"$claw" tools --json >"$work/tools.jsonl" 2>"$work/tools.err" </dev/null || { cat "$work/tools.err" >&2; fail "claw tools"; }
up="$(python3 -c 'import json, sys; print(len({json.loads(line)["server"] for line in sys.stdin}))' <"$work/tools.jsonl")"
wanted=$((${#node_servers[@]} + ${#python_servers[@]}))
[ "$up" -eq "$wanted" ] || { cat "$work/tools.err" >&2; fail "$up of $wanted servers have listed tools"; }
echo "many servers: all $up are up after $((SECONDS - from)) s, with $(wc -l <"$work/tools.jsonl") tools"
tools="$(wc -l <"$work/tools.jsonl")"
[ "$tools" -ge 400 ] || fail "$tools tools, and what they cost is asked of 400"
python3 "$here/many/calls.py" "$claw" "$here/many/calls.json" "$work" "$wanted" >"$work/calls.log" || { cat "$work/calls.log" >&2; fail "the calls"; }
tail -n 1 "$work/calls.log"
python3 "$here/many/figures.py" "$claw" 10
