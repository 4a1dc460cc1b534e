//! `ask` and `ask_result`: a message to the agent, and what became of it. Must not know how a turn
//! goes.

use rmcp::RoleServer;
use rmcp::model::Tool;
use rmcp::service::RequestContext;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{About, AgentTool, Done, Given, acts, looks, told};
use crate::answer::Answer;
use crate::attachments::{self, Attachment};
use crate::caller::Caller;
use crate::clients::{AskState, OpenQuestion};
use crate::domain::{SessionId, escape};
use crate::handle::{Handle, NoSuchHandle};
use crate::mail::AskedQuestion;
use crate::router::OwnMessage;
use crate::tasks;
use crate::wait::Wait;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// What you want of the agent, in words.
    pub text: String,
    /// A conversation of yours, under a name that you choose (small letters, digits, `-`). Without
    /// it your usual one.
    pub session: Option<String>,
    /// Files that go with it.
    #[serde(default)]
    pub attachments: Vec<Attachment>,
    /// So many seconds are waited for the answer.
    pub wait_s: Option<u64>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskResult {
    /// What `ask` has given.
    pub handle: String,
    /// So many seconds are waited for the answer.
    pub wait_s: Option<u64>,
}

pub fn definition() -> Tool {
    About {
        tool: AgentTool::Ask,
        title: "Ask the agent",
        description: "Gives the personal agent behind this server a task or a question and waits \
            for its answer. The agent has tools and a workspace of its own; what it may not do by \
            itself its owner is asked about elsewhere. If the answer takes longer than a call may \
            wait, the result has the status `working` or `waiting` and a handle for `ask_result`: \
            the agent goes on meanwhile, so do not ask again.",
        hints: acts(true, false),
    }
    .definition::<Ask, Answer>()
}

pub fn definition_of_result() -> Tool {
    About {
        tool: AgentTool::AskResult,
        title: "Wait for an answer",
        description: "Waits for the answer to an earlier `ask`, by its handle, and gives it. It \
            can be called as often as needed, also after the answer was given.",
        hints: looks(),
    }
    .definition::<AskResult, Answer>()
}

pub async fn ask(caller: &Caller, given: Given<Ask>, context: &RequestContext<RoleServer>) -> Done {
    let Ask { text, session, attachments, wait_s } = given?;
    if text.trim().is_empty() {
        return Err("`text` is empty; say what you want of the agent".to_owned());
    }
    let id = caller.session(session.as_deref())?;
    let mark = caller.mark_of(context, &format!("{id}\n{text}"));
    let before = said_before(caller, mark.as_deref())?;
    if before.is_none() {
        caller.clients().may_ask(&caller.client).await.map_err(|why| why.to_string())?;
    }
    let door = &caller.serving.door;
    let patience = match tasks::are_known(context) {
        true => caller.patience(wait_s).min(tasks::PATIENCE),
        false => caller.patience(wait_s),
    };
    let wait = Wait::begin(door, context, Some(&id), patience);
    let handle = match before {
        Some(handle) => handle,
        None => {
            let blocks = attachments::blocks(caller, text, attachments).await?;
            say(caller, &id, OwnMessage { blocks, mark }).await?
        }
    };
    let state = until_it_rests(caller, wait, handle).await?;
    give(caller, handle, state)
}

pub async fn result(
    caller: &Caller,
    given: Given<AskResult>,
    context: &RequestContext<RoleServer>,
) -> Done {
    let AskResult { handle, wait_s } = given?;
    let handle: Handle = handle.parse().map_err(|odd: NoSuchHandle| odd.to_string())?;
    let session = session_of(caller, handle)?;
    let wait = Wait::begin(&caller.serving.door, context, Some(&session), caller.patience(wait_s));
    let state = until_it_rests(caller, wait, handle).await?;
    give(caller, handle, state)
}

/// The message of a request that the front sends again, if it was said before claw was restarted.
/// It has been counted, so what is left of the day is not asked about.
pub fn said_before(caller: &Caller, mark: Option<&str>) -> Result<Option<Handle>, String> {
    let Some(mark) = mark else { return Ok(None) };
    let found = caller.serving.door.shared.mail().submitted_as(mark);
    Ok(found.map_err(|error| error.to_string())?.map(Handle::of))
}

/// Says it in a session of the client.
pub async fn say(caller: &Caller, id: &SessionId, message: OwnMessage) -> Result<Handle, String> {
    let shared = &caller.serving.door.shared;
    let said = shared.context.router.own_message(&caller.visitor(), id, message).await;
    let handle = Handle::of(said.map_err(|error| error.to_string())?);
    shared.wake();
    Ok(handle)
}

/// The session of a handle, if it is this client's.
pub fn session_of(caller: &Caller, handle: Handle) -> Result<SessionId, String> {
    let found = caller.clients().session_of_ask(&caller.client, handle.inbox_id());
    found.map_err(|error| error.to_string())?.ok_or_else(|| NoSuchHandle.to_string())
}

/// Waits until it has its answer or waits for the owner's.
async fn until_it_rests(
    caller: &Caller,
    wait: Wait<'_>,
    handle: Handle,
) -> Result<AskState, String> {
    let (clients, client) = (caller.clients(), &caller.client);
    let mut newest = None;
    let look = || {
        let Some(state) = clients.ask_state(client, handle.inbox_id())? else { return Ok(None) };
        let state = match state {
            AskState::Queued => behind_a_question(caller, handle).unwrap_or(AskState::Queued),
            state => state,
        };
        let rests = matches!(state, AskState::Done { .. } | AskState::Waiting { .. });
        newest = Some(state);
        Ok(rests.then_some(()))
    };
    wait.until(&caller.serving.door, look).await.map_err(|error| error.to_string())?;
    newest.ok_or_else(|| NoSuchHandle.to_string())
}

/// What a message waits for that waits behind a turn: the owner's answer, if that turn does.
fn behind_a_question(caller: &Caller, handle: Handle) -> Option<AskState> {
    let session = caller.clients().session_of_ask(&caller.client, handle.inbox_id()).ok()??;
    let open = caller.serving.door.shared.mail().open_questions(Some(&session)).ok()?;
    let question = |row: AskedQuestion| OpenQuestion {
        says: match row.question.effect {
            Some(effect) => effect.says,
            None => escape::visible(&format!("{}/{}", row.question.server, row.question.tool)),
        },
        id: row.id,
        expires_at_ms: row.expires_ms,
    };
    let questions: Vec<OpenQuestion> = open.into_iter().map(question).collect();
    match questions.is_empty() {
        true => None,
        false => Some(AskState::Waiting { turn_seq: 0, questions, calls: Vec::new() }),
    }
}

fn give(caller: &Caller, handle: Handle, state: AskState) -> Done {
    let session = session_of(caller, handle)?;
    let answer = Answer::of(handle, caller.client.own_name(&session), state);
    let words = answer.words();
    told(&answer, words)
}
