//! The tools of claw's servers as a client gets them: under the names that a model has, each call
//! through the gate. No tool approves anything. Must not know how a call is judged.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::RoleServer;
use rmcp::model::{
    Annotations, CallToolResponse, CallToolResult, ContentBlock, ErrorData, InputRequiredResult,
    InputResponses, JsonObject, MetaObject, Role, TextContent, Tool,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::answer::{Question, owner_is_asked};
use super::caller::Caller;
use super::elicit;
use super::icons::keep_harmless;
use super::progress::Progress;
use super::tools::refused;
use crate::clients::{ClientCall, ClientCallState, ClientRefusal, ClientTool};
use crate::domain::{ImageRef, Live, LiveSink, Outcome, ToolOutput};

/// The longest time between two looks for a question.
const LOOK: Duration = Duration::from_secs(1);
/// Glimpses of a call that may wait to be told; more are lost.
const GLIMPSES_MAX: usize = 64;

/// A definition as a client gets it. Its output schema is left out, because claw cuts long results,
/// and a promise about their form could not be kept. Title, hints and harmless icons stay.
pub fn offered(tool: ClientTool) -> Tool {
    let ClientTool { name, definition, .. } = tool;
    let mut definition = match definition {
        Value::Object(definition) => definition,
        _ => JsonObject::new(),
    };
    definition.remove("outputSchema");
    match definition.get_mut("icons") {
        Some(Value::Array(icons)) => keep_harmless(icons),
        _ => drop(definition.remove("icons")),
    }
    definition.insert("name".to_owned(), Value::String(name.clone()));
    if !definition.get("inputSchema").is_some_and(Value::is_object) {
        definition.insert("inputSchema".to_owned(), json!({"type": "object"}));
    }
    let read = serde_json::from_value(Value::Object(definition.clone()));
    read.unwrap_or_else(|error| {
        // A field that no client needs is odd; what a call needs is taken as it is.
        tracing::debug!(name, %error, "a definition is offered in its plain form");
        let schema = definition.remove("inputSchema").and_then(|it| it.as_object().cloned());
        let words = definition.get("description").and_then(Value::as_str).unwrap_or_default();
        Tool::new(name, words.to_owned(), Arc::new(schema.unwrap_or_default()))
    })
}

/// A call as it came in.
pub struct Called<'c> {
    pub name: &'c str,
    pub arguments: JsonObject,
    /// What a round of input has brought.
    pub state: Option<&'c str>,
    pub responses: Option<&'c InputResponses>,
}

/// Calls a tool, waits for its end, and says what became of it.
///
/// # Errors
/// There is no such tool.
pub async fn call(
    caller: &Caller,
    called: Called<'_>,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResponse, ErrorData> {
    let (sink, seen) = glimpses();
    let arguments = Value::Object(called.arguments);
    let mark = caller.mark_of(context, &format!("{}\n{arguments}", called.name));
    let begun = caller
        .clients()
        .begin_marked(&caller.client, called.name, arguments, (sink, mark.as_deref()))
        .await;
    let call = match begun {
        Ok(call) => call,
        Err(why @ ClientRefusal::NoTool { .. }) => {
            return Err(ErrorData::invalid_params(why.to_string(), None));
        }
        Err(why) => return Ok(refused(&why.to_string()).into()),
    };
    let state = match follow(caller, &call, seen, (called.state, called.responses), context).await {
        Ok(Waited::Is(state)) => state,
        Ok(Waited::Asks(round)) => return Ok(CallToolResponse::InputRequired(round)),
        Err(why) => return Ok(refused(&why).into()),
    };
    let images = match &state {
        ClientCallState::Ended { outcome: Outcome::Ended { output }, .. } => {
            images(caller, &output.images).await
        }
        _ => Vec::new(),
    };
    let mut result = result(state);
    result.content.extend(images);
    Ok(result.into())
}

/// Waits for the end of a call that has begun, as long as the client may wait. An answer of an
/// earlier round of input is taken first.
///
/// # Errors
/// One sentence for the client.
pub async fn follow(
    caller: &Caller,
    call: &ClientCall,
    seen: mpsc::Receiver<Live>,
    (state, responses): (Option<&str>, Option<&InputResponses>),
    context: &RequestContext<RoleServer>,
) -> Result<Waited, String> {
    let mut asks = elicit::is_allowed(caller, context);
    if asks && let Some((id, answer)) = elicit::answered(state, responses) {
        asks = false;
        // Only the question about this very call, and only while it is open.
        let is_open = elicit::open(caller, &call.id()).is_some_and(|row| row.id == id);
        if let Some(answer) = answer.filter(|_| is_open) {
            elicit::decide(caller, &id, &answer).await;
        }
    }
    let waited = wait(caller, call, seen, (context, asks)).await?;
    if matches!(waited, Waited::Asks(_)) {
        // From here on the same request takes the call up.
        let _waits = caller.clients().end_of(call, Duration::ZERO).await;
    }
    Ok(waited)
}

