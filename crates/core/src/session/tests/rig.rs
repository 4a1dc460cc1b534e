//! A worker on a gate's rig, a model that does what a test says, and the log as it is on the disk.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::json;

use crate::domain::{
    Address, Answer, Block, EventBody, Inbound, InboundBody, Message, Origin, OutboundBody,
    SessionId, Term,
};
use crate::gate::tests::rig::{OWNER, Rig as GateRig, allow, session};
use crate::model::{DeltaSink, Model, Replying, Request, Script, Scripted};
use crate::session::{Ending, Ran, Worker, WorkerParts};
use crate::store::Tx;
use crate::turn::Bounds;
use crate::turn::persona::{Persona, Personas};
use crate::turn::run::Runner;

pub(crate) const BOUNDS: Bounds = Bounds {
    model_steps_max: 6,
    window_tokens: 100_000,
    window_messages: 0,
    model_tokens: u64::MAX,
    identical_calls_max: 3,
};

pub(super) struct Rig {
    pub(super) gate: GateRig,
    pub(super) worker: Worker,
    pub(super) model: Arc<Scripted>,
}

impl Rig {
    pub(super) fn new(policy: &str, script: impl IntoIterator<Item = Script>) -> Self {
        Self::on(GateRig::new(&["legacy"], policy), script)
    }

    pub(super) fn on(gate: GateRig, script: impl IntoIterator<Item = Script>) -> Self {
        let model = Arc::new(Scripted::new(script));
        let worker = worker(&gate, model.clone(), BOUNDS);
        Self { gate, worker, model }
    }

    pub(super) async fn submit(&self, body: InboundBody) {
        submit(&self.gate, body).await;
    }

    pub(super) async fn say(&self, text: &str) {
        self.submit(message(text)).await;
    }

    pub(super) async fn run(&self) -> Ran {
        // A session that spins must fail its test, not hang it. Longer than any turn may take on
        // the paused clock.
        let (session, live) = (main(), self.gate.live());
        let ran =
            tokio::time::timeout(Duration::from_secs(90), self.worker.run(&session, &live)).await;
        ran.expect("it spins").unwrap()
    }

    /// Says something and runs until nothing is left.
    pub(super) async fn turn(&self, text: &str) -> Ran {
        self.say(text).await;
        self.run().await
    }

    pub(super) async fn answer(&self, answer: &Answer) {
        for row in self.gate.store.read(|tx| tx.open_approvals(None)).unwrap() {
            self.gate.gate.calls().decide(&row.id, answer, OWNER).await.unwrap();
        }
    }

    pub(super) async fn allow(&self) {
        self.answer(&allow(Term::Once)).await;
    }

    pub(super) fn log(&self) -> Vec<EventBody> {
        log(&self.gate)
    }

    pub(super) fn kinds(&self) -> Vec<String> {
        kinds(&self.log())
    }

    pub(super) fn replies(&self) -> Vec<String> {
        replies(&self.gate)
    }

    pub(super) fn notices(&self) -> Vec<String> {
        notices(&self.gate)
    }

    /// The blocks of the last message of the last request, in words.
    pub(super) fn last_asked(&self) -> Vec<String> {
        words(self.model.requests().last().unwrap().messages.last().unwrap())
    }
}

pub(super) fn main() -> SessionId {
    session("main")
}

pub(crate) fn worker(gate: &GateRig, model: Arc<dyn Model>, bounds: Bounds) -> Worker {
    worker_of(gate, model, bounds, Personas::fixed(Persona::of("test", "/w", "test")))
}

pub(super) fn worker_of(
    gate: &GateRig,
    model: Arc<dyn Model>,
    bounds: Bounds,
    personas: Personas,
) -> Worker {
    let runner = Runner {
        compaction: model.clone(),
        model,
        gate: gate.gate.clone(),
        personas,
        bounds,
        recall: None,
        proposes_facts: false,
        project_bytes_max: None,
        git_time: None,
        tool_room: crate::domain::ToolRoom::ENDLESS,
        zone: None,
    };
    Worker::new(WorkerParts {
        ending: Ending::default(),
        store: gate.store.clone(),
        gate: gate.gate.clone(),
        settings: crate::session::TurnSettings {
            runner,
            turn_time_s: 60,
            deaths_of_turn_max: 2,
            idle_window_s: 3_600,
            budget: crate::session::Budget {
                tokens_day_max: 1_000_000,
                usd_cents_day_max: None,
                prices: crate::config::Prices::default(),
                zone: jiff::tz::TimeZone::UTC,
            },
            heartbeats: crate::config::HeartbeatBudgets::default(),
            serve: crate::config::ServeSection::default(),
        },
    })
}

