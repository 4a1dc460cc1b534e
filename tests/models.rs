//! More than one model: who answers when the first one is down, who writes summaries, how another
//! one is chosen, and what it costs. Whole runs of the program against stand-ins for two providers.

use crate::program;
use crate::program::House;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Recorded, Turn, Wire};

/// Claude first, and an OpenAI-compatible server behind it, with what is written about that one.
fn two(
    first: impl IntoIterator<Item = Answer>,
    second: impl IntoIterator<Item = Answer>,
    section: &str,
) -> (House, Threaded, Threaded) {
    let (claude, other) =
        (Threaded::start(Wire::Anthropic, first), Threaded::start(Wire::OpenAi, second));
    let house = House::at("claude", &claude.base_url).with("OTHER_KEY", "sk-other-0123456789");
    house.write(
        "claw.toml",
        &format!(
            "{section}\nagent = \"openai-compatible\"\nmodel = \"spare\"\nbase_url = \"{}\"\napi_key = \"$OTHER_KEY\"\n",
            other.base_url
        ),
    );
    (house, claude, other)
}

fn models(recorded: &[Recorded]) -> Vec<String> {
    // What asks for the list of models names none.
    recorded.iter().filter_map(|one| Some(one.body["model"].as_str()?.to_owned())).collect()
}

fn overloaded() -> Answer {
    Answer::status(
        529,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
    )
}

