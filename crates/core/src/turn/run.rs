//! Does the steps of a turn: asks the model, hands calls to the gate. Returns events and stores
//! none. Must not know SQL, doors, MCP.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use futures::stream::{FuturesUnordered, Stream, StreamExt as _};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::loaded;
use super::log::Log;
use super::next::Bounds;
use super::persona::{Persona, Personas};
use super::prompt::{self, Parts};
use super::recall::RecallLimits;
use super::shells::Shells;
use crate::domain::depth::{LEVELS_MAX, is_too_deep};
use crate::domain::{
    Block, CallId, DeniedBy, EventBody, Live, LiveSink, Origin, Outcome, ToolCall, ToolRoom,
    ToolUse, TurnId,
};
use crate::gate::{CallContext, Gate, InputSink};
use crate::model::{Delta, Model, ModelError, Request};
use crate::redact::{Redactor, StreamRedactor};

/// What a turn works with. Shared by all sessions: it belongs to the settings of turns that the
/// worker holds. A change of the settings makes another one, and a turn that has begun keeps its
/// own until it ends or waits.
pub struct Runner {
    /// The chain of models that answers. Its health goes with it.
    pub model: Arc<dyn Model>,
    /// Writes the summaries.
    pub compaction: Arc<dyn Model>,
    /// The app's, the same before and after a change.
    pub gate: Arc<Gate>,
    /// Reads the files of the persona anew for each request.
    pub personas: Personas,
    /// The limits of windows and turns, as numbers of these settings.
    pub bounds: Bounds,
    /// What of the memory a message is given; `None`: nothing is looked for.
    pub recall: Option<RecallLimits>,
    /// Whether a summary is asked for durable facts, which are proposed to the owner.
    pub proposes_facts: bool,
    /// Bytes of each file that the workspace has for agents; `None`: they are not read.
    pub project_bytes_max: Option<u64>,
    /// How long a message waits for what git says has changed; `None`: git is not asked.
    pub git_time: Option<Duration>,
    /// How many tools the models are offered at once.
    pub tool_room: ToolRoom,
    /// Where the owner lives, if the model is to know what time it is there.
    pub zone: Option<jiff::tz::TimeZone>,
}

/// What surrounds one step.
#[derive(Clone)]
pub struct Around {
    pub live: LiveSink,
    /// Cancelled when the owner stops the turn.
    pub cancel: CancellationToken,
    /// Cancelled when this process is about to end, and a later one goes on.
    pub leaves: CancellationToken,
    /// When the turn's time is up.
    pub deadline: Instant,
    /// What the person is told when the deadline cut the step.
    pub deadline_text: String,
    /// Whose changes are undone together.
    pub turn: TurnId,
    /// Whether somebody else than the owner has taken part in the window, or reads the answers.
    pub heard_by_others: bool,
    /// Who hears what servers ask the owner in the middle of their calls.
    pub asks: InputSink,
}

impl Around {
    /// What surrounds a call of the turn, with who hears what its server asks, if somebody does.
    fn of_call(&self, asks: Option<InputSink>) -> CallContext {
        CallContext {
            live: self.live.clone(),
            cancel: self.cancel.clone(),
            leaves: self.leaves.clone(),
            deadline: self.deadline,
            turn: Some(self.turn.clone()),
            heard_by_others: self.heard_by_others,
            asks,
        }
    }
}

/// On whose behalf the turn's calls are made.
#[derive(Clone)]
pub struct Behalf {
    pub origin: Origin,
    pub principal: String,
}

