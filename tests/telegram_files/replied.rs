//! Files of messages that are replied to: in a group claw was not shown them before.

use crate::botapi::{Fault, Said, User};
use crate::program::Running;
use crate::telegram_files::rig::{JPEG, Rig, text};
use crate::wires::listening::Ears;

const ASKS: &str = "@claw_test_bot what is it?";

/// Anna and Bert, in a group that may talk.
struct Group {
    rig: Rig,
    bert: User,
    id: i64,
    gateway: Running,
}

fn group(rig: Rig, toml: &str) -> Group {
    let bert = rig.telegram.user("Bert");
    let id = rig.telegram.supergroup("Family", &[&rig.anna, &bert]);
    rig.house.write("claw.toml", toml);
    let house = rig.house.with("CLAW_ALLOWED_CHATS", &format!("{},{id}", rig.anna.id));
    let rig = Rig { house, ..rig };
    let gateway = rig.start();
    Group { rig, bert, id, gateway }
}

impl Group {
    fn asks_about(&self, said: Said) {
        self.rig.anna.writes(self.id).text(ASKS).reply_to(said.message).send();
    }

    fn ends(self) {
        drop(self.gateway);
        self.rig.house.is_whole();
    }
}

#[test]
fn the_file_of_somebody_else_is_fetched_and_makes_the_message_theirs_too() {
    let at = group(Rig::seeing(&["A crab.", "A bill.", "Yours."]), "");
    at.asks_about(at.bert.writes(at.id).photo(JPEG).text("look").send());
    let first = &at.rig.wait_messages_in(at.id, 1)[0];
    let (path, bytes) = at.rig.inbox().remove(0);
    assert_eq!(bytes, JPEG);
    assert_eq!(text(first), format!("> [photo saved as {path}]\n> look\n\nAnna: {ASKS}"));
    assert_eq!(first["blocks"][1]["type"], "image_ref", "{first}");
    assert_eq!(first["origin"], "forwarded");
    at.rig.telegram.wait_for_text(at.id, "A crab.");

    at.asks_about(at.bert.writes(at.id).document("bill.txt", b"12 euros").send());
    let second = &at.rig.wait_messages_in(at.id, 2)[1];
    assert!(text(second).starts_with("> [document saved as inbox/"), "{second}");
    assert!(at.rig.inbox().len() == 2 && second["origin"] == "forwarded", "{second}");
    at.rig.telegram.wait_for_text(at.id, "A bill.");

    at.asks_about(at.rig.anna.writes(at.id).document("own.txt", b"mine").send());
    let third = &at.rig.wait_messages_in(at.id, 3)[2];
    assert!(at.rig.inbox().len() == 3 && third["origin"] == "owner", "{third}");
    at.rig.telegram.wait_for_text(at.id, "Yours.");
    at.ends();
}

#[test]
fn a_voice_message_that_is_replied_to_is_heard() {
    let ears = Ears::start(&["pay the rent"]);
    let toml = format!("[transcription]\nurl = \"{}\"\nmodel = \"whisper-x\"\n", ears.url);
    let at = group(Rig::seeing(&["The rent."]), &toml);
    at.asks_about(at.bert.writes(at.id).voice(b"OggS speech").send());
    let message = &at.rig.wait_messages_in(at.id, 1)[0];
    assert!(text(message).starts_with("> [voice message saved as inbox/"), "{message}");
    assert!(
        text(message).ends_with(
            "[of the voice message that this replies to]\n[what was said, as a machine heard it]\n\
             pay the rent"
        ),
        "{message}"
    );
    at.rig.telegram.wait_for_text(at.id, "The rent.");
    at.ends();
}

#[test]
fn a_file_that_is_replied_to_and_cannot_be_fetched_is_said_to_both() {
    let at = group(Rig::seeing(&["I see nothing."]), "");
    at.rig
        .telegram
        .fault(Fault::Refuse { code: 400, description: "Bad Request: file is too big".into() })
        .on("getFile")
        .times(1);
    at.asks_about(at.bert.writes(at.id).document("film.mp4", b"x").send());
    let why = "it is larger than what Telegram hands to bots (20 MB)";
    at.rig
        .telegram
        .wait_for_text(at.id, &format!("I did not get the document that you reply to: {why}."));
    let message = &at.rig.wait_messages_in(at.id, 1)[0];
    let line = format!("[the document that this replies to could not be fetched: {why}]");
    assert!(text(message).ends_with(&line), "{message}");
    at.rig.telegram.wait_for_text(at.id, "I see nothing.");
    at.ends();
}
