//! When a person reads the first words of an answer that is written slowly, and how often they see
//! more of it. Must not know how a draft is shown.

use std::time::{Duration, Instant};

use crate::gateway::{Gateway, Home, On};
use crate::model::{Takes, WORD_EVERY};
use crate::stand_ins::StandIns;
use crate::{Row, median};

const CHAT: i64 = 1;
/// Of each answer: five seconds.
const WORDS: u32 = 50;
const ANSWERS: u64 = 5;

pub fn rows() -> Vec<Row> {
    let stand_ins = StandIns::start();
    let home = Home::new(On::Disk);
    let gateway = Gateway::start(&home, &stand_ins, &[CHAT]);
    stand_ins.first_poll();
    stand_ins.model.takes(Takes::Slowly(WORDS));
    let (mut firsts, mut pauses) = (Vec::new(), Vec::new());
    for number in 0..ANSWERS {
        let began = Instant::now();
        stand_ins.bot.say([CHAT], &format!("number {number}"));
        let seen = stand_ins.said_until(&format!(" {number}"));
        // The model says its first word so long after the message.
        firsts
            .extend(seen.first().map(|at| ms(at.duration_since(began).saturating_sub(WORD_EVERY))));
        pauses.extend(seen.windows(2).map(|pair| ms(pair[1].duration_since(pair[0]))));
    }
    gateway.ends();
    let note = format!(
        "a word each {} ms; then more every {:.0} ms",
        WORD_EVERY.as_millis(),
        median(pauses)
    );
    vec![Row::at_most(
        "from the first word of a slow answer to the chat",
        median(firsts),
        250.0,
        "ms",
        note,
    )]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
