#!/usr/bin/env bash
# The real definitions of other people's servers at strict stand-ins for three model wires: claw
# lists the tools of all of them and asks each wire with all of them; not one may be refused. No
# server is called, so none needs its key or a network.
# Usage: .ci/wire-shapes.sh     (after .ci/install.sh)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

work="$CI_SCRATCH/wire-shapes"
rm -rf "$work"
mkdir -p "$work/files"
git -C "$work/files" init -q
bin="$CI_SCRATCH/user/node_modules/.bin" py="$CI_SCRATCH/py/bin"
# A key of any kind is enough to be told what the tools are.
cat >"$work/mcp.json" <<JSON
{"mcpServers": {
  "everything": {"command": "$bin/mcp-server-everything", "args": ["stdio"]},
  "files": {"command": "$bin/mcp-server-filesystem", "args": ["$work/files"]},
  "memory": {"command": "$bin/mcp-server-memory", "env": {"MEMORY_FILE_PATH": "$work/memory.json"}},
  "thinking": {"command": "$bin/mcp-server-sequential-thinking"},
  "github": {"command": "$bin/mcp-server-github", "env": {"GITHUB_PERSONAL_ACCESS_TOKEN": "none"}},
  "gitlab": {"command": "$bin/mcp-server-gitlab", "env": {"GITLAB_PERSONAL_ACCESS_TOKEN": "none"}},
  "slack": {"command": "$bin/mcp-server-slack", "env": {"SLACK_BOT_TOKEN": "none", "SLACK_TEAM_ID": "T0"}},
  "postgres": {"command": "$bin/mcp-server-postgres", "args": ["postgresql://127.0.0.1:9/none"]},
  "maps": {"command": "$bin/mcp-server-google-maps", "env": {"GOOGLE_MAPS_API_KEY": "none"}},
  "brave": {"command": "$bin/mcp-server-brave-search", "env": {"BRAVE_API_KEY": "none"}},
  "notion": {"command": "$bin/notion-mcp-server", "env": {"NOTION_TOKEN": "none"}},
  "browser": {"command": "$bin/playwright-mcp", "args": ["--headless"]},
  "git": {"command": "$py/mcp-server-git", "args": ["--repository", "$work/files"]},
  "time": {"command": "$py/mcp-server-time"},
  "fetch": {"command": "$py/mcp-server-fetch"}
}}
JSON
CLAW_WIRE_SHAPES="$work/mcp.json" CLAW_WIRE_SHAPES_PATH="$py:/usr/bin:/bin" \
    cargo test --workspace --test whole wire_shapes:: -- --ignored --nocapture
