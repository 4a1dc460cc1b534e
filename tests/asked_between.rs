//! What a server of an older revision asks by a request: for one of several calls, which it does
//! not name, and for the owner's folders. Over HTTP, through the whole program.

use std::num::NonZero;

use serde_json::json;

use crate::program::{SERVER_WAIT, eventually, outcomes};
use crate::pty::Pty;
use crate::task_house::{ALLOW, house, house_of};
use crate::task_rig::{Garden, Revision};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};

#[test]
fn a_question_for_one_of_several_calls_names_them_all_and_its_answer_goes_back() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let (house, _provider) = house_of(&server, &["left", "right"]);
    let asking = house.start(&["ask", "dig"]);
    let open = || house.claw(&["approvals", "--json"]).expect(0).rows();
    eventually("it asks", || open().len() == 1);
    let shown = house.claw(&["approvals"]).expect(0).out;
    assert!(shown.contains("`garden` asks for “sure”"), "{shown}");
    let running = ["left, right", "right, left"];
    assert!(
        running
            .map(|both| format!("in one of its 2 running calls ({both}); it does not say which"))
            .iter()
            .any(|note| shown.contains(note)),
        "{shown}"
    );
    // The arguments of one call would say that it is that one.
    assert!(!shown.contains("Rome"), "{shown}");
    let id = open()[0]["id"].as_str().unwrap().to_owned();
    house.claw(&["approve", &id, "--value", "yes"]);
    asking.ends();
    let heard = garden.noted("heard ");
    assert!(heard.len() == 1 && heard[0].contains("accept"), "{heard:?}");
    let results = outcomes(&house.events("main"));
    assert!(
        results.len() == 2 && results.iter().all(|it| it.to_string().contains("dug a hole")),
        "{results:?}"
    );
    house.is_whole();
}

/// Each screen is looked at by a human when it changes.
#[test]
fn the_question_for_one_of_several_calls_fits_the_console() {
    for columns in [40, 80] {
        let garden = Garden::new(Revision::R2025);
        let server = garden.serve();
        let (house, _provider) = house_of(&server, &["left", "right"]);
        let mut console = Pty::sized(&house, &["chat"], 40, columns);
        console.types("dig").shows("`garden`").shows("? more");
        let mut screen =
            vt100::Parser::new(NonZero::new(40).unwrap(), NonZero::new(columns).unwrap(), 0);
        screen.process(&console.bytes());
        let shown = screen.screen().contents();
        let question: Vec<&str> = shown
            .lines()
            .map(str::trim_end)
            .skip_while(|line| !line.starts_with("? `garden`"))
            .collect();
        let end = question.iter().position(|line| line.ends_with("? more")).unwrap();
        insta::assert_snapshot!(
            format!("one_of_several_at_{columns}_columns"),
            in_order(&question[..=end].join("\n"))
        );
        // At the console an answer that comes at once is too soon.
        house.claw(&["approve", &house.waiting(), "--value", "yes"]);
        console.shows("done").types("/quit").ends(0);
    }
}

#[test]
fn the_question_for_one_of_several_calls_fits_a_chat() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let calls = ["left", "right"].map(|tool| Call::new(tool, &format!("garden__{tool}"), "{}"));
    let rig = Rig::new([Answer::Turn(Turn::calls(&calls)), Answer::text("All is dug.")]);
    rig.house.write("claw.toml", SERVER_WAIT);
    rig.house.write("policy.toml", ALLOW);
    let entry = json!({"url": server.url(), "timeout": 600_000});
    rig.house.write("mcp.json", &json!({"mcpServers": {"garden": entry}}).to_string());
    let gateway = rig.start();
    rig.anna.starts();
    rig.says("dig");
    let asked = rig.telegram.wait_for_button(rig.anna.id, "Yes");
    let rows = asked.buttons.iter().map(|row| {
        row.iter().map(|button| format!("[ {} ]", button.text)).collect::<Vec<_>>().join(" ")
    });
    let shown = [asked.text.clone()].into_iter().chain(rows).collect::<Vec<_>>().join("\n");
    let time = regex::Regex::new(r"([A-Z][a-z]{2} \d{4}-\d\d-\d\d )?\b\d\d:\d\d\b").unwrap();
    insta::assert_snapshot!(in_order(&time.replace_all(&shown, "HH:MM")));
    rig.anna.taps_on(asked.chat, asked.id, "Yes");
    rig.hears("All is dug.");
    drop(gateway);
}

/// Which of two calls that run side by side has come first is nobody's business.
fn in_order(shown: &str) -> String {
    shown.replace("right, left", "left, right").replace("right and left", "left and right")
}

#[test]
fn the_workspace_is_shown_to_the_server_whose_entry_says_so_and_to_no_other() {
    for roots in [false, true] {
        let garden = Garden::new(Revision::R2025);
        let server = garden.serve();
        let (house, _provider) = house(&server, "where");
        let mut entry = json!({"url": server.url()});
        if roots {
            entry["roots"] = json!(true);
        }
        house.write("mcp.json", &json!({"mcpServers": {"garden": entry}}).to_string());
        house.claw(&["ask", "where?"]).expect(0);
        let declared = garden.noted("declared ");
        assert!(declared.iter().all(|it| it.contains("roots") == roots), "{declared:?}");
        let heard = garden.noted("heard ");
        let workspace = format!("\"uri\":\"file://{}\"", house.workspace().display());
        assert!(heard.len() == 1, "{heard:?}");
        assert_eq!(heard[0].contains(&workspace), roots, "{heard:?} and not {workspace}");
        assert_eq!(heard[0].contains("-32601"), !roots, "{heard:?}");
        house.is_whole();
    }
}

#[test]
fn what_roots_may_be_is_said() {
    let garden = Garden::new(Revision::R2025);
    let server = garden.serve();
    let (house, _provider) = house(&server, "where");
    let entry = json!({"url": server.url(), "roots": "/home"});
    house.write("mcp.json", &json!({"mcpServers": {"garden": entry}}).to_string());
    house.claw(&["ask", "where?"]).expect_mistake(&["garden", "`roots` must be true or false"]);
}
