//! What a server of an older revision asks by a request: for one of several calls, which it does
//! not name, and for the owner's folders. Over HTTP, through the whole program.

use serde_json::json;

use crate::program::{eventually, outcomes};
use crate::task_house::{house, house_of};
use crate::task_rig::{Garden, Revision};

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
            .map(|both| format!("2 of its calls run ({both}); it does not say which one asks"))
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
