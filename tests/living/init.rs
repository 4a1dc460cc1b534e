//! `claw init` as a new user goes through it, and what works afterwards.

use rustix::process::Signal;

use crate::living::rig::Rig;
use crate::program::KEY;
use crate::wires::Answer;

#[test]
fn a_new_user_has_a_model_and_a_bot_after_two_commands() {
    let rig = Rig::new(&["Hello at the terminal.", "Hello in the chat."]);
    let mut pty = rig.init();
    rig.gives_model(&mut pty);
    rig.gives_token(&mut pty);
    rig.is_known(&mut pty);
    pty.shows("openai-compatible, model-x at http://127.0.0.1").shows(", with its key");
    pty.shows("the token of @claw_test_bot; ")
        .shows("is its owner")
        .shows("Write this? [Y/n]")
        .types("");
    let shown = pty.shows("Written: ").shows("claw chat").shows("claw service install").text();
    let shown_at_all = pty.ends(0);
    assert!(shown_at_all.starts_with(&shown[..shown.len() / 2]));
    rig.secrets_are_only_in_claw_toml(&shown_at_all);
    let hello = rig.telegram.wait_for_text(rig.anna.id, "This is your claw bot now");
    assert!(hello.by_bot);
    // It was answered; the gateway has nothing to say to it.
    rig.telegram.wait_all_confirmed();

    let said = rig.house.claw(&["ask", "hello"]).expect(0);
    assert_eq!(said.out.trim(), "Hello at the terminal.");
    let gateway = rig.house.start(&["gateway"]);
    rig.anna.says(rig.anna.private(), "are you there?");
    rig.telegram.wait_for_text(rig.anna.id, "Hello in the chat.");
    rig.telegram.wait_all_confirmed();
    gateway.signal(Signal::TERM);
    gateway.ends().expect(0);
    assert_eq!(
        rig.telegram.sent(rig.anna.id).len(),
        2,
        "`hi there` was not answered a second time"
    );
    rig.house.is_whole();
    rig.secrets_are_only_in_claw_toml(&shown_at_all);
}

#[test]
fn a_wrong_key_and_a_wrong_token_are_named_and_asked_for_again() {
    let rig = Rig::new(&[]);
    // Whatever is logged is shown, too.
    let rig = Rig { house: rig.house.with("CLAW_LOG", "trace"), ..rig };
    let mut pty = rig.init();
    rig.chooses_model(&mut pty);
    pty.types("sk-of-somebody-else")
        .shows("That does not work: ")
        .shows("refused the key")
        .shows("Enter: try again")
        .types("");
    pty.shows("Its key").types(KEY).shows("It works: model-x answers");
    pty.shows("from @BotFather").types("nonsense").shows("That is no token");
    let wrong = format!("{}x", rig.telegram.token());
    pty.shows("from @BotFather").types(&wrong).shows("Telegram does not know this token");
    rig.gives_token(&mut pty);
    rig.is_known(&mut pty);
    pty.shows("Write this?").types("y").shows("Next:");
    let shown = pty.ends(0);
    assert!(!shown.contains("somebody-else") && !shown.contains("nonsense"), "{shown}");
    rig.secrets_are_only_in_claw_toml(&shown);
}

#[test]
fn a_list_of_models_is_no_proof_that_one_answers() {
    let poor = Answer::status(402, r#"{"error":{"message":"no credit"}}"#);
    let rig = Rig::answering([poor, Answer::text("ok")]);
    let mut pty = rig.init();
    rig.chooses_model(&mut pty);
    pty.types(KEY)
        .shows("That does not work: ")
        .shows("wants to be paid first")
        .shows("Enter: try again")
        .types("other");
    rig.gives_model(&mut pty);
    pty.shows("from @BotFather").types("").shows("Write this?").types("").shows("Next:").ends(0);
}

#[test]
fn a_provider_that_cannot_be_reached_is_said_and_can_be_kept() {
    let rig = Rig::new(&[]);
    // A port that no other test can be given.
    let closed = "http://127.0.0.1:1";
    let mut pty = rig.init();
    pty.shows("Number: ").types("8").shows("from 1 to 6").shows("Number: ").types("4");
    pty.shows("Its address")
        .types("example.org")
        .shows("begins with https://")
        .shows("Its address")
        .types(closed);
    pty.shows("Its key")
        .types("")
        .shows("That does not work: ")
        .shows("cannot be reached")
        .shows("`address`")
        .types("address")
        .shows("Its address")
        .types(closed)
        // The key is not asked for again.
        .shows("That does not work: ")
        .shows("`keep`")
        .types("keep");
    pty.shows("The model's name: ").types("mine").shows("from @BotFather").types("");
    pty.shows("openai-compatible, mine at ")
        .shows("Write this?")
        .types("y")
        .shows("claw init")
        .ends(0);
    let text = std::fs::read_to_string(rig.claw_toml()).unwrap();
    assert!(
        text.contains("model = \"mine\"")
            && !text.contains("[telegram]")
            && !text.contains("api_key"),
        "{text}"
    );
}

#[test]
fn an_unknown_user_who_writes_first_does_not_become_the_owner() {
    let rig = Rig::new(&["Hello."]);
    let mallory = rig.telegram.user("Mal\u{1b}[2Jlory");
    let group = rig.telegram.group("Rent", &[&mallory]);
    let first = mallory.says(mallory.private(), "let\u{202e} me in");
    let mut pty = rig.init();
    rig.gives_model(&mut pty);
    rig.gives_token(&mut pty);
    pty.shows(&format!("Mal\\u{{1b}}[2Jlory, id {}", mallory.id))
        .shows("let\\u{202e} me in")
        .shows("Is this you?")
        .types("n");
    pty.shows("I go on waiting");
    // Neither a group nor the same user again.
    mallory.says(group, "here I am");
    mallory.says(mallory.private(), "please");
    rig.anna.says(rig.anna.private(), "it is me");
    pty.shows(&format!("Anna, id {}", rig.anna.id))
        .shows("it is me")
        .shows("Is this you?")
        .types("y");
    pty.shows("Write this?").types("y").shows("Next:").ends(0);
    let text = std::fs::read_to_string(rig.claw_toml()).unwrap();
    assert!(text.contains(&format!("allowed_chats = [{}]", rig.anna.id)), "{text}");
    assert_eq!(rig.telegram.sent(mallory.id).len(), 0, "an unknown user is not answered");
    // What that user wrote was not taken away: the gateway hears it.
    let kept =
        rig.telegram.updates().into_iter().find(|update| first.update == Some(update.id)).unwrap();
    assert!(!kept.confirmed, "{kept:?}");
}

#[test]
fn an_id_can_be_typed_instead() {
    let rig = Rig::new(&[]);
    let mut pty = rig.init();
    pty.shows("Number: ").types("later");
    rig.gives_token(&mut pty);
    pty.shows("Now send your bot")
        .types("@anna")
        .shows("no numeric id")
        .types("-5")
        .shows("no numeric id")
        .types("4242");
    // Nobody of that number has ever written to the bot.
    pty.shows("4242 is its owner")
        .shows("Write this?")
        .types("y")
        .shows("press Start")
        .shows("Next:")
        .ends(0);
    let text = std::fs::read_to_string(rig.claw_toml()).unwrap();
    assert!(text.contains("allowed_chats = [4242]") && !text.contains("[model]"), "{text}");
}
