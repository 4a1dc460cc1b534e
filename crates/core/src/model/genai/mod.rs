//! Real models, through the `genai` crate; this folder is the only place that knows it. Owns: one
//! streamed round-trip with any of the wires. Must not know retries, or why this model was picked.

mod demand;
mod failure;
mod http;
mod names;
mod odd_answer;
mod openai_wire;
mod reading;
mod receive;
mod relay;
mod response_items;
mod send;
mod stream_inspector;
mod target;
mod tools;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use ::genai::chat::ChatOptions;
use ::genai::resolver::{AuthData, Endpoint};
use ::genai::{Client, ModelIden, ServiceTarget};
use secrecy::ExposeSecret as _;
use serde_json::json;

use self::openai_wire::{Lesson, OpenAiWire};
use self::receive::Receiver;
use self::relay::{Passage, Relay};
use self::stream_inspector::StreamInspector;
use self::tools::Tools;
use super::wire_schema::Fitted;
use super::{DeltaSink, Model, ModelError, Reply, Replying, Request};

pub(super) use self::http::{client_for, is_loopback, plain_client};
pub(super) use self::names::list;
pub use self::target::{Target, Wire};

/// The frames of one reply, in bytes. The longest real one has a few hundred thousand tokens, and
/// some wires repeat a lot around each of them.
const REPLY_BYTES_MAX: usize = 64 << 20;
/// A frame may take this many times `limits.model_timeout_s`: first the head of the answer is
/// waited for, and then the frame, as long as pieces of it come.
const FRAME_TIMEOUTS: u32 = 2;
/// How often one request is asked again without a tool that was refused. A provider names one at a
/// time or all at once.
const REFUSALS_MAX: usize = 8;

/// The clients of one model. They go with it, and their idle connections with them.
struct Clients {
    genai: Client,
    /// Sends on what `genai` leaves with the relay, which lives as long as the process.
    relayed: Option<(&'static Relay, reqwest::Client)>,
}

impl Clients {
    fn build(target: &Target) -> Result<Self, String> {
        let upstream = http::client_for(&target.base_url).map_err(|error| error.to_string())?;
        let relayed = Relay::get().map(|relay| (relay, upstream.clone()));
        let reqwest = match relayed {
            Some((relay, _)) => relay.client().map_err(|error| error.to_string())?,
            None => upstream,
        };
        let genai = Client::builder().with_reqwest(reqwest).build();
        Ok(Self { genai: genai.map_err(|error| error.to_string())?, relayed })
    }

    fn passage(&self, target: &Target) -> Option<Passage> {
        let (relay, upstream) = self.relayed.as_ref()?;
        relay.open(upstream, target)
    }
}

/// One model behind one provider's wire.
pub struct GenaiModel {
    /// Of the settings by which it was picked. It does not change.
    target: Target,
    /// Built at the first request: reading the system's certificates costs more than a whole cold
    /// start otherwise does.
    clients: OnceLock<Clients>,
    /// The tools that this model's provider has refused. Forgotten with the model.
    tools: Tools,
    /// What refusals have said of how to ask. Forgotten with the model.
    openai_wire: OpenAiWire,
}

impl GenaiModel {
    pub fn new(target: Target) -> Self {
        let (clients, tools) = (OnceLock::new(), Tools::default());
        Self { target, clients, tools, openai_wire: OpenAiWire::default() }
    }

    fn clients(&self) -> Result<&Clients, ModelError> {
        if let Some(clients) = self.clients.get() {
            return Ok(clients);
        }
        let clients = Clients::build(&self.target).map_err(|error| {
            ModelError::permanent(format!("no HTTPS client could be built: {error}"))
        })?;
        Ok(self.clients.get_or_init(|| clients))
    }

    fn service_target(target: &Target, passage: Option<&Passage>) -> ServiceTarget {
        // Local servers need no key, but the wire wants the header.
        let key = target.api_key.as_ref().map_or("none", |key| key.expose_secret());
        let base_url = passage.map_or(target.base_url.as_str(), Passage::base_url);
        ServiceTarget {
            endpoint: Endpoint::from_owned(base_url),
            auth: AuthData::from_single(key),
            model: ModelIden::new(target.wire.adapter(), target.model.as_str()),
        }
    }

    fn options(
        &self,
        target: &Target,
        request: &Request,
        inspector: Arc<StreamInspector>,
        passage: Option<&Passage>,
    ) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_stream_header_timeout(target.timeout)
            .with_capture_usage(true)
            .with_capture_content(true)
            // Of chat completions the inspector keeps the calls: genai would make room for every
            // number up to the one that a call says it has, which has been four thousand million.
            // Of Responses it keeps all items: genai keeps not their order.
            .with_capture_tool_calls(!target.wire.is_of_openai())
            .with_raw_frame_sink_arc(inspector);
        if target.wire == Wire::Anthropic {
            // Without it the signatures are lost that must go back with the next request. On
            // Gemini's wire the same option would ask for thoughts, which older models refuse, and
            // signatures come anyway.
            options = options.with_capture_reasoning_content(true);
        }
        if self.openai_wire.keeps_reasoning(target) {
            // genai's option asks for a summary besides, which an organisation must be verified
            // for.
            options.extra_body = Some(json!({"include": ["reasoning.encrypted_content"]}));
        }
        options.tool_choice = demand::tool_choice(target, request);
        options.max_tokens = target.max_tokens;
        options.temperature = target.temperature;
        options.reasoning_effort = target.effort_that_keeps_the_name();
        match passage {
            // The relay looks to silence, and withholds what is not whole: `next` gives that up.
            Some(passage) => options
                .with_extra_headers((relay::ERRAND, passage.number()))
                .with_stream_read_timeout(target.timeout * (FRAME_TIMEOUTS + 1)),
            None => options.with_stream_read_timeout(target.timeout),
        }
    }

