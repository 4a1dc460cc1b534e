#!/usr/bin/env bash
# When the scheduler's cron patterns fire, against PyPI's cronsim (Debian's rules): 10 zones whose
# clocks change, 200 patterns, 3 years, no difference; what is refused says why.
# Usage: .ci/cron.sh PATH/TO/firings     (the example of claw-mcp-scheduler; after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"

"$CI_SCRATCH/py/bin/python" "$here/cron/compare.py" "$(realpath "$1")"
