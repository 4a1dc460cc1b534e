//! A server that says the tokens of its login back, while claw runs: whoever has brought them, none
//! reaches a model, the chat, or a file.

use std::fs;

use serde_json::{Value, json};

use crate::login_rig::Company;
use crate::mcp_login::{holds, log_in};
use crate::program::SERVER_WAIT;
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};

fn says_its_token(id: &str) -> Answer {
    let arguments = json!({"say": "token"}).to_string();
    Answer::Turn(Turn::calls(&[Call::new(id, "corp__echo", &arguments)]))
}

/// The server says its token back, to the owner's message of this number.
#[track_caller]
fn a_turn(rig: &Rig, number: usize) {
    let (id, end) = (format!("call{number}"), format!("Turn {number} is over."));
    rig.model.push(says_its_token(&id));
    rig.model.push(Answer::text(&end));
    rig.says(&format!("go {number}"));
    rig.hears(&end);
    let requests = rig.model.recorded();
    let last = requests.last().map(|request| request.body.to_string()).unwrap_or_default();
    let said = last.matches("You came with [redacted:access_token]").count();
    assert_eq!(said, number, "each turn so far has had its result: {last}");
}

#[test]
fn a_token_of_a_login_that_comes_while_claw_runs_is_known_before_it_is_used() {
    let company = Company::usual();
    let rig = Rig::new([]);
    rig.house.write("claw.toml", SERVER_WAIT);
    let servers = json!({"mcpServers": {"corp": {"url": company.rig.url()}}});
    rig.house.write("mcp.json", &servers.to_string());
    let all = "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"of a test\"\n";
    rig.house.write("policy.toml", all);
    log_in(&rig.house);
    let gateway = rig.start();
    a_turn(&rig, 1);
    // Another process logs in anew.
    log_in(&rig.house);
    a_turn(&rig, 2);
    // Another process renews it.
    company.revoke_access();
    rig.house.claw(&["mcp", "test", "corp"]).expect(0);
    a_turn(&rig, 3);
    // This process renews it, because it has ended.
    let file = rig.house.home().join("logins/corp.json");
    let mut kept: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    kept["credentials"]["token_received_at"] = json!(0);
    fs::write(&file, kept.to_string()).unwrap();
    let renewed = company.count("/as/token");
    a_turn(&rig, 4);
    assert_eq!(company.count("/as/token"), renewed + 1);
    drop(gateway);
    let gateway = rig.start();
    a_turn(&rig, 5);

    let used: Vec<String> = company
        .rig
        .seen()
        .iter()
        .filter(|seen| seen.body.contains("tools/call"))
        .filter_map(|seen| Some(seen.header("authorization")?.replace("Bearer ", "")))
        .collect();
    assert!(used.len() >= 5, "{used:?}");
    for token in company.tokens() {
        for request in rig.model.recorded() {
            assert!(!request.body.to_string().contains(&token), "{token}: {}", request.body);
        }
        for message in rig.telegram.sent(rig.anna.id) {
            assert!(!message.text.contains(&token), "{token}: {}", message.text);
        }
        assert_eq!(holds(&rig.house.home(), &token), [""; 0], "{token} is kept elsewhere");
    }
    drop(gateway);
}
