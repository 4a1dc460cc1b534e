#!/usr/bin/env bash
# Other people's MCP servers behind claw's gate: one file in Claude Desktop's form, used
# unchanged as the home's mcp.json: the reference server, files, git, a clock, a browser
# (Playwright with Debian's Chromium), a database (SQLite), one in Go (Kubernetes', which shows
# its configuration), one for SSH (at Debian's OpenSSH on loopback, as an ordinary user with a
# key made here), notes, thoughts, workbooks and pages. `claw tools` lists all twelve, and each
# is called through the whole program: a model (aimock, an independent stand-in for the OpenAI
# wire, strict: a request that fits no fixture is an error) asks for the call, the gate asks,
# `claw approve` answers, the result goes back to the model, and the audit tells the story. What
# a call should have done is looked at without claw: not there before the yes, there after it. A
# resource and a prompt of one are used, too.
# Usage: .ci/foreign-servers.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

work="$CI_SCRATCH/foreign"
rm -rf "$work" "$CI_SCRATCH/user/claw"
mkdir -p "$work/project"
export PATH="$CI_SCRATCH/py/bin:$CI_SCRATCH/py1/bin:$PATH" HOME="$CI_SCRATCH/user" CLAW_HOME="$CI_SCRATCH/user/claw" CLAW_WORKSPACE="$CI_SCRATCH/user/claw/workspace"
json() { python "$here/json_rows.py" "$@"; }

git -C "$work/project" init -q
echo one >"$work/project/committed.txt"
git -C "$work/project" add committed.txt
git -C "$work/project" -c user.name=ci -c user.email=ci@example.org commit -q -m first
echo two >"$work/project/untracked.txt"

ports="$(free_ports 2)"
read -r site ssh <<<"$ports"
others=()
end_others() {
    for other in "${others[@]}"; do kill "$other" 2>/dev/null || true; done
    [ -z "${model:-}" ] || kill -- "-$model" 2>/dev/null || true
    [ -z "${reach:-}" ] || rm -rf "$reach"
}
trap end_others EXIT

# A page whose title comes from its own script.
mkdir "$work/site"
echo '<title>A page</title><script>document.title = "The sum is " + (20 + 22)</script>' >"$work/site/page.html"
echo '<p>Words of this step.' >"$work/site/words.html"
python -m http.server --bind 127.0.0.1 --directory "$work/site" "$site" >"$work/site.log" 2>&1 </dev/null &
others+=("$!")
sed 's|@NAME@|a-cluster-of-this-step|' "$here/fixtures/kubeconfig.yaml" >"$work/kubeconfig"

# The SSH server: of root for a user without rights, else of whoever runs this for himself alone.
user="$(id -un)"
if [ "$(id -u)" = 0 ]; then
    user=claw-ssh
    # Without a password, and not locked: sshd lets nobody in who is.
    id "$user" >/dev/null 2>&1 || useradd --no-create-home --home-dir / --password '*' "$user"
    mkdir -p /run/sshd
fi
# What that user can read and write.
reach="$(mktemp -d /tmp/claw-ci-ssh.XXXXXX)"
chmod 1777 "$reach"
for key in host user; do ssh-keygen -q -t ed25519 -N '' -C '' -f "$work/$key-key"; done
cp "$work/user-key.pub" "$reach/authorized"
chmod 644 "$reach/authorized"
printf '%s\n' "Port $ssh" 'ListenAddress 127.0.0.1' "HostKey $work/host-key" 'PidFile none' "AuthorizedKeysFile $reach/authorized" \
    'PasswordAuthentication no' 'KbdInteractiveAuthentication no' 'UsePAM no' 'StrictModes no' "AllowUsers $user" >"$work/sshd_config"
"$(PATH="$PATH:/usr/sbin" command -v sshd)" -D -e -f "$work/sshd_config" >"$work/sshd.log" 2>&1 </dev/null &
others+=("$!")
rm -rf "$HOME/.config/ssh-mcp"
mkdir -p "$HOME/.config"
mkdir -m 700 "$HOME/.config/ssh-mcp"
(umask 077 && printf '%s\n' '[[profiles]]' 'name = "here"' 'host = "127.0.0.1"' "port = $ssh" "user = \"$user\"" 'auth = "key"' \
    "keyRef = \"$work/user-key\"" 'role = "admin"' 'approvalPolicy = "auto"' >"$HOME/.config/ssh-mcp/config.toml")

# What a user has: a file that was written for another program, with the paths of this machine.
here_is() {
    sed "s|@SCRATCH@|$work|g; s|@SITE@|http://127.0.0.1:$site|g; s|@CHROMIUM@|$(command -v chromium)|g; s|@REACH@|$reach|g; s|@SSH_USER@|$user|g" "$1"
}
here_is "$here/fixtures/claude_desktop_config.json" >"$work/claude_desktop_config.json"
here_is "$here/fixtures/model.json" >"$work/model.json"
mkdir -m 700 "$CLAW_HOME"
cp "$work/claude_desktop_config.json" "$CLAW_HOME/mcp.json"

