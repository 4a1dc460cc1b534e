//! The daily digest through the whole program: what ran without a question is told once a day,
//! danger first, and a button takes a grant back.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::botapi::Message;
use crate::program;
use crate::program::House;
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use claw_core::domain::OutboundBody;
use claw_door_console::screen::Screen;
use claw_terminal::style::Look;
use serde_json::json;

/// Every day has begun, so that it is told at once.
const AT_MIDNIGHT: &str = "[audit]\ndigest_at = \"00:00\"\n[limits]\ndigest_lines_max = 3\n";
const HEAD: &str = "Without a question, since";
const TELL_OF_TODAY: &str = "UPDATE daily_digests SET day = '2001-01-01', up_ms = up_ms - 86400000";

/// Three calls by a grant, two by a rule that lets one command have the network, one reader, and
/// one call that was asked about.
fn busy() -> Rig {
    let rig = Rig::configured(AT_MIDNIGHT);
    works(&rig.house);
    rig
}

fn works(house: &House) {
    let id = house.ask_parks("write `one` to a.txt");
    house.claw(&["approve", &id, "--for", "always"]).expect(0);
    for _ in 0..3 {
        house.claw(&["ask", "write `one` to a.txt"]).expect(0);
    }
    house.claw(&["ask", "read a.txt"]).expect(0);
    // As calls by a rule of the owner's would stand there.
    house
        .db()
        .execute_batch(
            "INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state,
                rule, received_ms, started_ms)
             SELECT 'main:' || (900 + value) || ':0', session, 'bash', 'run',
                '{\"command\":\"cargo update\",\"needs\":\"network\"}', origin, principal,
                'ended', 'rule.2', received_ms, started_ms
             FROM calls, json_each('[1,2]') WHERE calls.tool = 'read_file';
             INSERT INTO calls(id, session, server, tool, arguments, origin, principal, state,
                rule, received_ms, started_ms)
             SELECT 'main:999:0', session, 'bash', 'run', '{\"command\":\"ls\"}', origin, principal,
                'ended', 'builtin.level-read', received_ms, started_ms
             FROM calls WHERE tool = 'read_file' LIMIT 1;",
        )
        .unwrap();
}

impl Rig {
    #[track_caller]
    fn digest(&self) -> Message {
        self.telegram.wait_for_button(self.anna.id, "Take grant 1 back")
    }

    /// Until the gateway has looked whether there is something to tell today.
    #[track_caller]
    fn has_looked(&self, days: i64) {
        program::eventually("today was looked at", || {
            self.number("SELECT count(*) FROM daily_digests WHERE day IS NOT NULL") == days
        });
        self.wait_delivered();
    }
}

#[test]
fn it_is_told_once_a_day_and_a_button_takes_a_grant_back() {
    let rig = busy();
    let gateway = rig.start();
    let told = rig.digest();
    let lines: Vec<&str> = told.text.lines().filter(|line| line.starts_with('•')).collect();
    assert!(told.text.contains("7 calls."), "{}", told.text);
    assert!(lines[0].contains("⚠ 2 calls by rule.2"), "danger first: {}", told.text);
    assert!(lines[1].contains("3 calls by grant 1: ") && !lines[1].contains('⚠'), "{}", told.text);
    assert!(lines[3].contains("1 more line with 1 call; claw digest shows all"), "{}", told.text);

    let data = told.button("Take grant 1 back").unwrap().data.clone().unwrap();
    let mallory = rig.telegram.user("Mallory");
    let tap = mallory.forges_tap(told.chat, told.id, &data);
    assert!(rig.telegram.wait_answered(&tap).0.contains("Only the owner"));
    assert_eq!(rig.house.claw(&["grants", "--json"]).expect(0).rows().len(), 1);

    let tap = rig.anna.taps_on(told.chat, told.id, "Take grant 1 back");
    assert_eq!(rig.telegram.wait_answered(&tap).0, "Grant 1 is taken back.");
    rig.wait_edited(&told, "(ended ");
    assert_eq!(rig.house.claw(&["grants", "--json"]).expect(0).rows().len(), 0);
    let revoked = rig.house.audit().into_iter().filter(|row| row["kind"] == "revoked");
    let by: Vec<String> = revoked.map(|row| row["body"]["by"].to_string()).collect();
    assert_eq!(by, [format!("\"telegram:{}\"", rig.anna.id)]);
    // A button as an old copy of the screen has it says what is true.
    let tap = rig.anna.forges_tap(told.chat, told.id, &data);
    assert!(rig.telegram.wait_answered(&tap).0.starts_with("Grant 1 has ended already"));

    rig.wait_handled();
    rig.kill(gateway);
    rig.house.claw(&["ask", "read a.txt"]).expect(0);
    let gateway = rig.start();
    rig.anna.says(rig.anna.private(), "/status");
    rig.telegram.wait_for_text(rig.anna.id, "session: ");
    rig.has_looked(1);
    assert_eq!(rig.count(rig.anna.id, HEAD), 1, "the same day, after a kill");
    rig.stop(gateway);
}

