//! `claw init` that comes to nothing: nothing is written then, and why is said in one sentence.

use std::sync::Arc;

use rustix::process::Signal;
use tokio::sync::Semaphore;

use crate::living::rig::Rig;
use crate::program::{House, KEY};
use crate::wires::{Answer, Turn};

#[test]
fn ctrl_c_at_any_question_ends_it_whole() {
    let mut said = 0;
    for stop_at in 0..6 {
        let rig = Rig::new(&[]);
        let mut pty = rig.init();
        let mut step = 0;
        let mut here = |pty: &mut crate::pty::Pty| {
            step += 1;
            step > stop_at && {
                pty.keys("\x03");
                true
            }
        };
        pty.shows("Number: ");
        let stopped = here(&mut pty)
            || {
                rig.chooses_typed(&mut pty);
                assert!(!pty.echoes(), "a key is typed unseen");
                here(&mut pty)
            }
            || {
                pty.types(KEY).shows("from @BotFather");
                assert!(!pty.echoes(), "a token is typed unseen");
                here(&mut pty)
            }
            || {
                pty.types(&rig.telegram.token()).shows("Now send your bot");
                here(&mut pty)
            }
            || {
                rig.anna.says(rig.anna.private(), "hi");
                pty.shows("Is this you?");
                here(&mut pty)
            }
            || {
                pty.types("y").shows("Write this?");
                here(&mut pty)
            };
        assert!(stopped);
        // The terminal throws away what is on its way when it passes a Ctrl-C on (termios(3),
        // NOFLSH), just behind the signal: on a busy machine the program may have spoken by then.
        said += usize::from(pty.ends(130).contains("Stopped; nothing was written."));
        assert!(pty.echoes(), "the terminal is as it was");
        assert!(!rig.house.home().exists());
        assert!(rig.telegram.sent(rig.anna.id).is_empty());
    }
    assert!(said >= 3, "only {said} of 6 said so");
}

impl Rig {
    fn chooses_typed(&self, pty: &mut crate::pty::Pty) {
        pty.types("4").shows("Its address").types(&self.model.base_url).shows("Its key");
    }
}

#[test]
fn the_end_of_input_and_a_no_write_nothing() {
    let rig = Rig::new(&[]);
    let mut pty = rig.init();
    pty.shows("Number: ").keys("\x04").shows("the input has ended, so nothing was written").ends(2);
    let mut pty = rig.init();
    rig.gives_model(&mut pty);
    pty.shows("from @BotFather")
        .types("")
        .shows("Write this?")
        .types("perhaps")
        .shows("y or n")
        // What is typed before the question stands there answers nothing.
        .shows("Write this?")
        .types("n");
    pty.shows("nothing was written").ends(2);
    assert!(!rig.house.home().exists());
}

#[test]
fn without_a_terminal_it_says_what_to_set() {
    let house = House::bare();
    house.claw(&["init"]).expect_mistake(&[
        "terminal",
        "ANTHROPIC_API_KEY",
        "TELEGRAM_BOT_TOKEN",
        "CLAW_ALLOWED_CHATS",
        "claw.toml",
    ]);
    assert!(!house.home().exists());
}

#[test]
fn a_webhook_and_another_poller_are_said_in_words() {
    let rig = Rig::new(&[]);
    rig.telegram.set_webhook("https://bots.example.org/secret-path");
    let mut pty = rig.init();
    pty.shows("Number: ").types("later");
    rig.gives_token(&mut pty);
    pty.shows("has a webhook: its messages go to bots.example.org").shows("[y/N]").types("");
    pty.shows("nothing was written; a bot with a webhook").ends(2);
    let mut pty = rig.init();
    pty.shows("Number: ").types("later");
    rig.gives_token(&mut pty);
    let said = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
    let conflict = crate::botapi::Fault::Refuse { code: 409, description: said.to_owned() };
    rig.telegram.fault(conflict).on("getUpdates").times(1);
    pty.shows("Take the webhook away?").types("y").shows("The webhook is gone.");
    pty.shows("another program polls this bot").shows("I go on trying");
    rig.anna.says(rig.anna.private(), "hi");
    pty.shows("Is this you?").types("y").shows("Write this?").types("y").shows("Next:");
    assert!(!pty.ends(0).contains("secret-path"));
}

#[test]
fn beside_a_gateway_nobody_waits_for_messages() {
    let rig = Rig::new(&[]);
    let rig = Rig { house: rig.house.with("CLAW_AGENT", "demo"), ..rig };
    rig.house.write(
        "claw.toml",
        &format!("[telegram]\ntoken = \"{}\"\nallowed_chats = [42]\n", rig.telegram.token()),
    );
    let gateway = rig.house.start(&["gateway"]);
    rig.telegram.wait_for_calls("getUpdates", 1);
    let mut pty = rig.init();
    pty.shows("Keep it? [Y/n]")
        .types("")
        .shows("Keep this bot? [Y/n]")
        .types("y")
        .shows("42. Keep that? [Y/n]")
        .types("n");
    pty.shows("the gateway of this home is running").ends(2);
    drop(gateway);
}

#[test]
fn what_the_environment_says_is_kept_or_has_to_be_unset() {
    let rig = Rig::new(&[]);
    let token = rig.telegram.token();
    let house = rig
        .house
        .with("CLAW_AGENT", "demo")
        .with("TELEGRAM_BOT_TOKEN", &token)
        .with("CLAW_ALLOWED_CHATS", "42");
    let rig = Rig { house, ..rig };
    let mut pty = rig.init();
    pty.shows("Model now: CLAW_AGENT=demo").shows("Keep it?").types("");
    pty.shows("Telegram now: @claw_test_bot (TELEGRAM_BOT_TOKEN)")
        .shows("Keep this bot?")
        .types("");
    pty.shows("CLAW_ALLOWED_CHATS: 42")
        .shows("nothing was written")
        .shows("claw service install")
        .ends(0);
    assert!(!rig.claw_toml().exists());
    let mut pty = rig.init();
    pty.shows("Keep it?")
        .types("n")
        .shows("CLAW_AGENT of this environment goes before claw.toml")
        .ends(2);
    let mut pty = rig.init();
    pty.shows("Keep it?")
        .types("")
        .shows("Keep this bot?")
        .types("n")
        .shows("TELEGRAM_BOT_TOKEN goes before")
        .ends(2);
}

#[test]
fn what_is_typed_before_a_question_does_not_answer_it() {
    let gate = Arc::new(Semaphore::new(0));
    let rig = Rig::answering([Answer::Gated(Turn::text("ok"), gate.clone())]);
    let mut pty = rig.init();
    rig.chooses_model(&mut pty);
    // The trial of the model waits for the test.
    pty.types(KEY).shows("Trying it");
    pty.types("").types("").types("later").shows("later");
    gate.add_permits(100);
    pty.shows("It works: model-x answers");
    rig.gives_token(&mut pty);
    pty.shows("Now send your bot");
    rig.anna.says(rig.anna.private(), "hi");
    pty.shows("Is this you?")
        .types("y")
        .shows("Write this?")
        .types("n")
        .shows("nothing was written")
        .ends(2);
    assert!(!rig.house.home().exists());
}

#[test]
fn ctrl_backslash_leaves_the_terminal_as_it_was() {
    let rig = Rig::new(&[]);
    let mut pty = rig.init();
    rig.chooses_model(&mut pty);
    assert!(!pty.echoes());
    pty.signals(Signal::QUIT).shows("Stopped; nothing was written.");
    assert!(pty.echoes(), "the terminal is as it was");
    pty.ends(130);
    assert!(!rig.house.home().exists());
}