impl Runner {
    /// One round-trip to the model, or to the one that the owner has chosen: the events that it
    /// adds to the log.
    pub async fn ask_model(
        &self,
        log: &Log,
        persona: &Persona,
        model: Option<String>,
        around: &Around,
    ) -> Vec<EventBody> {
        let draft = Draft::new(self, log, around);
        // Written down also of a request that is stopped on its way.
        let account = OnceLock::new();
        let loads = OnceLock::new();
        // The list of tools may have to wait for servers to start, so it can be stopped like the
        // model itself.
        let asked = async {
            let (catalog, room) = (self.gate.catalog(), &self.tool_room);
            let mut loaded = loaded::of(log);
            let message = loaded::unanswered(log);
            if let Some(load) = catalog.to_load(room, loaded.as_ref(), message.as_deref()).await {
                let event = EventBody::ToolsLoaded { by: load.by, tools: load.tools };
                loaded = loaded::after(loaded, &event);
                drop(loads.set(event));
            }
            let offered = catalog.offered_of(room, loaded.as_ref()).await;
            for notice in &offered.notices {
                (around.live)(Live::Server { text: notice.clone() });
            }
            let instructions: &str = &offered.instructions;
            let parts = Parts {
                persona,
                instructions,
                tools: offered.specs,
                tools_account: &offered.account,
                tools_known: offered.known,
                zone: self.zone.as_ref(),
            };
            let packed = prompt::pack(log, parts, |text| self.redacted(text));
            let request = Request { model, ..packed.request };
            drop(account.set(packed.account));
            draft.started();
            let mut sink = |delta: Delta| draft.delta(delta);
            self.model.reply(&request, &mut sink).instrument(span_of_request(log, around)).await
        };
        let came = tokio::select! {
            biased;
            () = around.cancel.cancelled() => vec![EventBody::ModelPartial { text: draft.text() }],
            () = tokio::time::sleep_until(around.deadline) => vec![
                EventBody::ModelPartial { text: draft.text() },
                EventBody::LimitReached {
                    limit: "turn_time_s".into(),
                    text: around.deadline_text.clone(),
                },
            ],
            replied = asked => {
                draft.flush();
                vec![self.replied(replied)]
            }
        };
        let packed = prompt::packed_event(log, account.into_inner());
        loads.into_inner().into_iter().chain([packed]).chain(came).collect()
    }

    /// No known secret reaches a model.
    pub fn redacted(&self, text: &str) -> String {
        self.gate.redactor().redact(text).into_owned()
    }

    fn now(&self) -> jiff::Zoned {
        jiff::Timestamp::now().to_zoned(self.zone.clone().unwrap_or_else(claw_kit::zone::system))
    }

    fn replied(&self, replied: Result<crate::model::Reply, ModelError>) -> EventBody {
        match replied {
            Ok(reply) => EventBody::ModelReply {
                blocks: reply
                    .blocks
                    .into_iter()
                    .map(|block| redacted(self.gate.redactor(), block))
                    .collect(),
                finish: reply.finish,
                usage: reply.usage,
                provider: reply.provider,
                model: reply.model,
                notice: reply
                    .notice
                    .map(|notice| self.gate.redactor().redact(&notice).into_owned()),
            },
            Err(error) => EventBody::ModelFailed {
                context_too_long: matches!(error, ModelError::ContextTooLong { .. }),
                key_refused: matches!(error, ModelError::KeyRefused { .. }),
                reason: self.gate.redactor().redact(&error.for_person(self.now())).into_owned(),
            },
        }
    }

    /// Takes every call through the gate, side by side. Each item is what one call adds to the log,
    /// as soon as it is known. `shells` are those that they go on with.
    pub fn calls<'a>(
        &'a self,
        uses: Vec<(CallId, ToolUse)>,
        shells: &'a Shells,
        behalf: &Behalf,
        around: &'a Around,
    ) -> impl Stream<Item = (CallId, Outcome)> + 'a {
        let calls: FuturesUnordered<_> = uses
            .into_iter()
            .map(|(id, tool_use)| {
                let behalf = behalf.clone();
                async move {
                    let outcome = self.call(&id, tool_use, shells, behalf, around).await;
                    (id, outcome)
                }
            })
            .collect();
        calls.boxed()
    }

    async fn call(
        &self,
        id: &CallId,
        tool_use: ToolUse,
        shells: &Shells,
        behalf: Behalf,
        around: &Around,
    ) -> Outcome {
        if let Some(raw) = &tool_use.broken_input {
            return Outcome::denied(DeniedBy::Request, broken(raw));
        }
        let meant = self.gate.catalog().meant(&tool_use.name, tool_use.input).await;
        let (server, tool, arguments) = match meant {
            Ok(meant) => meant,
            Err(reason) => return Outcome::denied(DeniedBy::Request, reason),
        };
        let (calls, named) = (self.gate.calls(), (server.as_str(), tool.as_str()));
        let arguments = calls.in_shell_folder(named, arguments, &shells.folders);
        let arguments = calls.with_kept_variables(named, arguments, &shells.variables);
        let call = ToolCall {
            id: id.clone(),
            server,
            tool,
            arguments,
            origin: behalf.origin,
            principal: behalf.principal,
        };
        self.gate.call(call, around.of_call(Some(around.asks.clone()))).await
    }

    /// Runs a confirmed action from its frozen row. No model takes part.
    pub async fn act(&self, call: &CallId, around: &Around) -> Outcome {
        // It runs beside the turn, where no question of a server has a place.
        self.gate.act(call, around.of_call(None)).await.unwrap_or_else(|error| {
            Outcome::denied(DeniedBy::Failure, format!("its row cannot be read: {error}"))
        })
    }
}

