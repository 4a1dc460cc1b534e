//! 👍 and 👎 on a question at Telegram: whose reaction answers, on which message, how often, and what
//! everything else is told.

use crate::botapi::{BotApi, ChatId, Message, User};
use crate::program::{House, eventually};
use crate::telegram_rig::Rig;
use crate::wires::threaded::Threaded;
use crate::wires::{Answer, Call, Turn, Wire};
use serde_json::json;

impl Rig {
    /// A question about a file in a chat, on the screen and on record.
    fn question(&self, chat: i64, file: &str) -> Message {
        let asked = self.telegram.wait_for(&format!("a question about {file}"), |world| {
            let mut asked =
                world.messages(chat).filter(|message| message.button("Allow once").is_some());
            asked.find(|message| message.text.contains(file)).cloned()
        });
        let posted = format!("SELECT count(*) FROM posted WHERE message = {}", asked.id);
        eventually("it is on record", || self.number(&posted) == 1);
        asked
    }

    fn asks(&self, file: &str) -> Message {
        self.anna.says(self.anna.private(), &format!("write {file}: 1"));
        self.question(self.anna.private(), file)
    }

    fn decided(&self) -> i64 {
        self.number("SELECT count(*) FROM approvals WHERE state <> 'waiting'")
    }
}

/// A group that `make` makes of the owner and somebody else, in which the bot is an administrator
/// and its model writes a file.
fn in_a_group(make: impl FnOnce(&BotApi, &[&User]) -> ChatId) -> (Rig, User, ChatId, Threaded) {
    let telegram = BotApi::start();
    let (anna, bob) = (telegram.user("Anna"), telegram.user("Bob"));
    anna.starts();
    let group = make(&telegram, &[&anna, &bob]);
    telegram.makes_admin(group);
    let arguments = json!({"path": "a.txt", "content": "1"}).to_string();
    let writes = Answer::Turn(Turn::calls(&[Call::new("1", "filesystem__write_file", &arguments)]));
    let model = Threaded::start(Wire::OpenAi, [writes, Answer::text("Written.")]);
    let house = House::at("openai-compatible", &model.base_url);
    let allowed = format!("{},{group}", anna.id);
    let house = house.with_bot(&telegram.token(), telegram.url(), &allowed);
    (Rig { telegram, anna, house }, bob, group, model)
}

#[test]
fn a_thumb_up_is_yes_once_and_never_a_grant() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks("a.txt");
    rig.anna.reacts(asked.chat, asked.id, &["👍"]).unwrap();
    rig.wait_edited(&asked, "Allowed once");
    rig.wait_edited(&asked, "ran: ok");
    assert_eq!(rig.house.in_workspace("a.txt"), "1");
    assert_eq!(rig.number("SELECT count(*) FROM grants"), 0);
    // On a message that does not ask any more, and on one that never did.
    rig.anna.reacts(asked.chat, asked.id, &["👎"]).unwrap();
    let answer = rig.telegram.wait_for_text(rig.anna.id, "I am claw");
    rig.anna.reacts(answer.chat, answer.id, &["👍"]).unwrap();
    rig.wait_handled();
    assert_eq!(rig.decided(), 1);
    assert_eq!(rig.number("SELECT count(*) FROM grants"), 0);
    rig.stop(gateway);
}

#[test]
fn a_thumb_down_is_no_and_other_reactions_are_nothing() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks("a.txt");
    // From two thumbs to one nothing new comes.
    for emoji in [&["🔥"][..], &["👍", "👎"], &["👍"], &[]] {
        rig.anna.reacts(asked.chat, asked.id, emoji).unwrap();
    }
    rig.wait_handled();
    assert_eq!(rig.decided(), 0, "both thumbs, one that stays, none, and what is no thumb");
    rig.anna.reacts(asked.chat, asked.id, &["👎"]).unwrap();
    rig.wait_edited(&asked, "Denied");
    assert_eq!(rig.house.in_workspace("a.txt"), "");
    assert_eq!(rig.number("SELECT count(*) FROM grants"), 0, "no once, and not never");
    rig.stop(gateway);
}

/// It is kept before Telegram may forget it, and counts once, on the message that it is on.
#[test]
fn a_reaction_made_while_claw_was_away_counts() {
    let rig = Rig::new();
    let gateway = rig.start();
    let asked = rig.asks("a.txt");
    rig.wait_handled();
    rig.kill(gateway);
    rig.anna.reacts(asked.chat, asked.id, &["👍"]).unwrap();
    let gateway = rig.house.start(&["gateway"]);
    rig.wait_edited(&asked, "Allowed once");
    rig.wait_edited(&asked, "ran: ok");
    rig.wait_handled();
    assert_eq!(rig.count(rig.anna.id, "Create a.txt"), 1, "it was not asked again");
    assert_eq!((rig.house.in_workspace("a.txt").as_str(), rig.decided()), ("1", 1));
    rig.stop(gateway);
}

#[test]
fn a_reaction_to_an_older_copy_is_told() {
    let rig = Rig::new();
    let gateway = rig.start();
    let old = rig.asks("a.txt");
    rig.anna.says(rig.anna.private(), "/approvals");
    rig.telegram.wait_for("the old copy says so", |world| {
        world.message(old.chat, old.id)?.labels().is_empty().then_some(())
    });
    eventually("it is on record", || {
        rig.number("SELECT count(*) FROM posted WHERE state = 'closed'") == 1
    });
    rig.anna.reacts(old.chat, old.id, &["👍"]).unwrap();
    rig.telegram.wait_for_text(rig.anna.id, "an older copy of a question");
    assert_eq!(rig.decided(), 0);
    let new = rig.question(rig.anna.private(), "a.txt");
    rig.anna.reacts(new.chat, new.id, &["👍"]).unwrap();
    rig.wait_edited(&new, "ran: ok");
    rig.stop(gateway);
}

#[test]
fn in_a_group_only_an_owner_under_their_own_name_answers() {
    let (rig, bob, group, _model) = in_a_group(|api, all| api.supergroup("flat", all));
    let gateway = rig.start();
    rig.anna.says(group, "@claw_test_bot write it");
    let asked = rig.question(group, "a.txt");
    bob.reacts(group, asked.id, &["👍"]).unwrap();
    rig.telegram.wait_for_text(group, "Only an owner's 👍 or 👎 answers a question.");
    // It is told once.
    bob.reacts(group, asked.id, &["👎"]).unwrap();
    rig.anna.reacts_anonymously(group, asked.id, &["👍"]).unwrap();
    rig.wait_handled();
    rig.wait_delivered();
    assert_eq!((rig.count(group, "Only an owner"), rig.decided()), (1, 0));
    rig.anna.reacts(group, asked.id, &["👍", "🔥"]).unwrap();
    rig.wait_edited(&asked, "ran: ok");
    rig.stop(gateway);
}

/// Telegram counts the messages of all topics together, and names no topic in a reaction.
#[test]
fn a_reaction_in_a_topic_answers_its_question() {
    let (rig, _, forum, _model) = in_a_group(|api, all| api.forum("flat", all));
    let gateway = rig.start();
    let topic = rig.anna.opens_topic(forum, "rent");
    rig.anna.says(topic, "@claw_test_bot write it");
    let asked = rig.question(forum, "a.txt");
    rig.anna.reacts(forum, asked.id, &["👍"]).unwrap();
    rig.wait_edited(&asked, "ran: ok");
    rig.stop(gateway);
}
