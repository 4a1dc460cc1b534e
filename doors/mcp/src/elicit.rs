//! Questions in the client itself, where the owner has configured that: by a request of the server
//! until 2025-11-25, by a round of input from 2026-07-28 on. Owns what is shown and what an answer
//! means. Must not know how a call is driven.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
    InputRequest, InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;

use super::caller::Caller;
use crate::domain::{Answer, ApprovalId, CallId, Scope, Term, escape};
use crate::mail::AskedQuestion;
use crate::router::Visitor;

/// The key of the one question in a round.
const KEY: &str = "owner";
/// Arguments that are longer are not shown in a client, so that the question is not put there.
const ARGUMENTS_CHARS_MAX: usize = 2_000;

/// Whether questions of this caller may be put to it.
pub fn is_allowed(caller: &Caller, context: &RequestContext<RoleServer>) -> bool {
    let configured = caller.clients().settings().approve_in_client.contains(&caller.client);
    let elicits = context.client_capabilities().and_then(|it| it.elicitation);
    let has_forms = elicits.is_some_and(|it| it.form.is_some() || it.url.is_none());
    configured && has_forms
}

/// Whether a question is put by a round of input instead of a request.
pub fn by_rounds(context: &RequestContext<RoleServer>) -> bool {
    let version = context.protocol_version();
    version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str())
}

/// The open question about a call.
pub fn open(caller: &Caller, call: &CallId) -> Option<AskedQuestion> {
    let open = caller.serving.door.shared.mail().open_questions(None).ok()?;
    // What another server wants to know is for the owner's own doors.
    open.into_iter().find(|row| row.call == *call && row.question.input.is_none())
}

/// What is shown: who asks for what, word for word. `None`: it is too long for a form.
fn shown(question: &AskedQuestion) -> Option<ElicitRequestParams> {
    let asked = &question.question;
    let argument = |(name, value): &(String, String)| format!("{name}: {value}");
    let arguments: Vec<String> = asked.arguments.iter().map(argument).collect();
    let arguments = arguments.join("\n");
    if arguments.chars().count() > ARGUMENTS_CHARS_MAX {
        return None;
    }
    let says = match &asked.effect {
        Some(effect) => effect.says.clone(),
        None => escape::visible(&asked.why),
    };
    let message = format!(
        "claw asks its owner, once: {says}\n\n{}\n{arguments}\n\n(question {})",
        escape::visible(&format!("{}/{}", asked.server, asked.tool)),
        question.id
    );
    let requested_schema = ElicitationSchema::new(BTreeMap::new());
    Some(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Puts a question to the client and waits for the answer. `None`: it has given none.
pub async fn put(
    context: &RequestContext<RoleServer>,
    question: &AskedQuestion,
    patience: Duration,
) -> Option<Answer> {
    let params = shown(question)?;
    let peer = &context.peer;
    match peer.create_elicitation_with_timeout(params, Some(patience)).await {
        Ok(result) => meant(&result.action),
        Err(error) => {
            tracing::debug!(%error, "a client has not answered a question");
            None
        }
    }
}

/// A round of input that puts a question.
pub fn round(question: &AskedQuestion) -> Option<InputRequiredResult> {
    let request = InputRequest::Elicitation(ElicitRequest::new(shown(question)?));
    let requests = BTreeMap::from([(KEY.to_owned(), request)]);
    Some(InputRequiredResult::new(Some(requests), Some(question.id.to_string())))
}

/// The question that a round has put, and its answer.
pub fn answered(
    state: Option<&str>,
    responses: Option<&InputResponses>,
) -> Option<(ApprovalId, Option<Answer>)> {
    let id = ApprovalId(state?.to_owned());
    let result: ElicitResult = serde_json::from_value(responses?.get(KEY)?.clone()).ok()?;
    Some((id, meant(&result.action)))
}

/// A yes is for this call alone. Whoever closes the form has not answered.
fn meant(action: &ElicitationAction) -> Option<Answer> {
    match action {
        ElicitationAction::Accept => Some(Answer::Allow { term: Term::Once, scope: Scope::Exact }),
        ElicitationAction::Decline => Some(Answer::Deny { word: None }),
        _ => None,
    }
}

/// Takes an answer that the owner has given in the client. Whether it counts, the gate says.
pub async fn decide(caller: &Caller, question: &ApprovalId, answer: &Answer) {
    let visitor = Visitor { principal: caller.client.owner_in(), ..caller.visitor() };
    let router = &caller.serving.door.shared.context.router;
    if let Err(why) = router.answer(&visitor, question, answer).await {
        tracing::warn!(client = %caller.client, %why, "an answer in a client does not count");
    }
    caller.serving.door.shared.wake();
}
