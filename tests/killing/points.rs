//! The named points, from the sources: a new one is tried without being listed anywhere. Owns which
//! rig has to hit which. Must not know how a point is hit.

/// A rig hits every point but those that only the other one passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rig {
    Console,
    Telegram,
    /// `crates/snapshot/tests/undo_kills.rs`, which is run with every `cargo test`.
    Undo,
    /// `tests/telegram_undo_kills.rs`.
    UndoButton,
    /// `mcp-servers/memory/tests/note_kills.rs`.
    Notes,
    /// `tests/job_kills.rs`.
    Jobs,
    /// `tests/heartbeats.rs`.
    Heartbeats,
    /// `tests/client_calls.rs`.
    Clients,
    /// `tests/rounds.rs`.
    Rounds,
    /// `tests/server_tasks.rs`.
    Tasks,
    /// `tests/mcp_login_kept.rs`.
    Logins,
}

/// By what the name of a point begins with.
const OF_ONE_RIG: &[(&str, Rig)] = &[
    // Updates of a chat service, and messages that are sent in parts.
    ("updates.", Rig::Telegram),
    ("delivery.", Rig::Telegram),
    // Nobody waits in the gateway's rig until the time of a question is over.
    ("gate.closed.", Rig::Console),
    // Nobody gives a mode by a command in the gateway's rig.
    ("mode.set.", Rig::Console),
    // A grant that answers other questions is too rare there to be hit in every series.
    ("grant.settled.", Rig::Console),
    // A workspace that is put back.
    ("undo-", Rig::Undo),
    // The memory server's notes, which nobody writes in the other rigs.
    ("durable-", Rig::Notes),
    // Nobody in the other rigs asks for files back.
    ("undo.files.", Rig::UndoButton),
    // What a scheduler has due, which nobody makes in the other rigs.
    ("jobs.", Rig::Jobs),
    // Nor does anybody write a file of heartbeats.
    ("heartbeats.", Rig::Heartbeats),
    // A call of an MCP client, which nobody makes in the other rigs.
    ("client.", Rig::Clients),
    // No server of the other rigs asks in the middle of its call.
    ("round.", Rig::Rounds),
    // Nor makes a task of it.
    ("task.", Rig::Tasks),
    // Nor wants a login.
    ("login.", Rig::Logins),
    // Telegram's messages come into the inbox together with the end of their update.
    ("router.submit.", Rig::Console),
];

/// What this rig has to hit. Together the rigs hit every point of the sources, because each point
/// that is not one rig's alone has to be hit by both.
pub fn points_of(rig: Rig) -> anyhow::Result<Vec<String>> {
    let others = |point: &str| {
        OF_ONE_RIG.iter().any(|(start, owner)| point.starts_with(start) && *owner != rig)
    };
    let mut points = points_of_the_sources()?;
    for (start, _) in OF_ONE_RIG {
        anyhow::ensure!(
            points.iter().any(|point| point.starts_with(start)),
            "no point begins with `{start}` any more"
        );
    }
    points.retain(|point| !others(point));
    Ok(points)
}

fn points_of_the_sources() -> anyhow::Result<Vec<String>> {
    let mut points = Vec::new();
    let root = claw_test_kit::root();
    let mut folders = ["src", "crates", "doors"].map(|name| root.join(name)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = std::fs::read_to_string(&path)?;
                let named = text
                    .split("killpoint::here(\"")
                    .skip(1)
                    .filter_map(|rest| rest.split_once('"'));
                points.extend(named.map(|(name, _)| name.to_owned()));
            }
        }
    }
    points.sort();
    points.dedup();
    Ok(points)
}
