//! What the doctor says of `heartbeats.toml`: when each heartbeat fires next, and what keeps it
//! from its work. Must not know how one fires.

use jiff::Timestamp;

use super::Report;
use crate::app::App;
use crate::heartbeats::{next_time, schedule};

pub(super) fn look(app: &App, report: &mut Report) {
    if let Some(fault) = &app.heartbeats_fault {
        report.bad("heartbeats", fault);
    }
    let now = Timestamp::now();
    for heartbeat in app.heartbeats_now().iter() {
        let id = format!("heartbeat:{}", heartbeat.name);
        let state = app.store.read(|tx| tx.heartbeat(&heartbeat.name)).unwrap_or_default();
        let next = next_time(heartbeat, now).unwrap_or_else(|| "not within a week".to_owned());
        let text = format!("{}; next: {next}", schedule(heartbeat));
        match state.fault.or(state.turn_fault) {
            Some(fault) => report.warn(id, format!("{text}; it does not work: {fault}")),
            None => report.good(id, text),
        }
    }
}