#[test]
fn another_day_tells_what_came_since_and_no_clock_makes_two_of_one() {
    let rig = busy();
    let gateway = rig.start();
    rig.digest();
    rig.stop(gateway);
    rig.house.claw(&["ask", "read a.txt"]).expect(0);
    // A day later by the clock, and by the clock alone: the system was not up for so long.
    let by_the_clock = "UPDATE daily_digests SET day = '2001-01-01'";
    assert_eq!(rig.house.db().execute(by_the_clock, []).unwrap(), 1);
    let mut command = rig.house.command(&["gateway"]);
    command.env("CLAW_LOG", "claw=info,claw_core=info");
    let gateway = rig.house.begin(command);
    program::eventually("it was looked at", || gateway.err().contains("too soon after the last"));
    rig.stop(gateway);
    assert_eq!(rig.count(rig.anna.id, HEAD), 1, "the clock alone makes no day");
    // And by the time that it is up.
    assert_eq!(rig.house.db().execute(TELL_OF_TODAY, []).unwrap(), 1);
    let gateway = rig.start();
    rig.telegram.wait_for_text(rig.anna.id, "1 call.");
    rig.stop(gateway);
    assert_eq!(rig.count(rig.anna.id, HEAD), 2);
    // The clock goes back behind a day that was told: nothing is told twice, and it begins anew.
    let ahead = "UPDATE daily_digests SET day = '2999-01-01', up_ms = up_ms - 86400000
                 WHERE nr = (SELECT max(nr) FROM daily_digests)";
    assert_eq!(rig.house.db().execute(ahead, []).unwrap(), 1);
    rig.house.claw(&["ask", "read a.txt"]).expect(0);
    let gateway = rig.start();
    rig.has_looked(3);
    rig.stop(gateway);
    assert_eq!(rig.count(rig.anna.id, HEAD), 2);
}

#[test]
fn nothing_is_told_where_nothing_ran_or_nobody_wants_it() {
    let rig = Rig::configured(AT_MIDNIGHT);
    let gateway = rig.start();
    rig.has_looked(1);
    rig.stop(gateway);
    assert_eq!(rig.count(rig.anna.id, HEAD), 0, "nothing ran");
    let off = Rig::new();
    works(&off.house);
    let gateway = off.start();
    off.anna.says(off.anna.private(), "/digest");
    off.telegram.wait_for_button(off.anna.id, "Take grant 1 back");
    off.stop(gateway);
    assert_eq!(off.count(off.anna.id, HEAD), 0, "it is off by default");
    let wrong = House::new();
    wrong.write("claw.toml", "[audit]\ndigest_at = \"8 pm\"\n");
    wrong.claw(&["digest"]).expect_mistake(&["claw.toml, line 2", "such as \"20:00\""]);
}

#[test]
fn it_is_read_at_a_glance() {
    let house = House::new();
    house.write("claw.toml", "[limits]\ndigest_lines_max = 3\n");
    works(&house);
    let lines = house.claw(&["digest"]).expect(0);
    insta::assert_snapshot!("at_the_console", format!("{}----\n{}", lines.out, lines.err));
    let rows = house.claw(&["digest", "--json"]).expect(0).rows();
    assert_eq!(rows.len(), 4, "all of them: {rows:?}");
    assert_eq!(rows[0]["danger"], true);
    let chat = Rig::with(house);
    let gateway = chat.start();
    chat.anna.says(chat.anna.private(), "/digest");
    chat.telegram.wait_for_button(chat.anna.id, "Take grant 1 back");
    let told = "SELECT body FROM outbox WHERE body LIKE '%\"digest\"%'
                AND body LIKE '%in the last 24 hours%' ORDER BY id DESC LIMIT 1";
    let row: String = chat.house.db().query_row(told, [], |row| row.get(0)).unwrap();
    chat.stop(gateway);
    let row: serde_json::Value = serde_json::from_str(&row).unwrap();
    let body: OutboundBody = serde_json::from_value(row["body"].clone()).unwrap();
    let at = |width| {
        let mut screen = Screen::new(Look::new(width, false), true);
        screen.out(&body);
        screen.take().unwrap().lines.join("\n")
    };
    insta::assert_snapshot!("in_a_chat", format!("==== 80\n{}\n==== 40\n{}", at(80), at(40)));
}

/// A server with two tools, of which it calls one destructive (MCP, tool annotations).
const STRANGER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id": *\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25",
      "capabilities":{"tools":{}},"serverInfo":{"name":"attic","version":"1"}}}' | tr -d '\n'; echo ;;
    *'"tools/list"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[
      {"name":"sweep","inputSchema":{"type":"object"},"annotations":{"destructiveHint":true}},
      {"name":"air","inputSchema":{"type":"object"}}]}}' | tr -d '\n'; echo ;;
    *'"tools/call"'*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"content":[]}}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}' ;;
  esac
done
"#;

#[test]
fn what_a_stranger_calls_destructive_counts_as_danger() {
    let call = |tool: &str| Answer::Turn(Turn::calls(&[Call::new("a", tool, "{}")]));
    let answers =
        [call("attic__air"), Answer::text("aired"), call("attic__sweep"), Answer::text("swept")];
    let model = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", program::SERVER_WAIT);
    let rule = |tool: &str| {
        format!(
            "[[rule]]\nserver = \"attic\"\ntool = \"{tool}\"\ndecision = \"allow\"\nwhy = \"a\"\n"
        )
    };
    house.write("policy.toml", &(rule("air") + &rule("sweep")));
    let script = house.user_home().join("attic.sh");
    std::fs::write(&script, STRANGER).unwrap();
    let servers = json!({"mcpServers": {"attic": {"command": "/bin/sh", "args": [script]}}});
    house.write("mcp.json", &servers.to_string());
    house.claw(&["ask", "air it"]).expect(0);
    house.claw(&["ask", "sweep it"]).expect(0);
    let rows = house.claw(&["digest", "--json"]).expect(0).rows();
    let told: Vec<(bool, bool)> = rows
        .iter()
        .map(|row| (row["danger"] == true, row["id"].as_str().unwrap().ends_with(":6")))
        .collect();
    assert_eq!(told, [(true, true), (false, false)], "{rows:?}");
    house.is_whole();
}