start_model "$work"
trap end_others EXIT

expect_code "claw tools" 0 "$claw" tools --json
cp "$CI_STEP/out" "$work/tools.jsonl"
calls=(everything/echo filesystem/write_file git/git_add time/get_current_time browser/browser_navigate database/create_table
    cluster/configuration_view ssh/run-command memory/create_entities thinking/sequentialthinking sheets/create_workbook
    pages/fetch)
for tool in "${calls[@]}"; do
    json has "$work/tools.jsonl" "id=$tool" || { cat "$CI_STEP/err" >&2; fail "claw tools does not list $tool"; }
done
echo "ok  claw tools lists $(wc -l <"$work/tools.jsonl") tools of ${#calls[@]} servers from one Claude Desktop file"

# done_by SERVER: what its call is to do has been done.
done_by() {
    case "$1" in
        filesystem) [ "$(cat "$work/project/written.txt" 2>/dev/null)" = "by the server for files" ] ;;
        git) [ "$(git -C "$work/project" diff --cached --name-only)" = untracked.txt ] ;;
        browser) grep -q '"GET /page.html' "$work/site.log" ;;
        database) python -c 'import sqlite3, sys; sys.exit(sqlite3.connect(sys.argv[1]).execute("select count(*) from sqlite_master where name = ?", ["teas"]).fetchone()[0] != 1)' "$work/teas.db" ;;
        ssh) [ "$(cat "$reach/who.txt" 2>/dev/null) $(stat -c %U "$reach/who.txt" 2>/dev/null)" = "$user $user" ] ;;
        memory) grep -q 'likes green tea' "$work/notes.jsonl" 2>/dev/null ;;
        sheets) [ -s "$work/made.xlsx" ] ;;
        pages) grep -q '"GET /words.html' "$work/site.log" ;;
        # These only say something.
        everything | time | cluster | thinking) return 2 ;;
    esac
}

called=0
for pair in "${calls[@]}"; do
    server="${pair%%/*}" tool="${pair#*/}"
    expect_code "claw ask ($server)" 3 "$claw" ask --session "$server" "use the $server server"
    "$claw" approvals --json >"$work/approvals.jsonl"
    json has "$work/approvals.jsonl" "session=$server" "server=$server" "tool=$tool" || fail "$server: no question about $tool"
    id="$(json get id "$work/approvals.jsonl" "session=$server")"
    ! done_by "$server" || fail "$server: it was done before the yes"
    expect_code "claw approve ($server)" 0 "$claw" approve "$id" --json
    reply="$(json get reply "$CI_STEP/out")"
    # The stand-in says this only if the tool's own words have reached it.
    expect "$server" "$reply" "The $server server has answered."
    "$claw" audit --json --limit 1000 >"$work/audit.jsonl"
    call="$(json get call "$work/audit.jsonl" kind=asked "body.approval=$id")"
    story="$(json list kind "$work/audit.jsonl" "call=$call")"
    expect "$server, audit" "$story" "received verdict asked answered verdict started ended"
    json has "$work/audit.jsonl" "call=$call" kind=ended body.outcome=ended body.is_error=false || fail "$server: not ended well"
    code=0
    done_by "$server" || code=$?
    [ "$code" != 1 ] || fail "$server: nothing was done"
    echo "ok  $server/$tool was asked about, allowed, run, and its result reached the model"
    called=$((called + 1))
done

# What a server has besides its tools. The stand-in answers so only if the server's own words have
# reached it.
expect_code "claw ask (resource)" 0 "$claw" ask --session resource "see @everything:demo://resource/dynamic/text/1"
expect "resource" "$(cat "$CI_STEP/out")" "The attached text has arrived."
"$claw" chat --session prompt >"$CI_STEP/out" 2>"$CI_STEP/err" <<<"/everything:args_prompt" || fail "claw chat ended with $?"
grep -q 'needs .city. (Name of the city)' "$CI_STEP/out" || fail "a missing argument of a prompt is not named"
"$claw" chat --session prompt >"$CI_STEP/out" 2>"$CI_STEP/err" <<<"/everything:args_prompt city=Graz" || fail "claw chat ended with $?"
grep -q "The words of the prompt have arrived." "$CI_STEP/out" || { cat "$CI_STEP/out" "$CI_STEP/err" >&2; fail "the prompt has not reached the model"; }
"$claw" audit --json --limit 1000 >"$work/audit.jsonl"
for method in resources/read prompts/get; do
    json has "$work/audit.jsonl" kind=received body.server=everything "body.tool=$method" || fail "$method is not in the audit"
done
echo "ok  a resource of another's server was attached, and a prompt of it run as a command"

expect_code "claw audit verify" 0 "$claw" audit verify
cmp "$work/claude_desktop_config.json" "$CLAW_HOME/mcp.json" || fail "mcp.json was changed"
echo "foreign servers: $called of ${#calls[@]} called through the gate"
