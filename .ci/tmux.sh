#!/usr/bin/env bash
# What a person at a terminal sees: `claw chat` in tmux, 80 and 40 columns wide, with a model that
# streams (.ci/screens/model.py) and with claw's own tool servers behind the gate. Every capture
# holds all that was printed, and has to be the same as tests/screens/NAME-WIDTH.txt; times are
# taken out. UPDATE=1 writes the files anew: look at them before you commit them. Nothing is waited
# for but text on the screen, and the second that claw itself demands between a question and its
# answer.
# Usage: .ci/tmux.sh PATH/TO/claw [NAME...]     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"
shift
wanted_scenes=("$@")
screens="$here/../tests/screens"
mkdir -p "$screens" "$CI_SCRATCH"
command -v tmux >/dev/null || fail "tmux is missing: run .ci/install.sh"
python="$CI_SCRATCH/py/bin/python"
[ -x "$python" ] || python=python3

# A path of one length everywhere, so that lines wrap at the same places.
work="$(mktemp -d /tmp/claw-screens-XXXXXX)"
PATIENCE_S=${PATIENCE_S:-60}
failed=0 compared=0
tm() { LC_ALL=C.UTF-8 tmux -u -L "claw-ci-$$" -f /dev/null "$@"; }

mkdir "$work/holds"
"$python" "$here/screens/model.py" "$work/holds" >"$work/port" 2>"$work/model.log" </dev/null &
model=$!
finish() {
    tm kill-server 2>/dev/null || true
    kill "$model" 2>/dev/null || true
    rm -rf "$work" || true
}
trap finish EXIT
for _ in $(seq 600); do
    [ -s "$work/port" ] && break
    kill -0 "$model" 2>/dev/null || { cat "$work/model.log" >&2; fail "the stand-in model did not start"; }
    sleep 0.1
done
port="$(cat "$work/port")"

