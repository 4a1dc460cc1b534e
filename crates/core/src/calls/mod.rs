//! One life of a call: frozen, asked about, decided, begun, ended, and what the owner's answers
//! leave behind as grants. Must not know how a verdict is reached, how a call is sent, or doors.

mod abandon;
mod answer_now;
mod approvals;
mod believed;
mod by_itself;
mod call_context;
mod client;
mod context;
mod copy;
mod difference;
mod effect;
mod free_id;
mod frozen;
mod grants;
mod held;
mod job;
pub mod job_words;
mod keep;
mod list_standing;
pub mod modes;
mod named;
mod offer;
pub mod openings;
mod order;
mod pause;
mod project;
mod propose;
mod record;
mod result;
pub mod rounds;
mod seen;
mod settle;
mod shell_folder;
mod shell_variables;
mod shown;
mod stage;
mod start;
pub mod summary;
mod tap;
mod tasks;
mod together;
mod wake;

use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};
use std::time::Duration;

pub use answer_now::{AnswerNow, TapNow};
pub use approvals::DecideError;
pub use call_context::CallContext;
#[cfg(test)]
pub(crate) use frozen::{digest_of, digest_under};
pub use job::{JobPreview, PreviewJob};
pub use keep::KeptResult;
pub use named::call_of_name;
pub use order::{FrozenOrder, Order};
pub use record::is_the_call_of;
pub use stage::{Proposed, StagedList};
pub use tap::AnsweredAction;
pub use together::{AskedTogether, NewList};

use crate::catalog::Catalog;
use crate::domain::{
    ApprovalId, Approvers, DeniedBy, HeldLevels, Opening, Outcome, OwnServer, OwnServerName,
    SessionId, ToolCall, client_name_of, person,
};
use crate::hub::{Hub, Method};
use crate::policy::{Denial, Facts, Policy};
use crate::redact::Redactor;
use crate::store::{Artifacts, CallRow, Store, StoreError};

/// What the room is made of.
pub struct CallsParts {
    pub store: Store,
    pub hub: Arc<Hub>,
    pub catalog: Arc<Catalog>,
    pub policy: Policy,
    pub redactor: Redactor,
    pub artifacts: Artifacts,
    pub surroundings: Surroundings,
    pub limits: CallLimits,
}

/// Where calls run and who may answer for them. The same from claw's start to its end.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// Where the tools work.
    pub workspace: PathBuf,
    /// Where they work if nothing else is found or typed. Grants that name no workspace are from
    /// there.
    pub usual_workspace: PathBuf,
    /// Claw's home.
    pub home: PathBuf,
    /// The home of the user that claw runs as.
    pub user_home: PathBuf,
    /// What the operating system holds of the box of our bash server, by a trial. For where no
    /// server has told it; found out when it is first needed.
    pub tried: Arc<LazyLock<HeldLevels>>,
    /// Who may answer questions.
    pub approvers: Approvers,
    /// Names of variables of commands that the owner calls harmless.
    pub harmless_variables: Vec<String>,
    /// In which the owner reads times.
    pub zone: jiff::tz::TimeZone,
    /// When a job would fire that somebody wants to make.
    pub preview_job: PreviewJob,
    /// The first words of a command that acts on this agent.
    pub claw: String,
}

/// The limits of calls, in their units. The owner can change them while claw runs.
#[derive(Clone, Debug)]
pub struct CallLimits {
    /// The most bytes of a result that go to the model; the whole is kept as an artifact.
    pub tool_result_bytes: usize,
    /// How long a question stays open.
    pub question_time: Duration,
    /// The most actions that tools may stage in one turn.
    pub staged_actions_max: usize,
    /// The most rounds of one call in which its server asks for input.
    pub input_rounds_max: u32,
    /// How many days back equal answers count, until a grant is offered for them; 0 offers none.
    pub grant_offer_days: u32,
    /// How long the mode of a session lasts whose owner writes nothing there.
    pub mode_idle_time: Duration,
    /// What `claw.toml` opens to commands that name it.
    pub openings: Vec<Opening>,
}