#[test]
fn another_one_answers_and_acts_while_the_first_is_down_and_nobody_asks_that_one() {
    let call = Call::new("1", "filesystem__read_file", r#"{"path":"a.txt"}"#);
    let second = [Answer::Turn(Turn::calls(&[call])), Answer::text("It says alpha.")];
    let (house, claude, other) = two([overloaded(), overloaded()], second, "[[model.fallback]]");
    house.write("workspace/a.txt", "alpha");
    let ran = house.claw(&["ask", "what does a.txt say?"]).expect(0);
    assert!(ran.out.contains("It says alpha."), "{ran:?}");
    assert_eq!(ran.err.matches("spare (openai-compatible) answers now").count(), 1, "{}", ran.err);
    assert!(!ran.err.contains("Tools are unavailable"), "{}", ran.err);
    assert_eq!(claude.recorded().len(), 2, "it is tried twice, and not again by the second step");
    assert_eq!(other.recorded().len(), 2);
    let authorization =
        other.recorded()[0].headers.get("authorization").unwrap().to_str().unwrap().to_owned();
    assert!(authorization.ends_with("sk-other-0123456789"), "each provider gets its own key");
    house.is_whole();
}

#[test]
fn a_line_of_the_log_says_session_turn_model_and_call_and_no_contents() {
    let call = Call::new("1", "filesystem__read_file", r#"{"path":"a.txt"}"#);
    let second = [Answer::Turn(Turn::calls(&[call])), Answer::text("Done.")];
    let (house, _claude, _other) = two([overloaded(), overloaded()], second, "[[model.fallback]]");
    let house = house.with("CLAW_LOG", "claw=debug");
    house.write("workspace/a.txt", "alpha and omega");
    let ran = house.claw(&["ask", "read it"]).expect(0);
    let id: String = house.db().query_row("SELECT id FROM calls", [], |row| row.get(0)).unwrap();
    let line = |words: &str| ran.err.lines().find(|line| line.contains(words)).unwrap_or_default();
    let turn = "turn{session=main turn=1}";
    // The number is that of the first event which the request adds to the session's log.
    let request = format!("{turn}:model_request{{session=main turn=1 request=");
    let model = "}:model{provider=claude name=model-x}: ";
    let again = line("asking again");
    assert!(again.contains(&request) && again.contains(model), "{}", ran.err);
    let (_, number) = again.split_once(&request).unwrap();
    let first: usize = number.split_once('}').unwrap().0.parse().unwrap();
    assert_eq!(house.events("main")[first - 1]["type"], "prompt.packed", "{again}");
    assert!(line("is passed over").contains(&request), "{}", ran.err);
    let call = format!("{turn}:call{{id={id} tool=filesystem/read_file}}: claw_core::gate: ");
    assert!(line("outcome=ended").contains(&call), "{}", ran.err);
    assert!(!ran.err.contains("omega") && !ran.err.contains(program::KEY), "{}", ran.err);
}

#[test]
fn one_that_may_not_call_tools_says_so_and_acts_on_nothing() {
    let mut turn = Turn::calls(&[Call::new(
        "1",
        "filesystem__write_file",
        r#"{"path":"b.txt","content":"x"}"#,
    )]);
    turn.text = "I cannot do that now.".into();
    let section = "[[model.fallback]]\ncalls_tools = false";
    let (house, _claude, other) = two([overloaded(), overloaded()], [Answer::Turn(turn)], section);
    let ran = house.claw(&["ask", "write b.txt"]).expect(0);
    assert!(ran.out.contains("I cannot do that now."), "{ran:?}");
    assert!(ran.err.contains("Tools are unavailable meanwhile"), "{}", ran.err);
    assert!(other.recorded()[0].body.get("tools").is_none(), "{}", other.recorded()[0].body);
    assert_eq!(house.claw(&["approvals", "--json"]).expect(0).rows().len(), 0);
    assert!(house.events("main").iter().all(|event| event["type"] != "tool.result"));
    house.is_whole();
}

#[test]
fn summaries_are_written_by_the_model_for_them_and_are_counted() {
    let (house, claude, other) = two(
        ["one", "two", "three"].map(Answer::text),
        [Answer::text("They counted.")],
        "[prices.\"model-x\"]\ninput_usd_per_million = 1000.0\noutput_usd_per_million = 0.0\n\n[model.compaction]",
    );
    house.claw(&["ask", "count"]).expect(0);
    house.claw(&["ask", "count on"]).expect(0);
    house.claw_with_stdin(&["chat"], b"/compact\ncount once more\n").expect(0);
    let ran = house.claw_with_stdin(&["chat"], b"/usage\n").expect(0);
    assert_eq!(models(&other.recorded()), ["spare"]);
    assert!(other.recorded()[0].body.get("tools").is_none(), "a summary calls nothing");
    assert_eq!(models(&claude.recorded()), ["model-x"; 3]);
    assert!(
        claude.recorded()[2].body.to_string().contains("They counted."),
        "the summary is what the model sees"
    );
    let shown = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("`spare` (openai-compatible): 127 tokens in"), "{shown}");
    assert!(shown.contains("price unknown"), "{shown}");
    assert!(shown.contains("0.38 USD and what has no known price"), "{shown}");
    house.is_whole();
}

#[test]
fn the_model_is_chosen_on_the_command_line_and_for_one_conversation() {
    let claude = Threaded::start(Wire::Anthropic, ["1", "2", "3", "4", "5"].map(Answer::text));
    let house = House::at("claude", &claude.base_url);
    house.claw(&["--model", "typed", "ask", "hello"]).expect(0);
    house.claw_with_stdin(&["chat"], b"/model chosen\nhello\n").expect(0);
    house.claw(&["ask", "hello"]).expect(0);
    house.claw(&["ask", "--session", "other", "hello"]).expect(0);
    house.claw_with_stdin(&["chat"], b"/model default\nhello\n").expect(0);
    assert_eq!(models(&claude.recorded()), ["typed", "chosen", "chosen", "model-x", "model-x"]);
    house.is_whole();
}

#[test]
fn a_model_that_the_provider_does_not_list_is_refused() {
    let claude = Threaded::start(Wire::Anthropic, ["1", "2"].map(Answer::text));
    claude.lists(program::KEY, &["model-x", "model-y-20260101"]);
    let house = House::at("claude", &claude.base_url);
    let said = house.claw_with_stdin(&["chat"], b"/model model-z\nhello\n").expect(0).out;
    let (is_refused, nearest) = ("offers no model `model-z`", "`model-x`");
    assert!(said.contains(is_refused) && said.contains(nearest), "{said}");
    house.claw_with_stdin(&["chat"], b"/model model-y\nhello\n").expect(0);
    let asked: Vec<String> = models(&claude.recorded());
    assert_eq!(asked, ["model-x", "model-y"]);
}

#[test]
fn a_chain_that_cannot_be_as_it_is_written_is_named() {
    let house = House::at("claude", "http://127.0.0.1:9/");
    house.write("claw.toml", "[[model.fallback]]\nmodel = \"m\"\n");
    house.claw(&["ask", "hello"]).expect_mistake(&["[[model.fallback]] number 1", "agent"]);
    house.write("claw.toml", "[[model.fallback]]\nagent = \"gemini\"\n");
    house
        .claw(&["ask", "hello"])
        .expect_mistake(&["[[model.fallback]] number 1", "GEMINI_API_KEY"]);
}
