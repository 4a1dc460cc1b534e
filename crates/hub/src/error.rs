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

impl claw_domain::Blamed for HubError {
    fn blame(&self) -> claw_domain::Blame {
        match self {
            Self::UnknownServer { .. } | Self::Disabled { .. } => claw_domain::Blame::User,
            Self::Unusable { .. }
            | Self::Start { .. }
            | Self::Connect { .. }
            | Self::BackingOff { .. }
            | Self::List { .. }
            | Self::Prompts { .. }
            | Self::Read { .. }
            | Self::Interrupted { .. }
            | Self::Installing { .. }
            | Self::TakenOut { .. }
            | Self::ShuttingDown => claw_domain::Blame::Broken,
        }
    }
}
