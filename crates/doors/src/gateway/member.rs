//! One agent, as the gateway hands it to its doors. Must not know who runs it.

use std::path::PathBuf;

use futures::future::BoxFuture;

use crate::config::DoorTexts;
use crate::door_context::Context;

/// Lives as long as the agent is at work.
pub struct Member {
    pub agent: String,
    /// What the sections of doors say to it.
    pub texts: DoorTexts,
    /// The folder of its home.
    pub home: PathBuf,
    /// Says a line to whoever has started the gateway.
    pub say: Box<dyn Fn(&str) + Send + Sync>,
    /// Opens the home, when the bot is known and each time its tasks are started anew.
    pub open: OpenHome,
}

/// Gives what a door knows of claw, or says why it cannot be opened.
pub type OpenHome = Box<dyn Fn() -> BoxFuture<'static, anyhow::Result<Context>> + Send + Sync>;
