//! A reminder that its door could tell nobody of in time, over the whole program with the real
//! scheduler and a stand-in for Telegram.

use rustix::process::Signal;
use serde_json::json;

use crate::botapi::Fault;
use crate::jobs_rig::{JobsRig as _, schedule};
use crate::program::{SERVER_WAIT, eventually};
use crate::telegram_model::Rig;

#[test]
fn a_reminder_that_could_not_be_told_in_time_says_when_it_was_due() {
    let rig = Rig::new([]);
    rig.house.write("claw.toml", &format!("time_zone = \"Asia/Tokyo\"\n{SERVER_WAIT}"));
    rig.anna.starts();
    schedule(&rig.house, json!({"say": "Call mum.", "in_minutes": 60, "session": rig.session()}));
    rig.minutes_pass(60);
    rig.telegram.fault(Fault::CutBefore).on("sendMessage").always();
    let gateway = rig.start();
    eventually("it is written down", || rig.taken() == 1);
    gateway.signal(Signal::KILL);
    gateway.ends();
    // Telegram could not be reached for two hours.
    let hours = "UPDATE outbox SET at_ms = at_ms - 7200000 WHERE body LIKE '%Call mum.%'";
    assert_eq!(rig.house.db().execute(hours, []).unwrap(), 1);
    let due = "SELECT strftime('%Y-%m-%d %H:%M', at_ms / 1000, 'unixepoch', '+9 hours') \
               FROM outbox WHERE body LIKE '%Call mum.%'";
    let due: String = rig.house.db().query_row(due, [], |row| row.get(0)).unwrap();
    rig.telegram.heal();
    let gateway = rig.start();
    let told = rig.waits_for("Call mum.").text;
    assert!(told.contains("This was due ") && told.contains(&due), "{told}");
    assert!(told.contains("could not be told in time"), "{told}");
    drop(gateway);
    rig.house.is_whole();
}