/// Why a call may run, is asked about, or is denied. `rule` names a rule, a class, a grant or an
/// approval.
#[derive(Clone, Debug)]
pub struct Grounds {
    pub rule: String,
    pub why: String,
    /// The answer of the owner that it rests on, if it does. Then the frozen row runs, and no
    /// other.
    pub approval: Option<ApprovalId>,
    /// The standing grant that it rests on, if it does. It must still be in force when the call
    /// starts.
    pub grant: Option<i64>,
    /// Why it is asked about again, if it was asked about before.
    pub again: Option<AskedAgain>,
    /// The grant covers more than one call: nobody has seen which files it changes.
    pub wide: bool,
    /// The launch form of the server whose hint it rests on, if it does and the owner has said so
    /// by an answer. That must still count when the call starts.
    pub believed: Option<String>,
}

/// Why a question does not count that was about the same call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskedAgain {
    /// The owner has answered, and what the answer was about is not as it was shown any more.
    Changed,
    /// It was asked about in another folder.
    Moved,
}

/// Why a call that may have been judged as allowed is not run after all.
#[derive(Clone, Debug)]
pub struct Denied {
    pub by: DeniedBy,
    pub reason: String,
}

impl Denied {
    pub fn new(by: DeniedBy, reason: impl Into<String>) -> Self {
        Self { by, reason: reason.into() }
    }
}

/// What every room says of a call that the store has failed.
impl From<StoreError> for Denied {
    fn from(error: StoreError) -> Self {
        Self::new(DeniedBy::Failure, format!("the store cannot be used: {error}"))
    }
}

impl From<Denied> for Outcome {
    fn from(denied: Denied) -> Self {
        Self::denied(denied.by, denied.reason)
    }
}

impl Grounds {
    pub fn new(rule: impl Into<String>, why: impl Into<String>) -> Self {
        let (rule, why) = (rule.into(), why.into());
        Self { rule, why, approval: None, grant: None, again: None, wide: false, believed: None }
    }

    pub fn by_answer(approval: ApprovalId, why: String) -> Self {
        let rule = format!("approval.{approval}");
        Self { approval: Some(approval), ..Self::new(rule, why) }
    }
}

/// One for the whole process.
pub struct Calls {
    /// A handle; the app closes it last.
    store: Store,
    /// Asked what a server is, and never to call it: the gate does that.
    hub: Arc<Hub>,
    /// The gate holds it, too.
    catalog: Arc<Catalog>,
    /// Replaced when `policy.toml` changes; each verdict is reached by one of them.
    policy: RwLock<Arc<Policy>>,
    /// A clone: it learns with all others.
    redactor: Redactor,
    /// The folder of kept files; retention takes old ones out of it.
    artifacts: Artifacts,
    /// The same until the process ends.
    surroundings: Surroundings,
    /// Replaced whole when the owner changes them.
    limits: RwLock<CallLimits>,
    /// Of the command that this process is, if it was given one. Seen from this folder alone.
    command_mode: OnceLock<Arc<modes::CommandMode>>,
}

impl Calls {
    pub fn new(parts: CallsParts) -> Self {
        Self {
            store: parts.store,
            hub: parts.hub,
            catalog: parts.catalog,
            policy: RwLock::new(Arc::new(parts.policy)),
            redactor: parts.redactor,
            artifacts: parts.artifacts,
            surroundings: parts.surroundings,
            limits: RwLock::new(parts.limits),
            command_mode: OnceLock::new(),
        }
    }

