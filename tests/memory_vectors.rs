//! `[memory.embeddings]` over the whole program: the endpoint is asked with its key, nobody else
//! sees the key, and an endpoint that is away or changes costs one sentence and no note.

use crate::endpoint::{Answer as Vectors, Endpoint, MODEL};
use crate::program::{House, eventually};
use crate::remembering;
use crate::remembering::{MARK, PATIENT};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

/// In a variable whose name says nothing.
const VARIABLE: &str = "VECTORS_ARE_FROM";
const KEY: &str = "vk-of-the-endpoint-0815";

fn toml(url: &str, more: &str) -> String {
    format!(
        "{PATIENT}[memory.embeddings]\nurl = \"{url}\"\nmodel = \"{MODEL}\"\n\
         key = \"${VARIABLE}\"\n{more}"
    )
}

/// Notes that words alone do not find by what they mean.
fn notes(house: &House) {
    house.write("memory/pet.md", "The cat sleeps.\n");
    house.write("memory/health.md", "Doctor Huber.\n");
    house.write("memory/food.md", "A loaf of bread.\n");
}

fn house(base_url: &str) -> House {
    let house = House::at("openai-compatible", base_url).with(VARIABLE, KEY);
    notes(&house);
    house
}

/// What a check says; it finds the index equal to the files whatever the endpoint does.
fn check(house: &House) -> String {
    house.claw(&["memory", "check"]).expect(0).out
}

#[test]
fn an_endpoint_of_claw_toml_is_asked_with_its_key_and_nobody_else_sees_the_key() {
    let model = Threaded::start(Wire::OpenAi, []);
    let endpoint = Endpoint::start(Vectors::Vectors(8));
    let house = house(&model.base_url);
    house.write("claw.toml", &toml(&endpoint.base(), ""));
    let said = check(&house);
    assert!(said.contains("by words and by vectors of `stand-in`"), "{said}");
    endpoint.with_asked(|asked| {
        assert!(!asked.is_empty());
        let bearer = format!("Bearer {KEY}");
        assert!(asked.iter().all(|one| one.authorization.as_deref() == Some(&bearer)));
    });
    // A query waits for its vector less than a second, which a busy machine may need by itself.
    eventually("it is found by meaning", || {
        let found = house.claw(&["memory", "list", "feline", "--json"]).expect(0).rows();
        found.first().is_some_and(|one| one["path"] == "pet.md")
    });

    // The server that claw itself starts has the key in its environment, and finds by meaning.
    let before = endpoint.requests();
    eventually("it is recalled by meaning", || {
        model.push(Answer::text("It sleeps."));
        house.claw(&["ask", "What does the feline do?"]).expect(0);
        let asked = model.recorded().pop().unwrap().body["messages"].to_string();
        asked.contains(MARK) && asked.contains("> The cat sleeps.")
    });
    assert!(endpoint.requests() > before);
    model.push(Answer::text(&format!("The key is {KEY}.")));
    let told = house.claw(&["ask", "And the key?"]).expect(0);
    assert!(!told.out.contains(KEY) && told.out.contains("The key is "), "{told:?}");
    let config = house.claw(&["doctor"]);
    assert!(!config.out.contains(KEY) && !config.err.contains(KEY), "{config:?}");
    house.is_whole();
}

#[test]
fn an_endpoint_that_is_away_costs_one_sentence_and_words_go_on() {
    let model = Threaded::start(Wire::OpenAi, [Answer::text("It sleeps.")]);
    let house = house(&model.base_url);
    // A port on which nobody listens.
    house.write("claw.toml", &toml("http://127.0.0.1:1/v1", ""));
    let said = check(&house);
    let sentences: Vec<&str> = said.lines().filter(|line| line.contains("by words")).collect();
    assert_eq!(sentences.len(), 1, "{said}");
    assert!(sentences[0].contains("cannot be reached"), "{said}");
    assert!(said.contains("3 notes in "), "{said}");
    house.claw(&["ask", "What does the cat do?"]).expect(0);
    let asked = model.recorded()[0].body["messages"].to_string();
    assert!(asked.contains("> The cat sleeps."), "{asked}");
    house.is_whole();
}

#[test]
fn an_endpoint_that_changes_its_dimension_is_told_and_its_vectors_are_made_anew_on_demand() {
    let endpoint = Endpoint::start(Vectors::Vectors(8));
    let house = house("http://127.0.0.1:1/v1");
    house.write("claw.toml", &toml(&endpoint.base(), ""));
    check(&house);
    endpoint.answers(Vectors::Vectors(16));
    house.write("memory/car.md", "A red automobile.\n");
    let said = check(&house);
    assert!(said.contains("vectors of 16 numbers now, and those of the notes have 8"), "{said}");
    let how = "With `dimension = 16` in `[memory.embeddings]` of claw.toml they are made anew";
    assert!(said.contains(how), "{said}");
    assert!(said.contains("3 of 4 notes have vectors, which are kept"), "{said}");
    house.write("claw.toml", &toml(&endpoint.base(), "dimension = 16\n"));
    let said = check(&house);
    assert!(said.contains("by words and by vectors of `stand-in`"), "{said}");
    assert!(said.contains("The text of 4 notes"), "{said}");
}

#[test]
fn what_is_written_wrongly_is_named_and_what_is_written_twice_is_told() {
    let house = House::new().with(VARIABLE, KEY);
    house.write("claw.toml", "[memory.embeddings]\nurl = \"http://127.0.0.1:1/v1\"\n");
    house.claw(&["memory", "check"]).expect_mistake(&["[memory.embeddings] model` is missing"]);
    house.write("claw.toml", &toml("https://me:pw-4711@example.org/v1", ""));
    let refused = house.claw(&["memory", "check"]).expect_mistake(&["write the key as `key`"]);
    assert!(!refused.err.contains("pw-4711"), "{refused:?}");
    // What mcp.json says itself is left alone, and gets no key of another address.
    let endpoint = Endpoint::start(Vectors::Vectors(8));
    let args = ["server", "memory", "--embeddings-url", &endpoint.base()];
    let args = [&args[..], &["--embeddings-model", MODEL]].concat();
    remembering::servers(&house, serde_json::json!({"memory": {"command": "claw", "args": args}}));
    notes(&house);
    house.write("claw.toml", &toml("http://127.0.0.1:1/v1", ""));
    assert!(check(&house).contains("by words and by vectors of `stand-in`"));
    endpoint.with_asked(|asked| assert!(asked.iter().all(|one| one.authorization.is_none())));
    let doctor = house.claw(&["doctor"]).out;
    assert!(doctor.contains("`[memory.embeddings]` is not used"), "{doctor}");
}