pub(super) fn message(text: &str) -> InboundBody {
    InboundBody::message(vec![Block::Text { text: text.into() }])
}

pub(super) async fn submit(gate: &GateRig, body: InboundBody) {
    submit_to(gate, &main(), body).await;
}

pub(super) async fn submit_to(gate: &GateRig, session: &SessionId, body: InboundBody) {
    let inbound = inbound(session, body);
    gate.store.write(move |tx| tx.add_inbound(&inbound, 64)).await.unwrap();
}

/// All of them are seen together.
pub(super) async fn submit_all<const N: usize>(gate: &GateRig, bodies: [InboundBody; N]) {
    let rows = bodies.map(|body| inbound(&main(), body));
    let add = move |tx: &Tx<'_>| rows.iter().try_for_each(|row| tx.add_inbound(row, 64).map(drop));
    gate.store.write(add).await.unwrap();
}

fn inbound(session: &SessionId, body: InboundBody) -> Inbound {
    Inbound {
        session: session.clone(),
        from: Address("console/1".into()),
        principal: OWNER.into(),
        origin: Origin::Owner,
        body,
    }
}

pub(super) fn log(gate: &GateRig) -> Vec<EventBody> {
    let events = gate.store.read(|tx| tx.events_from(&main(), 1)).unwrap();
    events.into_iter().map(|event| event.body).collect()
}

pub(super) fn kinds(log: &[EventBody]) -> Vec<String> {
    let kind =
        |body: &EventBody| serde_json::to_value(body).unwrap()["type"].as_str().unwrap().to_owned();
    log.iter().map(kind).collect()
}

fn outbox(gate: &GateRig) -> Vec<OutboundBody> {
    let rows = gate.store.read(|tx| tx.queued_outbound(&Address("console/1".into()))).unwrap();
    rows.into_iter().map(|row| row.outbound.body).collect()
}

pub(super) fn replies(gate: &GateRig) -> Vec<String> {
    let reply = |body| match body {
        OutboundBody::Reply { text, .. } => Some(text),
        _ => None,
    };
    outbox(gate).into_iter().filter_map(reply).collect()
}

pub(super) fn notices(gate: &GateRig) -> Vec<String> {
    let notice = |body| match body {
        OutboundBody::Notice { text } => Some(text),
        _ => None,
    };
    outbox(gate).into_iter().filter_map(notice).collect()
}

pub(super) fn words(message: &Message) -> Vec<String> {
    let word = |block: &Block| match block {
        Block::Text { text } => text.clone(),
        Block::ToolUse(one) => {
            format!("use {}", one.input["text"].as_str().unwrap_or_default())
        }
        Block::ToolResult { content, .. } => format!("result {content}"),
        other => panic!("{other:?}"),
    };
    message.blocks.iter().map(word).collect()
}

/// One reply with an `echo` of the server `legacy` for each text.
pub(super) fn echoes(texts: &[&str]) -> Script {
    Script::tool_uses(
        texts.iter().map(|text| ("legacy__echo".to_owned(), json!({"text": text}))).collect(),
    )
}

type Hook = Box<dyn Fn(usize) -> BoxFuture<'static, ()> + Send + Sync>;

/// Something happens while the model thinks: the hook gets the number of the request, from 1.
pub(super) struct Hooked {
    pub(super) inner: Arc<Scripted>,
    pub(super) hook: Hook,
    pub(super) asked: AtomicUsize,
}

impl Model for Hooked {
    fn provider(&self) -> &str {
        "scripted"
    }

    fn model(&self) -> &str {
        "scripted"
    }

    fn reply<'a>(&'a self, request: &'a Request, deltas: &'a mut DeltaSink<'_>) -> Replying<'a> {
        Box::pin(async move {
            (self.hook)(self.asked.fetch_add(1, Ordering::SeqCst) + 1).await;
            self.inner.reply(request, deltas).await
        })
    }
}
