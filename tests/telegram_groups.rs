//! Groups: what their members may order, what a member reads, a topic and a group that are gone,
//! and a group that becomes a supergroup.

use std::sync::Arc;

use crate::botapi::{InNameOf, Message};
use crate::program::{Running, eventually, said};
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::json;
use tokio::sync::Semaphore;

impl Rig {
    /// The gateway, with these chats beside Anna's own.
    fn start_with(&self, chats: &[i64], toml: &str) -> Running {
        let chats = [&[self.anna.id], chats].concat();
        self.house.write("claw.toml", &format!("[telegram]\nallowed_chats = {chats:?}\n{toml}"));
        self.house.start_for_listed_chats()
    }

    fn events_in(&self, chat: i64) -> Vec<serde_json::Value> {
        self.house.events(&format!("telegram.{}.{chat}", self.telegram.bot_id()))
    }

    #[expect(clippy::unwrap_used, reason = "a store that cannot be read fails the test")]
    fn handled(&self) {
        self.telegram.wait_all_confirmed();
        let kept = "SELECT count(*) FROM updates WHERE state = 'kept'";
        eventually("every update is handled", || {
            self.house.db().query_row(kept, [], |row| row.get::<_, i64>(0)).unwrap() == 0
        });
    }
}

fn gated(text: &str) -> (Answer, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    (Answer::Gated(Turn::text(text), gate.clone()), gate)
}

