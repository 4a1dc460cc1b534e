//! What a door is given at its start, and all that it knows of claw: mail, router, chat
//! commands, the worker of the sessions, and a few questions as functions. Must not know who
//! answers them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::civil::Time;
use jiff::tz::TimeZone;

use crate::chat_commands::ChatCommands;
use crate::clients::Clients;
use crate::domain::{Origin, SessionId, claw};
use crate::heartbeats::Heartbeats;
use crate::jobs::Jobs;
use crate::mail::{Instance, Mail, MailError};
use crate::router::{Router, Visitor};
use crate::session::Worker;

/// Lives as long as the door that has it. Cheap to clone. What it holds of the rooms are
/// handles: the app of the agent owns them, and they go with the last handle.
#[derive(Clone)]
pub struct Context {
    /// The agent behind the door. It never changes, and neither do owner and zone.
    pub agent: String,
    /// The principal of the person at this machine.
    pub owner: String,
    /// Where the owner lives.
    pub zone: TimeZone,
    /// A handle of the app's.
    pub mail: Mail,
    /// A handle of the app's.
    pub router: Router,
    /// That of the configured folder. The app holds it until it closes.
    pub worker: Arc<Worker>,
    /// The worker of the folder that a session works in.
    pub worker_of: WorkerOf,
    /// Lets a session work where somebody is.
    pub place: PlaceSession,
    /// The same for all doors of the process; it follows the settings.
    pub chat_commands: ChatCommands,
    /// Sees to what is due, in the one door of a process that runs it.
    pub jobs: Jobs,
    /// Wakes the agent up by itself, in the one door of a process that runs it.
    pub heartbeats: Heartbeats,
    /// MCP clients that call claw.
    pub clients: Clients,
    /// Asks the app each time, so it holds no value that could grow old.
    pub settings: DoorSettings,
    /// The workspace as it was at the start, and functions for files that people send.
    pub files: FileAccess,
}

impl Context {
    /// The first words of a command that acts on this agent, for what is printed.
    pub fn claw(&self) -> String {
        claw(&self.agent)
    }

    /// Whoever is at an instance of this machine's console: who can open the home is its owner.
    pub fn console_visitor(&self, at: &Instance) -> Visitor {
        Visitor { from: at.address().clone(), principal: self.owner.clone(), origin: Origin::Owner }
    }
}

/// A worker, as long as it is held: the servers of its folder do not end meanwhile.
pub struct WorkerHere {
    pub worker: Arc<Worker>,
    /// Dropped when nothing of the session runs any more.
    pub folder: Option<Arc<()>>,
}

/// Finds the worker for a session, or says in a sentence why it cannot go on now, and what to do.
pub type WorkerOf =
    Arc<dyn Fn(SessionId) -> BoxFuture<'static, Result<WorkerHere, String>> + Send + Sync>;

/// Gives a session the workspace that a folder means, as `-C FOLDER` does, and gives that back; or
/// says in a sentence why it cannot be one.
pub type PlaceSession =
    Arc<dyn Fn(SessionId, PathBuf) -> BoxFuture<'static, Result<PathBuf, String>> + Send + Sync>;

/// What can change while claw runs, so that it is asked for each time.
#[derive(Clone)]
pub struct DoorSettings {
    /// Waits a while, applies what has changed in the files of settings, and says so, one sentence
    /// a change.
    pub changes: AwaitChanges,
    /// Whether one of the models that answer sees images.
    pub sees_images: Arc<dyn Fn() -> bool + Send + Sync>,
    /// Whether the owner wants to be told the head of the audit.
    pub tells_audit_head: Arc<dyn Fn() -> bool + Send + Sync>,
    /// At what time of the day the owner wants to be told what ran without a question.
    pub digest_at: Arc<dyn Fn() -> Option<Time> + Send + Sync>,
    /// At what time of the day the owner is told what waits to be remembered.
    pub proposals_at: Arc<dyn Fn() -> Option<Time> + Send + Sync>,
    /// What of today's budget is used, if hardly anything is left of it.
    pub nearly_spent: AskSpent,
}

/// Waits a while, and gives back a sentence for each change.
pub type AwaitChanges = Arc<dyn Fn() -> BoxFuture<'static, Vec<String>> + Send + Sync>;

/// Asks what of today's budget is used.
pub type AskSpent = Arc<dyn Fn() -> Result<Option<NearlySpent>, MailError> + Send + Sync>;

/// A day on which so much of the budget is used that each turn is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearlySpent {
    /// As year, month and day, where the owner lives.
    pub day: String,
    pub percent: u64,
    /// Half a sentence: so many tokens, or so much money, of what limit.
    pub text: String,
}

/// What is done with files that come in.
#[derive(Clone)]
pub struct FileAccess {
    pub workspace: PathBuf,
    pub keep: KeepBytes,
    /// What was kept, by its digest.
    pub kept: KeptBytes,
    /// Makes speech a text, where that is configured.
    pub transcribe: Option<Transcribe>,
}

/// Keeps bytes for the model, and gives back their digest.
pub type KeepBytes = Arc<dyn Fn(&[u8]) -> io::Result<String> + Send + Sync>;

/// Gives bytes back that were kept under this digest.
pub type KeptBytes = Arc<dyn Fn(&str) -> io::Result<Vec<u8>> + Send + Sync>;

/// Takes a file's name, its media type and its bytes. An error is half a sentence.
pub type Transcribe = Arc<
    dyn Fn(String, &'static str, Vec<u8>) -> BoxFuture<'static, Result<String, String>>
        + Send
        + Sync,
>;
