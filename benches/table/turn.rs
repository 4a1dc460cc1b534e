//! The overhead of a whole turn, model apart, in a session with 10 and with 10,000 events: it must
//! not grow.

use std::sync::Arc;
use std::time::Instant;

use claw_core::app::App;
use claw_core::domain::{
    Block, Event, EventBody, Finish, Origin, SessionId, TurnEnd, Usage, unseen,
};
use claw_core::model::{Script, Scripted};
use claw_core::session::{Ending, TurnSettings, Worker, WorkerParts};
use claw_core::store::now_ms;
use claw_core::turn::Bounds;
use claw_core::turn::persona::{Persona, Personas};
use claw_core::turn::run::Runner;

use crate::home::{Home, runtime};
use crate::{Row, median};

const TURNS: usize = 40;
/// What a message and its answer usually have.
const TEXT_BYTES: usize = 1_000;

pub fn rows() -> Vec<Row> {
    let few = turn_ms(10);
    let many = turn_ms(10_000);
    vec![
        Row::new(
            "a turn, model apart, 10 events",
            format!("{few:.1} ms"),
            "in process; both commits included",
        ),
        Row::new(
            "a turn, model apart, 10,000 events",
            format!("{many:.1} ms"),
            format!("{:.2} times", many / few),
        ),
    ]
}

fn turn_ms(events: u64) -> f64 {
    runtime().block_on(async {
        let home = Home::new();
        // No tools: what a turn costs by itself.
        home.write("mcp.json", r#"{"mcpServers": {}}"#);
        let app = home.app();
        let session = SessionId::new("main").unwrap();
        fill(&app, &session, events, TEXT_BYTES).await;
        let worker = worker(&app);
        let visitor = app.console_visitor(&claw_core::domain::Address("console/bench".into()));
        // The first run may have to summarise; that is done once.
        let mut times = Vec::new();
        for turn in 0..TURNS + 3 {
            let began = Instant::now();
            app.router.message(&visitor, &session, "hello").await.unwrap();
            worker.run(&session, &unseen()).await.unwrap();
            if turn >= 3 {
                times.push(began.elapsed().as_secs_f64() * 1000.0);
            }
        }
        app.close().await;
        median(times)
    })
}

fn worker(app: &Arc<App>) -> Worker {
    let script = std::iter::repeat_with(|| Script::text("Hello.")).take(TURNS + 10);
    let model = Arc::new(Scripted::new(script));
    let runner = Runner {
        compaction: model.clone(),
        model,
        gate: app.gate.clone(),
        personas: Personas::fixed(Persona::of("You are claw.", "/w", "bench")),
        bounds: Bounds {
            model_steps_max: 20,
            window_tokens: 100_000,
            window_messages: 0,
            model_tokens: u64::MAX,
            identical_calls_max: 3,
        },
        recall: None,
        proposes_facts: false,
        project_bytes_max: None,
        git_time: None,
        tool_room: claw_core::domain::ToolRoom::ENDLESS,
        zone: Some(jiff::tz::TimeZone::UTC),
    };
    Worker::new(WorkerParts {
        ending: Ending::default(),
        store: app.store.clone(),
        gate: app.gate.clone(),
        settings: TurnSettings {
            runner,
            turn_time_s: 900,
            deaths_of_turn_max: 2,
            idle_window_s: 0,
            budget: app.budget(),
            heartbeats: Default::default(),
            serve: claw_core::config::ServeSection::default(),
        },
    })
}

/// Turns of four events each, as a conversation leaves them.
pub async fn fill(app: &App, session: &SessionId, events: u64, text_bytes: usize) {
    let session = session.clone();
    app.store
        .write(move |tx| {
            let text = |seq: u64| {
                vec![Block::Text { text: format!("{seq} {}", "word ".repeat(text_bytes / 5)) }]
            };
            for seq in 1..=events / 4 * 4 {
                let body = match seq % 4 {
                    1 => EventBody::TurnStarted {
                        origin: Origin::Owner,
                        principal: "bench".into(),
                        role: None,
                    },
                    2 => EventBody::UserMessage {
                        blocks: text(seq),
                        inbox_id: seq as i64,
                        from: claw_core::domain::Address("console/bench".into()),
                        origin: Origin::Owner,
                    },
                    3 => EventBody::ModelReply {
                        blocks: text(seq),
                        finish: Finish::Complete,
                        usage: Usage::default(),
                        provider: "scripted".into(),
                        model: "scripted".into(),
                        notice: None,
                    },
                    _ => EventBody::TurnEnded { end: TurnEnd::Answered },
                };
                tx.append_event(&session, &Event { seq, at_ms: now_ms(), body })?;
            }
            Ok(())
        })
        .await
        .unwrap();
}