/// One for each request to a model, with the number of the first event that it adds to the log. At
/// the level of errors, because these are what is logged by default.
pub(super) fn span_of_request(log: &Log, around: &Around) -> tracing::Span {
    let TurnId { session, seq } = &around.turn;
    tracing::error_span!("model_request", %session, turn = seq, request = log.next_seq())
}

/// Why arguments cannot be used.
fn broken(raw: &str) -> String {
    let shown: String = raw.chars().take(200).collect();
    let parsed = serde_json::from_str::<serde_json::Value>(raw);
    let is_deep = match &parsed {
        Ok(value) => is_too_deep(value),
        // serde_json has no kind of error for this.
        Err(error) => error.to_string().starts_with("recursion limit exceeded"),
    };
    if is_deep {
        return format!(
            "the arguments are nested more than {LEVELS_MAX} levels deep (they begin with \
             {shown:?}); send the call again with flatter ones"
        );
    }
    format!(
        "the arguments are not complete, valid JSON (they begin with {shown:?}); send the call \
         again"
    )
}

/// The log is a sink: no known secret goes into it. A call whose arguments held one then holds a
/// mark, and the gate denies it with that reason.
fn redacted(redactor: &Redactor, block: Block) -> Block {
    match block {
        Block::Text { text } => Block::Text { text: redactor.redact(&text).into_owned() },
        Block::ToolUse(mut tool_use) => {
            redactor.redact_json(&mut tool_use.input);
            tool_use.broken_input =
                tool_use.broken_input.map(|raw| redactor.redact(&raw).into_owned());
            Block::ToolUse(tool_use)
        }
        Block::Opaque { provider, mut data } => {
            redactor.redact_json(&mut data);
            Block::Opaque { provider, data }
        }
        other => other,
    }
}

/// The text of a step while it comes: shown at once, secrets held back, kept in case the step is
/// stopped.
struct Draft<'a> {
    runner: &'a Runner,
    around: &'a Around,
    turn_seq: u64,
    step: u32,
    state: Mutex<DraftState>,
}

struct DraftState {
    text: String,
    redactor: StreamRedactor,
}

impl<'a> Draft<'a> {
    fn new(runner: &'a Runner, log: &Log, around: &'a Around) -> Self {
        let turn = log.open_turn();
        Self {
            runner,
            around,
            turn_seq: turn.as_ref().map_or(0, |turn| turn.seq),
            step: turn.map_or(0, |turn| turn.steps()) + 1,
            state: Mutex::new(DraftState {
                text: String::new(),
                redactor: StreamRedactor::new(runner.gate.redactor().clone()),
            }),
        }
    }

    fn started(&self) {
        (self.around.live)(Live::StepStarted { turn_seq: self.turn_seq, step: self.step });
    }

    fn delta(&self, delta: Delta) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (turn_seq, step) = (self.turn_seq, self.step);
        match delta {
            Delta::Text(text) => {
                let text = state.redactor.push(&text);
                state.text.push_str(&text);
                (self.around.live)(Live::Text { turn_seq, step, text });
            }
            Delta::Reasoning(text) => {
                let text = self.runner.gate.redactor().redact(&text).into_owned();
                (self.around.live)(Live::Reasoning { turn_seq, step, text });
            }
            Delta::Restarted { why } => {
                state.text.clear();
                state.redactor = StreamRedactor::new(self.runner.gate.redactor().clone());
                (self.around.live)(Live::StepRestarted { turn_seq, step, why });
            }
        }
    }

    /// Shows what was held back, once it is clear that it is not the beginning of a secret.
    fn flush(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let text = state.redactor.finish();
        if !text.is_empty() {
            (self.around.live)(Live::Text { turn_seq: self.turn_seq, step: self.step, text });
        }
    }

    /// What was shown so far. What a stop finds held back is left out: it may be the beginning of a
    /// secret.
    fn text(&self) -> String {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).text.clone()
    }
}
