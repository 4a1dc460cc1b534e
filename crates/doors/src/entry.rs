//! What the program has to know of a door: one entry of its list (`src/doors.rs`). Must not know
//! any door by its name.

use std::error::Error;
use std::sync::Arc;

use futures::future::BoxFuture;

use crate::config::{DoorSection, DoorSections};
use crate::domain::Blame;
use crate::gateway::fleet::Fleet;
use crate::gateway::member::Member;

/// One door. Its crate makes it.
#[derive(Debug)]
pub struct DoorEntry {
    /// Its section of `claw.toml`, if it has one.
    pub section: Option<&'static DoorSection>,
    /// How `claw gateway` runs it, if it does.
    pub gateway: Option<GatewayDoor>,
    /// Whose an error of it is.
    pub blame_of: fn(&(dyn Error + 'static)) -> Option<Blame>,
    /// The types that `blame_of` knows.
    pub asked: &'static [&'static str],
}

impl DoorEntry {
    /// A door without errors of its own that the gateway runs for the bots of its section.
    pub const fn of_bots(section: &'static DoorSection, run: RunDoor) -> Self {
        let gateway = Some(GatewayDoor { bots_of: Some(section.name), run });
        Self { section: Some(section), gateway, blame_of: |_| None, asked: &[] }
    }
}

/// A door that `claw gateway` runs.
#[derive(Clone, Copy, Debug)]
pub struct GatewayDoor {
    /// The section whose bots it runs. Without one it runs beside the bots of each agent, ends with
    /// them, and is no reason to run a gateway.
    pub bots_of: Option<&'static str>,
    /// Runs it for one agent until the gateway ends; an error if it cannot be started at all.
    pub run: RunDoor,
}

pub type RunDoor = for<'a> fn(&'a Arc<Fleet>, &'a Member) -> BoxFuture<'a, anyhow::Result<()>>;

/// All doors of the program.
pub type DoorEntries = &'static [&'static DoorEntry];

/// The sections of these doors.
pub fn sections_of(doors: DoorEntries) -> DoorSections {
    DoorSections(doors.iter().filter_map(|door| door.section).collect())
}

/// Whose an error is that one of these doors has given.
pub fn blame_of(doors: DoorEntries, cause: &(dyn Error + 'static)) -> Option<Blame> {
    doors.iter().find_map(|door| (door.blame_of)(cause))
}
