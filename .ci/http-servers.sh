#!/usr/bin/env bash
# Other people's MCP servers over HTTP behind claw's gate, unchanged: the reference server
# (TypeScript SDK, sessions), a file server and a memory behind supergateway with sessions, a clock,
# git (both Python) and a thinker behind it without, Playwright with Debian's Chromium, one for
# clusters in Go, one for workbooks in Python that wants a token, one for web pages behind fastmcp's
# check of tokens with a login at npm's oidc-provider (pages for login and consent, dynamic
# registration, PKCE, one resource, JWT), and one with a login by the Python SDK's own authorization
# server. Notion's is listed alone: it can do nothing without an account. Eleven come from a file in
# VS Code's form, one by `claw mcp add`, two by `claw mcp login`. `claw tools` lists all, each but
# Notion's is called through the whole program by a stand-in model as in foreign-servers.sh, one of
# them again after it was killed and started anew, two after their tokens have ended.
# Usage: .ci/http-servers.sh PATH/TO/claw     (after .ci/install.sh)
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
. "$here/lib.sh"
claw="$(realpath "$1")"

work="$CI_SCRATCH/http"
rm -rf "$work" "$CI_SCRATCH/user/claw"
mkdir -p "$work/project" "$work/sheets" "$work/site"
echo '<title>A page of this machine</title><p>It says: A page of this machine.' >"$work/site/page.html"
echo '<p>Another page of this machine.' >"$work/site/other.html"
sed 's|@NAME@|a-cluster-of-this-step|' "$here/fixtures/kubeconfig.yaml" >"$work/kubeconfig"
echo one >"$work/project/committed.txt"
git -C "$work/project" init -q
export PATH="$CI_SCRATCH/py/bin:$PATH" HOME="$CI_SCRATCH/user" CLAW_HOME="$CI_SCRATCH/user/claw" CLAW_WORKSPACE="$CI_SCRATCH/user/claw/workspace"
json() { python "$here/json_rows.py" "$@"; }
modules="$CI_SCRATCH/user/node_modules"

