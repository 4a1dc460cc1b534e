//! `claw init` a second time: shows what is set, and changes what is answered otherwise and nothing
//! else.

use std::fs;

use serde_json::Value;

use crate::living::rig::Rig;
use crate::program::{KEY, SERVER_WAIT};
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Wire};

#[test]
fn what_is_kept_stays_to_the_byte_and_what_is_changed_stands_beside_it() {
    let rig = Rig::new(&["ok", "ok"]);
    let mut pty = rig.init();
    rig.gives_model(&mut pty);
    rig.gives_token(&mut pty);
    rig.is_known(&mut pty);
    pty.shows("Write this?").types("y").shows("Next:").ends(0);
    let written = fs::read_to_string(rig.claw_toml()).unwrap();
    let mine = format!("# mine\ntime_zone = \"UTC\"\n{written}pairing = \"off\" # quiet\n");
    fs::write(rig.claw_toml(), &mine).unwrap();

    let mut pty = rig.init();
    pty.shows("Model now: model-x (openai-compatible)")
        .shows("It works.")
        .shows("Keep it? [Y/n]")
        .types("");
    pty.shows("Telegram now: @claw_test_bot").shows("Keep this bot? [Y/n]").types("");
    pty.shows(&format!("{}. Keep that? [Y/n]", rig.anna.id)).types("").shows("nothing was written");
    let shown = pty.ends(0);
    assert_eq!(fs::read_to_string(rig.claw_toml()).unwrap(), mine);
    rig.secrets_are_only_in_claw_toml(&shown);

    // Another owner.
    let bert = rig.telegram.user("Bert");
    let mut pty = rig.init();
    pty.shows("Keep it?")
        .types("")
        .shows("Keep this bot?")
        .types("")
        .shows("Keep that?")
        .types("n")
        .shows("Now send your bot");
    bert.says(bert.private(), "me");
    pty.shows("Bert, id")
        .shows("Is this you?")
        .types("y")
        .shows("Write this?")
        .types("y")
        .shows("Next:")
        .ends(0);
    let after = fs::read_to_string(rig.claw_toml()).unwrap();
    assert_eq!(after, mine.replace(&rig.anna.id.to_string(), &bert.id.to_string()));
}

#[test]
fn a_model_that_fails_now_is_told_before_it_is_kept() {
    let rig = Rig::new(&[]);
    let text = format!(
        "[model]\nagent = \"openai-compatible\"\nbase_url = \"{}\"\nmodel = \"model-x\"\napi_key = \"sk-old-and-gone-1\"\n",
        rig.model.base_url
    );
    rig.house.write("claw.toml", &text);
    let mut pty = rig.init();
    pty.shows("Model now: ")
        .shows("It does not work: ")
        .shows("refused the key")
        .shows("Keep it? [y/N]")
        .types("");
    rig.gives_model(&mut pty);
    pty.shows("from @BotFather").types("").shows("Write this?").types("").shows("Next:").ends(0);
    let text = fs::read_to_string(rig.claw_toml()).unwrap();
    assert!(text.contains(KEY) && !text.contains("sk-old-and-gone-1"), "{text}");
}

/// An Ollama with one model.
fn ollama(answers: impl IntoIterator<Item = Answer>) -> Threaded {
    let ollama = Threaded::start(Wire::Ollama, answers);
    ollama.lists("", &["qwen3:8b"]);
    ollama
}

#[test]
fn what_was_set_for_the_model_before_goes_with_it_and_the_new_one_answers() {
    let rig = Rig::new(&[]);
    let ollama = ollama([Answer::text("Hello.")]);
    let before = "# mine\n[model]\nagent = \"openai-compatible\"\nmodel = \"old\"\n\
        base_url = \"http://127.0.0.1:9/v1\"\ntemperature = 0.3\nwindow_tokens = 4096\n\
        tool_choice = \"required\"\ncalls_tools = false\ntimeout_s = 60\n";
    rig.house.write("claw.toml", &format!("{before}{SERVER_WAIT}"));
    let mut pty = rig.init();
    pty.shows("It does not work: ").shows("Keep it? [y/N]").types("");
    pty.shows("Number: ").types("5").shows("Its address").types(&ollama.base_url);
    pty.shows("It works: qwen3:8b answers (ollama).").shows("from @BotFather").types("");
    pty.shows("taken out, as set for the model before: ")
        .shows("temperature, window_tokens, calls_tools, tool_choice")
        .shows("Write this?")
        .types("")
        .shows("Next:")
        .ends(0);
    let text = fs::read_to_string(rig.claw_toml()).unwrap();
    assert!(text.starts_with("# mine\n") && text.contains("timeout_s = 60\n"), "{text}");
    for key in ["temperature", "window_tokens", "calls_tools", "tool_choice"] {
        assert!(!text.contains(key), "{text}");
    }
    assert_eq!(rig.house.claw(&["ask", "hello"]).expect(0).out, "Hello.\n");
    let asked = ollama.recorded().pop().unwrap().body;
    assert_eq!(asked["options"]["temperature"], Value::Null, "{asked}");
    assert!(asked["tools"].as_array().is_some_and(|tools| !tools.is_empty()), "{asked}");
}

#[test]
fn a_model_that_is_listed_and_refuses_what_is_set_for_it_does_not_work() {
    let rig = Rig::new(&[]);
    let refusal = r#"{"error":"temperature is not supported with this model"}"#;
    let ollama = ollama([Answer::status(400, refusal)]);
    let text = format!(
        "[model]\nagent = \"ollama\"\nbase_url = \"{}\"\nmodel = \"qwen3:8b\"\n\
         temperature = 0.3\n",
        ollama.base_url
    );
    rig.house.write("claw.toml", &text);
    let mut pty = rig.init();
    pty.shows("Model now: qwen3:8b").shows("It does not work: ").shows("temperature");
    // What is typed before its question answers nothing.
    pty.shows("Keep it? [y/N]").types("y");
    pty.shows("from @BotFather").types("").shows("nothing was written").ends(0);
    assert_eq!(fs::read_to_string(rig.claw_toml()).unwrap(), text);
    let asked = ollama.recorded().pop().unwrap().body;
    assert_eq!(asked["options"]["temperature"], 0.3, "{asked}");
}

#[test]
fn a_claw_toml_that_means_nothing_is_named_with_its_line() {
    let rig = Rig::new(&[]);
    rig.house.write("claw.toml", "\n[modell]\n");
    rig.init().shows("line 2").shows("did you mean `model`?").ends(2);
}

#[test]
fn those_who_decide_and_are_told_are_shown_and_go_with_those_who_may_talk() {
    let rig = Rig::new(&[]);
    let rig = Rig { house: rig.house.with("CLAW_AGENT", "demo"), ..rig };
    let token = rig.telegram.token();
    let text = format!(
        "[telegram]\ntoken = \"{token}\"\nallowed_chats = [42]\nowners = [7]\nnotify_chat = -9\n"
    );
    rig.house.write("claw.toml", &text);
    let mut pty = rig.init();
    pty.shows("Keep it?").types("").shows("Keep this bot?").types("").shows(": 42; ");
    pty.shows("(`owners`): 7; ").shows("(`notify_chat`): -9. Keep that? [Y/n]").types("n");
    pty.shows("Now send your bot")
        .types("4242")
        .shows("Write this?")
        .types("y")
        .shows("Next:")
        .ends(0);
    let after = fs::read_to_string(rig.claw_toml()).unwrap();
    assert_eq!(after, format!("[telegram]\ntoken = \"{token}\"\nallowed_chats = [4242]\n"));
}