# The whole of what was printed, without what differs from run to run.
look() {
    tm capture-pane -p -S - -t claw | sed -E \
        -e 's|/tmp/claw-screens-[A-Za-z0-9]{6}|/tmp/claw-screens-XXXXXX|g' \
        -e 's/127\.0\.0\.1:[0-9]{5}/127.0.0.1:NNNNN/g' \
        -e 's/open until ([A-Z][a-z]+ )?([0-9]{4}-[0-9]{2}-[0-9]{2} )?[0-9]{2}:[0-9]{2}/open until HH:MM/' \
        -e 's/\b[0-9]+(\.[0-9]+)? (ms|s)\b/T s/g' \
        -e 's/[[:space:]]+$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}

# open WIDTH: a new home, a new session of tmux, and claw in it, ready for a line.
open() {
    columns="$1"
    rm -rf "$work/home" "$work/holds"/*
    mkdir -m 700 "$work/home"
    mkdir "$work/home/workspace"
    cat >"$work/home/mcp.json" <<JSON
{ "mcpServers": {
    "bash": { "command": "claw", "args": ["server", "bash"] },
    "filesystem": { "command": "claw", "args": ["server", "filesystem"] },
    "counter": { "command": "$(command -v "$python")", "args": ["$here/screens/counter.py", "$work/home/workspace"] }
} }
JSON
    # The owner has chosen already, so no screen shows the path of this checkout.
    printf '[tools]\ntrust = { counter = "ask" }\n' >"$work/home/claw.toml"
    tm new-session -d -s claw -x "$columns" -y 30 \
        "env -i PATH='$PATH' HOME='$work' TERM=tmux-256color LC_ALL=C.UTF-8 TZ=UTC CLAW_HOME='$work/home' CLAW_WORKSPACE='$work/home/workspace' NO_COLOR=1 \
        CLAW_AGENT=openai-compatible CLAW_BASE_URL=http://127.0.0.1:$port/v1 CLAW_MODEL=stand-in '$claw' chat; sleep 600"
    see 'lists the commands'
    see '^>'
}
# close: ends the session, and waits for claw, which writes to its home until it has ended.
close() {
    local pane pids pid
    pane="$(tm display-message -p -t claw '#{pane_pid}')"
    pids="$(cat "/proc/$pane/task/$pane/children" 2>/dev/null || true)"
    tm kill-session -t claw
    for pid in $pids; do
        for _ in $(seq 300); do
            kill -0 "$pid" 2>/dev/null || break
            sleep 0.1
        done
    done
}

# see PATTERN: waits until some row of the screen fits.
see() {
    local until=$((SECONDS + PATIENCE_S))
    until look | grep -qE -- "$1"; do
        [ "$SECONDS" -lt "$until" ] || { look >&2; fail "$scene at $columns columns: '$1' did not appear"; }
        sleep 0.05
    done
}
type_line() { tm send-keys -t claw -l "$1"; tm send-keys -t claw Enter; }
key() { tm send-keys -t claw "$@"; }
# Whoever answers faster than a person can read is asked to look again (`READ_TIME_MIN`), which is
# not what is tried here.
answer() { sleep 1; type_line "$1"; }

# same NAME: the screen is, twice in a row, what the file says.
same() {
    local file="$screens/$1-$columns.txt" now="" before until=$((SECONDS + ${SETTLE_S:-20}))
    compared=$((compared + 1))
    while :; do
        before="$now"
        now="$(look)"
        if [ "$now" = "$before" ]; then
            if [ -n "${UPDATE:-}" ]; then settled=$((${settled:-0} + 1)); [ "$settled" -lt 6 ] || break
            elif [ -e "$file" ] && [ "$now" = "$(cat "$file")" ]; then echo "ok  $1 at $columns columns"; return; fi
        else settled=0; fi
        [ "$SECONDS" -lt "$until" ] || break
        sleep 0.1
    done
    if [ -n "${UPDATE:-}" ]; then printf '%s\n' "$now" >"$file"; echo "written  $1 at $columns columns"; return; fi
    failed=$((failed + 1))
    echo "NOT THE SAME: $1 at $columns columns (UPDATE=1 writes it anew)"
    diff -u "$file" - <<<"$now" || true
}

scene_start() { same start; }

scene_table() {
    type_line 'show the table'
    see '27318'
    same table
}

scene_streaming() {
    type_line 'stream an answer'
    see 'The last paragraph'
    same streaming-half
    touch "$work/holds/half"
    see 'ends here'
    same streaming-whole
}

scene_question() {
    type_line 'a long command'
    see 'y yes · n no'
    same question-open
    answer 'n because it is too long'
    see 'report is there'
    same question-answered
}

scene_diff() {
    printf 'fn greet(name: &str) -> String {\n    format!("Hello, {name}!")\n}\n' >"$work/home/workspace/greet.rs"
    type_line 'edit the file'
    see 'y yes · n no'
    same diff-question
    answer y
    see 'polite now'
    same diff-done
}

scene_progress() {
    type_line 'build it'
    see 'y yes · n no'
    answer y
    see 'crate 3 of'
    same progress-running
    touch "$work/home/workspace/go-on"
    see 'build is done'
    same progress-done
}

scene_bar() {
    type_line 'count to ten'
    see 'y yes · n no'
    answer y
    see ' 6/10'
    same bar-running
    touch "$work/home/workspace/go-on"
    see 'It was ten'
    same bar-done
}

scene_interrupt() {
    type_line 'stream an answer'
    see 'The last paragraph'
    key C-c
    see 'Stopping'
    same interrupt
}

scene_resize() {
    type_line 'stream an answer'
    see 'The last paragraph'
    tm resize-window -t claw -x $((columns * 3 / 4))
    touch "$work/holds/half"
    see 'ends here'
    same resize
}

scene_paste() {
    tm set-buffer -b lines $'pasted: one\nline two, which is so long that it does not fit into a row of forty columns\nline three'
    tm paste-buffer -p -b lines -t claw
    see 'line three'
    same paste-typed
    key Enter
    see 'read all three'
    same paste-sent
}

scene_history() {
    type_line 'first'
    see 'One\.'
    type_line 'second'
    see 'Two\.'
    key Up
    key Up
    see '^> first$'
    same history
}

began=$SECONDS
scenes=(start table streaming question diff progress bar interrupt resize paste history)
# A question about a command says what the box holds, and offers the mode that fits. The screens are
# those of a system that holds all.
doctor_home="$(mktemp -d)"
report="$(HOME="$doctor_home" CLAW_HOME="$doctor_home/.claw" CLAW_AGENT=demo "$claw" doctor --json || true)"
if [[ "$report" != *+mounts* ]]; then
    echo "left out: the scenes question and progress, because this system does not hold every level of the box"
    scenes=(start table streaming diff bar interrupt resize paste history)
fi
rm -rf "$doctor_home"
for scene in "${scenes[@]}"; do
    [ "${#wanted_scenes[@]}" -eq 0 ] || [[ " ${wanted_scenes[*]} " = *" $scene "* ]] || continue
    for columns in 80 40; do
        open "$columns"
        "scene_$scene"
        close
    done
done
[ "$failed" -eq 0 ] || fail "$failed of $compared screens are not what they should be"
echo "screens: $compared as they should be, $((SECONDS - began)) s"
