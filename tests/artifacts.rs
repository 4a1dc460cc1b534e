//! What was put aside, through the whole program: a fact that no summary kept is found by the model,
//! through the gate, and the owner lists, reads and removes what is kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

mod program;
mod wires;

use program::House;
use serde_json::{Value, json};
use wires::threaded::Threaded;
use wires::{Answer, Call, Turn, Wire};

const FACT: &str = "the key of the shed lies under pot 34-B";

/// The archive that the newest compaction has left.
fn archive(house: &House) -> String {
    let events = house.events("main");
    let summary = events.iter().rfind(|event| event["type"] == "summary").unwrap();
    summary["made"]["kept"]["archive"].as_str().unwrap().to_owned()
}

/// The results of calls in the newest request.
fn results(model: &Threaded) -> Vec<String> {
    let body = model.recorded().last().unwrap().body.clone();
    let messages = body["messages"].as_array().unwrap().clone();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].to_string()).collect()
}

fn asks_for(artifact: &str, search: &str) -> [Answer; 2] {
    let arguments = json!({"artifact": artifact, "search": search}).to_string();
    let call = Call::new("c1", "filesystem__read_artifact", &arguments);
    [Answer::Turn(Turn::calls(&[call])), Answer::text("Done.")]
}

#[test]
fn a_fact_that_no_summary_kept_is_found_and_the_owner_looks_after_what_is_kept() {
    let model = Threaded::start(Wire::OpenAi, [Answer::text("ok")]);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", "[limits]\nwindow_tokens = 1000\n");
    let words = "and so on and on ".repeat(120);
    house.claw(&["ask", &format!("By the way, {FACT}. {words}")]).expect(0);
    ["We talked.", "ok"].into_iter().for_each(|text| model.push(Answer::text(text)));
    house.claw(&["ask", &words]).expect(0);
    let kept = archive(&house);
    asks_for(&kept[..16], "shed key").into_iter().for_each(|answer| model.push(answer));
    house.claw(&["ask", "where is the key?"]).expect(0);
    let found = results(&model);
    assert!(found.last().unwrap().contains(FACT), "{found:?}");

    let listed = house.claw(&["artifacts", "--json"]).expect(0).out;
    let rows: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let row = rows.iter().find(|row| row["digest"] == kept.as_str()).unwrap();
    assert_eq!((&row["of"], &row["removed_ms"]), (&json!("main"), &Value::Null));
    let name = row["name"].as_str().unwrap();
    assert!(house.claw(&["artifacts"]).expect(0).out.contains(name));
    assert!(house.claw(&["artifacts", "show", name]).expect(0).out.contains(FACT));
    // The owner names it as the list does, and the model can.
    assert_eq!(name, format!("main-{}", &kept[..16]));
    asks_for(name, "shed key").into_iter().for_each(|answer| model.push(answer));
    house.claw(&["ask", "--session", "new", &format!("look into {name}")]).expect(0);
    assert_eq!(results(&model).len(), 1);
    assert!(results(&model).last().unwrap().contains(FACT), "{:?}", results(&model));
    assert!(house.claw(&["artifacts", "show", "zzzz"]).expect(2).err.contains("claw artifacts"));
    let removed = house.claw(&["artifacts", "rm", &kept[..10]]).expect(0).out;
    assert!(removed.contains("is removed"), "{removed}");
    let gone = house.claw(&["artifacts", "show", name]).expect(2).err;
    assert!(gone.contains("was removed by its owner on "), "{gone}");
    assert!(house.claw(&["artifacts"]).expect(0).out.contains("(removed by its owner"));
    assert!(house.claw(&["audit", "--rows", "--json"]).expect(0).out.contains(&kept));
    asks_for(&kept[..16], "shed key").into_iter().for_each(|answer| model.push(answer));
    house.claw(&["ask", "and again?"]).expect(0);
    let found = results(&model);
    assert!(found.last().unwrap().contains("There is no artifact"), "{found:?}");
    house.is_whole();
}