/// The images of a result, which are kept beside it.
pub async fn images(caller: &Caller, images: &[ImageRef]) -> Vec<ContentBlock> {
    let mut blocks = Vec::new();
    for image in images {
        let (kept, digest) =
            (caller.serving.door.shared.context.files.kept.clone(), image.digest.clone());
        let read = tokio::task::spawn_blocking(move || kept(&digest)).await;
        blocks.push(match read.map_err(std::io::Error::other).flatten() {
            Ok(bytes) => ContentBlock::image(STANDARD.encode(bytes), image.mime.clone()),
            Err(error) => ContentBlock::text(format!("[an image cannot be read: {error}]")),
        });
    }
    blocks
}

/// Where a call says what happens, and who reads that.
pub fn glimpses() -> (LiveSink, mpsc::Receiver<Live>) {
    let (sender, seen) = mpsc::channel(GLIMPSES_MAX);
    let sink: LiveSink = Arc::new(move |live| {
        // One who is slow, or has gone, sees less.
        let _lost = sender.try_send(live);
    });
    (sink, seen)
}

/// How a wait has ended.
pub enum Waited {
    Is(ClientCallState),
    /// The client is asked first.
    Asks(InputRequiredResult),
}

async fn wait(
    caller: &Caller,
    call: &ClientCall,
    mut seen: mpsc::Receiver<Live>,
    (context, asks): (&RequestContext<RoleServer>, bool),
) -> Result<Waited, String> {
    let (clients, patience) = (caller.clients(), caller.patience(None));
    let mut progress = Progress::of(context);
    let mut wake_ups = caller.serving.door.shared.wake_ups();
    let ends = clients.end_of(call, patience);
    tokio::pin!(ends);
    // Whether the client itself may still be asked, and what it is being asked.
    let (mut asks, mut asked) = (asks, None);
    loop {
        if asks && let Some(question) = elicit::open(caller, &call.id()) {
            asks = false;
            match elicit::by_rounds(context) {
                true => {
                    if let Some(round) = elicit::round(&question) {
                        return Ok(Waited::Asks(round));
                    }
                }
                false => {
                    asked = Some(Box::pin(async move {
                        let answer = elicit::put(context, &question, patience).await;
                        (question.id, answer)
                    }));
                }
            }
        }
        let due = progress.due();
        tokio::select! {
            ended = &mut ends => return ended.map(Waited::Is).map_err(|why| why.to_string()),
            () = context.ct.cancelled() => {
                clients.cancel(call);
                return Err("the client has given this call up".to_owned());
            }
            Some(live) = seen.recv() => progress.sees(&live).await,
            () = wake_ups.wait(LOOK), if asks => {}
            Some((question, answer)) = answer_of(&mut asked) => {
                asked = None;
                if let Some(answer) = answer {
                    elicit::decide(caller, &question, &answer).await;
                }
            }
            () = tokio::time::sleep_until(due) => {
                if let Some(question) = elicit::open(caller, &call.id()) {
                    let id = question.id;
                    let text = format!("waiting for the owner's answer to question {id}");
                    progress.sees(&Live::Notice { text }).await;
                }
                progress.is_alive().await;
            }
        }
    }
}

/// What the client has answered, if it is asked. `None`: it is not.
async fn answer_of<F: Future + Unpin>(asked: &mut Option<F>) -> Option<F::Output> {
    match asked {
        Some(asked) => Some(asked.await),
        None => None,
    }
}

/// What became of a call.
pub fn result(state: ClientCallState) -> CallToolResult {
    match state {
        ClientCallState::Ended { outcome, kept } => ended(outcome, kept),
        ClientCallState::Waiting { questions } => {
            let questions: Vec<Question> = questions.iter().map(Question::of).collect();
            let words = format!(
                "Not run yet. {} Make exactly the same call again after the yes: it is answered \
                 from the call that was asked about, which runs once.",
                owner_is_asked(&questions)
            );
            state_of("waiting", words, json!({"questions": questions}))
        }
        ClientCallState::Running => {
            let words = "It still runs. Make exactly the same call again to wait for its result; \
                it is not run twice.";
            state_of("running", words.to_owned(), json!({}))
        }
    }
}