servers=()
end_all() {
    for group in "${servers[@]}" "${model:-}"; do
        [ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null || true
    done
}
trap end_all EXIT

# serve NAME PORT COMMAND...: starts a server in a group of its own.
serve() {
    local name="$1" port="$2"
    shift 2
    setsid "$@" >>"$work/$name.log" 2>&1 </dev/null &
    served=$!
    disown "$served"
    servers+=("$served")
}

wait_for() {
    for _ in $(seq 300); do
        python -c "import socket; socket.create_connection(('localhost', $2), 1)" 2>/dev/null && return
        sleep 0.2
    done
    cat "$work/$1.log" >&2
    fail "the server $1 does not listen"
}

ports="$(free_ports 14)"
read -r everything files clock browser sheets notes thoughts git notion company cluster pages issuer site <<<"$ports"
serve_everything() {
    serve everything "$everything" env PORT="$everything" node "$modules/@modelcontextprotocol/server-everything/dist/index.js" streamableHttp
}
serve_everything
first="$served"
serve files "$files" "$modules/.bin/supergateway" --stdio "node $modules/.bin/mcp-server-filesystem $work/project" \
    --outputTransport streamableHttp --stateful --port "$files"
serve clock "$clock" "$modules/.bin/supergateway" --stdio mcp-server-time --outputTransport streamableHttp --port "$clock"
serve browser "$browser" "$modules/.bin/playwright-mcp" --headless --isolated --no-sandbox \
    --executable-path "$(command -v chromium)" --output-dir "$work/browser" --port "$browser"
serve site "$site" python -m http.server --bind 127.0.0.1 --directory "$work/site" "$site"
serve cluster "$cluster" "$modules/.bin/kubernetes-mcp-server" --bind-address 127.0.0.1 --port "$cluster" --kubeconfig "$work/kubeconfig"
serve issuer "$issuer" node "$here/fixtures/authorization_server.mjs" "$modules" "$issuer" "http://127.0.0.1:$pages/mcp" 2
serve pages "$pages" python "$here/fixtures/guarded_server.py" "$pages" "http://127.0.0.1:$issuer"
serve sheets "$sheets" env EXCEL_FILES_PATH="$work/sheets" EXCEL_MCP_AUTH_TOKEN=tok-8c1f29d07ab34e61 excel-mcp-server streamable-http --port "$sheets"
serve notes "$notes" env MEMORY_FILE_PATH="$work/notes.jsonl" "$modules/.bin/supergateway" \
    --stdio "node $modules/.bin/mcp-server-memory" --outputTransport streamableHttp --stateful --port "$notes"
serve thoughts "$thoughts" "$modules/.bin/supergateway" --stdio "node $modules/.bin/mcp-server-sequential-thinking" \
    --outputTransport streamableHttp --port "$thoughts"
serve git "$git" "$modules/.bin/supergateway" --stdio "mcp-server-git --repository $work/project" \
    --outputTransport streamableHttp --port "$git"
serve notion "$notion" env NOTION_TOKEN=ntn_none "$modules/.bin/notion-mcp-server" --transport http --port "$notion" \
    --auth-token ntn-41d7c0a95e2b
serve company "$company" python "$here/fixtures/login_server.py" "$company" 2
for pair in "everything $everything" "files $files" "clock $clock" "browser $browser" "sheets $sheets" \
    "notes $notes" "thoughts $thoughts" "git $git" "notion $notion" "company $company" \
    "site $site" "cluster $cluster" "issuer $issuer" "pages $pages"; do
    wait_for $pair
done

mkdir -m 700 "$CLAW_HOME"
sed -e "s|@PORT_EVERYTHING@|$everything|; s|@PORT_FILES@|$files|; s|@PORT_CLOCK@|$clock|; s|@PORT_BROWSER@|$browser|" \
    -e "s|@PORT_NOTES@|$notes|; s|@PORT_THOUGHTS@|$thoughts|; s|@PORT_GIT@|$git|; s|@PORT_NOTION@|$notion|" \
    -e "s|@PORT_COMPANY@|$company|; s|@PORT_CLUSTER@|$cluster|; s|@PORT_PAGES@|$pages|" "$here/fixtures/http_servers.json" >"$CLAW_HOME/mcp.json"
sed "s|@SCRATCH@|$work|g; s|@SITE@|http://127.0.0.1:$site|g" "$here/fixtures/http_model.json" >"$work/model.json"
cp "$CLAW_HOME/mcp.json" "$work/before.json"
group_trap="$(trap -p EXIT)"
start_model "$work"
eval "$group_trap"

expect_code "claw mcp add" 0 "$claw" mcp add sheets "http://127.0.0.1:$sheets/mcp" --header 'Authorization=Bearer ${SHEETS_TOKEN}'
cmp "$work/before.json" "$CLAW_HOME/mcp.json.before" || fail "the copy of mcp.json is another"
expect "mcp.json" "$(cat "$CLAW_HOME/mcp.json")" "// As a user of VS Code has it"
expect_code "claw mcp test without a token" 1 "$claw" mcp test sheets
expect "without a token" "$(cat "$CI_STEP/err")" 'does not take the token in `headers`'
export SHEETS_TOKEN=tok-8c1f29d07ab34e61 NOTION_HTTP_TOKEN=ntn-41d7c0a95e2b
expect_code "claw mcp test" 0 "$claw" mcp test sheets
echo "ok  claw mcp add writes an entry, and claw mcp test says what is missing: a token"

# log_in SERVER WANTED: a browser follows the link, fills in the forms that it is shown, and is sent
# back to claw. WANTED forms were sent.
log_in() {
    local server="$1" link="" login page
    expect_code "claw mcp test without a login" 1 "$claw" mcp test "$server"
    expect "without a login" "$(cat "$CI_STEP/err")" "run \`claw mcp login $server\`"
    "$claw" mcp login "$server" --json >"$work/login.out" 2>"$work/login.err" </dev/null &
    login=$!
    for _ in $(seq 100); do
        link="$(grep '^http' "$work/login.err" || true)"
        [ -z "$link" ] || break
        sleep 0.1
    done
    [ -n "$link" ] || { cat "$work/login.err" >&2; fail "claw mcp login $server shows no link"; }
    page="$(python "$here/fixtures/browser_login.py" "$link")"
    expect "the page after the login" "$page" "claw is logged in"
    expect "the forms of the login" "$page" "forms sent: $2"
    wait "$login" || { cat "$work/login.err" >&2; fail "claw mcp login $server has failed"; }
    expect "claw mcp login" "$(cat "$work/login.out")" '"logged_in":true'
    [ "$(stat -c %a "$CLAW_HOME/logins/$server.json")" = 600 ] || fail "others can read the tokens"
}
log_in company 0
echo "ok  claw mcp login logs in at the Python SDK's authorization server"
# One page for the login and one for the consent.
log_in pages 2
echo "ok  claw mcp login logs in at npm's oidc-provider"

expect_code "claw tools" 0 "$claw" tools --json
cp "$CI_STEP/out" "$work/tools.jsonl"
for tool in everything/echo files/list_directory clock/get_current_time browser/browser_navigate sheets/create_workbook \
    notes/create_entities thoughts/sequentialthinking git/git_status notion/API-post-search company/balance \
    cluster/configuration_view pages/fetch; do
    json has "$work/tools.jsonl" "id=$tool" || { cat "$CI_STEP/err" >&2; fail "claw tools does not list $tool"; }
done
echo "ok  claw tools lists $(wc -l <"$work/tools.jsonl") tools of twelve servers over HTTP"

called=0
# call SESSION SERVER TOOL WORDS: asked, allowed, run, and its result has reached the model.
call() {
    local session="$1" server="$2" tool="$3" words="$4" id call
    expect_code "claw ask ($session)" 3 "$claw" ask --session "$session" "use the $words server"
    "$claw" approvals --json >"$work/approvals.jsonl"
    json has "$work/approvals.jsonl" "session=$session" "server=$server" "tool=$tool" || fail "$session: no question about $tool"
    id="$(json get id "$work/approvals.jsonl" "session=$session")"
    expect_code "claw approve ($session)" 0 "$claw" approve "$id" --json
    expect "$session" "$(json get reply "$CI_STEP/out")" "The $words server has answered."
    "$claw" audit --json --limit 1000 >"$work/audit.jsonl"
    call="$(json get call "$work/audit.jsonl" kind=asked "body.approval=$id")"
    expect "$session, audit" "$(json list kind "$work/audit.jsonl" "call=$call")" "received verdict asked answered verdict started ended"
    json has "$work/audit.jsonl" "call=$call" kind=ended body.outcome=ended body.is_error=false || fail "$session: not ended well"
    echo "ok  $server/$tool was asked about, allowed, run, and its result reached the model"
    called=$((called + 1))
}
call everything everything echo everything
call files files list_directory files
call clock clock get_current_time clock
call sheets sheets create_workbook sheets
call git git git_status git
call browser browser browser_navigate browser
call notes notes create_entities notes
call thoughts thoughts sequentialthinking thoughts
call cluster cluster configuration_view cluster
call company company balance company
call pages pages fetch pages
# Their tokens live for two seconds.
sleep 2
call renewed-company company balance "renewed company"
call renewed-pages pages fetch "renewed pages"
[ -e "$work/sheets/made.xlsx" ] || fail "the workbook is not there"
grep -q 'likes green tea' "$work/notes.jsonl" || fail "the note is not there"
[ "$(grep -c '"GET /page.html' "$work/site.log")" = 2 ] || fail "the browser and the reader of pages have not both been at the page"

kill -KILL -- "-$first"
expect_code "claw mcp test of a dead server" 1 "$claw" mcp test everything
expect "a dead server" "$(cat "$CI_STEP/err")" "cannot be reached"
serve_everything
wait_for everything "$everything"
call again everything echo "restarted everything"

if grep -rqF "$SHEETS_TOKEN" "$CLAW_HOME"; then
    grep -rlF "$SHEETS_TOKEN" "$CLAW_HOME" >&2
    fail "the token is in the home"
fi
expect_code "claw audit verify" 0 "$claw" audit verify
for server in company pages; do
    tokens="$(grep -oE '(acc|ref)-[0-9a-f]{40}|"(access|refresh)_token": "[^"]+' "$CLAW_HOME/logins/$server.json" | sed 's/.*"//')"
    [ "$(wc -w <<<"$tokens")" -ge 2 ] || fail "the login at $server has no tokens for access and refresh"
    for token in $tokens; do
        [ "$(grep -rlF "$token" "$CLAW_HOME")" = "$CLAW_HOME/logins/$server.json" ] || fail "a login's token is elsewhere"
    done
done
echo "servers over HTTP: $called calls through the gate, to eleven of twelve servers"
