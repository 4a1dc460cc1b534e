//! A day's tokens: the owner hears of it before they are used up, and then no model is asked any
//! more.

use crate::telegram_model::Rig;
use crate::wires::Answer;

/// What the stand-in counts for one reply.
const TOKENS_A_REPLY: usize = 157;
const LIMIT: usize = 1000;

#[test]
fn at_nine_tenths_the_owner_is_told_and_asked_once_and_at_the_limit_no_model_is_asked() {
    let replies = LIMIT.div_ceil(TOKENS_A_REPLY);
    let rig = Rig::new((1..=replies + 1).map(|number| Answer::text(&format!("answer {number}."))));
    rig.house.write("claw.toml", &format!("[limits]\ntokens_day_max = {LIMIT}\n"));
    let gateway = rig.start();
    let told = || {
        rig.telegram
            .sent(rig.anna.id)
            .iter()
            .filter(|one| one.text.contains("Each conversation asks before it goes on"))
            .count()
    };
    for number in 1..=replies {
        rig.says("go on");
        if (number - 1) * TOKENS_A_REPLY >= LIMIT / 10 * 9 {
            rig.waits_for("May turns go on to the limit today?");
            assert_eq!(
                rig.model.recorded().len(),
                number - 1,
                "nobody is asked before the owner has said yes"
            );
            rig.anna.taps(rig.anna.private(), "Allow once");
        }
        rig.hears(&format!("answer {number}."));
        if number * TOKENS_A_REPLY < LIMIT / 10 * 9 {
            assert_eq!(told(), 0, "after {number}");
        }
    }
    // What is not on record as sent would be sent again.
    rig.hears("Each conversation asks before it goes on");
    // A restart does not tell it again, and does not forget what was used.
    drop(gateway);
    let gateway = rig.start();
    rig.says("one more");
    rig.waits_for("Today's budget is used up");
    assert_eq!((rig.model.recorded().len(), told()), (replies, 1));
    drop(gateway);
    rig.house.is_whole();
}
