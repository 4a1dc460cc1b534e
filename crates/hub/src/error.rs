//! How the hub fails. A call's own fate is no error but a [`super::CallEnd`]. Must not know how a
//! failure is shown.

use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    #[error("there is no server `{server}` in mcp.json")]
    UnknownServer { server: String },
    #[error("the server `{server}` is disabled in mcp.json")]
    Disabled { server: String },
    #[error("the server `{server}` cannot be started: {reason}")]
    Unusable { server: String, reason: String },
    #[error("the server `{server}` did not start: {reason}")]
    Start { server: String, reason: String },
    #[error("claw cannot use the server `{server}`: {reason}")]
    Connect { server: String, reason: String },
    #[error(
        "the server `{server}` is not up after {} s; `{installer}` may be installing it and goes \
         on for up to {} min",
        .waited.as_secs_f32(),
        .goes_on.as_secs() / 60
    )]
    Installing { server: String, installer: String, waited: Duration, goes_on: Duration },
    #[error(
        "the server `{server}` failed {failures} times in a row and is left alone for another {} \
         s; last time: {reason}",
        .retry_in.as_secs() + 1
    )]
    BackingOff { server: String, failures: u32, retry_in: Duration, reason: String },
    #[error("the server `{server}` did not list its tools: {reason}")]
    List { server: String, reason: String },
    #[error("the server `{server}` did not list its prompts: {reason}")]
    Prompts { server: String, reason: String },
    #[error("the server `{server}` did not give a resource: {reason}")]
    Read { server: String, reason: String },
    #[error("the start of the server `{server}` was given up, because everything was told to end")]
    Interrupted { server: String },
    #[error("the server `{server}` was taken out of mcp.json, or its entry has changed")]
    TakenOut { server: String },
    #[error("claw is ending")]
    ShuttingDown,
}

/// What a failure means for a later try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Its owner has asked for a server that mcp.json does not have, or has disabled.
    Asked,
    /// No later try can do better.
    Lasting,
    /// A later try may.
    Passing,
}

impl HubError {
    pub(crate) fn nature(&self) -> Nature {
        match self {
            Self::UnknownServer { .. } | Self::Disabled { .. } => Nature::Asked,
            Self::Unusable { .. }
            | Self::Interrupted { .. }
            | Self::TakenOut { .. }
            | Self::ShuttingDown => Nature::Lasting,
            Self::Start { .. }
            | Self::Connect { .. }
            | Self::Installing { .. }
            | Self::BackingOff { .. }
            | Self::List { .. }
            | Self::Prompts { .. }
            | Self::Read { .. } => Nature::Passing,
        }
    }
}

impl claw_domain::Blamed for HubError {
    fn blame(&self) -> claw_domain::Blame {
        match self.nature() {
            Nature::Asked => claw_domain::Blame::User,
            Nature::Lasting | Nature::Passing => claw_domain::Blame::Broken,
        }
    }
}
