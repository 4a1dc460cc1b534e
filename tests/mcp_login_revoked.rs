//! A token that its server does not take any more in the middle of a call: the call is sent once,
//! and model and owner read how to log in.

use serde_json::json;

use crate::http_rig::as_json;
use crate::login_rig::{Company, Twist};
use crate::mcp_login::log_in;
use crate::program::{House, SERVER_WAIT, outcomes};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};

const ALLOW: &str =
    "[[rule]]\nserver = \"*\"\ndecision = \"allow\"\nwhy = \"this test runs everything\"\n";

#[test]
fn a_token_that_is_revoked_before_a_call_tells_how_to_log_in_and_the_call_is_sent_once() {
    // Lists are given, calls are not, whatever the token.
    let twist: Twist = |seen, _| {
        (seen.message()["method"] == "tools/call").then(|| {
            let mut refused = as_json(401, &json!({"error": "invalid_token"}));
            let challenge = "Bearer error=\"invalid_token\"".parse().ok()?;
            refused.headers_mut().insert("www-authenticate", challenge);
            Some(refused)
        })?
    };
    let company = Company::start(twist, "http://127.0.0.1:1", 3600, "");
    let answers =
        [Answer::Turn(Turn::calls(&[Call::new("a", "corp__echo", "{}")])), Answer::text("done")];
    let provider = Threaded::start(Wire::OpenAi, answers);
    let house = House::at("openai-compatible", &provider.base_url);
    house.write("claw.toml", SERVER_WAIT);
    house.write("policy.toml", ALLOW);
    let servers = json!({"mcpServers": {"corp": {"url": company.rig.url()}}});
    house.write("mcp.json", &servers.to_string());
    log_in(&house);
    house.claw(&["ask", "call it"]).expect(0);
    let results = outcomes(&house.events("main"));
    assert_eq!(results.len(), 1, "{results:?}");
    let told = results[0].to_string();
    assert!(told.contains("claw mcp login corp"), "{told}");
    for token in company.tokens() {
        assert!(!told.contains(&token), "{told}");
    }
    let seen = company.rig.seen();
    let calls = seen.iter().filter(|seen| seen.message()["method"] == "tools/call");
    assert_eq!(calls.count(), 1);
    house.is_whole();
}
