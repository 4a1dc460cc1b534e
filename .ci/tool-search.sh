#!/usr/bin/env bash
# What the search for tools finds: 1,700 tools and 2,351 labelled requests of bfcl-eval. Fails if
# less is found than there was, or a tool is not found by its own name.
# Usage: .ci/tool-search.sh     (after .ci/install.sh)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

packages="$("$CI_SCRATCH/py/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
cargo test --workspace --bench bfcl -- --floor "$packages/bfcl_eval/data"
