//! Written answers in a group: whose word counts there, and that it has to be meant for the bot.

use std::time::Duration;

use crate::program::eventually;
use crate::telegram_model::Rig;
use crate::wires::{Answer, Call, Turn};
use serde_json::json;

#[test]
fn nobody_but_an_owner_answers_and_only_by_words_of_his_own() {
    let arguments = json!({"path": "g.txt", "content": "1"}).to_string();
    let writes = Answer::Turn(Turn::calls(&[Call::new("1", "filesystem__write_file", &arguments)]));
    let rig = Rig::new([writes, Answer::text("Written."), Answer::text("And more.")]);
    let (anna, bob) = (&rig.anna, rig.telegram.user("Bob"));
    let group = rig.telegram.supergroup("Rent", &[anna, &bob]);
    rig.house.write("claw.toml", &format!("[telegram]\nallowed_chats = [{}, {group}]\n", anna.id));
    let gateway = rig.house.start_for_listed_chats();
    let earlier = anna.says(group, "hello");
    anna.says(group, "@claw_test_bot write it");
    let asked = rig.telegram.wait_for_button(group, "Allow once");
    let number = |sql: &str| rig.house.db().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap();
    eventually("it is on record", || number("SELECT count(*) FROM posted") == 1);
    rig.telegram.let_pass(Duration::from_secs(2));
    bob.writes(group).reply_to(asked.id).text("yes").send();
    bob.says(group, "@claw_test_bot yes");
    anna.writes(group).reply_to(asked.id).forwarded_from("Bob").text("yes").send();
    anna.says(group, "yes");
    let origin = json!({"type": "hidden_user", "date": 1, "sender_user_name": "Bo"});
    let elsewhere = json!({"origin": origin});
    anna.writes(group).text("@claw_test_bot yes").holding("external_reply", elsewhere).send();
    anna.edits(&earlier, "@claw_test_bot yes");
    rig.telegram.wait_all_confirmed();
    eventually("every update is handled", || {
        number("SELECT count(*) FROM updates WHERE state = 'kept'") == 0
    });
    assert!(rig.telegram.message(group, asked.id).button("Allow once").is_some());
    assert_eq!(rig.house.in_workspace("g.txt"), "");
    anna.says(group, "@claw_test_bot Yes.");
    eventually("it is written", || rig.house.in_workspace("g.txt") == "1");
    rig.telegram.wait_for("the question says so", |world| {
        world.message(group, asked.id).filter(|now| now.text.contains("Allowed once")).map(|_| ())
    });
    drop(gateway);
    rig.house.is_whole();
}
