//! Messages that hold something which the types of the Bot API library do not know: they are read
//! all the same, and what cannot be read is told.

use serde_json::{Value, json};

use crate::botapi::Entity;
use crate::telegram_files::rig::{JPEG, Rig, text};

fn date(offset: usize, length: usize) -> Entity {
    let mut entity = Entity::new("date_time", offset, length);
    entity.more.insert("unix_time".into(), 1_800_000_000.into());
    entity
}

/// A link that Telegram takes for one.
fn link() -> Entity {
    let mut entity = Entity::new("text_link", 0, 4);
    entity.more.insert("url".into(), "http://1.2.3.256/x".into());
    entity
}

/// What a reply in another chat says of a text there.
fn external_reply() -> Value {
    let bo = json!({"id": 9, "is_bot": false, "first_name": "Bo"});
    json!({"origin": {"type": "user", "date": 1_700_000_000, "sender_user": bo}})
}

#[test]
fn messages_with_newer_formatting_and_replies_to_elsewhere_are_answered() {
    let answers = ["One.", "Two.", "Three.", "Four.", "Five.", "Six."];
    let rig = Rig::seeing(&answers);
    let gateway = rig.start();
    let writes = || rig.anna.writes(rig.anna.private());
    let answered = |count: usize| {
        rig.telegram.wait_for_text(rig.anna.id, answers[count - 1]);
        text(&rig.wait_messages(count)[count - 1]).to_owned()
    };
    let first = writes().text("call mum at nine").entity(date(12, 4)).send();
    assert_eq!(answered(1), "call mum at nine");
    writes().text("this page").entity(link()).send();
    assert_eq!(answered(2), "this page");
    writes().photo(JPEG).text("at nine").entity(date(3, 4)).send();
    assert!(answered(3).starts_with("at nine\n[photo saved as inbox/"));
    assert_eq!(rig.inbox().len(), 1);
    writes().text("what is this?").holding("external_reply", external_reply()).send();
    assert_eq!(
        answered(4),
        "[it replies to a message in another chat or topic, which is not passed on]\n\nwhat is this?"
    );
    writes().text("and this?").reply_to(first.message).send();
    assert_eq!(answered(5), "> call mum at nine\n\nand this?");
    rig.anna.edits(&first, "call dad at nine");
    assert!(answered(6).ends_with("call dad at nine"));
    // A command is one, wherever it replies to.
    writes().text("/status").holding("external_reply", external_reply()).send();
    rig.telegram.wait_for_text(rig.anna.id, "session: ");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn the_marked_part_of_a_long_message_is_passed_on() {
    let rig = Rig::seeing(&["One.", "Two.", "Three."]);
    let gateway = rig.start();
    let writes = || rig.anna.writes(rig.anna.private());
    let long = format!("{} the tail that I mean", "a".repeat(3_000));
    let said = rig.anna.says(rig.anna.private(), &long);
    rig.telegram.wait_for_text(rig.anna.id, "One.");
    let quote = json!({"text": "the tail that I mean", "position": 3_001, "is_manual": true});
    writes().text("what is this?").reply_to(said.message).holding("quote", quote.clone()).send();
    rig.telegram.wait_for_text(rig.anna.id, "Two.");
    assert_eq!(
        text(&rig.wait_messages(2)[1]),
        "[of the message that this replies to, this part is marked]\n> the tail that I mean\n\n\
         what is this?"
    );
    let mut update = json!({"message_id": 90_000, "date": said.message, "text": "and there?",
        "external_reply": external_reply(), "quote": quote});
    update["from"] = json!({"id": rig.anna.id, "is_bot": false, "first_name": "Anna"});
    update["chat"] = json!({"id": rig.anna.id, "type": "private", "first_name": "Anna"});
    rig.telegram.push_update("message", update);
    rig.telegram.wait_for_text(rig.anna.id, "Three.");
    let message = &rig.wait_messages(3)[2];
    assert!(
        text(message).ends_with(
            "[it replies to a message in another chat or topic, of which this is known]\n\
             > the tail that I mean\n\nand there?"
        ),
        "{message}"
    );
    let origins = "SELECT group_concat(json_extract(body, '$.origin'), ' ') FROM
        (SELECT body FROM events WHERE type = 'user.message' ORDER BY seq)";
    let origins: String = rig.house.db().query_row(origins, [], |row| row.get(0)).unwrap();
    assert_eq!(origins, "owner owner forwarded", "what others wrote goes in with it");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn words_that_cannot_be_read_are_told_and_never_as_the_senders_own() {
    let rig = Rig::seeing(&[]);
    let gateway = rig.start();
    let origin = json!({"type": "of_a_later_year", "date": 1});
    rig.anna.writes(rig.anna.private()).text("pay Bo").holding("forward_origin", origin).send();
    rig.telegram.wait_for_text(rig.anna.id, "I cannot use a message of this kind");
    assert!(rig.messages_in(rig.anna.id).is_empty());
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn in_a_group_the_mention_decides_as_ever() {
    let rig = Rig::seeing(&["Here."]);
    let group = rig.telegram.forum("Plans", &[&rig.anna]);
    let chats = format!("{},{group}", rig.anna.id);
    let rig = Rig { house: rig.house.with("CLAW_ALLOWED_CHATS", &chats), ..rig };
    let topic = rig.anna.opens_topic(group, "Kitchen");
    let gateway = rig.start();
    let writes = || rig.anna.writes(topic).holding("external_reply", external_reply());
    writes().text("not for you").send();
    writes().text("@claw_test_bot and you?").send();
    rig.telegram.wait_for_text(group, "Here.");
    let said = "SELECT group_concat(json_extract(body, '$.blocks[0].text'), '|') FROM events
        WHERE type = 'user.message'";
    let said: String = rig.house.db().query_row(said, [], |row| row.get(0)).unwrap();
    assert!(
        !said.contains("not for you") && said.ends_with("Anna: @claw_test_bot and you?"),
        "{said}"
    );
    drop(gateway);
    rig.house.is_whole();
}
