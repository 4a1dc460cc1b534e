//! `steer` and `interrupt`: what a client says to an agent that works, and how it stops it. Must
//! not know how a turn goes.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::Tool;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ask::{said_before, say, session_of};
use super::{About, AgentTool, Done, Given, acts, told};
use crate::caller::Caller;
use crate::domain::{Block, SessionId};
use crate::handle::NoSuchHandle;
use crate::router::{Order, OwnMessage};
use crate::wait::Wait;

/// How long the end of a turn is waited for that was told to stop.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Steer {
    /// What `ask` has given; or name the session.
    pub handle: Option<String>,
    /// One of your sessions; without handle and session your usual one.
    pub session: Option<String>,
    /// What the agent should know or do differently.
    pub text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// What `ask` has given; or name the session.
    pub handle: Option<String>,
    /// One of your sessions; without handle and session your usual one.
    pub session: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Steered {
    /// Of this message, for `ask_result`: it is answered together with what the agent works on.
    pub handle: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Interrupted {
    /// Nothing of it runs any more.
    pub stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

pub fn definition() -> Tool {
    About {
        tool: AgentTool::Steer,
        title: "Tell the working agent something",
        description: "Says something to the agent while it works on an `ask`: it reads it before \
            its next step. Where nothing runs, nothing is said; use `ask` then.",
        hints: acts(true, false),
    }
    .definition::<Steer, Steered>()
}

pub fn definition_of_interrupt() -> Tool {
    About {
        tool: AgentTool::Interrupt,
        title: "Stop the agent",
        description: "Stops what the agent works on in a session of yours. What it has done stays \
            done; what it has said can be read with `session_read`.",
        hints: acts(false, true),
    }
    .definition::<Interrupt, Interrupted>()
}

pub async fn steer(
    caller: &Caller,
    given: Given<Steer>,
    context: &RequestContext<RoleServer>,
) -> Done {
    let Steer { handle, session, text } = given?;
    if text.trim().is_empty() {
        return Err("`text` is empty; say what the agent should know".to_owned());
    }
    let id = meant(caller, handle.as_deref(), session.as_deref())?;
    let mark = caller.mark_of(context, &format!("{id}\n{text}"));
    let handle = match said_before(caller, mark.as_deref())? {
        Some(handle) => handle,
        None => {
            if !runs(caller, &id)? {
                let why = "nothing runs in this session, so nothing was said; use `ask`";
                return Err(why.to_owned());
            }
            caller.clients().may_ask(&caller.client).await.map_err(|why| why.to_string())?;
            say(caller, &id, OwnMessage { blocks: vec![Block::Text { text }], mark }).await?
        }
    };
    let session = caller.client.own_name(&id).map(str::to_owned);
    let words = format!(
        "Said. The agent reads it before its next step. `ask_result` with the handle `{handle}` \
         waits for the answer."
    );
    told(&Steered { handle: handle.to_string(), session }, words)
}

pub async fn interrupt(
    caller: &Caller,
    given: Given<Interrupt>,
    context: &RequestContext<RoleServer>,
) -> Done {
    let Interrupt { handle, session } = given?;
    let id = meant(caller, handle.as_deref(), session.as_deref())?;
    let door = &caller.serving.door;
    let own = caller.client.own_name(&id).map(str::to_owned);
    if !runs(caller, &id)? {
        let words = "Nothing runs in this session.".to_owned();
        return told(&Interrupted { stopped: true, session: own }, words);
    }
    let order = door.shared.context.router.order(&caller.visitor(), &id, Order::Stop).await;
    order.map_err(|error| error.to_string())?;
    door.shared.wake();
    let wait = Wait::begin(door, context, None, STOPS_WITHIN);
    let ended = wait.until(door, || Ok(matches!(runs(caller, &id), Ok(false)).then_some(())));
    let stopped = ended.await.map_err(|error| error.to_string())?.is_some();
    let words = match stopped {
        true => "Stopped. `session_read` says what was done before.",
        false => "It was told to stop and has not ended yet; `ask_result` says when it has.",
    };
    told(&Interrupted { stopped, session: own }, words.to_owned())
}

/// The session that is meant. A handle overrides a session.
fn meant(caller: &Caller, handle: Option<&str>, own: Option<&str>) -> Result<SessionId, String> {
    match handle {
        Some(handle) => {
            session_of(caller, handle.parse().map_err(|odd: NoSuchHandle| odd.to_string())?)
        }
        None => caller.session(own),
    }
}

/// Whether the agent works in a session, or is about to.
fn runs(caller: &Caller, session: &SessionId) -> Result<bool, String> {
    let mail = caller.serving.door.shared.mail();
    let open = mail.turn_begun_by(session).map_err(|error| error.to_string())?.is_some();
    Ok(open || mail.queued_messages(session).map_err(|error| error.to_string())? > 0)
}
