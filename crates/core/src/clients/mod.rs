//! MCP clients that call claw: which there are and how each proves its name, their calls from the
//! first request to the end that is given out once, what they may take in a day, and what they may
//! read of their own sessions. Must not know MCP's wire, doors, or how a verdict is reached.
//!
//! A client is a principal of its own (`mcp:NAME`) of the origin `mcp_client`. It profits from
//! nothing of its owner's: no grant, no mode, no session, no note.

mod answer;
mod ask;
mod audit;
mod begin;
mod budget;
mod drive;
mod events;
mod known;
mod messages;
mod prompts;
mod read;
mod token;
mod tools;
mod welcome;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use claw_kit::counted::counted;
use jiff::tz::TimeZone;

use crate::config::ServeSection;
use crate::domain::{Blame, Blamed, ClientName};
use crate::gate::Gate;
use crate::mail::Instance;
use crate::session::Ending;
use crate::store::{Store, StoreError};

pub use crate::turn::SessionRow;
pub use answer::{ClientCallState, OpenQuestion};
pub use ask::{AskState, CallOfTurn};
pub use audit::ClientAuditRow;
pub use begin::ClientCall;
pub use budget::ClientBudget;
pub use events::{ClientEvent, EventsPart};
pub use known::{KnownClient, Revoked};
pub use prompts::ClientPrompt;
pub use read::{ClientSession, SessionPart};
pub use token::{NewToken, secrets_in};
pub use tools::ClientTool;

use begin::{Handed, Requests};
use drive::Driving;
use token::Tokens;

/// What the room is made of.
pub struct ClientsParts {
    pub store: Store,
    pub gate: Arc<Gate>,
    /// The folder of the locks by which instances know each other to be alive.
    pub locks: PathBuf,
    /// The folder of the tokens, which need not be there.
    pub tokens: PathBuf,
    /// Where the owner lives, for whom a day begins.
    pub zone: TimeZone,
    /// What is in force now.
    pub settings: AskServe,
    /// The most time that a call may take, its question not counted.
    pub call_time: Duration,
    /// By which the process tells that it ends.
    pub ending: Ending,
}

/// Asks for the section `[serve]` of this moment.
pub type AskServe = Arc<dyn Fn() -> ServeSection + Send + Sync>;

/// The clients of one agent. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Clients {
    shared: Arc<Shared>,
}

/// Lives as long as the app that made it, and as the last call that it drives.
struct Shared {
    /// A handle of the app's, as the gate is.
    store: Store,
    gate: Arc<Gate>,
    /// As they were at the start: folder, zone and time.
    locks: PathBuf,
    zone: TimeZone,
    call_time: Duration,
    /// Asks the app, which follows `claw.toml`.
    settings: AskServe,
    /// One for all of the process; it is begun once.
    ending: Ending,
    /// What was read of the tokens' folder; each file is looked at anew for each request.
    tokens: Mutex<Tokens>,
    /// This process among those that serve the home. Made with the first call.
    instance: OnceLock<Arc<Instance>>,
    /// The calls that this process takes through the gate.
    driving: Driving,
    /// The newest ends that were given out. Their clients may not have received them yet.
    handed: Mutex<Handed>,
    /// The requests that wait in this process.
    requests: Mutex<Requests>,
}

/// Why something of a client is not done; nothing has changed. Each is one sentence for the client.
#[derive(Debug, thiserror::Error)]
pub enum ClientRefusal {
    #[error(
        "the client `{client}` was revoked by its owner; `{claw} clients add {client}` on the \
         owner's machine lets it in again"
    )]
    Revoked { client: ClientName, claw: String },
    #[error(
        "the client `{client}` has used today's budget: {what}. It goes on after midnight, or \
         after the owner has raised the limit in claw.toml"
    )]
    Budget { client: ClientName, what: String },
    #[error("{}", too_many_open(.client, .open))]
    TooManyOpen { client: ClientName, open: u64 },
    #[error("there is no tool `{name}`{close}; `tools/list` names those that there are")]
    NoTool { name: String, close: String },
    #[error("there is no prompt `{0}`; `prompts/list` names those that there are")]
    NoPrompt(String),
    /// What is wrong with the arguments of a prompt.
    #[error("{0}")]
    Arguments(String),
    /// Also for what is another client's: the same words as for what never was.
    #[error("there is no such session")]
    NoSession,
    #[error("{0}")]
    Odd(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

fn too_many_open(client: &ClientName, open: &u64) -> String {
    let (have, wait_for) = if *open == 1 { ("has", "it") } else { ("have", "one of them") };
    let calls = counted(*open, "call");
    format!(
        "{calls} of the client `{client}` {have} no end yet (serve.calls_open_max); wait for \
         {wait_for}"
    )
}

impl Blamed for ClientRefusal {
    fn blame(&self) -> Blame {
        match self {
            Self::Store(error) => error.blame(),
            _ => Blame::User,
        }
    }
}

impl Clients {
    pub fn new(parts: ClientsParts) -> Self {
        let ClientsParts { store, gate, locks, tokens, zone, settings, call_time, ending } = parts;
        let tokens = Mutex::new(Tokens::new(tokens));
        let (instance, driving) = (OnceLock::new(), Driving::default());
        let shared = Shared {
            store,
            gate,
            locks,
            zone,
            settings,
            call_time,
            ending,
            tokens,
            instance,
            driving,
            handed: Mutex::default(),
            requests: Mutex::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The section `[serve]` as it is in force now.
    pub fn settings(&self) -> ServeSection {
        (self.shared.settings)()
    }
}

#[cfg(test)]
mod tests;