fn ended(outcome: Outcome, kept: bool) -> CallToolResult {
    match outcome {
        Outcome::Ended { output } => {
            let ToolOutput { text, structured, is_error, for_user, .. } = output;
            let mut content = vec![ContentBlock::text(text)];
            // The client has a person of its own, and shows it to them.
            if !for_user.is_empty() {
                let mut for_user = TextContent::new(for_user);
                for_user.annotations = Some(Annotations::default().with_audience(vec![Role::User]));
                content.push(ContentBlock::Text(for_user));
            }
            let mut result = CallToolResult::success(content);
            result.structured_content = structured;
            result.is_error = Some(is_error);
            result.meta = kept.then(|| meta("ended", json!({"kept": true})));
            result
        }
        Outcome::Denied { reason, .. } => {
            state_of("denied", format!("Not run: {reason}"), json!({}))
        }
        Outcome::Unknown { reason } => {
            let words = format!("{reason}. Look at what there is before you try it again.");
            state_of("unknown", words, json!({}))
        }
        // The room of clients waits for its end instead.
        Outcome::Parked { .. } | Outcome::Left => {
            state_of("waiting", "It waits.".to_owned(), json!({}))
        }
    }
}

/// A call without a result: in words, and for programs beside them.
fn state_of(state: &str, words: String, more: Value) -> CallToolResult {
    let mut result = refused(&words);
    result.meta = Some(meta(state, more));
    result
}

fn meta(state: &str, more: Value) -> MetaObject {
    let mut told = more.as_object().cloned().unwrap_or_default();
    told.insert("state".to_owned(), state.into());
    JsonObject::from_iter([("claw/call".to_owned(), Value::Object(told))]).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::OpenQuestion;
    use crate::domain::{ApprovalId, DeniedBy};

    fn words(result: &CallToolResult) -> String {
        result.content[0].as_text().unwrap().text.clone()
    }

    #[test]
    fn a_definition_keeps_its_name_here_and_its_words_and_promises_no_form_of_results() {
        let definition = json!({
            "name": "echo", "description": "Says it.", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
            "title": "Echo", "icons": [{"src": "file:///a.png"}, {"src": "https://x.example/a.png"}],
        });
        let tool = ClientTool {
            name: "legacy__echo".to_owned(),
            server: "legacy".to_owned(),
            tool: "echo".to_owned(),
            definition,
        };
        let offered = offered(tool.clone());
        assert_eq!(offered.name, "legacy__echo");
        assert_eq!(offered.description.as_deref(), Some("Says it."));
        assert!(offered.output_schema.is_none());
        assert_eq!(offered.title.as_deref(), Some("Echo"));
        let icons: Vec<String> = offered.icons.unwrap().into_iter().map(|icon| icon.src).collect();
        assert_eq!(icons, ["https://x.example/a.png"]);
        let odd = json!({"name": 7, "description": "Odd.", "annotations": "none"});
        let offered = super::offered(ClientTool { definition: odd, ..tool });
        assert_eq!(offered.name, "legacy__echo");
        assert_eq!(offered.description.as_deref(), Some("Odd."));
    }

    #[test]
    fn what_waits_or_runs_says_that_the_same_call_is_to_be_made_again() {
        let question = OpenQuestion {
            id: ApprovalId("q1".to_owned()),
            says: "Deletes x".to_owned(),
            expires_at_ms: 0,
        };
        let waiting = result(ClientCallState::Waiting { questions: vec![question] });
        assert_eq!(waiting.is_error, Some(true));
        let said = words(&waiting);
        for named in ["Not run yet", "Deletes x", "q1", "exactly the same call again"] {
            assert!(said.contains(named), "{named} is not in {said}");
        }
        let meta = serde_json::to_value(waiting.meta).unwrap();
        assert_eq!(meta["claw/call"]["state"], "waiting");
        assert_eq!(meta["claw/call"]["questions"][0]["id"], "q1");
        assert!(words(&result(ClientCallState::Running)).contains("not run twice"));
    }

    #[test]
    fn a_denial_says_why_and_that_nothing_ran() {
        let outcome = Outcome::denied(DeniedBy::Answer, "the owner said no: use another file");
        let denied = result(ClientCallState::Ended { outcome, kept: false });
        assert_eq!(denied.is_error, Some(true));
        assert_eq!(words(&denied), "Not run: the owner said no: use another file.");
    }
}
