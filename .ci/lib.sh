# What the steps of .ci/run share: the folder they work in, and how a step fails. Sourced, never
# run.

# The folder with everything that a run installs and makes. Kept between runs on one machine, so
# that a second run is quicker.
CI_SCRATCH="${CI_SCRATCH:-${TMPDIR:-/tmp}/claw-ci-$(id -u)}"
export CI_SCRATCH
CI_FOLDER="$(dirname "$(realpath "${BASH_SOURCE[0]}")")"
# What one step has for itself, since two may run side by side: the output of its last command, and
# the key of the audit and the heads that were noted, which in an earlier run are about homes that
# are gone, at the same places.
CI_STEP="$CI_SCRATCH/steps/$(basename "$0" .sh)"
export XDG_STATE_HOME="$CI_STEP/state"
rm -rf "$CI_STEP"
mkdir -p "$CI_STEP"

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

# expect_code WHAT WANTED COMMAND...: runs the command and compares its exit code. Its output is in
# $CI_STEP/out and err.
expect_code() {
    local what="$1" wanted="$2" code=0
    shift 2
    timeout --kill-after=5 120 "$@" >"$CI_STEP/out" 2>"$CI_STEP/err" </dev/null || code=$?
    if [ "$code" -ne "$wanted" ]; then
        tail -n 20 "$CI_STEP/out" "$CI_STEP/err" >&2
        fail "$what: exit code $code instead of $wanted"
    fi
}

# Node can wait for its own worker threads forever when it exits (nodejs/node issue 54918): once it
# did so here after the bundle was written. Programs whose exit a step waits for run without them.
# An array, and for scripts that are told a command, its words.
node=(node --single-threaded)

# free_ports COUNT: ports on which nobody listens, in one line, each handed out once in a run.
free_ports() { python3 "$CI_FOLDER/free_ports.py" "$1" "$CI_SCRATCH/ports"; }

# inspect WHAT WANTED-CODE NEEDLE SERVER-COMMAND... --method ...: the command line of the MCP
# Inspector asks a server.
inspect() {
    local what="$1" wanted="$2" needle="$3"
    shift 3
    expect_code "$what" "$wanted" "${node[@]}" "$CI_SCRATCH/user/node_modules/.bin/mcp-inspector" --cli "$@"
    expect "$what" "$(cat "$CI_STEP/out" "$CI_STEP/err")" "$needle"
    echo "ok  $what"
}

# start_model FOLDER: an independent stand-in for a model answers by FOLDER/model.json until the
# step ends, and claw asks it.
start_model() {
    local folder="$1"
    local port
    port="$(free_ports 1)"
    # Behind the name may stand a launcher that leaves its child behind, so the whole group ends
    # with the step.
    setsid "$CI_SCRATCH/user/node_modules/.bin/llmock" --port "$port" --fixtures "$folder/model.json" --strict --validate-on-load \
        >"$folder/model.log" 2>&1 </dev/null &
    model=$!
    trap 'kill -- "-$model" 2>/dev/null || true' EXIT
    for _ in $(seq 100); do
        python -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null && break
        kill -0 "$model" 2>/dev/null || { cat "$folder/model.log" >&2; fail "the stand-in model did not start"; }
        sleep 0.1
    done
    export CLAW_AGENT=openai-compatible CLAW_BASE_URL="http://127.0.0.1:$port/v1" CLAW_MODEL=stand-in
}
