# What the steps of .ci/run share: the folder they work in, and how a step fails. Sourced, never run.

# The folder with everything that a run installs and makes. Kept between runs on one machine, so that a second run is quicker.
CI_SCRATCH="${CI_SCRATCH:-${TMPDIR:-/tmp}/claw-ci-$(id -u)}"
export CI_SCRATCH

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect WHAT TEXT NEEDLE: the text holds the needle.
expect() {
    case "$2" in
        *"$3"*) ;;
        *) fail "$1: expected to find '$3' in:"$'\n'"$2" ;;
    esac
}

# expect_code WHAT WANTED COMMAND...: runs the command and compares its exit code. Its output is in $CI_SCRATCH/out and err.
expect_code() {
    local what="$1" wanted="$2" code=0
    shift 2
    timeout --kill-after=5 120 "$@" >"$CI_SCRATCH/out" 2>"$CI_SCRATCH/err" </dev/null || code=$?
    if [ "$code" -ne "$wanted" ]; then
        tail -n 20 "$CI_SCRATCH/out" "$CI_SCRATCH/err" >&2
        fail "$what: exit code $code instead of $wanted"
    fi
}
