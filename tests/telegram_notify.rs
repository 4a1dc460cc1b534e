//! A chat of its own for what the owner has to know: `notify_chat` is not the owner's chat.

use crate::botapi::Fault;
use crate::telegram_rig::Rig;

#[test]
fn what_cannot_be_delivered_and_the_daily_head_go_to_the_chat_that_is_told() {
    let rig = Rig::new();
    let bob = rig.telegram.user("Bob");
    bob.starts();
    let told = format!("[telegram]\nnotify_chat = {}\n\n[audit]\ntell_head = true\n", bob.id);
    rig.house.write("claw.toml", &told);
    rig.house.claw(&["panic", "on"]).expect(0);
    rig.house.claw(&["panic", "off"]).expect(0);
    let gateway = rig.start();
    rig.telegram.wait_for_text(bob.id, "Its head: ");
    let description = "Bad Request: chat not found".to_owned();
    rig.telegram.fault(Fault::Refuse { code: 400, description }).in_chat(rig.anna.id).always();
    rig.anna.says(rig.anna.private(), "list");
    rig.telegram.wait_for_text(bob.id, "could not be delivered to the chat");
    rig.telegram.wait_for_text(bob.id, "Listing");
    rig.telegram.heal();
    assert_eq!(rig.count(rig.anna.id, "Its head: "), 0, "it is told once, and there");
    rig.stop(gateway);
}
