//! The tasks that every door for chats runs, each by itself, so that none holds up another. Must
//! not know what any of them does.

use std::sync::Arc;

use tokio::task::JoinSet;

use super::shared::watch_commits;
use super::{ChatDoor, delivery, live, questions, sessions};

/// Starts them. None ends before the door does, and all end when the set is dropped.
pub fn start<D: ChatDoor>(door: &Arc<D>) -> JoinSet<()> {
    // It has an end, and may outlive the others.
    claw_kit::task::spawn(live::end_what_ran(door.clone()));
    let mut parts = JoinSet::new();
    claw_kit::task::spawn_in(&mut parts, watch_commits(door.clone()));
    claw_kit::task::spawn_in(&mut parts, sessions::keep(door.clone()));
    claw_kit::task::spawn_in(&mut parts, delivery::deliver(door.clone()));
    claw_kit::task::spawn_in(&mut parts, questions::keep(door.clone()));
    parts
}