    /// Asks, and asks again without the tools that the provider refuses by name, as long as it
    /// names others, or in the way that it names.
    async fn run(
        &self,
        request: &Request,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Reply, ModelError> {
        let target = match &request.model {
            Some(model) if *model != self.target.model => &Target {
                model: model.clone(),
                model_setting: "`/model`".to_owned(),
                ..self.target.clone()
            },
            _ => &self.target,
        };
        for _ in 0..REFUSALS_MAX {
            let target = &*self.openai_wire.of(target);
            let fitted = self.tools.fit(request, target);
            match self.ask(request, target, &fitted, deltas).await {
                Ok(mut reply) => {
                    reply.notice = self.tools.untold(target, &fitted);
                    return Ok(reply);
                }
                Err(Failed { lesson: Some(lesson), .. })
                    if self.openai_wire.takes(lesson, target) => {}
                Err(Failed { blamed, error, .. }) => {
                    if blamed.is_empty()
                        || !self.tools.take_out(target, request, &blamed, &error.to_string())
                    {
                        return Err(error);
                    }
                }
            }
        }
        let target = &*self.openai_wire.of(target);
        let fitted = self.tools.fit(request, target);
        self.ask(request, target, &fitted, deltas).await.map_err(|failed| failed.error)
    }

    async fn ask(
        &self,
        request: &Request,
        target: &Target,
        fitted: &Fitted,
        deltas: &mut DeltaSink<'_>,
    ) -> Result<Reply, Failed> {
        let inspector = Arc::new(StreamInspector::new(target.wire));
        let keeps_reasoning = self.openai_wire.keeps_reasoning(target);
        let chat = send::chat_request(request, target, fitted, keeps_reasoning);
        let clients = self.clients()?;
        let passage = clients.passage(target);
        let passage = passage.as_ref();
        let failed = |error: &::genai::Error| Failed {
            blamed: failure::blamed(error, fitted),
            lesson: failure::lesson(error, target),
            error: passage
                .and_then(|passage| passage.error(target))
                .unwrap_or_else(|| failure::of(error, target)),
        };
        let options = self.options(target, request, inspector.clone(), passage);
        let answer = clients
            .genai
            .exec_chat_stream(Self::service_target(target, passage), chat, Some(&options))
            .await
            .map_err(|error| failed(&error))?;
        let mut events = reading::begin(answer.stream, inspector.clone());
        let mut receiver = Receiver::new(target, &inspector, fitted);
        while let Some(event) = next(&mut events, &inspector, target).await? {
            inspector.check(target)?;
            if inspector.seen().bytes > REPLY_BYTES_MAX {
                let limit = REPLY_BYTES_MAX >> 20;
                let whose = &target.provider;
                return Err(ModelError::permanent(format!(
                    "{whose} sent more than {limit} MiB in one reply; set `max_tokens`"
                ))
                .into());
            }
            match *event {
                Ok(event) => match receiver.take(event, deltas) {
                    Ok(Some(reply)) => return Ok(reply),
                    Ok(None) => {}
                    Err(_) if inspector.seen().odd => break,
                    Err(error) => return Err(error.into()),
                },
                Err(error) => match receiver.after_error(&error) {
                    Ok(Some(reply)) => return Ok(reply),
                    Ok(None) => {}
                    Err(_) if inspector.seen().odd && failure::is_no_json(&error) => break,
                    Err(told) if inspector.seen().response.failed.is_some() => {
                        return Err(told.into());
                    }
                    Err(_) => return Err(failed(&error)),
                },
            }
        }
        inspector.check(target)?;
        let odd = inspector.seen().odd;
        if odd && let Some(error) = odd_answer::look(target).await {
            return Err(error.into());
        }
        Err(receiver.cut().into())
    }
}

/// The next event. An error if a frame goes on for so long that it is never to be whole: what was
/// read of it is kept until then, so it may not grow forever. Frames without an event are signs of
/// life.
async fn next(
    events: &mut tokio::sync::mpsc::Receiver<reading::StreamEvent>,
    inspector: &StreamInspector,
    target: &Target,
) -> Result<Option<reading::StreamEvent>, ModelError> {
    let longest = target.timeout * FRAME_TIMEOUTS;
    let mut frames = inspector.seen().frames;
    loop {
        let event = tokio::select! {
            biased;
            () = inspector.refused() => {
                inspector.check(target)?;
                continue;
            }
            event = tokio::time::timeout(longest, events.recv()) => event,
        };
        if let Ok(event) = event {
            return Ok(event);
        }
        let now = inspector.seen().frames;
        if std::mem::replace(&mut frames, now) == now {
            inspector.refuse(format!("a line that had no end after {}", seconds(longest)));
            inspector.check(target)?;
        }
    }
}

/// A failed request, the tools whose definitions the provider gave as the reason, and how it wants
/// to be asked.
struct Failed {
    blamed: Vec<String>,
    lesson: Option<Lesson>,
    error: ModelError,
}

impl From<ModelError> for Failed {
    fn from(error: ModelError) -> Self {
        Self { blamed: Vec::new(), lesson: None, error }
    }
}

impl Model for GenaiModel {
    fn provider(&self) -> &str {
        &self.target.provider
    }

    fn model(&self) -> &str {
        &self.target.model
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(self.run(request, deltas))
    }
}

/// Seconds for a person: whole ones without a fraction.
fn seconds(duration: Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}
