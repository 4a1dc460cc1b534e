//! What was put aside, through the whole program: a fact that no summary kept is found by the
//! model, through the gate, and the owner lists, reads and removes what is kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests: to panic is how a test fails")]

use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::{Value, json};

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

/// The owner has a name for it, a model needs the digits behind that, too, and all that was said of
/// it before still holds.
fn called_by_an_alias(house: &House, model: &Threaded, name: &str) {
    let alias = |words: &[&str]| house.claw(&[&["artifacts", "alias"], words].concat());
    let digits = name.rsplit('-').next().unwrap();
    assert!(alias(&[name, "shed-talk"]).expect(0).out.contains(&format!("shed-talk-{digits}")));
    for named in ["shed-talk", &format!("shed-talk-{digits}"), name, digits] {
        assert!(house.claw(&["artifacts", "show", named]).expect(0).out.contains(FACT), "{named}");
    }
    assert!(house.claw(&["artifacts"]).expect(0).out.contains(&format!("shed-talk-{digits}")));
    for (artifact, is_found) in [(format!("shed-talk-{digits}"), true), ("shed-talk".into(), false)]
    {
        asks_for(&artifact, "shed key").into_iter().for_each(|answer| model.push(answer));
        house.claw(&["ask", "--session", "other", &format!("look into {artifact}")]).expect(0);
        let found = results(model);
        assert_eq!(found.last().unwrap().contains(FACT), is_found, "{artifact}: {found:?}");
    }
    for (bad, why) in [("Shed", "a small letter"), ("", "a small letter"), ("x-cafe", "a digest")] {
        alias(&[name, bad]).expect_mistake(&[why]);
    }
    // Another one, as far as the store knows.
    let other = "5".repeat(64);
    let row =
        "INSERT INTO artifacts(digest, bytes, mime, call, created_ms) VALUES (?1, 1, '', '', 1)";
    house.db().execute(row, [&other]).unwrap();
    alias(&[&other, "shed-talk"]).expect_mistake(&["is the alias of", digits]);
    assert!(house.claw(&["artifacts", "show", "shed-talk"]).expect(0).out.contains(FACT));
    house.db().execute("DELETE FROM artifacts WHERE digest = ?1", [&other]).unwrap();
    alias(&["shed-talk"]).expect(0);
    house.claw(&["artifacts", "show", "shed-talk"]).expect_mistake(&["claw artifacts"]);
    assert!(house.claw(&["artifacts"]).expect(0).out.contains(name));
    alias(&[digits, "shed-talk"]).expect(0);
}

#[test]
fn a_fact_that_no_summary_kept_is_found_and_the_owner_looks_after_what_is_kept() {
    let model = Threaded::start(Wire::OpenAi, [Answer::text("ok")]);
    let house = House::at("openai-compatible", &model.base_url);
    house.write("claw.toml", "[limits]\nwindow_tokens = 1000\n");
    let words = "and so on and on ".repeat(120);
    house.claw(&["ask", &format!("By the way, {FACT}. {words}")]).expect(0);
    ["We talked.", "ok"].into_iter().for_each(|text| model.push(Answer::text(text)));
    // What overflows is summarised before the model is asked.
    assert_eq!(house.claw(&["ask", &words]).expect(0).out, "ok\n");
    let told = model.recorded().last().unwrap().body["messages"].to_string();
    assert!(told.contains("by a model:\\n> We talked.") && told.contains(words.trim()), "{told}");
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
    called_by_an_alias(&house, &model, name);
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
