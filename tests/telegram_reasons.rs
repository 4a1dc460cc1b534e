//! "Deny and say why": the reason that a person writes never goes to the model as a message, whatever has become of the
//! question meanwhile.

mod botapi;
mod program;

use botapi::BotApi;
use program::House;

#[test]
fn a_reason_for_a_question_that_is_closed_by_now_is_no_message() {
    let telegram = BotApi::start();
    let anna = telegram.user("Anna");
    let house = House::new()
        .with("TELEGRAM_BOT_TOKEN", &telegram.token())
        .with("CLAW_TELEGRAM_API", telegram.url())
        .with("CLAW_ALLOWED_CHATS", &anna.id.to_string());
    let _gateway = house.start(&["gateway"]);
    anna.says(anna.private(), "write notes.txt: hello");
    let asked = telegram.wait_for_button(anna.id, "Deny and say why");
    telegram.wait_answered(&anna.taps_on(anna.private(), asked.id, "Deny and say why"));
    let prompt = telegram.wait_for_text(anna.id, "replied to this message with the reason");
    telegram.wait_answered(&anna.taps_on(anna.private(), asked.id, "Deny"));
    telegram.wait_for("the question is over on the screen", |world| {
        world.message(anna.private(), asked.id)?.labels().is_empty().then_some(())
    });
    program::eventually("nothing is expected of the person any more", || {
        let open = "SELECT count(*) FROM posted WHERE state NOT LIKE '%closed'";
        house.db().query_row(open, [], |row| row.get::<_, i64>(0)).unwrap() == 0
    });
    anna.writes(anna.private()).text("too late").reply_to(prompt.id).send();
    telegram.wait_for_text(anna.id, "already answered");
    let session = format!("telegram.{}.{}", telegram.bot_id(), anna.id);
    assert_eq!(program::said(&house.events(&session)), ["write notes.txt: hello"]);
}