    pub fn policy(&self) -> Arc<Policy> {
        self.policy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on these rules are in force. What was frozen under others is judged, and asked
    /// about, again.
    pub fn set_policy(&self, policy: Policy) {
        *self.policy.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(policy);
    }

    /// The limits of this moment.
    fn limits(&self) -> CallLimits {
        self.limits.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn set_limits(&self, limits: CallLimits) {
        *self.limits.write().unwrap_or_else(PoisonError::into_inner) = limits;
    }

    /// The same calls as they are seen from another folder: grants and modes hold in one alone.
    pub fn at(&self, workspace: &Path) -> Self {
        let surroundings =
            Surroundings { workspace: workspace.to_owned(), ..self.surroundings.clone() };
        Self {
            store: self.store.clone(),
            hub: self.hub.clone(),
            catalog: self.catalog.clone(),
            policy: RwLock::new(self.policy()),
            redactor: self.redactor.clone(),
            artifacts: self.artifacts.clone(),
            surroundings,
            limits: RwLock::new(self.limits()),
            command_mode: OnceLock::new(),
        }
    }

    /// Whether this person is an owner, who may answer questions.
    pub fn may_answer(&self, principal: &str) -> bool {
        self.surroundings.approvers.include(principal)
    }

    pub fn workspace(&self) -> &Path {
        &self.surroundings.workspace
    }

    /// The first words of a command that acts on this agent, for what is printed.
    pub fn claw(&self) -> &str {
        &self.surroundings.claw
    }

    fn is_usual_workspace(&self) -> bool {
        self.surroundings.workspace == self.surroundings.usual_workspace
    }

    /// The session keeps to this workspace from now on: no process goes on with it elsewhere.
    pub async fn keep_session_here(&self, session: &SessionId) -> Result<(), StoreError> {
        let here = (!self.is_usual_workspace()).then(|| self.workspace().display().to_string());
        if self.store.read(|tx| tx.session_workspace(session))? == here {
            return Ok(());
        }
        let session = session.clone();
        self.store.write(move |tx| tx.set_session_workspace(&session, here.as_deref())).await
    }

    /// By whom the stop switch is on, if it is.
    pub fn stopped_by(&self) -> Result<Option<String>, StoreError> {
        self.store.read(|tx| tx.panic())
    }

    /// Whether a hard deny fits a call. It does not depend on the box, so no server is needed.
    pub fn hard_deny(&self, call: &ToolCall) -> Option<Denial> {
        self.policy().hard_deny(&facts_without_box(&self.hub, &self.surroundings, call, None))
    }

    /// Everything about a call that a verdict may depend on. Of the box it is what is known after
    /// [`Calls::find_out_box`].
    pub fn facts<'a>(&'a self, call: &'a ToolCall, destructive_hint: Option<bool>) -> Facts<'a> {
        facts_of(&self.hub, &self.surroundings, call, destructive_hint)
    }

    /// To read a resource or a prompt twice is the same as once, by the protocol.
    fn is_idempotent(&self, server: &str, tool: &str) -> bool {
        Method::named(tool).is_some()
            || self.policy().is_idempotent(builtin_of(&self.hub, server, tool), server, tool)
    }

    /// Whether a stored call is what was frozen, for the same approvers, in this workspace.
    pub fn is_intact(&self, row: &CallRow) -> bool {
        frozen::is_intact(row, &self.surroundings.approvers)
            && Path::new(&row.cwd) == self.workspace()
    }
}

fn facts_of<'a>(
    hub: &Hub,
    surroundings: &'a Surroundings,
    call: &'a ToolCall,
    destructive_hint: Option<bool>,
) -> Facts<'a> {
    let held = held::of_call(hub, surroundings, call);
    Facts { held, ..facts_without_box(hub, surroundings, call, destructive_hint) }
}

fn facts_without_box<'a>(
    hub: &Hub,
    surroundings: &'a Surroundings,
    call: &'a ToolCall,
    destructive_hint: Option<bool>,
) -> Facts<'a> {
    Facts {
        server: &call.server,
        builtin: builtin_of(hub, &call.server, &call.tool),
        tool: &call.tool,
        arguments: &call.arguments,
        origin: call.origin,
        client: client_name_of(&call.principal),
        destructive_hint,
        held: HeldLevels::NONE,
        harmless_variables: &surroundings.harmless_variables,
        workspace: &surroundings.workspace,
        home: &surroundings.home,
        user_home: &surroundings.user_home,
    }
}

/// Which of our own servers this is, or claw itself.
fn builtin_of(hub: &Hub, server: &str, tool: &str) -> Option<OwnServerName> {
    if OwnServer::is_claw_itself(server, tool) {
        return Some(OwnServerName::Claw);
    }
    hub.builtin(server)
}

/// Why no call runs while the stop switch is on.
pub fn panic_reason(by: &str) -> String {
    format!(
        "the stop switch is on (by {}): no call runs until the owner turns it off with `claw panic \
         off`",
        person(by)
    )
}