#[test]
fn only_owners_start_afresh_and_stop_what_others_have_begun() {
    let (answer, gate) = gated("For Anna.");
    let (own, own_gate) = gated("For Bob.");
    let rig = Rig::new([answer, own]);
    let bob = rig.telegram.user("Bob");
    let group = rig.telegram.supergroup("Rent", &[&rig.anna, &bob]);
    let gateway = rig.start_with(&[group], "stream = false\n");
    rig.anna.says(group, "@claw_test_bot go");
    eventually("the model is asked", || rig.model.recorded().len() == 1);
    bob.says(group, "/stop@claw_test_bot");
    rig.telegram.wait_for_text(group, "Only they and an owner may stop it.");
    bob.says(group, "/stop@claw_test_bot jobs");
    rig.telegram.wait_for_text(group, "Only an owner may do that: background jobs");
    bob.says(group, "/new@claw_test_bot");
    rig.telegram.wait_for_text(group, "Only an owner may do that here");
    bob.says(group, "/here@claw_test_bot");
    rig.telegram.wait_for_text(group, "Only an owner may see or set this.");
    gate.add_permits(100);
    rig.telegram.wait_for_text(group, "For Anna.");
    bob.says(group, "@claw_test_bot and for me");
    eventually("the model is asked", || rig.model.recorded().len() == 2);
    bob.says(group, "/stop@claw_test_bot");
    rig.telegram.wait_for_text(group, "Stopped.");
    own_gate.add_permits(100);
    bob.says(group, "/status@claw_test_bot");
    let said = rig.telegram.wait_for_text(group, "session: ").text;
    assert!(!said.contains("workspace") && !said.contains("process"), "{said}");
    rig.anna.says(rig.anna.private(), "/status");
    let owners = rig.telegram.wait_for_text(rig.anna.id, "session: ").text;
    assert!(owners.contains("workspace: "), "{owners}");
    rig.anna.says(group, "/new@claw_test_bot");
    rig.telegram.wait_for_text(group, "A new conversation.");
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_list_of_open_questions_in_a_group_says_nothing_of_other_chats() {
    let writes = |path: &str, content: &str| {
        Answer::calls(&[("filesystem__write_file", json!({"path": path, "content": content}))])
    };
    let rig = Rig::new([writes("letter.md", "Dear lawyer"), writes("shopping.md", "milk")]);
    let group = rig.telegram.supergroup("Rent", &[&rig.anna]);
    let gateway = rig.start_with(&[group], "stream = false\n");
    rig.says("write to her");
    rig.telegram.wait_for_button(rig.anna.id, "Allow once");
    rig.anna.says(group, "/approvals@claw_test_bot");
    let told = rig.telegram.wait_for_text(group, "1 question waits elsewhere").text;
    assert!(told.starts_with("Nothing of this chat waits for an answer."), "{told}");
    rig.anna.says(group, "@claw_test_bot what do we need?");
    let asked = rig.telegram.wait_for_button(group, "Allow once");
    rig.anna.says(group, "/approvals@claw_test_bot");
    rig.telegram.wait_for_text(group, "Those of this chat follow, with their buttons.");
    rig.telegram.wait_for("the group's own question once more", |world| {
        let mut newer = world.messages(group).filter(|message| message.id > asked.id);
        newer.any(|message| message.button("Allow once").is_some()).then_some(())
    });
    rig.says("/approvals");
    let own = rig.waits_for("Answer where it was asked").text;
    let session = rig.session(&rig.anna);
    assert!(own.contains("Dear lawyer") && own.contains(&session), "{own}");
    rig.handled();
    rig.wait_delivered();
    for private in ["lawyer", "letter.md", &session] {
        assert_eq!(rig.count(group, private), 0, "{private}");
    }
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_stop_of_one_member_leaves_what_another_has_asked_meanwhile() {
    let (answer, _never) = gated("For Bob.");
    let rig = Rig::new([answer, Answer::text("Lima.")]);
    let (bob, eve) = (rig.telegram.user("Bob"), rig.telegram.user("Eve"));
    let group = rig.telegram.supergroup("Rent", &[&rig.anna, &bob, &eve]);
    let gateway = rig.start_with(&[group], "stream = false\n");
    bob.says(group, "@claw_test_bot go");
    eventually("the model is asked", || rig.model.recorded().len() == 1);
    eve.says(group, "@claw_test_bot what is the capital of Peru?");
    rig.handled();
    bob.says(group, "/stop@claw_test_bot");
    rig.telegram.wait_for_text(group, "Stopped.");
    rig.telegram.wait_for_text(group, "Lima.");
    assert!(rig.model.recorded()[1].body.to_string().contains("capital of Peru"));
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn who_writes_without_a_name_is_told_to_use_it() {
    let rig = Rig::new([]);
    let group = rig.telegram.supergroup("Rent", &[&rig.anna]);
    let gateway = rig.start_with(&[group], "");
    let says = |whom, text: &str| rig.anna.writes(group).in_name_of(whom).text(text).send();
    says(InNameOf::Group, "nothing for the bot");
    says(InNameOf::Group, "@claw_test_bot list");
    says(InNameOf::Channel, "/stop@claw_test_bot");
    rig.handled();
    rig.wait_delivered();
    let told = "I cannot use a message without a name (of an anonymous administrator, or of a \
                channel), so nothing comes of it. Please write it under your own name.";
    assert_eq!((rig.count(group, told), rig.count(group, "")), (2, 2));
    assert!(rig.model.recorded().is_empty());
    drop(gateway);
}

#[test]
fn what_claw_cannot_use_gets_a_word() {
    let rig = Rig::new([]);
    let gateway = rig.start_with(&[], "");
    rig.anna.writes(rig.anna.private()).holding("dice", json!({"emoji": "🎲", "value": 4})).send();
    rig.telegram.wait_for_text(rig.anna.id, "I cannot use a dice, so nothing comes of it.");
    rig.handled();
    assert!(rig.model.recorded().is_empty());
    drop(gateway);
}

#[test]
fn an_answer_whose_topic_is_gone_comes_in_the_group_itself() {
    let (answer, gate) = gated("The answer.");
    let rig = Rig::new([answer]);
    let forum = rig.telegram.forum("Plans", &[&rig.anna]);
    let gateway = rig.start_with(&[forum], "stream = false\n");
    let topic = rig.anna.opens_topic(forum, "Kitchen");
    rig.anna.says(topic, "@claw_test_bot go");
    eventually("the model is asked", || rig.model.recorded().len() == 1);
    rig.telegram.deletes_topic(topic);
    gate.add_permits(100);
    let told = rig.telegram.wait_for_text(forum, "The answer.");
    assert!(told.topic.is_none() && told.text.contains("This belongs to the topic"), "{told:?}");
    assert!(told.text.contains("message thread not found"), "{}", told.text);
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn an_answer_whose_chat_is_gone_comes_to_the_owner() {
    let (answer, gate) = gated("The answer.");
    let rig = Rig::new([answer]);
    rig.anna.starts();
    let group = rig.telegram.group("Rent", &[&rig.anna]);
    let gateway = rig.start_with(&[group], "stream = false\n");
    rig.anna.says(group, "@claw_test_bot go");
    eventually("the model is asked", || rig.model.recorded().len() == 1);
    rig.telegram.deletes_chat(group);
    gate.add_permits(100);
    let told = rig.telegram.wait_for_text(rig.anna.id, "The answer.");
    assert!(
        told.text.contains(&format!("could not be delivered to the chat {group}")),
        "{}",
        told.text
    );
    drop(gateway);
    rig.house.is_whole();
}

#[test]
fn a_group_that_becomes_a_supergroup_goes_on() {
    let arguments = json!({"path": "g.txt", "content": "1"}).to_string();
    let writes = Answer::Turn(Turn::calls(&[Call::new("1", "filesystem__write_file", &arguments)]));
    let rig = Rig::new([
        writes,
        Answer::text("Written."),
        Answer::text("Still here."),
        Answer::text("And again."),
    ]);
    let group = rig.telegram.group("Rent", &[&rig.anna]);
    let gateway = rig.start_with(&[group], "stream = false\n");
    rig.anna.says(group, "@claw_test_bot write it");
    let asked = rig.telegram.wait_for_button(group, "Allow once");
    eventually("it is on record", || {
        rig.house
            .db()
            .query_row("SELECT count(*) FROM posted", [], |row| row.get::<_, i64>(0))
            .unwrap()
            == 1
    });
    let now = rig.telegram.upgrades(group, &rig.anna);
    let again: Message = rig.telegram.wait_for_button(now, "Allow once");
    assert!(again.text.contains("g.txt") && again.chat != asked.chat);
    assert_eq!(
        again.id, asked.id,
        "the new group counts from 1, so that both have the same number"
    );
    eventually("the new one is on record, and the old one is over", || {
        let states =
            "SELECT group_concat(state, ' ') FROM (SELECT state FROM posted ORDER BY message)";
        rig.house.db().query_row(states, [], |row| row.get::<_, String>(0)).unwrap()
            == "closed open"
    });
    assert_eq!(
        rig.telegram.wait_answered(&rig.anna.taps_on(now, again.id, "Allow once")).0,
        "Allowed."
    );
    rig.telegram.wait_for_text(now, "Written.");
    assert_eq!(rig.house.in_workspace("g.txt"), "1");
    rig.anna.says(now, "@claw_test_bot are you there?");
    rig.telegram.wait_for_text(now, "Still here.");
    drop(gateway);
    // The next process knows it, too.
    let gateway = rig.start_with(&[group], "stream = false\n");
    rig.anna.says(now, "@claw_test_bot and now?");
    rig.telegram.wait_for_text(now, "And again.");
    assert_eq!(said(&rig.events_in(group)).len(), 3, "it is one conversation");
    drop(gateway);
    rig.house.is_whole();
}
