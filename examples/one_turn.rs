//! One turn, from a message to its reply, without a model, a network or a home: a scripted model
//! asks for a file to be written, the gate stops it and asks, this program says yes, the file is
//! written. Run it with `cargo run --example one_turn`.
//!
//! It shows how the rooms are put together; `src/app.rs` does the same with what the person has
//! configured.

#![expect(clippy::print_stdout, reason = "an example talks to the person who runs it")]

use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use claw_core::calls::{CallLimits, Calls, CallsParts, PreviewJob, Surroundings};
use claw_core::catalog::{Catalog, CatalogSettings};
use claw_core::config::Prices;
use claw_core::domain::{
    Address, Answer, Approvers, HeldLevels, LiveSink, Origin, OutboundBody, Scope, SessionId, Term,
};
use claw_core::gate::{Gate, GateParts};
use claw_core::hub::manifest::{self, Expansion};
use claw_core::hub::{Hub, HubSettings};
use claw_core::mail::Mail;
use claw_core::model::{Script, Scripted};
use claw_core::policy::Policy;
use claw_core::redact::Redactor;
use claw_core::router::{Router, Visitor};
use claw_core::session::{Budget, Ending, Ran, TurnSettings, Worker, WorkerParts};
use claw_core::snapshot::Limits;
use claw_core::store::{Artifacts, Store};
use claw_core::turn::Bounds;
use claw_core::turn::persona::{Persona, Personas};
use claw_core::turn::run::Runner;
use claw_core::undo::TurnSnapshots;
use serde_json::json;

const OWNER: &str = "console:example";

fn main() -> anyhow::Result<ExitCode> {
    // The hub starts `claw server filesystem`, and `claw` means this very executable.
    if let Some(code) = claw_cli::server::run_if_asked(&std::env::args_os().collect::<Vec<_>>()) {
        return Ok(code);
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(one_turn())?;
    Ok(ExitCode::SUCCESS)
}

async fn one_turn() -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let workspace = home.path().join("workspace");
    std::fs::create_dir(&workspace)?;

    let store = Store::open(&home.path().join("claw.db"))?;
    let gate = Arc::new(gate(&store, home.path(), &workspace)?);
    let router = Router::new(Mail::new(store.clone(), 64), gate.clone());
    let worker = worker(&store, &gate, &workspace);

    let session = SessionId::new("main")?;
    let visitor = Visitor {
        from: Address("console/example".into()),
        principal: OWNER.into(),
        origin: Origin::Owner,
    };
    let live: LiveSink = Arc::new(|_| {});

    // The message is on the disk when this returns.
    router.message(&visitor, &session, "Please write hello.txt.").await?;
    let ran = worker.run(&session, &live).await?;
    println!("The turn is {ran:?}.");

    // Writing a file can change something, so the gate asks. Nobody waits meanwhile.
    for row in store.read(|tx| tx.open_approvals(Some(&session)))? {
        println!("? {}/{} {:?}", row.question.server, row.question.tool, row.question.arguments);
        println!("  because {}", row.question.why);
        let yes = Answer::Allow { term: Term::Once, scope: Scope::Exact };
        router.answer(&visitor, &row.id, &yes).await?;
    }
    let ran = worker.run(&session, &live).await?;
    anyhow::ensure!(ran == Ran::Idle, "the turn is {ran:?}");

    for row in store.read(|tx| tx.queued_outbound(&visitor.from))? {
        if let OutboundBody::Reply { text, .. } = row.outbound.body {
            println!("claw: {text}");
        }
    }
    println!("hello.txt: {:?}", std::fs::read_to_string(workspace.join("hello.txt"))?);
    gate.hub().shutdown().await;
    Ok(())
}

fn gate(store: &Store, home: &Path, workspace: &Path) -> anyhow::Result<Gate> {
    let expansion = Expansion {
        claw_exe: std::env::current_exe()?,
        extra_claw_args: vec!["--workspace".into(), workspace.display().to_string()],
        workspace: workspace.to_owned(),
        home: home.to_owned(),
        ..Expansion::default()
    };
    let servers = json!({"mcpServers": {"filesystem": {"command": "claw", "args": ["server", "filesystem"]}}});
    let (hub, mint) = Hub::new(
        manifest::parse(&servers.to_string(), &expansion)?,
        HubSettings::new(std::env::vars().collect(), home.to_owned()),
    );
    let (hub, redactor) = (Arc::new(hub), Redactor::new([])?);
    let listed = CatalogSettings {
        server_wait: Duration::from_secs(5),
        server_instructions_bytes: 2048,
        tools: claw_core::config::Tools::default(),
        program: "example".into(),
        claw: "claw".into(),
    };
    let catalog = Arc::new(Catalog::new(store.clone(), hub.clone(), redactor.clone(), listed));
    let calls = Calls::new(CallsParts {
        store: store.clone(),
        hub: hub.clone(),
        catalog: catalog.clone(),
        policy: Policy::load(None)?,
        redactor: redactor.clone(),
        artifacts: Artifacts::new(&home.join("artifacts")),
        surroundings: Surroundings {
            workspace: workspace.to_owned(),
            usual_workspace: workspace.to_owned(),
            home: home.to_owned(),
            user_home: home.to_owned(),
            tried: Arc::new(LazyLock::new(|| HeldLevels::NONE)),
            approvers: Approvers::parse(OWNER),
            harmless_variables: Vec::new(),
            zone: jiff::tz::TimeZone::system(),
            preview_job: PreviewJob::none(),
            claw: "claw".into(),
        },
        limits: CallLimits {
            grant_offer_days: 7,
            tool_result_bytes: 16 * 1024,
            question_time: Duration::from_secs(3600),
            staged_actions_max: 10,
            input_rounds_max: 8,
            mode_idle_time: Duration::from_secs(28_800),
            openings: Vec::new(),
        },
    });
    let limits = Limits::default();
    let (saved, works_in) = (home.join("snapshots"), workspace.to_owned());
    Ok(Gate::new(GateParts {
        hub,
        mint,
        calls: Arc::new(calls),
        catalog,
        redactor,
        snapshots: TurnSnapshots::new(store.clone(), saved, works_in, limits, "claw".into()),
        tool_timeout: Duration::from_secs(30),
        calls_at_once: 8,
    }))
}

fn worker(store: &Store, gate: &Arc<Gate>, workspace: &Path) -> Worker {
    let script = [
        Script::tool_use(
            "filesystem__write_file",
            json!({"path": "hello.txt", "content": "Hello!\n"}),
        ),
        Script::text("I have written **hello.txt**."),
    ];
    let model = Arc::new(Scripted::new(script));
    let runner = Runner {
        compaction: model.clone(),
        model,
        gate: gate.clone(),
        personas: Personas::fixed(Persona::of(
            "You are an example.",
            &workspace.display().to_string(),
            std::env::consts::OS,
        )),
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
        zone: None,
    };
    let parts = WorkerParts {
        ending: Ending::default(),
        store: store.clone(),
        gate: gate.clone(),
        settings: TurnSettings {
            runner,
            turn_time_s: 900,
            deaths_of_turn_max: 2,
            idle_window_s: 0,
            heartbeats: Default::default(),
            serve: Default::default(),
            budget: Budget {
                tokens_day_max: 1_000_000,
                usd_cents_day_max: None,
                prices: Prices::default(),
                zone: jiff::tz::TimeZone::UTC,
            },
        },
    };
    Worker::new(parts)
}
